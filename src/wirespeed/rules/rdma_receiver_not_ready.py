"""A program has no receive posted when an RDMA message comes."""

from collections.abc import Iterator

from wirespeed.model.finding import ByHand, Finding, Remedy, Severity
from wirespeed.model.rule import PortExam, PortRule
from wirespeed.rules.rdma_packets_lost import counted, rdma_ports

HERE = ("out_of_buffer",)
PEER = ("rnr_nak_retry_err",)


def _check(exam: PortExam) -> Iterator[Finding]:
    for rdma in rdma_ports(exam):
        for names, whose in ((HERE, "a program of this host"), (PEER, "the peer's program")):
            seen, is_now = counted(rdma, names)
            if not seen or not is_now:
                continue
            yield exam.finding(
                Severity.RISK,
                seen,
                so=f"{whose} takes messages more slowly than they come: each waits for the "
                "receiver-not-ready time, and is sent again",
                remedies=(
                    Remedy(
                        text=f"have {whose} post more receives (a deeper receive queue, a shared "
                        "one), or give its thread a core of its own; the network is not the cause",
                        by_hand=ByHand.WORKLOAD,
                    ),
                ),
                unpriced="the time that a queue pair waits is the program's own setting",
            )


RULE = PortRule(
    slug="rdma.receiver_not_ready",
    title="RDMA receive queue empty when messages arrive",
    why="A send needs a receive that the other side posted before. Where there is none, the card "
    "drops the message, and a reliable connection tries again after a time of up to half a "
    "second. UD and multicast lose it.",
    source="InfiniBand Architecture Specification 1.4, 9.7.5.2.8 (RNR NAK); "
    "drivers/infiniband/hw/mlx5/counters.c (out_of_buffer, rnr_nak_retry_err)",
    check=_check,
)
