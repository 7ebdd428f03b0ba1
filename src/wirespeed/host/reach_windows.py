"""One script on many Windows hosts at once, each in a thread of its own."""

from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, as_completed
from contextlib import closing

from wirespeed.host.capture_request import (
    Captured,
    CaptureRequest,
    Progress,
    Unreachable,
    cut_warning,
)
from wirespeed.host.powershell import run_powershell
from wirespeed.host.reach_destination import WindowsHost
from wirespeed.host.ssh_session import SshSession
from wirespeed.host.winrm import WinRmSession
from wirespeed.model.error import HostError, WirespeedError
from wirespeed.model.shown import shown


def windows_session(place: WindowsHost) -> SshSession | WinRmSession:
    """Give what runs programs on a Windows host. Raises InputError `windows.library`."""
    return WinRmSession(place) if place.by == "winrm" else SshSession(place.remote)


class WindowsBatch:
    """Starts at once. `results` gives one for each place; `close` begins no further one."""

    def __init__(self, places: Sequence[WindowsHost], request: CaptureRequest, limit: int) -> None:
        self._places = places
        self._pool = ThreadPoolExecutor(min(limit, len(places)), thread_name_prefix="windows")
        self._visits: list[Future[Captured | Unreachable]] = [
            self._pool.submit(_visit, place, request) for place in places
        ]

    def results(self, progress: Progress) -> Iterator[Captured | Unreachable]:
        """Give one result for each as they come."""
        for place in self._places:
            progress(place, "connecting")
        for visit in as_completed(self._visits):
            yield visit.result()

    def close(self) -> None:
        """Return at once: those under way end by their own time-out."""
        self._pool.shutdown(wait=False, cancel_futures=True)


def _visit(place: WindowsHost, request: CaptureRequest) -> Captured | Unreachable:
    try:
        return _captured(place, request)
    except WirespeedError as error:
        return Unreachable(place, error)


def _captured(place: WindowsHost, request: CaptureRequest) -> Captured:
    if not request.powershell:
        raise HostError(
            "host.windows",
            where=place.text,
            found="this command reads Linux hosts only, and this is Windows",
            next="`wirespeed doctor` and `wirespeed capture` read Windows",
        )
    with closing(windows_session(place)) as session:
        done = run_powershell(
            session, request.powershell, timeout_s=request.timeout_s, max_bytes=request.max_bytes
        )
    if request.begins not in done.output[: 1 << 16]:
        raise no_powershell(place.text, done.output, done.errors, done.returncode)
    return Captured(place, done.output, done.duration_s, cut_warning(done.cut, request))


def no_powershell(where: str, output: str, errors: str, returncode: int) -> HostError:
    """Say that it is not Windows, or does not run the script."""
    said = shown((errors.strip() or output.strip()).partition("\n")[0], 200)
    return HostError(
        "host.no_answer",
        where=where,
        found=f"it did not run the script: {said or f'return code {returncode}'}",
        next="check that it is Windows, that powershell.exe is in its PATH, and that no policy "
        "sets constrained language mode",
    )
