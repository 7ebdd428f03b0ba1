"""The traffic tester as a child: `wirespeed-tester`, spoken to in JSON lines.

    Tester() --> begin_open --> await_opened --> trial, trial, … --> close

Opening is in two halves, as a virtio_user port that serves its socket waits inside for the DUT.
"""

import json
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any, TypeVar

from pydantic import Field, TypeAdapter, ValidationError

from wirespeed.host.clock import Deadline
from wirespeed.host.closing import Closing
from wirespeed.host.files import find_program, is_file
from wirespeed.host.process import Child
from wirespeed.measure.bench.eal_side import VDEVS, EalSide
from wirespeed.measure.bench.tester_protocol import (
    VERSION,
    ByeReply,
    CountersReply,
    Envelope,
    ErrorReply,
    HelloReply,
    OpenedReply,
    OpenRequest,
    ProgressReply,
    ResultReply,
    TrialRequest,
)
from wirespeed.model.error import InputError, MeasurementError, WirespeedError
from wirespeed.model.json_value import read_record

PROGRAM = "wirespeed-tester"
_START_S = 30.0
_OPEN_S = 30.0
"""Beyond its wait for links: probing, and pools of gigabytes."""
_LOOK_S = 1.1
"""How often `watch` is called in silence. A trial breaks it once a second with its progress, and
this comes after that: waking up more often would take the core that the trial runs on."""
_GRACE_S = 60.0
"""Beyond a trial's own length: ping-pong, draining, and a machine that stalls."""

Reply = (
    HelloReply | OpenedReply | ProgressReply | ResultReply | CountersReply | ByeReply | ErrorReply
)
_replies: TypeAdapter[Reply] = TypeAdapter(Annotated[Reply, Field(discriminator="event")])
T = TypeVar("T", bound=Envelope)


def find_tester() -> str:
    """Find the program: WIRESPEED_TESTER, beside this Python, in PATH.

    Raises InputError `tester.not_installed`.
    """
    named = os.environ.get("WIRESPEED_TESTER")
    candidates = [Path(named)] if named else [Path(sys.executable).parent / PROGRAM]
    for path in candidates:
        if is_file(path):
            return str(path)
    found = None if named else find_program(PROGRAM)
    if found is None:
        raise InputError(
            "tester.not_installed",
            where=named or PROGRAM,
            found="no such program",
            so="nothing can send or judge frames",
            next="run `make setup` in wirespeed's sources; if pipx installed wirespeed: `pipx "
            "inject wirespeed ./tester`",
        )
    return found


class Tester(Closing):
    """A running tester. Use `close` or the `with` statement; not for two threads at once.

    `watch` is called once a second while an answer is waited for; what it raises ends the waiting.
    """

    def __init__(
        self,
        side: EalSide,
        watch: Callable[[], None] = lambda: None,
        *,
        program: str | None = None,
    ) -> None:
        physical = [d for d in side.devices if not d.startswith(VDEVS)]
        # Vdevs are opened on request; a card must be on the EAL's allow-list from the start.
        eal = side.model_copy(update={"devices": tuple(physical)})
        argv = [
            *side.inside,
            program or find_tester(),
            *eal.arguments(),
            f"--lcores={side.lcores()}",
        ]
        self.argv = tuple(argv)
        self._child = Child(argv, role="tester", environment=side.environment)
        self.priority = "" if side.is_far else self._child.put_first()
        self._next_id, self._open_s = 0, _OPEN_S
        self._watch = watch
        try:
            self.hello = self._await(self._ask("hello", {}), HelloReply, Deadline(_START_S))
        except BaseException:
            self.close()
            raise

    def begin_open(self, request: OpenRequest) -> int:
        """Ask for the ports; `await_opened` takes the answer."""
        self._open_s = _OPEN_S + request.links_wait_s
        return self._ask("open", request.model_dump(mode="json"))

    def await_opened(self, ticket: int) -> OpenedReply:
        """Wait for the ports of `begin_open`.

        Raises InputError `port.*` or `request.*`, MeasurementError `tester.*`.
        """
        return self._await(ticket, OpenedReply, Deadline(self._open_s))

    def trial(
        self,
        request: TrialRequest,
        progress: Callable[[ProgressReply], None] | None = None,
    ) -> ResultReply:
        """Run one trial.

        Raises InputError `request.*` or `port.*`, MeasurementError `trial.*` or `tester.*`.
        """
        deadline = Deadline(request.seconds * 1.5 + _GRACE_S)
        return self._await(self._ask("trial", request.body()), ResultReply, deadline, progress)

    def counters(self) -> CountersReply:
        """Read the ports' counters since they were started."""
        return self._await(self._ask("counters", {}), CountersReply, Deadline(_OPEN_S))

    def alive(self) -> bool:
        """Tell whether it still runs."""
        return self._child.alive()

    def death(self) -> MeasurementError:
        """Make the error that says how it ended. Only for one that is not alive."""
        return self._child.death()

    @property
    def pid(self) -> int:
        """Process id."""
        return self._child.pid

    def close(self) -> None:
        """Let it quit, or end it; a second call does nothing."""
        self._child.close()

    def _ask(self, op: str, body: dict[str, Any]) -> int:
        self._next_id += 1
        line = json.dumps({"v": VERSION, "id": self._next_id, "op": op, **body})
        self._child.write_line(line)
        return self._next_id

    def _await(
        self,
        ticket: int,
        kind: type[T],
        deadline: Deadline,
        progress: Callable[[ProgressReply], None] | None = None,
    ) -> T:
        while True:
            line = self._line(deadline)
            try:
                reply = read_record(_replies, line)
            except ValidationError as error:
                raise MeasurementError(
                    "tester.rubbish",
                    where=self.argv[0],
                    found=f"{line[:200]!r}: {error.errors()[0]['msg']}",
                    so="its answers cannot be trusted",
                    next="run `make setup`, so that both are of the same release",
                ) from None
            if isinstance(reply, ProgressReply):
                if progress is not None:
                    progress(reply)
                self._watch()
                continue
            if isinstance(reply, ErrorReply):
                raise _error(reply)
            if reply.id == ticket and isinstance(reply, kind):
                return reply
            raise MeasurementError(
                "tester.rubbish",
                where=self.argv[0],
                found=f"{reply.event} to request {reply.id} instead of an answer to {ticket}",
                so="its answers cannot be matched",
                next="report this with the line above",
            )

    def _line(self, deadline: Deadline) -> str:
        while True:
            try:
                return self._child.read_line(min(_LOOK_S, deadline.remaining_s))
            except MeasurementError as error:
                if error.what != "tester.silent":
                    raise
                self._watch()
                if deadline.expired:
                    _, _, last_said = error.found.partition("; ")
                    error.found = f"no answer within {deadline.timeout_s:g} s; {last_said}"
                    raise


def _error(reply: ErrorReply) -> WirespeedError:
    """Make what the tester refused a fault of the request, where it is one."""
    of_request = reply.what.startswith(("request.", "port.")) or reply.what == "tester.eal"
    kind = InputError if of_request else MeasurementError
    return kind(reply.what, where=reply.where, found=reply.found, next=reply.next)
