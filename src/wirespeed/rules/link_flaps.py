"""A port whose link goes down again and again."""

from collections.abc import Iterator

from wirespeed.facts.bonds import Bonds
from wirespeed.facts.counters import Counters, Place
from wirespeed.facts.ethtool import ethtool_command
from wirespeed.facts.link import link_of
from wirespeed.model.command import Command
from wirespeed.model.finding import ByHand, Evidence, Finding, Remedy, Severity
from wirespeed.model.observed import Absent, Known, known
from wirespeed.model.rule import DoesNotApplyError, PortExam, PortRule
from wirespeed.model.symptom import Symptom

MANY = 10
"""Since the driver was loaded. Fewer are restarts of the switch, and settings that were changed:
most drivers take the link down for a new MTU, ring or number of channels."""


def _check(exam: PortExam) -> Iterator[Finding]:
    link_of(exam.host, exam.port)
    delta = exam.host[Counters].delta(exam.port.netdev, Place.LINK_DOWN)
    total = exam.host[Counters].total(exam.port.netdev, Place.LINK_DOWN)
    if isinstance(total, Absent):
        raise DoesNotApplyError(f"{Place.LINK_DOWN}: {total.reason}")
    now, times = known(delta, Place.LINK_DOWN), known(total, Place.LINK_DOWN)
    name = " + ".join(now.counters)
    if now.count:
        yield _finding(
            exam,
            Severity.FAULT,
            Evidence(
                found=f"{name} grew by {now.count} in {now.seconds:.2f} s", source=delta.source
            ),
            "the link went down during the capture: each time frames in flight are lost, and no "
            "traffic passes until both ends have trained again",
        )
    elif times >= MANY and not _is_in_bond(exam):
        yield _finding(
            exam,
            Severity.NOTE,
            Evidence(
                found=f"{name}: {times} since the driver was loaded; none now", source=total.source
            ),
            "the counter also counts links taken down by changed settings and by restarts of the "
            "switch, so some of these may be no fault",
        )


def _finding(exam: PortExam, severity: Severity, evidence: Evidence, so: str) -> Finding:
    return exam.finding(
        severity,
        (evidence,),
        so=so,
        remedies=(
            Remedy(
                text="find the times in the kernel's log, and whether a person or a program set "
                "the port down; if not, check the module, the cable and the switch port",
                commands=(
                    ethtool_command("-m", exam.port.netdev or ""),
                    Command(argv=("dmesg", "-T")),
                ),
                by_hand=ByHand.FIND_FIRST,
            ),
        ),
        unpriced="each time costs the frames in flight and the seconds until the link is back",
    )


def _is_in_bond(exam: PortExam) -> bool:
    """Whether `bond.link_flaps` counts it: by its own count, beside that of the other members."""
    states = [one.value for one in exam.host[Bonds].bonds.values() if isinstance(one, Known)]
    return any(m.netdev == exam.port.netdev for state in states for m in state.members)


RULE = PortRule(
    slug="link.flaps",
    title="Link went down repeatedly",
    why="A link that fails and recovers loses traffic for a moment, and only the kernel's log "
    "reports it, until the log rotates. The card (mlx5, bnxt_en) or the kernel counts how "
    "often. Typical causes are a marginal cable or module, and different settings at the two "
    "ends.",
    source="https://docs.kernel.org/networking/device_drivers/ethernet/mellanox/mlx5/counters.html "
    "(link_down_events_phy); Linux, Documentation/ABI/testing/sysfs-class-net "
    "(carrier_down_count, since 4.16); drivers/net/ethernet/broadcom/bnxt/bnxt_ethtool.c",
    shows=(Symptom.LINK_FLAPS,),
    explains=(Symptom.BOND_DEGRADED, Symptom.LOW_FIGURE),
    check=_check,
)
