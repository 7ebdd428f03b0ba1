"""A measured rate: what does not hold it back, and what may where no cause is found. Pure."""

from collections.abc import Mapping, Sequence

from wirespeed.doctor.causes import Joined
from wirespeed.doctor.rank import is_of_hardware, is_symptom
from wirespeed.model.ceiling import Direction, Ledger
from wirespeed.model.finding import Finding, Severity
from wirespeed.model.question import Question
from wirespeed.model.rule import Rule
from wirespeed.model.symptom import Symptom
from wirespeed.rules.measured_far_below_ceiling import FAR_SHARE

UNEXPLAINED = ", and nothing that was found here explains it"
PERHAPS = "; of what was found, this may explain it: "
IDLE = "; the measured figure is {:.0f} % of what it carries, so this does not hold it back"
MOST = 3
"""So many notes are named."""


def without_idle_ceilings(
    findings: Sequence[Finding],
    rules: Mapping[str, Rule],
    question: Question,
    paths: Sequence[Ledger],
) -> list[Finding]:
    """Make a note of each limit of the hardware that the measured figure lies far below.

    `paths` are those that the figure may have gone by. What carries much more than the figure does
    not hold it back. It stays a ceiling where frames were counted that it may have held back: a
    burst is faster than the mean.
    """
    shown = {
        symptom
        for one in findings
        if one.severity is not Severity.NOTE
        for symptom in rules[one.rule].shows
    } - {Symptom.LOW_FIGURE}
    carried = {path.port: _least_bps(path) for path in paths}

    def judged(one: Finding) -> Finding:
        least_bps, measured_bps = carried.get(one.where, 0.0), question.measured_bps or 0.0
        if (
            one.severity is not Severity.CEILING
            or not one.changes
            or is_symptom(one)
            or not is_of_hardware(one)
            or not shown.isdisjoint(rules[one.rule].explains)
            or measured_bps >= FAR_SHARE * least_bps
        ):
            return one
        so = one.so + IDLE.format(100 * measured_bps / least_bps)
        return one.model_copy(update={"severity": Severity.NOTE, "so": so})

    return [judged(one) for one in findings]


def _least_bps(path: Ledger) -> float:
    """Give what the path carries at least, in the direction that carries less; 0: not known."""
    ways = [path.bound(way) for way in Direction]
    return min((way.load_bps_l1.low for way in ways if way is not None), default=0.0)


def with_reason(joined: Joined, rules: Mapping[str, Rule], question: Question) -> Joined:
    """Add to the finding of a low rate what may explain it, where no cause does."""
    low = {
        number
        for cause in joined.causes
        for number in cause.findings
        if Symptom.LOW_FIGURE in rules[joined.findings[number].rule].shows
    }
    if not low:
        return joined
    reason = _reason(joined, rules, question)
    findings = tuple(
        one.model_copy(update={"so": one.so + reason}) if number in low else one
        for number, one in enumerate(joined.findings)
    )
    return Joined(findings, joined.causes)


def _reason(joined: Joined, rules: Mapping[str, Rule], question: Question) -> str:
    notes = [one for one in joined.findings if _may_explain(one, rules)]
    if notes:
        names = dict.fromkeys(f"{rules[one.rule].title} ({one.where})" for one in notes)
        return PERHAPS + ", ".join(list(names)[:MOST])
    run = question.measured_by
    return "" if run is not None and (run.limits or run.doubts) else UNEXPLAINED


def _may_explain(finding: Finding, rules: Mapping[str, Rule]) -> bool:
    """A note that slows traffic; one with a ceiling of its own is a note as it bounds nothing."""
    explains = Symptom.LOW_FIGURE in rules[finding.rule].explains
    return explains and finding.severity is Severity.NOTE and not finding.changes
