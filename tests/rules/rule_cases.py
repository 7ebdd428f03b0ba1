"""The cases of the rules as they lie on disk, and what a rule says of one, in a case's own words.

A finding of a case is *whole* if it has `so`: then every part of it that a person reads is stated,
and not only where it is, how severe and what was seen.

  seen_by   the command that shows each of `found` again
  so        the consequence
  next      remedies: text, and where there are any: commands, steps, by_hand, danger
  cost      by direction: what the path carries now, after the remedy, and what bounds it then
  bounds    limits of the cost: limit, figure, unit, of what, formula
  unpriced  why there is neither a cost nor a bound

A place where a rule cannot tell, or does not apply, is whole if it is stated as an object: `where`,
`reason` and, for the first, `would_tell`, the command that would show it.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from wirespeed.doctor.diagnose import diagnose
from wirespeed.model.bound import Bound
from wirespeed.model.capture import parse_capture
from wirespeed.model.fact import HostFacts
from wirespeed.model.finding import Danger, Diagnosis, Finding, Remedy, Verdict
from wirespeed.model.question import Question
from wirespeed.model.rule import Rule
from wirespeed.report.load_text import LoadUnit

CASES = Path(__file__).parent / "cases"
FOLDERS = sorted(path.parent for path in CASES.glob("*/*/expected.json"))


@dataclass(frozen=True)
class Case:
    """One folder: a host, a question, and what is expected of the rule."""

    folder: Path
    host: HostFacts
    question: Question
    expected: dict[str, Any]
    """Findings, and where the rule cannot tell or does not apply."""

    def answer(self, rule: Rule) -> Diagnosis:
        """Ask the rule."""
        return diagnose(self.host, self.question, [rule])

    def is_met_by(self, diagnosis: Diagnosis) -> bool:
        """Whether the answer is the expected one, with no fault of ours."""
        return not diagnosis.faults and self.said(diagnosis) == self.expected

    def said(self, diagnosis: Diagnosis) -> dict[str, Any]:
        """What the case states of an answer; the order of findings is that of the report."""
        stated = self.expected["findings"]
        findings = [
            whole(finding, diagnosis)
            if nth < len(stated) and is_whole(stated[nth])
            else _short(finding)
            for nth, finding in enumerate(diagnosis.findings)
        ]
        return {"findings": findings, **dict(self._places(diagnosis))}

    def _places(self, diagnosis: Diagnosis) -> Iterator[tuple[str, list[Any]]]:
        for outcome in ("cannot tell", "does not apply"):
            verdicts = [one for one in diagnosis.verdicts if one.outcome == outcome]
            stated = self.expected.get(outcome, ())
            places = [
                _whole_place(verdict)
                if nth < len(stated) and isinstance(stated[nth], dict)
                else verdict.where
                for nth, verdict in enumerate(verdicts)
            ]
            if places:
                yield outcome, places


@cache
def read_case(folder: Path) -> Case:
    """Read one; what the host says is parsed once."""
    expected = json.loads((folder / "expected.json").read_text())
    question = Question(**expected.pop("question", {}))
    expected.pop("source", "")
    capture = parse_capture((folder / "capture.txt").read_text(), folder.name)
    return Case(folder, HostFacts("host", capture), question, expected)


def cases_of(slug: str) -> list[Case]:
    """All cases of one rule."""
    return [read_case(folder) for folder in FOLDERS if folder.parent.name == slug]


def is_whole(stated: dict[str, Any]) -> bool:
    """Whether a case states all of this finding."""
    return "so" in stated


def whole(finding: Finding, diagnosis: Diagnosis) -> dict[str, Any]:
    """Every part of a finding that a person reads."""
    unit = LoadUnit(diagnosis.question.frame_bytes)
    said: dict[str, Any] = _short(finding)
    said["seen_by"] = [evidence.source for evidence in finding.evidence]
    said["so"] = finding.so
    said["next"] = [_remedy(remedy) for remedy in finding.remedies]
    if finding.prices:
        said["cost"] = {
            price.direction.value: f"{unit.text(price.now_pps)} -> {unit.text(price.after_pps)} "
            f"{unit.name}, then {price.bound_by_after}"
            for price in finding.prices
        }
    if finding.bounds:
        said["bounds"] = [_bound(bound) for bound in finding.bounds]
    if finding.unpriced:
        said["unpriced"] = finding.unpriced
    return said


def _whole_place(verdict: Verdict) -> dict[str, str]:
    said = {"where": verdict.where, "reason": verdict.reason}
    return {**said, "would_tell": verdict.would_tell} if verdict.would_tell else said


def _short(finding: Finding) -> dict[str, Any]:
    return {
        "where": finding.where,
        "severity": finding.severity.value,
        "found": [evidence.found for evidence in finding.evidence],
    }


def _bound(bound: Bound) -> str:
    return f"{bound.limit} {bound.value:.3g} {bound.unit} {bound.of} ({bound.formula})"


def _remedy(remedy: Remedy) -> dict[str, Any]:
    said: dict[str, Any] = {"text": remedy.text}
    if remedy.commands:
        said["commands"] = [command.line() for command in remedy.commands]
    if remedy.steps:
        said["steps"] = [call.data for call in remedy.steps]
    if remedy.by_hand is not None:
        said["by_hand"] = remedy.by_hand.name
    if remedy.danger is not Danger.NONE:
        said["danger"] = remedy.danger.value
    return said
