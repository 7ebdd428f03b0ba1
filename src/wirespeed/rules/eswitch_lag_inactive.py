"""Two ports of a card in a bond, whose VFs still have one port each."""

from collections.abc import Iterator

from wirespeed.ceilings.bounds import second_port_bounds
from wirespeed.facts.driver_log import LAG_FAILED, DriverLog
from wirespeed.facts.eswitch import Eswitch, PfEswitch
from wirespeed.facts.link import best_bps
from wirespeed.facts.netstack import Link, NetStack
from wirespeed.facts.ports import Ports
from wirespeed.facts.sriov import SYSFS, Sriov, SriovPf
from wirespeed.model.command import write_file
from wirespeed.model.finding import ByHand, Danger, Evidence, Finding, Remedy, Severity
from wirespeed.model.observed import Absent, Known, known
from wirespeed.model.question import Purpose
from wirespeed.model.rule import DoesNotApplyError, HostExam, HostRule
from wirespeed.model.symptom import Symptom

MODES = ("active-backup", "balance-xor", "802.3ad")
"""Others are not offloaded: mlx5_handle_changeupper_event."""
FROM_LOG = "dmesg"


def _check(exam: HostExam) -> Iterator[Finding]:
    stack, applies = exam.host[NetStack], False
    addresses = {p.netdev: p.pci_address for p in exam.host[Ports].ports}
    for bond in (link for link in known(stack.links, "the netdevs").values() if link.bond):
        members = [addresses.get(member.netdev) for member in stack.members(bond.netdev)]
        pfs = [exam.host[Sriov].pfs[a] for a in members if a in exam.host[Sriov].pfs]
        pfs = [pf for pf in pfs if pf.is_mellanox and not pf.is_lent_vf]
        for card in sorted({_card(pf.pci_address) for pf in pfs}):
            own = [pf for pf in pfs if _card(pf.pci_address) == card]
            if len(own) > 1:
                applies = True
                yield from _bonded(exam, bond, own, len(members) - len(own))
    if not applies:
        raise DoesNotApplyError("no two ports of one mlx5 card are in a bond")


def _card(address: str) -> str:
    return address.rpartition(".")[0]


def _bonded(exam: HostExam, bond: Link, pfs: list[SriovPf], others: int) -> Iterator[Finding]:
    eswitches = [exam.host[Eswitch].pfs[pf.pci_address] for pf in pfs]
    modes = {known(one.mode, f"eswitch mode of {one.pci_address}") for one in eswitches}
    vfs = sum(known(pf.num_vfs, f"VFs of {pf.pci_address}") for pf in pfs)
    if modes == {"legacy"}:
        if vfs and exam.question.purpose is Purpose.GUESTS:
            yield _finding(exam, bond, pfs, eswitches, Severity.NOTE, [])
        return
    log = exam.host[DriverLog]
    by_log = log.is_lag_active([pf.pci_address for pf in pfs])
    if by_log is None or not all(isinstance(one.lag_state, Absent) for one in eswitches):
        states = {known(one.lag_state, f"LAG state of {one.pci_address}") for one in eswitches}
        if states == {"active"}:
            return
    elif by_log.value:
        return
    why = [
        Evidence(found=line, source=FROM_LOG)
        for pf in pfs
        for line in log.lag.get(pf.pci_address, ())
        if LAG_FAILED.search(line)
    ]
    if bond.bond and isinstance(bond.bond.mode, Known) and bond.bond.mode.value not in MODES:
        why.append(Evidence.of(bond.bond.mode, f"bond mode {bond.bond.mode.value}: no LAG in it"))
    if others:
        why.append(
            Evidence(
                found=f"members of {bond.netdev} that are not on this card: {others}",
                source=f"ip link show master {bond.netdev}",
            )
        )
    why += [
        Evidence.of(one.lag_state, f"LAG of {one.pci_address}: {one.lag_state.value}")
        for one in eswitches
        if isinstance(one.lag_state, Known)
    ]
    yield _finding(exam, bond, pfs, eswitches, Severity.FAULT if vfs else Severity.RISK, why)


def _finding(
    exam: HostExam,
    bond: Link,
    pfs: list[SriovPf],
    eswitches: list[PfEswitch],
    severity: Severity,
    why: list[Evidence],
) -> Finding:
    is_legacy = severity is Severity.NOTE
    with_vfs = [pf for pf in pfs if isinstance(pf.num_vfs, Known) and pf.num_vfs.value]
    return exam.finding(
        severity,
        (
            *why,
            *(
                Evidence.of(one.mode, f"eswitch of {one.pci_address}: {one.mode.value}")
                for one in eswitches
                if isinstance(one.mode, Known)
            ),
            *(
                Evidence.of(pf.num_vfs, f"{pf.num_vfs.value} VFs of {pf.pci_address}")
                for pf in with_vfs
                if isinstance(pf.num_vfs, Known)
            ),
        ),
        so="each VF uses only the port that it was created on and loses its link with that port: "
        "only a bond inside the guest, over one VF of each port, fails over"
        if is_legacy
        else (
            "each VF uses one port only: it does not fail over with the bond, it does not use "
            "the other port, and flows through the bond are not offloaded"
        ),
        where=bond.netdev,
        remedies=()
        if is_legacy
        else (
            Remedy(
                text="remove the VFs, wait until "
                f"/sys/kernel/debug/mlx5/{pfs[0].pci_address}/lag/state says active, and "
                "only then create and bind them again; both ports must be in switchdev "
                "mode, with no other member in the bond",
                commands=tuple(
                    write_file(f"{SYSFS}/{pf.pci_address}/sriov_numvfs", "0") for pf in with_vfs
                ),
                danger=Danger.DROPS_LINK,
                by_hand=ByHand.NO_STEP,
            ),
        ),
        bounds=()
        if is_legacy
        else second_port_bounds(_other_port(exam, with_vfs), exam.question.frame_bytes),
        unpriced="it costs the second port's capacity, and the VFs' link when the first port fails",
    )


def _other_port(exam: HostExam, with_vfs: list[SriovPf]) -> Known[int] | None:
    """Speed of the port that VFs do not use; of any, while there are none."""
    used = {pf.pci_address for pf in with_vfs}
    return best_bps(exam.host, (p for p in exam.ports if p.pci_address not in used))


RULE = HostRule(
    slug="eswitch.lag_inactive",
    title="VF-LAG inactive: VFs created before the bond",
    why="In switchdev mode the card can treat two bonded ports as one, so that a VF sends and "
    "receives on either. This must be active before any VF is bound; a VF that was bound "
    "earlier stays on one port, without a message.",
    source="https://docs.nvidia.com/doca/sdk/ovs-kernel+hardware+acceleration/index.html (SR-IOV "
    "VF LAG); kernel commit 7f46a0b7327a (debugfs: lag/state); before that, mlx5/core/lag.c "
    "(Failed to activate VF LAG)",
    price="at most: line rate of the other port",
    explains=(Symptom.NOT_OFFLOADED, Symptom.LOW_FIGURE),
    check=_check,
)
