"""An RSS table that gives all flows to one receive queue, or far more to one than to another."""

from collections.abc import Iterator

from wirespeed.facts.ethtool import ethtool_command
from wirespeed.facts.sriov import Sriov
from wirespeed.facts.steering import Steering
from wirespeed.model.finding import Evidence, Finding, Remedy, Severity, StepCall
from wirespeed.model.observed import Absent, Known, known
from wirespeed.model.rule import DoesNotApplyError, PortExam, PortRule
from wirespeed.model.symptom import Symptom

SKEWED = 2
"""A table of 128 entries over 63 queues gives 2 or 3 to each: below 2 to 1 it is rounding."""
IXGBE = "ixgbe"
IXGBE_QUEUES, X550_QUEUES = 16, 64
"""Queues that a table of ixgbe can name, before X550 and since: ixgbe_rss_indir_tbl_max of
drivers/net/ethernet/intel/ixgbe/ixgbe_ethtool.c, which ixgbe_set_rxfh asks."""
FIRST_X550 = 0x1563
"""PCI device numbers of ixgbe's cards before X550 are lower: ixgbe_type.h."""

MLX4 = ("mlx4_core", "mlx4_en")
"""It takes a power of two of queues (mlx4_en_set_rxfh, drivers/net/ethernet/mellanox/mlx4)."""


def _check(exam: PortExam) -> Iterator[Finding]:
    netdev = exam.kernel_netdev
    steering = exam.host[Steering].of(netdev)
    if isinstance(steering.rss_entries, Absent):
        raise DoesNotApplyError("the card has no RSS table")
    entries = known(steering.rss_entries, "the RSS table")
    rings = known(steering.rx_rings, "number of receive queues")
    if exam.port.driver == IXGBE:
        rings = min(rings, _ixgbe_queues(exam, len(entries)))
    # A table of fewer entries names no more queues, and is read again as one of so many.
    rings = min(rings, sum(entries.values()))
    if exam.port.driver in MLX4 and rings:
        rings = 1 << rings.bit_length() - 1
    if rings < 2:
        raise DoesNotApplyError("it has one receive queue")
    total = sum(entries.values())
    busiest = max(entries, key=lambda queue: entries[queue])
    least = min(entries.values())
    if len(entries) == 1:
        severity, so = (
            Severity.FAULT,
            ("one core, that of the one queue, processes every flow of the port"),
        )
    elif entries[busiest] > SKEWED * least:
        severity = Severity.RISK
        share = entries[busiest] / total
        so = f"the core of queue {busiest} gets {share:.0%} of the flows and is saturated first"
    elif 2 * len(entries) <= rings and total > len(entries):
        severity = Severity.NOTE
        so = f"{rings - len(entries)} receive queues get no flow by RSS"
    else:
        return
    yield exam.finding(
        severity,
        (
            Evidence(
                found=f"{total} entries name {len(entries)} of {rings} queues; queue {busiest} is "
                f"in {entries[busiest]} entries, the rarest in {least}",
                source=steering.rss_entries.source,
            ),
        ),
        so=so,
        remedies=(
            Remedy(
                text="spread the flows evenly over all queues; ethtool -N filters stay as they are",
                commands=(ethtool_command("-X", netdev, "equal", str(rings)),),
                steps=(StepCall.of("rss", netdev=netdev, queues=rings),),
            ),
        ),
        unpriced="it costs throughput once one core is saturated: measure before and after",
    )


def _ixgbe_queues(exam: PortExam, named: int) -> int:
    """Give the most that the table can name; where the card is not known, the least possible."""
    pf = exam.host[Sriov].pfs.get(exam.port.pci_address or "")
    if pf is not None and isinstance(pf.device, Known):
        return X550_QUEUES if pf.device.value >= FIRST_X550 else IXGBE_QUEUES
    return X550_QUEUES if named > IXGBE_QUEUES else IXGBE_QUEUES


RULE = PortRule(
    slug="steering.rss_uses_few_queues",
    title="RSS spreads traffic unevenly over the queues",
    why="The card hashes each flow into an entry of its indirection table, and the entry names "
    "the receive queue, so the core that does the work. A table that names one queue makes "
    "one core do all of it. Some drivers do not update the table when the number of channels "
    "changes.",
    source="https://docs.kernel.org/networking/scaling.html (RSS: Receive Side Scaling)",
    explains=(Symptom.CPU_BEHIND, Symptom.NO_DESCRIPTOR, Symptom.LOW_FIGURE),
    check=_check,
)
