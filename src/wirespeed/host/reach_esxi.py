"""One script on ESXi hosts: over SSH, as on Linux hosts, whose results keep their names."""

from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import replace

from wirespeed.host.capture_request import Captured, CaptureRequest, Progress, Unreachable
from wirespeed.host.reach_destination import Destination, EsxiHost
from wirespeed.host.ssh_batch import SshBatch
from wirespeed.model.error import HostError


def reach_esxi(
    places: Sequence[EsxiHost], request: CaptureRequest, limit: int, progress: Progress
) -> Iterator[Captured | Unreachable]:
    """Give one result for each as they come. There is no sudo on ESXi: root logs in."""
    if not request.esxi:
        for place in places:
            yield Unreachable(place, _not_for_esxi(place))
        return
    own: dict[Destination, EsxiHost] = {place.remote: place for place in places}
    theirs = replace(request, script=request.esxi, sudo=False)
    with closing(SshBatch([place.remote for place in places], theirs, limit)) as batch:
        for found in batch.results(lambda place, doing: progress(own[place], doing)):
            yield replace(found, destination=own[found.destination])


def _not_for_esxi(place: EsxiHost) -> HostError:
    return HostError(
        "host.esxi",
        where=place.text,
        found="what is to be read is read on Linux",
        next="`wirespeed doctor` and `wirespeed capture` read ESXi",
    )
