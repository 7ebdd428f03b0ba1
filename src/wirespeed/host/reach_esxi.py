"""One script on ESXi hosts: over SSH, as on Linux hosts, whose results keep their names."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from wirespeed.host.batch import Batch, OneByOne
from wirespeed.host.capture_request import Captured, CaptureRequest, Progress, Unreachable
from wirespeed.host.reach_destination import Destination, EsxiHost, VsphereHost
from wirespeed.host.ssh_batch import SshBatch
from wirespeed.model.error import HostError


class EsxiBatch:
    """ESXi hosts by their shell. There is no sudo on ESXi: root logs in."""

    def __init__(self, places: Sequence[EsxiHost], request: CaptureRequest, limit: int) -> None:
        self._own: dict[Destination, EsxiHost] = {place.remote: place for place in places}
        theirs = replace(request, script=request.esxi, sudo=False)
        self._batch = SshBatch([place.remote for place in places], theirs, limit)

    def results(self, progress: Progress) -> Iterator[Captured | Unreachable]:
        """Give one result for each as they come."""
        for found in self._batch.results(lambda at, doing: progress(self._own[at], doing)):
            yield replace(found, destination=self._own[found.destination])

    def close(self) -> None:
        """End what is under way; returns within seconds."""
        self._batch.close()


def reach_esxi(places: Sequence[EsxiHost], request: CaptureRequest, limit: int) -> Batch:
    """Start at once; where nothing is to be read of an ESXi host, each result says so."""
    if not request.esxi:
        return OneByOne(places, refuse_esxi)
    return EsxiBatch(places, request, limit)


def refuse_esxi(place: EsxiHost | VsphereHost) -> Captured:
    """Raise HostError `host.esxi`."""
    raise HostError(
        "host.esxi",
        where=place.text,
        found="this command reads Linux hosts only, and this is an ESXi host",
        next="`wirespeed doctor` and `wirespeed capture` read ESXi",
    )
