"""A bond with a member whose link is down."""

from collections.abc import Iterator

from wirespeed.facts.bonds import Bonds, BondState
from wirespeed.facts.netstack import named_plainly
from wirespeed.model.bound import Bound, Limit
from wirespeed.model.command import Command
from wirespeed.model.finding import ByHand, Evidence, Finding, Remedy, Severity
from wirespeed.model.observed import Observed, known
from wirespeed.model.rule import DoesNotApplyError, HostExam, HostRule, of_each
from wirespeed.model.symptom import Symptom

FORMULA = "members down / members"


def _check(exam: HostExam) -> Iterator[Finding]:
    bonds = exam.host[Bonds].bonds
    if not bonds:
        raise DoesNotApplyError("there is no bond")
    yield from of_each(bonds.items(), lambda named: _of_bond(exam, *named))


def _of_bond(exam: HostExam, netdev: str, observed: Observed[BondState]) -> Iterator[Finding]:
    bond = known(observed, f"bond {netdev}")
    down = [m for m in bond.members if not known(m.is_up, f"whether {m.netdev} is up")]
    if not down:
        return
    every, up = len(bond.members), len(bond.members) - len(down)
    is_spare = "active-backup" in known(bond.mode, f"mode of {netdev}") and up > 0
    yield exam.finding(
        Severity.RISK if is_spare else Severity.FAULT,
        tuple(
            Evidence(found=f"{m.netdev} is down, one of {every} members", source=m.is_up.source)
            for m in down
        ),
        so=_consequence(every, up, is_spare=is_spare),
        where=netdev,
        remedies=(
            Remedy(
                text="see why the link is down: cable, switch port, or the netdev is set down",
                commands=tuple(
                    Command(argv=("ethtool", m.netdev)) for m in down[:4] if named_plainly(m.netdev)
                ),
                by_hand=ByHand.FIND_FIRST,
            ),
        ),
        bounds=() if is_spare else _bounds(every, len(down)),
        unpriced="it costs nothing while the active member has its link",
    )


def _consequence(every: int, up: int, *, is_spare: bool) -> str:
    if not up:
        return "no member of the bond has a link: nothing goes through it"
    if not is_spare:
        return f"the bond has {up} of {every} links"
    if up == 1:
        return "the bond has no other port to fail over to"
    return f"the bond has {up - 1} of {every - 1} spare ports left"


def _bounds(every: int, down: int) -> tuple[Bound, ...]:
    of = "of what all members carry together, if they are alike"
    return (Bound.of_share(Limit.AT_MOST, down / every, of, FORMULA),)


RULE = HostRule(
    slug="bond.member_down",
    title="Bond with a member down",
    why="A bond hides the loss of a link: traffic still flows, but over fewer links or without a "
    "spare.",
    source="https://docs.kernel.org/networking/bonding.html (Querying bonding configuration)",
    price=f"at most, but for a spare: {FORMULA}",
    shows=(Symptom.BOND_DEGRADED,),
    explains=(Symptom.UNEVEN_MEMBERS, Symptom.LOW_FIGURE),
    check=_check,
)
