"""Two ends of one cable: settings compared, loss of one explained by the other, one ceiling. Pure.

That the two ports are ends of one cable is the user's word; what speaks against it is said.
"""

from collections.abc import Iterator

from wirespeed.ceilings.ethernet import is_without_link
from wirespeed.doctor.diagnose import FAULTS_OF_OURS
from wirespeed.doctor.frame_of_mtu import with_frame_of_mtu
from wirespeed.doctor.ledger import build_ledger
from wirespeed.doctor.pair_end import End, PairRule, Said, cannot_tell
from wirespeed.doctor.pair_loss import LOSSES
from wirespeed.doctor.pair_settings import SETTINGS
from wirespeed.model.ceiling import Band, Ceiling, Direction
from wirespeed.model.finding import Severity
from wirespeed.model.observed import CannotTellError
from wirespeed.model.pair import ElementAt, PairAnswer, PairFinding, PairVerdict, PathCeiling
from wirespeed.model.question import Question
from wirespeed.model.rule import DoesNotApplyError

RULES = (*SETTINGS, *LOSSES)


def judge_pair(ends: tuple[End, End], question: Question) -> PairAnswer:
    """Ask every rule about two ends, and give the ceiling of the path between them."""
    question = _with_frames_of_both(ends, question)
    said: list[Said] = []
    for rule in RULES:
        for first, second in (ends, ends[::-1]) if rule.each_way else (ends,):
            said += _guarded(rule, first, second)
    findings = [one for one in said if isinstance(one, PairFinding)]
    return PairAnswer(
        between=(ends[0].label, ends[1].label),
        findings=tuple(sorted(findings, key=lambda one: list(Severity).index(one.severity))),
        verdicts=tuple(one for one in said if isinstance(one, PairVerdict)),
        ceilings=tuple(_ceiling(way[0], way[1], question) for way in (ends, ends[::-1])),
    )


def _with_frames_of_both(ends: tuple[End, End], question: Question) -> Question:
    """Give the question for the smaller of both ends' full frames, where both are known."""
    of_ends = [with_frame_of_mtu(end.host, question, (end.port,)) for end in ends]
    return min(of_ends, key=lambda one: one.frame_bytes)


def _guarded(rule: PairRule, first: End, second: End) -> Iterator[Said]:
    way = f"{first.name} to {second.name}: " if rule.each_way else ""
    try:
        yield from rule.check(rule.slug, first, second)
    except CannotTellError as error:
        yield cannot_tell(rule.slug, way + error.reason, error.would_tell)
    except DoesNotApplyError as error:
        yield PairVerdict(rule=rule.slug, outcome="does not apply", reason=f"{way}{error}")
    except FAULTS_OF_OURS as error:
        reason = f"{way}a fault of this rule, not of the hosts ({type(error).__name__}: {error})"
        yield cannot_tell(rule.slug, reason, "wirespeed capture --anonymous")


def _ceiling(sender: End, receiver: End, question: Question) -> PathCeiling:
    """Give the smaller of what both hosts carry one way."""
    ceilings: list[tuple[End, Ceiling]] = []
    unknown: list[str] = []
    for end, direction in ((sender, Direction.TRANSMIT), (receiver, Direction.RECEIVE)):
        try:
            ledger = build_ledger(end.host, end.port, question)
        except FAULTS_OF_OURS as error:
            unknown.append(f"{end.name}: {type(error).__name__}: {error}")
            continue
        own = [(end, one) for one in ledger.ceilings if one.direction is direction]
        if is_without_link(ledger):
            unknown.append(f"{end.label} has no link")
        elif not own:
            unknown.append(f"what bounds {end.label}")
        ceilings += own
    path = PathCeiling(sender=sender.name, receiver=receiver.name, frame_bytes=question.frame_bytes)
    if unknown:
        return path.model_copy(update={"reason": f"not known: {'; '.join(unknown)}"})
    high = min(one.load_pps.high for _, one in ceilings)
    low = min(one.load_pps.low for _, one in ceilings)
    lowest = [
        ElementAt(host=end.name, element=one.element)
        for end, one in sorted(ceilings, key=lambda pair: pair[1].load_pps.low)
        if one.load_pps.low < high or one.load_pps.high == high
    ]
    return path.model_copy(update={"load_pps": Band(low=low, high=high), "bound_by": tuple(lowest)})
