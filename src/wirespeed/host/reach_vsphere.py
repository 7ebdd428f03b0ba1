"""Captures of ESXi hosts by their vSphere API, one after another."""

import json
import uuid
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from typing import Any

from wirespeed.host.capture_request import Captured, CaptureRequest, Progress, Unreachable
from wirespeed.host.clock import monotonic_s
from wirespeed.host.reach_destination import VsphereHost
from wirespeed.host.vsphere import VsphereSession
from wirespeed.model.capture import MAGIC, VERSION
from wirespeed.model.error import HostError, WirespeedError

SECTION = "vsphere"


def reach_vsphere(
    places: Sequence[VsphereHost], request: CaptureRequest, progress: Progress
) -> Iterator[Captured | Unreachable]:
    """Give one result for each."""
    for place in places:
        progress(place, "connecting")
        try:
            yield _captured(place, request)
        except WirespeedError as error:
            yield Unreachable(place, error)


def _captured(place: VsphereHost, request: CaptureRequest) -> Captured:
    if not request.esxi:
        raise HostError(
            "host.esxi",
            where=place.text,
            found="what is to be read is read on Linux",
            next="`wirespeed doctor` and `wirespeed capture` read ESXi",
        )
    started = monotonic_s()
    with closing(VsphereSession(place)) as session:
        text = vsphere_capture(session.host())
    return Captured(place, text, monotonic_s() - started)


def vsphere_capture(said: Mapping[str, Any]) -> str:
    """Give a capture of an ESXi host by what it said: one section, of one line of JSON."""
    mark, line = uuid.uuid4().hex[:16], json.dumps(said, sort_keys=True)
    return f"{MAGIC}{VERSION} {mark}\n{mark} begin {SECTION} -\n{line}\n{mark} end 0\n{mark} done\n"
