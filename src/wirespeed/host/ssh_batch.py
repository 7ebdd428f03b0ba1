"""Many hosts over SSH at once, in a thread of their own; results come out of a queue."""

import asyncio
import atexit
import contextlib
import queue
import threading
from collections.abc import Iterator, Sequence

from wirespeed.host.capture_request import (
    Captured,
    CaptureRequest,
    Progress,
    Unreachable,
    cut_warning,
)
from wirespeed.host.clock import Deadline, monotonic_s
from wirespeed.host.reach_destination import Remote
from wirespeed.host.ssh import Conversation
from wirespeed.host.ssh_errors import no_time
from wirespeed.model.error import WirespeedError

_POLL_S = 0.5
_LEAVE_S = 5.0
_Event = Captured | Unreachable | tuple[Remote, str] | BaseException


class SshBatch:
    """Starts at once. `results` gives one for each place; `close` ends those under way."""

    def __init__(self, places: Sequence[Remote], request: CaptureRequest, limit: int) -> None:
        self._places, self._request, self._limit = places, request, limit
        self._events: queue.SimpleQueue[_Event] = queue.SimpleQueue()
        self._stop = threading.Event()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._task: asyncio.Task[None] | None = None
        self._thread = threading.Thread(target=self._live, name="ssh", daemon=True)
        # A thread that outlives the interpreter runs into what that has taken away: SIGSEGV.
        atexit.register(self.close)
        self._thread.start()

    def results(self, progress: Progress) -> Iterator[Captured | Unreachable]:
        """Give each as it comes. What is our own fault is raised here."""
        rounds = -(-len(self._places) // self._limit)
        deadline = Deadline(rounds * (self._request.timeout_s + _LEAVE_S) + _LEAVE_S)
        left = len(self._places)
        while left:
            try:
                event = self._events.get(timeout=_POLL_S)
            except queue.Empty:
                if deadline.expired or not self._thread.is_alive():
                    raise AssertionError(f"{left} hosts were given up without a verdict") from None
                continue
            if isinstance(event, BaseException):
                raise event
            if isinstance(event, tuple):
                progress(*event)
            else:
                left -= 1
                yield event

    def close(self) -> None:
        """End what is under way; returns within seconds."""
        self._stop.set()
        if self._loop is not None and self._task is not None and self._thread.is_alive():
            # A loop that has just been closed has nothing under way.
            with contextlib.suppress(RuntimeError):
                self._loop.call_soon_threadsafe(self._task.cancel)
        self._thread.join(_LEAVE_S)
        if not self._thread.is_alive():
            atexit.unregister(self.close)

    def _live(self) -> None:
        try:
            asyncio.run(self._visit_all())
        except asyncio.CancelledError:
            return
        except BaseExceptionGroup as group:
            self._events.put(group.exceptions[0])

    async def _visit_all(self) -> None:
        self._loop, self._task = asyncio.get_running_loop(), asyncio.current_task()
        if self._stop.is_set():
            return
        gate = asyncio.Semaphore(self._limit)
        async with asyncio.TaskGroup() as group:
            for place in self._places:
                group.create_task(self._visit(place, gate))

    async def _visit(self, place: Remote, gate: asyncio.Semaphore) -> None:
        async with gate:
            self._events.put((place, "connecting"))
            try:
                self._events.put(await self._read(place))
            except WirespeedError as error:
                self._events.put(Unreachable(place, error))

    async def _read(self, place: Remote) -> Captured:
        started, request = monotonic_s(), self._request
        talk = Conversation(request.max_bytes)
        returncode: int | None = None
        warnings: tuple[str, ...] = ()
        is_connected = False

        def connected() -> None:
            nonlocal is_connected
            is_connected = True
            self._events.put((place, "reading"))

        try:
            async with asyncio.timeout(request.timeout_s):
                returncode = await talk.hold(
                    place,
                    request.argv,
                    request.script,
                    connected=connected,
                )
        except TimeoutError:
            if not is_connected:
                raise no_time(place.text, request.timeout_s) from None
            warnings = (f"it was not done after {request.timeout_s:g} s: the rest is missing",)
        except WirespeedError as error:
            # What it said until then still counts.
            if request.begins not in talk.output.text()[: 1 << 16]:
                raise
            warnings = (f"{error.found}: the rest is missing",)
        text = request.judge(place, talk.output.text(), talk.errors.text(), returncode)
        cut = cut_warning(talk.output.cut or talk.errors.cut, request)
        return Captured(place, text, monotonic_s() - started, warnings + cut)
