"""Captures of ESXi hosts by their vSphere API, one after another."""

import json
import uuid
from collections.abc import Mapping, Sequence
from contextlib import closing
from typing import Any

from wirespeed.host.batch import OneByOne
from wirespeed.host.capture_request import Captured, CaptureRequest
from wirespeed.host.clock import monotonic_s
from wirespeed.host.reach_destination import VsphereHost
from wirespeed.host.reach_esxi import refuse_esxi
from wirespeed.host.vsphere import VsphereSession
from wirespeed.model.capture import MAGIC, VERSION

SECTION = "vsphere"


def reach_vsphere(
    places: Sequence[VsphereHost], request: CaptureRequest, _limit: int
) -> OneByOne[VsphereHost]:
    """Give what reads them, or says of each that nothing is to be read of an ESXi host."""
    return OneByOne(places, _captured if request.esxi else refuse_esxi)


def _captured(place: VsphereHost) -> Captured:
    started = monotonic_s()
    with closing(VsphereSession(place)) as session:
        text = vsphere_capture(session.host())
    return Captured(place, text, monotonic_s() - started)


def vsphere_capture(said: Mapping[str, Any]) -> str:
    """Give a capture of an ESXi host by what it said: one section, of one line of JSON."""
    mark, line = uuid.uuid4().hex[:16], json.dumps(said, sort_keys=True)
    return f"{MAGIC}{VERSION} {mark}\n{mark} begin {SECTION} -\n{line}\n{mark} end 0\n{mark} done\n"
