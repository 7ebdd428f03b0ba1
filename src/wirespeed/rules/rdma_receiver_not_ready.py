"""A program has no receive posted when an RDMA message comes."""

from collections.abc import Iterator

from wirespeed.facts.workload import Workload
from wirespeed.model.finding import ByHand, Finding, Remedy, Severity
from wirespeed.model.rule import PortExam, PortRule
from wirespeed.model.symptom import Symptom
from wirespeed.rules.rdma_packets_lost import counted, rdma_ports

HERE = ("out_of_buffer", "rx_out_of_buffer")
PEER = ("rnr_nak_retry_err", "rnr_naks_rcvd")


def _check(exam: PortExam) -> Iterator[Finding]:
    for rdma in rdma_ports(exam):
        for names, whose in ((HERE, "a program of this host"), (PEER, "the peer's program")):
            seen, is_now = counted(rdma, names)
            if not seen or not is_now:
                continue
            # Of an older kernel or firmware, DPDK's own queues are counted here: it reads the
            # counter as its `imissed` (mlx5_os_read_dev_stat() of drivers/net/mlx5).
            may_be_dpdk = names is HERE and exam.host[Workload].has_dpdk
            yield exam.finding(
                Severity.RISK,
                seen,
                so=f"{whose} takes messages more slowly than they arrive: each refused message "
                "waits for the receiver-not-ready timer and is sent again"
                + ("; a packet for DPDK, which runs here, is lost instead" if may_be_dpdk else ""),
                remedies=(
                    Remedy(
                        text=f"let {whose} post more receives (a deeper receive queue, or a "
                        "shared one), or give its thread its own core; the network is not "
                        "the cause",
                        by_hand=ByHand.WORKLOAD,
                    ),
                ),
                unpriced="the cost depends on the receiver-not-ready timer, which the program sets",
            )


RULE = PortRule(
    slug="rdma.receiver_not_ready",
    title="RDMA receive queue empty when messages arrive",
    why="A send needs a receive that the other side posted in advance. Without one the card "
    "drops the message. A reliable connection sends it again after up to half a second; UD "
    "and multicast lose it.",
    source="InfiniBand Architecture Specification 1.4, 9.7.5.2.8 (RNR NAK); "
    "drivers/infiniband/hw/mlx5/counters.c (out_of_buffer, rnr_nak_retry_err); "
    "hw/bnxt_re/hw_counters.c (rx_out_of_buffer, rnr_naks_rcvd)",
    explains=(Symptom.LOW_FIGURE,),
    check=_check,
)
