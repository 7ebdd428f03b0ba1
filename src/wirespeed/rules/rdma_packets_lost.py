"""RDMA packets are lost on the way, or not answered in time, by the counters of either side."""

import math
from collections.abc import Iterator

from wirespeed.facts.dcb import Dcb
from wirespeed.facts.link import Links
from wirespeed.facts.rdma import Rdma, RdmaPort
from wirespeed.model.command import Command
from wirespeed.model.finding import ByHand, Evidence, Finding, Remedy, Severity
from wirespeed.model.observed import Absent, Known, Unreadable, known
from wirespeed.model.rule import DoesNotApplyError, PortExam, PortRule
from wirespeed.model.symptom import Symptom

WAY_IN = ("out_of_sequence", "rx_icrc_encapsulated", "oos_drop_count")
WAY_OUT = ("packet_seq_err", "implied_nak_seq_err", "seq_err_naks_rcvd")
"""What the peer says that it missed."""
UNANSWERED = ("local_ack_timeout_err", "roce_adp_retrans", "to_retransmits")
"""Where the peer says nothing, a packet may be lost, and the peer may be gone. The last of each are
bnxt_re's."""
INFINIBAND = (
    "InfiniBand does not drop packets when queues are full: check the links on the path "
    "(ibqueryerrors: symbol errors, link recoveries, discards) and the peer that does not answer"
)
LOSSLESS = (
    "make the path lossless or enable congestion control: use the same priority for RDMA on both "
    "hosts and every switch port between (DSCP and trust), PFC on that priority only, and ECN on "
    "its queues; then look for damaged frames (errors.physical) and for drops at the switch"
)
PEER = (
    "look at the peer first: whether its program runs, its address and GID, and its MTU (ping it "
    "with -M do and the size of the MTU)"
)
ADAPTIVE = "roce_adp_retrans"
ADAPTIVE_S = 2e-3
"""Adaptive retransmission of a ConnectX sends again after 2, 4, 8, 16 ms, whatever time-out the
program sets: linux-rdma/perftest, issue 251. NVIDIA, Adaptive Retransmission: Parameters Control,
has profiles whose times are shorter."""
TIMEOUT_S = 4.096e-6
"""A time-out of n is 2 to the power of n times that (Local ACK Timeout of InfiniBand)."""
MOST_TIMEOUT = 31
MOST_OLD = 10
"""So few since the driver was loaded are a cable pulled or a peer that ended."""


def rdma_ports(exam: PortExam) -> tuple[RdmaPort, ...]:
    """Give the RDMA ports of this port; raises DoesNotApplyError where it has none."""
    found = exam.host[Rdma].of(exam.port)
    if not found:
        raise DoesNotApplyError("it has no RDMA device")
    return found


def counted(rdma: RdmaPort, names: tuple[str, ...]) -> tuple[tuple[Evidence, ...], bool]:
    """Give what counters show, and whether any grew during the capture.

    Raises CannotTellError where they were not read twice, DoesNotApplyError where the driver has
    none of them.
    """
    present = [name for name in names if not isinstance(rdma.rises[name], Absent)]
    if not present:
        raise DoesNotApplyError(f"the driver of {rdma.device} has no such counter")
    rises = {name: known(rdma.rises[name], f"{name} of {rdma.device}") for name in present}
    grown = tuple(
        Evidence(found=f"{rdma.device}: {name} grew by {count}", source=rdma.source(name))
        for name, count in rises.items()
        if count
    )
    if grown:
        return grown, True
    totals = {name: total for name in present if isinstance(total := rdma.totals[name], Known)}
    old = tuple(
        Evidence(
            found=f"{rdma.device}: {name} {total.value}, before this capture",
            source=rdma.source(name),
        )
        for name, total in totals.items()
        if total.value > MOST_OLD
    )
    return old, False


def _check(exam: PortExam) -> Iterator[Finding]:
    for rdma in rdma_ports(exam):
        seen_in, now_in = counted(rdma, WAY_IN)
        seen_out, now_out = counted(rdma, WAY_OUT)
        unanswered, now_unanswered = counted(rdma, UNANSWERED)
        is_now = now_in or now_out or now_unanswered
        if is_now:
            seen_in = seen_in if now_in else ()
            seen_out = seen_out if now_out else ()
            unanswered = unanswered if now_unanswered else ()
        if not (seen_in or seen_out or unanswered):
            continue
        ways = (("on the path to this host", seen_in), ("on the path from this host", seen_out))
        where = " and ".join(way for way, seen in ways if seen)
        rtt_s = exam.question.rtt_s or 0.0
        is_impatient = rtt_s >= ADAPTIVE_S and not where
        yield exam.finding(
            Severity.FAULT if is_now else Severity.NOTE,
            (*seen_in, *seen_out, *unanswered, *_pause(exam)),
            so=_too_early(unanswered, rtt_s, is_now=is_now)
            if is_impatient
            else (_lost(where, is_now=is_now) if where else _no_answer(is_now=is_now)),
            remedies=(
                *(_wait_longer(exam, unanswered, rtt_s) if is_impatient else ()),
                Remedy(
                    text=("if it goes on: " if is_impatient else "")
                    + _advice(rdma, is_lost=bool(where)),
                    by_hand=ByHand.FAR_END,
                ),
            ),
            unpriced="the cost depends on how much each queue pair has in flight: measure it, as "
            "with ib_write_bw, while these counters stand still and while they grow",
        )


