"""A bond with a member whose link is down."""

from collections.abc import Iterator

from wirespeed.facts.bonds import Bonds
from wirespeed.facts.netstack import named_plainly
from wirespeed.model.command import Command
from wirespeed.model.finding import ByHand, Evidence, Finding, Remedy, Severity
from wirespeed.model.observed import Known, known
from wirespeed.model.rule import DoesNotApplyError, HostExam, HostRule
from wirespeed.model.symptom import Symptom


def _check(exam: HostExam) -> Iterator[Finding]:
    bonds = exam.host[Bonds].bonds
    if not bonds:
        raise DoesNotApplyError("there is no bond")
    for netdev, observed in bonds.items():
        bond = known(observed, f"bond {netdev}")
        down = [m for m in bond.members if not known(m.is_up, f"whether {m.netdev} is up")]
        if not down:
            continue
        mode = known(bond.mode, f"mode of {netdev}")
        up = len(bond.members) - len(down)
        is_spare = "active-backup" in mode and up > 0
        if not is_spare:
            so = f"the bond has {up} of {len(bond.members)} links"
        elif up == 1:
            so = "the bond has no other port to fail over to"
        else:
            so = f"the bond has {up - 1} of {len(bond.members) - 1} spare ports left"
        yield exam.finding(
            Severity.RISK if is_spare else Severity.FAULT,
            tuple(
                Evidence.of(m.is_up, f"{m.netdev} is down, one of {len(bond.members)} members")
                for m in down
                if isinstance(m.is_up, Known)
            ),
            so=so,
            where=netdev,
            remedies=(
                Remedy(
                    text="see why the link is down: cable, switch port, or the netdev itself",
                    commands=tuple(
                        Command(argv=("ethtool", m.netdev))
                        for m in down[:4]
                        if named_plainly(m.netdev)
                    ),
                    by_hand=ByHand.FIND_FIRST,
                ),
            ),
            unpriced="the other members carry all traffic: see their ledgers"
            if up
            else "no member carries traffic",
        )


RULE = HostRule(
    slug="bond.member_down",
    title="Bond with a member down",
    why="A bond hides the loss of a link: traffic still flows, but over fewer links or without a "
    "spare.",
    source="https://docs.kernel.org/networking/bonding.html (Querying bonding configuration)",
    shows=(Symptom.BOND_DEGRADED,),
    explains=(Symptom.UNEVEN_MEMBERS, Symptom.LOW_FIGURE),
    check=_check,
)
