"""Switches mark RDMA packets, or a sender ignores what it is told of it."""

from collections.abc import Iterator

from wirespeed.model.finding import ByHand, Finding, Remedy, Severity
from wirespeed.model.observed import Absent
from wirespeed.model.rule import PortExam, PortRule
from wirespeed.model.symptom import Symptom
from wirespeed.rules.rdma_packets_lost import counted, rdma_ports

MARKED = (
    "np_ecn_marked_roce_packets", "np_cnp_sent", "rp_cnp_handled",
    "rx_ecn_marked_pkts", "tx_cnp_pkts", "rx_cnp_pkts",
    "RxECNMrkd", "cnpSent", "cnpHandled",
)  # fmt: skip
"""Of mlx5, bnxt_re and irdma; bnxt_re does not count what it ignores."""
IGNORED = {
    "rp_cnp_ignored": "/sys/class/net/NETDEV/ecn/roce_rp/enable, or ROCE_CC_PRIO_MASK by mstconfig",
    "cnpIgnored": "/sys/kernel/config/irdma/DEVICE/roce_dcqcn_enable",
}
"""Of mlx5 and irdma, and where each is told to obey."""


def _check(exam: PortExam) -> Iterator[Finding]:
    for rdma in rdma_ports(exam):
        marked, is_marked_now = counted(rdma, MARKED)
        names = tuple(name for name in IGNORED if not isinstance(rdma.rises[name], Absent))
        ignored, ignores_now = counted(rdma, names) if names else ((), False)
        if ignores_now:
            yield exam.finding(
                Severity.FAULT,
                ignored,
                so="the card ignores requests to slow down: switch queues fill, and switches "
                "drop frames or send pause frames",
                remedies=(
                    Remedy(
                        text="enable the reaction point (DCQCN) for the priority that RDMA uses, "
                        f"here and at the peers: {IGNORED[names[0]]}",
                        by_hand=ByHand.FAR_END,
                    ),
                ),
                unpriced="the switch counts what full queues cost: drops and pause frames of its "
                "ports",
            )
        elif is_marked_now:
            yield exam.finding(
                Severity.NOTE,
                marked,
                so="switches on the path mark RDMA packets and senders slow down: several "
                "senders share a port, or a port on the path is slower than this one",
                remedies=(
                    Remedy(
                        text="find the port at which these senders meet; marking is how an "
                        "oversubscribed port slows its senders, and is not a fault by itself",
                        by_hand=ByHand.FAR_END,
                    ),
                ),
                unpriced="the cost depends on what others send to the same port",
            )


RULE = PortRule(
    slug="rdma.congested",
    title="RDMA congestion marked or ignored",
    why="With ECN a switch marks packets before its queue is full, the receiver answers with a "
    "notification (CNP), and the sender slows down. A sender that ignores the notification "
    "fills the switch's queue, and the switch then drops packets or pauses whole ports.",
    source="Zhu et al., Congestion Control for Large-Scale RDMA Deployments (DCQCN), SIGCOMM 2015; "
    "drivers/infiniband/hw/mlx5/counters.c (rp_cnp_ignored, np_cnp_sent); "
    "hw/bnxt_re/hw_counters.c; hw/irdma/verbs.c (cnpIgnored); Intel 635330, Congestion Control "
    "Parameter Settings",
    explains=(Symptom.LOW_FIGURE,),
    check=_check,
)
