"""RoCE in a priority in which the card neither reports congestion nor obeys reports of it."""

from collections.abc import Iterator
from dataclasses import dataclass

from wirespeed.facts.dcb import Dcb, PortDcb
from wirespeed.facts.firmware import Firmware
from wirespeed.facts.rdma import Rdma, RdmaPort
from wirespeed.model.finding import ByHand, Danger, Evidence, Finding, Remedy, Severity
from wirespeed.model.observed import Absent, CannotTellError, Known, Observed, known, read_as
from wirespeed.model.rule import DoesNotApplyError, PortExam, PortRule
from wirespeed.model.symptom import Symptom
from wirespeed.rules.rdma_priority_not_lossless import has_vlan

ALL = frozenset(range(8))
MASK = "ROCE_CC_PRIO_MASK_P"
"""Of mstconfig: bit n is priority n (mstflint, mlxconfig_host.db, nv_roce_cc)."""


@dataclass(frozen=True, slots=True)
class _Point:
    """One half of congestion control."""

    name: str
    priorities: Observed[frozenset[int]]


def _check(exam: PortExam) -> Iterator[Finding]:
    netdev = exam.port.netdev
    roce = [port for port in exam.host[Rdma].of(exam.port) if port.is_active_roce]
    if netdev is None or not roce:
        raise DoesNotApplyError("no RoCE device of it is active")
    dcb = exam.host[Dcb].by_netdev[netdev]
    points = _points(exam, dcb)
    lossless = known(dcb.lossless, "priorities with PFC")
    used = _used(exam, dcb, roce)
    off = [p for p in points if not used & known(p.priorities, p.name)]
    if not off:
        if not all(used <= known(p.priorities, p.name) for p in points):
            raise CannotTellError(
                "ECN is on for some priorities, and each program chooses its own",
                known_source(points[0]),
            )
        return
    shown = ", ".join(map(str, sorted(used)))
    is_paused = bool(used & lossless)
    is_of_driver = len(points) > 1
    yield exam.finding(
        Severity.NOTE if is_paused else Severity.RISK,
        (
            *(Evidence(found=f"{p.name} is off for priority {shown}", source=known_source(p))
              for p in off),
            Evidence(
                found=f"PFC is on for priority {', '.join(map(str, sorted(lossless)))}"
                if lossless
                else "PFC is on for no priority",
                source=dcb.lossless.source,
            ),
        ),
        so="when a queue of the switch is full, the switch pauses this host and others instead of "
        "slowing down the senders that fill the queue"
        if is_paused
        else "nothing slows RoCE down when a queue of the switch is full: the switch drops "
        "packets, and the sender sends everything after a lost packet again",
        remedies=(
            Remedy(
                text="enable both halves for the priority N of RoCE on every host, and ECN for its "
                "queue on every switch: "
                + (
                    f"write 1 to /sys/class/net/{netdev}/ecn/roce_np/enable/N and to "
                    "roce_rp/enable/N"
                    if is_of_driver
                    else f"set bit N of {_mask_name(exam)} with mstconfig, then reset the card"
                ),
                danger=Danger.NONE if is_of_driver else Danger.FIRMWARE,
                by_hand=ByHand.FAR_END,
            ),
        ),
        unpriced="rdma.packets_lost shows current losses",
    )  # fmt: skip


def known_source(point: _Point) -> str:
    """Give the command that shows a point's priorities."""
    return point.priorities.source


def _points(exam: PortExam, dcb: PortDcb) -> list[_Point]:
    """Both halves, by the driver's setting; where it has none, by the firmware's of this boot."""
    points = [
        _Point("the notification point (np)", dcb.ecn_notified),
        _Point("the reaction point (rp)", dcb.ecn_obeyed),
    ]
    if not all(isinstance(point.priorities, Absent) for point in points):
        return points
    address, name = exam.port.pci_address or "", _mask_name(exam)
    settings = exam.host[Firmware].of(address).settings
    if isinstance(settings, Absent):
        raise DoesNotApplyError("neither driver nor firmware has ECN by priority")
    setting = known(settings, "settings of the firmware").get(name)
    if setting is None:
        raise CannotTellError(
            "ECN of RoCE: the kernel's driver does not show it, and the firmware lists no such "
            "setting",
            f"mstconfig -d {address} q {name}",
        )
    current = setting.current if isinstance(setting.current, Known) else setting.next_boot
    return [_Point("congestion control of RoCE", read_as(current, _mask))]


def _mask_name(exam: PortExam) -> str:
    """Of the port that the function is: `.0` the first."""
    return f"{MASK}{int((exam.port.pci_address or '').rpartition('.')[2] or '0') + 1}"


def _mask(text: str) -> frozenset[int]:
    value = int(text)
    if not 0 <= value <= 0xFF:
        raise ValueError(f"{text[:20]!r} is not a mask of 8 priorities")
    return frozenset(n for n in ALL if value >> n & 1)


def _used(exam: PortExam, dcb: PortDcb, roce: list[RdmaPort]) -> frozenset[int]:
    """The priorities that RoCE may have; all of them where each program chooses."""
    trust = known(dcb.trust, "the priority trust mode of the card")
    if trust == "pcp":
        return ALL if has_vlan(exam, exam.port.netdev or "") else frozenset({0})
    used = set()
    for port in roce:
        if not isinstance(port.tos, Known) or not isinstance(dcb.priorities, Known):
            return ALL
        used.add(dcb.priorities.value.get(port.tos.value >> 2, 0))
    return frozenset(used)


RULE = PortRule(
    slug="rdma.no_congestion_control",
    title="RoCE without congestion control in its priority",
    why="With ECN (DCQCN) the receiver's card answers a marked packet, and the sender's card slows "
    "that connection down. Each half is enabled per priority. Without them a full switch queue "
    "drops packets, or with PFC pauses all senders at that switch.",
    source="Zhu et al., Congestion Control for Large-Scale RDMA Deployments (DCQCN), SIGCOMM 2015; "
    "https://docs.nvidia.com/doca/sdk/explicit+congestion+notification/index.html "
    "(ecn/roce_np/enable, ecn/roce_rp/enable)",
    explains=(Symptom.RDMA_LOSS, Symptom.LOW_FIGURE),
    check=_check,
)
