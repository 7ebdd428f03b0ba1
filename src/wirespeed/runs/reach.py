"""One script on many hosts at once: each gives what it printed, or why it could not be reached.

    files       read first, in the order given
    this machine  in this thread, while the others are on their way
    hosts       over SSH, `limit` at a time, each with its own time-out
    others      as their platform's `access.py` says: at the same time, or one after another

Results come as they are there: one slow or dead host does not hold up the rest. Whoever may stop
before the last, by an error too, takes them within `with closing(…)`: an error keeps what it went
through alive, and with it the threads that read hosts.
"""

from collections.abc import Generator, Sequence
from contextlib import ExitStack, closing
from pathlib import Path

from wirespeed.host.batch import OneByOne
from wirespeed.host.capture_request import LIMIT, Captured, CaptureRequest, Progress, Unreachable
from wirespeed.host.clock import monotonic_s
from wirespeed.host.reach_destination import Destination, Recorded
from wirespeed.host.recorded import read_recorded
from wirespeed.platforms.access import Way, route_to

TAR_NAMES = (".tar", ".tar.gz", ".tar.xz", ".tar.bz2", ".tgz", ".txz")


def reach(
    destinations: Sequence[Destination],
    request: CaptureRequest,
    *,
    limit: int = LIMIT,
    progress: Progress = lambda _destination, _doing: None,
) -> Generator[Captured | Unreachable, None, None]:
    """Give one result for each destination, as they come. `progress` is called in this thread."""
    files: list[Recorded] = []
    hosts: dict[Way, list[Destination]] = {}
    for place in dict.fromkeys(destinations):
        # No way leads to a file: to ask would load asyncssh, and double what a capture costs.
        if isinstance(place, Recorded):
            files.append(place)
        elif (found := route_to(place)) is not None:
            hosts.setdefault(found[1], []).append(place)
    with ExitStack() as stack:
        started = [
            stack.enter_context(closing(way.batch(hosts[way], request, limit)))
            for way in sorted(hosts, key=lambda way: way.turn)
        ]
        yield from OneByOne(files, _read).results(lambda _file, _doing: None)
        for batch in started:
            yield from batch.results(progress)


def _read(place: Recorded) -> Captured:
    started = monotonic_s()
    text = recorded_text(place.path)
    return Captured(place, text, monotonic_s() - started)


def recorded_text(path: Path) -> str:
    """Give the text of a capture file, or the capture that is made of an archive.

    Raises InputError as `read_recorded`, `read_archive` and `archive_capture` do.
    """
    if path.name.endswith(TAR_NAMES):
        # Only here: few captures are archives, and what unpacks them takes its time to load.
        from wirespeed.doctor.archive import archive_capture, is_wanted
        from wirespeed.host.archive import read_archive

        files = read_archive(path, is_wanted)
        if files is not None:
            return archive_capture(files, str(path))
    return read_recorded(path)
