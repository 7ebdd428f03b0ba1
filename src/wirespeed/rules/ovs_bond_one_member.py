"""A bond of Open vSwitch whose mode sends all frames by one of its members."""

from collections.abc import Iterator

from wirespeed.facts.ovs import Ovs, OvsBridge, OvsPort
from wirespeed.model.finding import ByHand, Evidence, Finding, Remedy, Severity
from wirespeed.model.observed import Absent, Known, known
from wirespeed.model.rule import DoesNotApplyError, HostExam, HostRule
from wirespeed.model.symptom import Symptom

BY_MAC = "balance-slb"
INTERNAL = "internal"


def _check(exam: HostExam) -> Iterator[Finding]:
    ovs = exam.host[Ovs]
    if isinstance(ovs.other_config, Absent):
        raise DoesNotApplyError("Open vSwitch does not run")
    known(ovs.other_config, "Open vSwitch's settings")
    bonds = [port for port in ovs.ports.values() if len(port.interfaces) > 1]
    if not bonds:
        raise DoesNotApplyError("Open vSwitch has no bond")
    for port in bonds:
        bridge = ovs.bridge_of(port.interfaces[0])
        if isinstance(port.bond_mode, Absent):
            yield _one_at_a_time(exam, port)
        elif (
            known(port.bond_mode, f"bond_mode of {port.name}") == BY_MAC
            and bridge is not None
            and _has_one_address(ovs, bridge, port)
        ):
            yield _one_address(exam, port, bridge)


def _has_one_address(ovs: Ovs, bridge: OvsBridge, bond: OvsPort) -> bool:
    """Whether the bridge's own port is all that sends by the bond: no guest, no other bridge."""
    others = [one for one in ovs.interfaces_in(bridge) if one.name not in bond.interfaces]
    return len(others) == 1 and others[0].kind == INTERNAL


def _one_at_a_time(exam: HostExam, port: OvsPort) -> Finding:
    return exam.finding(
        Severity.NOTE,
        (
            Evidence(
                found=f"{len(port.interfaces)} interfaces and no bond_mode",
                source=f"ovs-vsctl get Port {port.name} bond_mode",
            ),
        ),
        so=f"without bond_mode the bond is active-backup: one of {len(port.interfaces)} members "
        "carries all frames, and the others are spares",
        where=port.name,
        remedies=(_remedy(),),
        unpriced="nothing is lost where one member is enough",
    )


def _one_address(exam: HostExam, port: OvsPort, bridge: OvsBridge) -> Finding:
    source = port.bond_mode.source if isinstance(port.bond_mode, Known) else ""
    return exam.finding(
        Severity.RISK,
        (
            Evidence(found=f"bond_mode {BY_MAC}", source=source),
            Evidence(
                found=f"{bridge.name} has no port but the bond and its own",
                source=f"ovs-vsctl list-ports {bridge.name}",
            ),
        ),
        so="balance-slb chooses the member by source MAC address and VLAN, and all frames carry "
        "the bridge's own address: one member carries all, the guests' tunnels included",
        where=port.name,
        remedies=(_remedy(),),
        unpriced="it costs throughput when the host sends more than one member can carry",
    )


def _remedy() -> Remedy:
    return Remedy(
        text="use bond_mode=balance-tcp, which hashes by addresses and ports, with lacp=active and "
        "LACP at the switch. With a userspace datapath also set other_config:lb-output-action="
        "true (Open vSwitch 2.14), or each packet passes the datapath twice",
        by_hand=ByHand.FAR_END,
    )


RULE = HostRule(
    slug="ovs.bond_one_member",
    title="Open vSwitch bond uses one of its members",
    why="Open vSwitch has three modes: active-backup, its default, uses one member; balance-slb "
    "spreads source MAC addresses and VLANs; balance-tcp spreads connections and needs LACP. "
    "A host that encapsulates its guests' traffic sends all of it from one MAC address.",
    source="ovs-vswitchd.conf.db(5), table Port, bond_mode; "
    "https://docs.openvswitch.org/en/latest/topics/bonding/",
    explains=(Symptom.UNEVEN_MEMBERS, Symptom.LOW_FIGURE),
    check=_check,
)
