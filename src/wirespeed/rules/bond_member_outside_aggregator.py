"""A member of an LACP bond that the switch does not take into the aggregate."""

from collections.abc import Iterator

from wirespeed.facts.bonds import Bonds
from wirespeed.model.finding import ByHand, Evidence, Finding, Remedy, Severity
from wirespeed.model.observed import Known, known
from wirespeed.model.rule import DoesNotApplyError, HostExam, HostRule
from wirespeed.model.symptom import Symptom


def _check(exam: HostExam) -> Iterator[Finding]:
    bonds = [known(o, f"bond {name}") for name, o in exam.host[Bonds].bonds.items()]
    lacp = [b for b in bonds if "802.3ad" in known(b.mode, f"mode of {b.netdev}")]
    if not lacp:
        raise DoesNotApplyError("there is no LACP bond")
    for bond in lacp:
        up = [m for m in bond.members if known(m.is_up, f"whether {m.netdev} is up")]
        numbers = {known(m.aggregator_id, f"aggregator of {m.netdev}") for m in up}
        if len(numbers) < 2:
            continue  # without root the driver does not say which one is active
        active = known(bond.active_aggregator_id, f"active aggregator of {bond.netdev}")
        outside = [m for m in up if known(m.aggregator_id, "aggregator") != active]
        if not outside:
            continue
        yield exam.finding(
            Severity.FAULT,
            tuple(
                Evidence.of(
                    m.aggregator_id,
                    f"{m.netdev} is up, in aggregator {m.aggregator_id.value}; {active} is active",
                )
                for m in outside
                if isinstance(m.aggregator_id, Known)
            ),
            so=f"{len(outside)} of {len(bond.members)} links carry nothing",
            where=bond.netdev,
            remedies=(
                Remedy(
                    text="put the switch ports of all members into one LACP group (with two "
                    "switches: MLAG, VLT or vPC), with the same speed and duplex",
                    by_hand=ByHand.FAR_END,
                ),
            ),
            unpriced="the ledger covers one port; the bond uses fewer ports than it has",
        )


RULE = HostRule(
    slug="bond.member_outside_aggregator",
    title="LACP bond member outside the active aggregator",
    why="LACP aggregates only links that end in the same group of the same partner. A link "
    "outside that aggregate stays up but carries no traffic.",
    source="https://docs.kernel.org/networking/bonding.html (802.3ad; ad_select)",
    shows=(Symptom.BOND_DEGRADED,),
    explains=(Symptom.UNEVEN_MEMBERS, Symptom.LOW_FIGURE),
    check=_check,
)
