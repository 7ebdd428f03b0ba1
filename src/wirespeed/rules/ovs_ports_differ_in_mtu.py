"""Ports of DPDK in one bridge of Open vSwitch, of which some take longer packets than others."""

from collections.abc import Iterator

from wirespeed.facts.netstack import named_plainly
from wirespeed.facts.ovs import Ovs, OvsBridge, OvsInterface
from wirespeed.model.command import Command
from wirespeed.model.finding import ByHand, Danger, Evidence, Finding, Remedy, Severity
from wirespeed.model.observed import Known
from wirespeed.model.rule import HostExam, HostRule
from wirespeed.model.symptom import Symptom
from wirespeed.rules.ovs_kernel_port_in_userspace import userspace_bridges

TSO = "userspace-tso-enable"
COLLAPSED_BPS = 10e6
"""One hundredth of the slowest port that DPDK drives: where only short packets arrive, TCP has no
more."""
MOST_SHOWN = 4
Ports = dict[str, int]
"""Name to MTU."""


def _check(exam: HostExam) -> Iterator[Finding]:
    ovs = exam.host[Ovs]
    for bridge in userspace_bridges(ovs):
        ports = [one for one in ovs.interfaces_in(bridge) if isinstance(one.mtu, Known)]
        cards = _mtus(one for one in ports if one.kind == "dpdk")
        guests = _mtus(one for one in ports if one.is_vhost_user)
        if cards and guests and len({*cards.values(), *guests.values()}) > 1:
            yield _finding(exam, ovs, bridge, cards, guests)


def _mtus(ports: Iterator[OvsInterface]) -> Ports:
    return {one.name: one.mtu.value for one in ports if isinstance(one.mtu, Known)}


def _finding(exam: HostExam, ovs: Ovs, bridge: OvsBridge, cards: Ports, guests: Ports) -> Finding:
    both = {**cards, **guests}
    least = min(both.values())
    is_cut_by_card = ovs.setting(TSO) == "true"
    measured_bps = exam.question.measured_bps
    is_collapsed = measured_bps is not None and measured_bps < COLLAPSED_BPS
    # A guest that may send more than the card's port lets out loses it; what comes in is as long
    # as the network's own MTU, unless the switch or the card cuts it by the larger one.
    is_risky = max(guests.values()) > min(cards.values()) or is_cut_by_card or is_collapsed
    larger = [name for name, mtu in both.items() if mtu > least]
    smaller = [name for name, mtu in both.items() if mtu == least]
    return exam.finding(
        Severity.RISK if is_risky else Severity.NOTE,
        (
            *(
                Evidence(found=f"{name}: MTU {both[name]}", source=_source(name))
                for name in (*larger[:MOST_SHOWN], *smaller[:MOST_SHOWN])
            ),
            *(
                [
                    Evidence(
                        found=f"{TSO} is true", source="ovs-vsctl get Open_vSwitch . other_config"
                    )
                ]
                if is_cut_by_card
                else []
            ),
        ),
        so=f"a packet longer than {least} bytes is dropped where it is to leave by "
        f"{_shown(smaller)}, and the sender gets no error"
        + ("; what the card cuts for TCP is as long as the larger MTU" if is_cut_by_card else "")
        + (
            "; the measured figure is what TCP has left where only short packets arrive"
            if is_collapsed
            else ""
        ),
        where=bridge.name,
        remedies=(
            Remedy(
                text=f"give all ports of {bridge.name} the same MTU, that of the network and of "
                "the guests' own adapters; the daemon's log names each packet that it drops so, "
                "as `Too big size`",
                commands=tuple(
                    Command(argv=("ovs-vsctl", "set", "Interface", name, f"mtu_request={least}"))
                    for name in larger
                    if named_plainly(name)
                ),
                danger=Danger.DROPS_LINK,
                by_hand=ByHand.FAR_END,
            ),
        ),
        unpriced="all longer packets are lost; short packets are not affected",
    )


def _source(name: str) -> str:
    return (
        f"ovs-vsctl get Interface {name} mtu" if named_plainly(name) else "ovs-vsctl list Interface"
    )


def _shown(names: list[str]) -> str:
    more = f" and {len(names) - MOST_SHOWN} more" if len(names) > MOST_SHOWN else ""
    return ", ".join(names[:MOST_SHOWN]) + more


RULE = HostRule(
    slug="ovs.ports_differ_in_mtu",
    title="Ports of one userspace bridge differ in MTU",
    why="Before it sends, Open vSwitch with DPDK drops each packet that is longer than the port's "
    "own MTU, and writes no error to the sender. Connections start and then hang, or fall to some "
    "kb/s. With segmentation by the card, its pieces are as long as the MTU of the card's port.",
    source="openvswitch lib/netdev-dpdk.c (netdev_dpdk_filter_packet_len); "
    "https://github.com/openvswitch/ovs-issues/issues/321; "
    "https://docs.openvswitch.org/en/latest/topics/dpdk/jumbo-frames/ (mtu_request)",
    explains=(Symptom.SEGMENTS_RESENT, Symptom.LOW_FIGURE),
    check=_check,
)