def _lost(where: str, *, is_now: bool) -> str:
    return (
        f"RDMA packets {'are' if is_now else 'were'} lost {where}: after each loss the queue pair "
        "sends everything since the lost packet again"
    )


def _no_answer(*, is_now: bool) -> str:
    return (
        f"RDMA packets of this host {'get' if is_now else 'got'} no answer in time, and no counter "
        "says that one was lost: the peer may not answer at all"
    )


def _too_early(unanswered: tuple[Evidence, ...], rtt_s: float, *, is_now: bool) -> str:
    """Of a way so long that the answer cannot come before the card stops waiting for it."""
    why = (
        "adaptive retransmission waits less, from some 2 ms on"
        if _is_adaptive(unanswered)
        else "the time-out that the program set may be shorter"
    )
    return (
        f"packets {'are' if is_now else 'were'} sent again, and no counter says that one was lost: "
        f"the answer takes a round trip of {rtt_s * 1e3:g} ms, and {why}"
    )


def _is_adaptive(unanswered: tuple[Evidence, ...]) -> bool:
    return any(ADAPTIVE in one.found for one in unanswered)


def _wait_longer(
    exam: PortExam, unanswered: tuple[Evidence, ...], rtt_s: float
) -> Iterator[Remedy]:
    if _is_adaptive(unanswered) and exam.port.pci_address is not None:
        register = ("mlxreg", "-d", exam.port.pci_address, "--reg_name", "ROCE_ACCL")
        yield Remedy(
            text="switch adaptive retransmission off on both hosts, so that the program's time-out "
            "holds; it is on again after a reset of the card",
            commands=(
                Command(argv=(*register, "--get")),
                Command(argv=(*register, "--set", "roce_adp_retrans_en=0x0")),
            ),
            by_hand=ByHand.FAR_END,
        )
    least = min(MOST_TIMEOUT, math.ceil(math.log2(2 * rtt_s / TIMEOUT_S)))
    yield Remedy(
        text=f"set the program's time-out to {least} or more, two round trips: NCCL_IB_TIMEOUT, or "
        "-u of perftest; it is 2 to that power times 4.096 µs",
        by_hand=ByHand.WORKLOAD,
    )


def _advice(rdma: RdmaPort, *, is_lost: bool) -> str:
    if isinstance(rdma.link_layer, Known) and rdma.link_layer.value == "InfiniBand":
        return INFINIBAND
    return LOSSLESS if is_lost else f"{PEER}. If it answers: {LOSSLESS}"


def _pause(exam: PortExam) -> Iterator[Evidence]:
    link = exam.host[Links].by_netdev.get(exam.port.netdev or "")
    if link is None or not isinstance(link.pause.receive, Known):
        return
    if link.pause.receive.value:
        return
    lossless = exam.host[Dcb].by_netdev[exam.port.netdev or ""].lossless
    unread = "; PFC was not read" if isinstance(lossless, Unreadable) else ""
    yield Evidence.of(link.pause.receive, f"global pause is off{unread}")
    if isinstance(lossless, Known):
        shown = ", ".join(map(str, sorted(lossless.value))) or "none"
        yield Evidence.of(lossless, f"priorities with PFC: {shown}")


RULE = PortRule(
    slug="rdma.packets_lost",
    title="RDMA packets lost or not answered in time",
    why="A RoCE card sends all packets again from the lost one on, so one loss in ten thousand "
    "already halves the rate of a fast queue pair. The receiver counts out_of_sequence; the "
    "sender counts packet_seq_err (a NAK received) and local_ack_timeout_err (no answer); "
    "bnxt_re calls them oos_drop_count, seq_err_naks_rcvd and to_retransmits. "
    "Together they show in which direction packets are lost. Over a long way, time-outs alone "
    "do not mean loss: the card sends again before the answer can come.",
    source="drivers/infiniband/hw/mlx5/counters.c; hw/bnxt_re/hw_counters.c; "
    "https://enterprise-support.nvidia.com/s/article/understanding-mlx5-linux-counters-and-status-"
    "parameters; Guo et al., RDMA over Commodity Ethernet at Scale, SIGCOMM 2016, section 4; "
    "https://docs.nvidia.com/networking/display/AdaptiveRetransmissionParametersControl; "
    "https://github.com/linux-rdma/perftest/issues/251",
    shows=(Symptom.RDMA_LOSS,),
    explains=(Symptom.LOW_FIGURE,),
    check=_check,
)
