"""What a capture by the vSphere API tells of a guest, asked again in the words of steps. Pure."""

import json

from wirespeed.facts.json_text import object_in
from wirespeed.model.capture import Capture, Section
from wirespeed.model.command import Command, Shell
from wirespeed.model.observed import Known
from wirespeed.model.vsphere import READ
from wirespeed.platforms.esxi.facts.vsphere import by_vsphere


def recorded_guest(capture: Capture, command: Command) -> Section | None:
    """Give the settings of the guest that is asked about; None: the capture does not hold them."""
    if command.shell is not Shell.VSPHERE or command.argv[0] != READ:
        return None
    said = by_vsphere(capture)
    if not isinstance(said, Known):
        return None
    found = object_in(object_in(said.value, "guests"), command.argv[1])
    return Section("guest", command.argv[1], json.dumps(found), "", 0) if found else None
