"""The card refused switchdev mode because its VFs were made before."""

import re
from collections.abc import Iterator

from wirespeed.facts.driver_log import DriverLog
from wirespeed.facts.eswitch import Eswitch
from wirespeed.facts.module import NO_SWITCHDEV
from wirespeed.facts.sriov import SYSFS, physical_function
from wirespeed.model.command import Command, write_file
from wirespeed.model.finding import ByHand, Danger, Evidence, Finding, Remedy, Severity
from wirespeed.model.observed import Known, known
from wirespeed.model.rule import PortExam, PortRule
from wirespeed.model.symptom import Symptom

FAILED = re.compile(NO_SWITCHDEV)
STATE = re.compile(r"CREATE_FLOW_TABLE\b.* status bad resource state")
"""With another status the card lacks something else: see driver.refused."""


def _check(exam: PortExam) -> Iterator[Finding]:
    pf = physical_function(exam.host, exam.port)
    log = exam.host[DriverLog].of(exam.port)
    known(exam.host[DriverLog].log, "the kernel's messages about the card")
    lines = log.value if isinstance(log, Known) else ()
    lines = tuple(line for line in lines if FAILED.search(line) or STATE.search(line))
    if not any(map(FAILED.search, lines)) or not any(map(STATE.search, lines)):
        return
    mode = exam.host[Eswitch].pfs[pf.pci_address].mode
    if known(mode, "the eswitch's mode") != "legacy" or not isinstance(mode, Known):
        return  # a later attempt was accepted
    if not known(pf.num_vfs, "the number of VFs") or not isinstance(pf.num_vfs, Known):
        return
    count = f"{SYSFS}/{pf.pci_address}/sriov_numvfs"
    device = f"pci/{pf.pci_address}"
    yield exam.finding(
        Severity.RISK,
        (
            *(Evidence(found=line, source="dmesg") for line in lines),
            Evidence.of(mode, f"eswitch of {pf.pci_address}: {mode.value}"),
            Evidence.of(pf.num_vfs, f"{pf.num_vfs.value} VFs"),
        ),
        so="the card refused switchdev mode and is in legacy mode still: the VFs have no "
        "representors, and no flow of Open vSwitch or tc is offloaded",
        remedies=(
            Remedy(
                text=f"remove the {pf.num_vfs.value} VFs, change to switchdev mode, and make them "
                "again: this card's firmware accepts that order and not the other. Guests lose "
                "their VFs meanwhile; stop them first",
                commands=(
                    write_file(count, "0"),
                    Command(argv=("devlink", "dev", "eswitch", "set", device, "mode", "switchdev")),
                    write_file(count, str(pf.num_vfs.value)),
                ),
                danger=Danger.DROPS_LINK,
                by_hand=ByHand.NO_STEP,
            ),
        ),
        unpriced="it costs the offload: what one core switches in its place depends on the flows",
    )


RULE = PortRule(
    slug="eswitch.switchdev_refused",
    title="Switchdev mode refused while there are VFs",
    why="To change an mlx5 card to switchdev mode, the driver makes new tables in the card's "
    "switch. Some firmware refuses them once VFs have been made, also where no driver is bound "
    "to the VFs. The driver then goes back to legacy mode, and only the kernel's log says so.",
    source="https://github.com/k8snetworkplumbingwg/sriov-network-operator/issues/1015; "
    "drivers/net/ethernet/mellanox/mlx5/core/eswitch_offloads.c, esw_create_offloads_fdb_tables",
    explains=(Symptom.NOT_OFFLOADED,),
    check=_check,
)
