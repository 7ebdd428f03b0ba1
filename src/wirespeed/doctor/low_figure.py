"""A measured rate that no cause explains: what may, or that nothing does. Pure."""

from collections.abc import Mapping

from wirespeed.doctor.causes import Joined
from wirespeed.model.finding import Finding, Severity
from wirespeed.model.question import Question
from wirespeed.model.rule import Rule
from wirespeed.model.symptom import Symptom

UNEXPLAINED = ", and nothing that was found here explains it"
PERHAPS = "; of what was found, this may explain it: "
MOST = 3
"""So many notes are named."""


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
