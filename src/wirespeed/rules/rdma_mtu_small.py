"""RoCE whose packets are shorter than the card, or the netdev's own MTU, allows."""

from collections.abc import Iterator

from wirespeed.facts.link import Links
from wirespeed.facts.netstack import NetStack, named_plainly
from wirespeed.facts.rdma import Rdma, RdmaPort
from wirespeed.model.bound import Bound, Limit
from wirespeed.model.ceiling import Input
from wirespeed.model.command import Command
from wirespeed.model.finding import ByHand, Danger, Evidence, Finding, Remedy, Severity, StepCall
from wirespeed.model.observed import Known, known
from wirespeed.model.question import Purpose
from wirespeed.model.rule import DoesNotApplyError, PortExam, PortRule
from wirespeed.model.symptom import Symptom

FAST_BPS = 25 * 10**9
MTUS = (4096, 2048, 1024, 512, 256)
"""InfiniBand Architecture Specification 1.4, 9.4.3."""
HEADERS = 96
"""What the kernel takes off the netdev's MTU: include/rdma/ib_addr.h, iboe_get_mtu()."""
AROUND = 14 + 20 + 8 + 12 + 4 + 4 + 20
"""Bytes around the payload of a RoCE v2 packet: Ethernet, IPv4, UDP, BTH, ICRC, FCS, and preamble
with gap."""
FORMULA = "1 - payload's share of the link now / that with the largest packets that fit"
ENOUGH = 4200
"""NVIDIA's advice for a RoCE MTU of 4096."""
MOVED = ("port_rcv_packets", "port_xmit_packets")
"""Of a port of Ethernet, mlx5 counts RDMA alone here (mlx5/mad.c, pma_cnt_ext_assign)."""


def _check(exam: PortExam) -> Iterator[Finding]:
    netdev = exam.port.netdev
    roce = [port for port in exam.host[Rdma].of(exam.port) if port.is_active_roce]
    link = exam.host[Links].by_netdev.get(netdev or "")
    if netdev is None or link is None or not roce:
        raise DoesNotApplyError("no RoCE device of it is active")
    if known(link.link_bps, f"speed of {netdev}") < FAST_BPS:
        raise DoesNotApplyError("the link is slower than 25 Gb/s")
    mtu = known(exam.host[NetStack][netdev].mtu, f"MTU of {netdev}")
    fitting = next((size for size in MTUS if size <= mtu - HEADERS), MTUS[-1])
    for rdma in roce:
        if fitting < MTUS[0]:
            # The netdev's MTU bounds it, whatever the tool would say.
            yield _bounded(exam, rdma, mtu, fitting)
            continue
        active = known(rdma.active_mtu, f"active MTU of {rdma.device}")
        most = known(rdma.max_mtu, f"maximum MTU of {rdma.device}")
        if active < min(fitting, most) and isinstance(rdma.active_mtu, Known):
            yield _stale(exam, rdma.active_mtu, rdma, mtu, min(fitting, most))


def _share(payload: int) -> float:
    """Give the part of the wire's time that is payload."""
    return payload / (payload + AROUND)


def _bounded(exam: PortExam, rdma: RdmaPort, mtu: int, fitting: int) -> Finding:
    netdev = exam.port.netdev or ""
    whole = exam.host[NetStack].sets_mtu(netdev)
    is_plain = named_plainly(whole)
    shown = (
        [Evidence.of(rdma.active_mtu, f"{rdma.device}: active MTU {rdma.active_mtu.value}")]
        if isinstance(rdma.active_mtu, Known)
        else []
    )
    is_risky = fitting <= MTUS[2] and _is_for_storage(exam, rdma)
    return exam.finding(
        Severity.RISK if is_risky else Severity.NOTE,
        (Evidence(found=f"MTU {mtu}", source=f"ip link show {netdev}"), *shown),
        so=f"a RoCE packet carries at most {fitting} bytes: {_share(fitting):.1%} of the link is "
        f"payload; with {MTUS[0]} bytes it is {_share(MTUS[0]):.1%}, in {fitting / MTUS[0]:.0%} of "
        "the packets"
        + (
            f"; a block of storage takes {MTUS[0] // fitting} times the packets, and the card has "
            "a limit of packets a second"
            if is_risky
            else ""
        ),
        remedies=(
            Remedy(
                text=f"set MTU {ENOUGH} or more (such as 9000) on both hosts and every switch "
                "between, then restart the RDMA programs: new connections use the smaller of "
                "both ends' values",
                commands=(Command(argv=("ip", "link", "set", "dev", whole, "mtu", "9000")),)
                if is_plain
                else (),
                danger=Danger.DROPS_LINK,
                steps=(StepCall.of("mtu", netdev=whole, mtu=9000),) if is_plain else (),
                by_hand=None if is_plain else ByHand.NO_NAME,
            ),
        ),
        bounds=_bound(_share(fitting), MTUS[0], f"{fitting}", f"ip link show {netdev}")
        if is_risky
        else (),
        unpriced="large messages reach the share above; small ones are shorter than one packet",
    )


def _is_for_storage(exam: PortExam, rdma: RdmaPort) -> bool:
    """Whether the port is for storage, and its RDMA is not known to have carried nothing."""
    moved = [rdma.totals[name] for name in MOVED]
    is_unused = all(isinstance(count, Known) and count.value == 0 for count in moved)
    return exam.question.purpose is Purpose.STORAGE and not is_unused


def _bound(share: float, possible: int, shown: str, source: str) -> tuple[Bound, ...]:
    return (
        Bound.of_share(
            Limit.AT_MOST,
            1 - share / _share(possible),
            "of the payload that large messages carry at line rate",
            FORMULA,
            Input(name="active MTU", shown=shown, source=source),
        ),
    )


def _stale(exam: PortExam, active: Known[int], rdma: RdmaPort, mtu: int, possible: int) -> Finding:
    netdev = exam.port.netdev or ""
    return exam.finding(
        Severity.RISK,
        (
            Evidence.of(active, f"{rdma.device}: active MTU {active.value}"),
            Evidence(found=f"MTU {mtu}", source=f"ip link show {netdev}"),
        ),
        so=f"a RoCE packet carries {active.value} bytes although the netdev has room for more: "
        f"{_share(active.value):.1%} of the link is payload; with {possible} bytes it is "
        f"{_share(possible):.1%}",
        remedies=(
            Remedy(
                text="make the driver read the MTU again: set the netdev's MTU to another "
                "value and back, and restart the RDMA programs; check the MTU of a bond or "
                "VLAN above it too",
                by_hand=ByHand.FIND_FIRST,
            ),
        ),
        bounds=_bound(_share(active.value), possible, f"{active.value}", active.source),
    )


RULE = PortRule(
    slug="rdma.mtu_small",
    title="RoCE packets smaller than they could be",
    why="RoCE packets have 256, 512, 1024, 2048 or 4096 bytes of payload; the driver uses the "
    "largest that fits into the netdev's MTU less 96 bytes of headers: 1024 at MTU 1500, 4096 "
    "from 4192 on. Small packets spend more of the link on headers and acknowledgements, and "
    "reach the card's limit of packets per second earlier: a risk where the port is for storage.",
    source="include/rdma/ib_addr.h (iboe_get_mtu) of Linux; MLNX2-117-1682kn, MTU considerations "
    "for RoCE based applications; InfiniBand Architecture Specification 1.4, annex A17",
    price=f"at most, where the netdev has room for more: {FORMULA}",
    explains=(Symptom.LOW_FIGURE,),
    check=_check,
)
