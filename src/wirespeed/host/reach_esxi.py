"""One script on ESXi hosts: by the same crowd as Linux hosts, whose results keep their names."""

from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import replace

from wirespeed.host.reach import Errand, Progress, Told, Unreachable
from wirespeed.host.reach_crowd import Crowd
from wirespeed.host.reach_destination import Destination, EsxiHost
from wirespeed.model.error import HostError


def reach_esxi(
    places: Sequence[EsxiHost], errand: Errand, limit: int, progress: Progress
) -> Iterator[Told | Unreachable]:
    """Give one result for each as they come. There is no sudo on ESXi: root logs in."""
    if not errand.esxi:
        for place in places:
            yield Unreachable(place, _not_for_esxi(place))
        return
    own: dict[Destination, EsxiHost] = {place.remote: place for place in places}
    theirs = replace(errand, script=errand.esxi, sudo=False)
    with closing(Crowd([place.remote for place in places], theirs, limit)) as crowd:
        for found in crowd.results(lambda place, doing: progress(own[place], doing)):
            yield replace(found, destination=own[found.destination])


def _not_for_esxi(place: EsxiHost) -> HostError:
    return HostError(
        "host.esxi",
        where=place.text,
        found="what is to be read is read on Linux",
        next="`wirespeed doctor` and `wirespeed capture` read ESXi",
    )
