"""A card that could have VFs and has none, on a host that is to lend some to guests."""

from collections.abc import Iterator

from wirespeed.ceilings.bounds import SOFTWARE_SWITCH_FORMULA, software_switch_bounds
from wirespeed.facts.driver_log import DriverLog
from wirespeed.facts.link import best_bps
from wirespeed.facts.netstack import NetStack
from wirespeed.facts.ports import Ports
from wirespeed.facts.software_guests import guests_on_a_switch
from wirespeed.facts.sriov import SYSFS, Sriov, physical_function
from wirespeed.model.command import write_file
from wirespeed.model.finding import Danger, Evidence, Finding, Remedy, Severity, StepCall
from wirespeed.model.observed import Known, known, value_or_none
from wirespeed.model.port import Port
from wirespeed.model.question import Purpose
from wirespeed.model.rule import DoesNotApplyError, PortExam, PortRule
from wirespeed.model.symptom import Symptom


def _check(exam: PortExam) -> Iterator[Finding]:
    pf = physical_function(exam.host, exam.port)
    total = value_or_none(pf.total_vfs)
    if not total or not isinstance(pf.total_vfs, Known):
        raise DoesNotApplyError("it offers no VFs")
    if known(pf.num_vfs, "the number of VFs") or not isinstance(pf.num_vfs, Known):
        return
    if exam.host[DriverLog].has_no_room_for_vfs(pf.pci_address):
        raise DoesNotApplyError("the kernel found no room for VFs")
    lenders = [port for port in exam.host[Ports].ports if _lends(exam, port)]
    bond = _bond(exam, exam.port)
    if bond and bond in [_bond(exam, port) for port in lenders]:
        raise DoesNotApplyError(f"VFs of the other port of {bond} use it through VF-LAG")
    guests = guests_on_a_switch(exam.host)
    yield exam.finding(
        Severity.NOTE if lenders or guests else Severity.RISK,
        (
            Evidence.of(pf.num_vfs, "0 VFs"),
            Evidence.of(pf.total_vfs, f"{total} VFs are possible"),
            *guests,
        ),
        so="no guest has direct access to this port"
        + ("; those that run use a virtual switch, which needs no VF" if guests else ""),
        remedies=(
            Remedy(
                text=f"create one VF per guest, at most {total}; with a bond of both ports in "
                "switchdev mode, only once its LAG is active",
                commands=(write_file(f"{SYSFS}/{pf.pci_address}/sriov_numvfs", "1"),),
                danger=Danger.DROPS_LINK,
                steps=(StepCall.of("vf_count", pci_address=pf.pci_address, num_vfs=1),),
            ),
        ),
        bounds=software_switch_bounds(best_bps(exam.host, (exam.port,)), exam.question.frame_bytes),
        unpriced="the cost depends on the software path that the guests use: measure it with and "
        "without VFs",
    )


def _lends(exam: PortExam, port: Port) -> bool:
    pf = exam.host[Sriov].pfs.get(port.pci_address or "")
    return pf is not None and isinstance(pf.num_vfs, Known) and pf.num_vfs.value > 0


def _bond(exam: PortExam, port: Port) -> str | None:
    links = exam.host[NetStack].links
    link = links.value.get(port.netdev or "") if isinstance(links, Known) else None
    master = link.master if link else None
    return master.value if isinstance(master, Known) else None


RULE = PortRule(
    slug="sriov.no_vfs",
    title="No VFs created for guests",
    why="VFs do not survive a reboot unless something creates them again. A guest without a VF "
    "shares the port through a software switch. Guests that a switch in user space has by "
    "vhost-user are meant to: there VFs are a choice.",
    source="https://docs.kernel.org/PCI/pci-iov-howto.html",
    purposes=frozenset({Purpose.GUESTS}),
    price=SOFTWARE_SWITCH_FORMULA,
    shows=(Symptom.NO_VFS,),
    first=(Symptom.IOMMU_OFF, Symptom.REBOOT_PENDING),
    check=_check,
)
