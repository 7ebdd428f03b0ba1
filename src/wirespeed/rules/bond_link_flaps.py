"""A member of a bond whose link went down again and again."""

from collections.abc import Iterator

from wirespeed.facts.bonds import BondMember, Bonds
from wirespeed.facts.netstack import named_plainly
from wirespeed.model.command import Command
from wirespeed.model.finding import ByHand, Evidence, Finding, Remedy, Severity
from wirespeed.model.observed import Known, known
from wirespeed.model.rule import DoesNotApplyError, HostExam, HostRule
from wirespeed.model.symptom import Symptom

SOME, MANY = 3, 10
"""Since the member joined. One or two are a cable that was pulled, or a switch that restarted; a
restart takes all members down as often, a bad link its own."""


def _check(exam: HostExam) -> Iterator[Finding]:
    bonds = exam.host[Bonds].bonds
    if not bonds:
        raise DoesNotApplyError("there is no bond")
    for netdev, observed in bonds.items():
        members = known(observed, f"bond {netdev}").members
        counts = {m.netdev: known(m.link_failures, f"link failures of {m.netdev}") for m in members}
        least = min(counts.values(), default=0)
        for member in members:
            count = counts[member.netdev]
            if count >= SOME:
                alone = len(members) > 1 and count - least >= SOME
                yield _finding(exam, member, count, len(members), is_alone=alone)


def _finding(
    exam: HostExam, member: BondMember, count: int, members: int, *, is_alone: bool
) -> Finding:
    source = member.link_failures.source if isinstance(member.link_failures, Known) else ""
    return exam.finding(
        Severity.RISK if count >= MANY and is_alone else Severity.NOTE,
        (Evidence(found=f"{member.netdev}: its link failed {count} times", source=source),),
        so="the link fails at times and the bond hides it: frames in flight are lost, and the "
        "flows move to another member"
        if is_alone
        else (
            f"every member of the bond ({members} in all) lost its link about as often: the "
            "switch or power supply that they share failed"
        ),
        where=member.netdev,
        remedies=(
            Remedy(
                text="check the cable, the module and the switch port; the kernel's log has the "
                "times of the failures"
                if is_alone
                else "check the switch, its power, and whether it was updated at those times",
                commands=(
                    Command(argv=("ethtool", "-m", member.netdev)),
                    Command(argv=("dmesg", "-T")),
                )
                if named_plainly(member.netdev)
                else (),
                by_hand=ByHand.FIND_FIRST,
            ),
        ),
        unpriced="each failure costs the frames in flight",
    )


RULE = HostRule(
    slug="bond.link_flaps",
    title="Link of a bond member failed repeatedly",
    why="The bonding driver counts how often a member lost its link since it joined. Traffic "
    "continues over the other members, so only a short loss is visible. If one member alone "
    "counts failures, the cause is its cable, module or port; if all count alike, it is the "
    "switch.",
    source="https://docs.kernel.org/networking/bonding.html (Querying bonding configuration: Link "
    "Failure Count)",
    shows=(Symptom.LINK_FLAPS, Symptom.BOND_DEGRADED),
    explains=(Symptom.SEGMENTS_RESENT, Symptom.LOW_FIGURE),
    check=_check,
)
