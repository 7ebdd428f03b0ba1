"""ESXi, reached over SSH or by the vSphere API."""

from wirespeed.model.command import Shell
from wirespeed.model.platform import Platform
from wirespeed.platforms.esxi.describe import esxi_ledgers, esxi_lines
from wirespeed.platforms.esxi.facts.vsphere import is_esxi
from wirespeed.platforms.esxi.recorded import recorded_guest

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
