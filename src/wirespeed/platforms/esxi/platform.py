"""ESXi, reached over SSH or by the vSphere API."""

import json

from wirespeed.facts.json_text import object_in
from wirespeed.model.capture import Capture, Section
from wirespeed.model.command import Command, Shell
from wirespeed.model.observed import Known
from wirespeed.model.platform import Platform
from wirespeed.model.vsphere import READ
from wirespeed.platforms.esxi.describe import esxi_ledgers, esxi_lines
from wirespeed.platforms.esxi.facts.vsphere import by_vsphere, is_esxi


def recorded_guest(capture: Capture, command: Command) -> Section | None:
    """Give a guest's settings, of a capture by the vSphere API, in the words that steps read.

    None: the capture does not hold them.
    """
    if command.shell is not Shell.VSPHERE or command.argv[0] != READ:
        return None
    said = by_vsphere(capture)
    if not isinstance(said, Known):
        return None
    found = object_in(object_in(said.value, "guests"), command.argv[1])
    return Section("guest", command.argv[1], json.dumps(found), "", 0) if found else None


PLATFORM = Platform(
    name="ESXi",
    shell=Shell.VSPHERE,
    is_alone=is_esxi,
    about=esxi_lines,
    ledgers=esxi_ledgers,
    recorded=recorded_guest,
    can_be_locked=False,
    no_remedy="an ESXi host: a spec names what is changed there",
    instead_of_remedy="wirespeed plan with `approach: esxi`; docs/esxi.md shows one",
    elsewhere="of a guest of ESXi: reach its host by vsphere://, with `approach: esxi`",
)
