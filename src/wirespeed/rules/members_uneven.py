"""A member of a bond that carries next to nothing, while another carries the load."""

from collections.abc import Iterator

from wirespeed.facts.members import Carried, Whole, carried, wholes
from wirespeed.model.bound import Bound, Limit
from wirespeed.model.ceiling import Direction
from wirespeed.model.finding import ByHand, Evidence, Finding, Remedy, Severity
from wirespeed.model.rule import DoesNotApplyError, HostExam, HostRule, of_each
from wirespeed.model.symptom import Symptom

ENOUGH_FRAMES = 10_000
"""Of all members in one direction: fewer are a few short exchanges."""
IDLE_SHARE = 0.01
"""Of a fair share."""
FLOWS = 10
FORMULA = "1 - 1 / members"
DOES = {Direction.RECEIVE: "receives", Direction.TRANSMIT: "sends"}


def _check(exam: HostExam) -> Iterator[Finding]:
    found = list(wholes(exam.host))
    if not found:
        raise DoesNotApplyError("no bond uses all of its members at once")
    yield from of_each(found, lambda whole: _of(exam, whole))


def _of(exam: HostExam, whole: Whole) -> Iterator[Finding]:
    for direction in Direction:
        one = carried(exam.host, whole, direction)
        if one.total >= ENOUGH_FRAMES and one.members[0].frames < IDLE_SHARE * one.fair:
            yield _uneven(exam, one)


def _uneven(exam: HostExam, one: Carried) -> Finding:
    idle = [member.netdev for member in one.members if member.frames < IDLE_SHARE * one.fair]
    chance = 100 * one.chance_of_none(FLOWS)
    return exam.finding(
        Severity.RISK,
        (
            *(
                Evidence(
                    found=f"{member.netdev} {DOES[one.direction]} {member.frames} of {one.total} "
                    "frames",
                    source=member.source,
                )
                for member in one.members
            ),
            Evidence(found=f"members of {one.whole.name}", source=one.whole.source),
        ),
        so=f"{', '.join(idle)} {'carry' if len(idle) > 1 else 'carries'} next to nothing of what "
        f"{one.whole.name} {DOES[one.direction]}; a hash of {FLOWS} flows leaves a given member "
        f"without any in {chance:.2g} % of cases",
        where=one.whole.name,
        remedies=(_remedy(one.direction),),
        bounds=(
            Bound.of_share(
                Limit.AT_MOST,
                1 - 1 / len(one.members),
                f"of what the bond {DOES[one.direction]}, where there are flows enough",
                FORMULA,
            ),
        ),
    )


def _remedy(direction: Direction) -> Remedy:
    if direction is Direction.TRANSMIT:
        return Remedy(
            text="count the connections (`ss -Htn state established`): a single one stays on one "
            "member. If there are many, see what the bond hashes by (`xmit_hash_policy`, or "
            "bond_mode of Open vSwitch): it must differ between them",
            by_hand=ByHand.FIND_FIRST,
        )
    return Remedy(
        text="the switch chooses the member that this host receives by: see what its port channel "
        "hashes by, and whether all ports are in the same channel there",
        by_hand=ByHand.FAR_END,
    )


RULE = HostRule(
    slug="members.uneven",
    title="Bond member carries next to nothing",
    why="A bond is as fast as the sum of its members only if each carries its part. Settings may "
    "look right while all traffic takes one member: a hash over fields that do not differ, a "
    "single flow, a port that the switch does not use. Counts tell what settings cannot.",
    source="https://docs.kernel.org/networking/bonding.html (xmit_hash_policy); IEEE 802.1AX, "
    "frame distribution; ovs-vswitchd.conf.db(5)",
    price=f"at most: {FORMULA}",
    shows=(Symptom.UNEVEN_MEMBERS,),
    explains=(Symptom.LOW_FIGURE,),
    check=_check,
)
