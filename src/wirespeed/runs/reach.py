"""One script on many hosts at once: each gives what it printed, or why it could not be reached.

    files       read in the order given
    this machine  in this thread, while the others are on their way
    hosts       over SSH, `limit` at a time, each with its own time-out
    Windows     each in a thread of its own, at the same time; see reach_windows.py
    ESXi        over SSH as the hosts, or one after another by its API; see reach_vsphere.py
    switches    at the end, one after another; see reach_switch.py

Results come as they are there: one slow or dead host does not hold up the rest. Whoever may stop
before the last, by an error too, takes them within `with closing(…)`: an error keeps what it went
through alive, and with it the threads that read hosts.
"""

from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import closing

from wirespeed.host.capture_request import (
    LIMIT,
    Captured,
    CaptureRequest,
    Progress,
    Unreachable,
    cut_warning,
)
from wirespeed.host.clock import monotonic_s
from wirespeed.host.local import LocalRunner
from wirespeed.host.reach_destination import (
    Destination,
    EsxiHost,
    Here,
    Recorded,
    Remote,
    SwitchHost,
    VsphereHost,
    WindowsHost,
)
from wirespeed.host.recorded import read_recorded
from wirespeed.model.error import WirespeedError


def reach(
    destinations: Sequence[Destination],
    request: CaptureRequest,
    *,
    limit: int = LIMIT,
    progress: Progress = lambda _destination, _doing: None,
) -> Generator[Captured | Unreachable, None, None]:
    """Give one result for each destination, as they come. `progress` is called in this thread."""
    unique = list(dict.fromkeys(destinations))
    remote = [place for place in unique if isinstance(place, Remote)]
    windows = [place for place in unique if isinstance(place, WindowsHost)]
    if switches := [place for place in unique if isinstance(place, SwitchHost)]:
        from wirespeed.host.reach_switch import reach_switches

        rest = [place for place in unique if place not in switches]
        yield from reach(rest, request, limit=limit, progress=progress)
        yield from reach_switches(switches, request, progress)
        return
    if esxi := [place for place in unique if isinstance(place, EsxiHost)]:
        from wirespeed.host.reach_esxi import reach_esxi

        rest = [place for place in unique if place not in esxi]
        yield from reach(rest, request, limit=limit, progress=progress)
        yield from reach_esxi(esxi, request, limit, progress)
        return
    if apis := [place for place in unique if isinstance(place, VsphereHost)]:
        from wirespeed.host.reach_vsphere import reach_vsphere

        rest = [place for place in unique if place not in apis]
        yield from reach(rest, request, limit=limit, progress=progress)
        yield from reach_vsphere(apis, request, progress)
        return
    if windows:
        from wirespeed.host.reach_windows import reach_windows

        rest = [place for place in unique if place not in windows]
        with closing(reach_windows(windows, request, limit, progress)) as found:
            yield from reach(rest, request, limit=limit, progress=progress)
            yield from found
        return
    if not remote:
        yield from _near(unique, request, progress)
        return
    # Its library takes longer to load than all of a local run.
    from wirespeed.host.ssh_batch import SshBatch

    with closing(SshBatch(remote, request, limit)) as batch:
        yield from _near(unique, request, progress)
        yield from batch.results(progress)


def _near(
    destinations: Sequence[Destination], request: CaptureRequest, progress: Progress
) -> Iterator[Captured | Unreachable]:
    """What needs no network: files first, as this machine takes longer."""
    for place in destinations:
        if isinstance(place, Recorded):
            yield _tried(place, lambda place=place: _read(place))  # type: ignore[misc]
    for place in destinations:
        if isinstance(place, Here):
            progress(place, "reading")
            yield _tried(place, lambda place=place: _run_here(place, request))  # type: ignore[misc]


def _tried(place: Destination, read: Callable[[], Captured]) -> Captured | Unreachable:
    try:
        return read()
    except WirespeedError as error:
        return Unreachable(place, error)


def _read(place: Recorded) -> Captured:
    started = monotonic_s()
    text = read_recorded(place.path)
    return Captured(place, text, monotonic_s() - started)


def _run_here(place: Here, request: CaptureRequest) -> Captured:
    done = LocalRunner().run(
        request.argv, stdin=request.script, timeout_s=request.timeout_s, max_bytes=request.max_bytes
    )
    text = request.judge(place, done.output, done.errors, done.returncode)
    return Captured(place, text, done.duration_s, cut_warning(done.cut, request))
