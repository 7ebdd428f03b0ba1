"""The doctor's answer about two ends of one cable, as lines for a terminal. Pure."""

from collections.abc import Iterator

from wirespeed.doctor.pair_end import PairRule
from wirespeed.model.finding import Severity
from wirespeed.model.pair import PairAnswer, PairFinding, PathCeiling
from wirespeed.model.shown import shown
from wirespeed.report.diagnosis_text import WIDTH, Line
from wirespeed.report.load_text import LoadUnit
from wirespeed.report.text_lines import wrapped, wrapped_command

MOST = 2000
"""Characters of one text."""
INDENT = " " * 4


def is_held(answer: PairAnswer) -> bool:
    """Tell whether anything above a note was found between the two."""
    return any(one.severity is not Severity.NOTE for one in answer.findings)


def pair_rule_lines(rule: PairRule, width: int = WIDTH) -> Iterator[Line]:
    """Title, why it costs, where that is known from, and what it is asked about."""
    yield Line(rule.slug, "heading")
    parts = {
        "is": rule.title,
        "why": rule.why,
        "price": "none: the ceiling of the whole path is next to the findings",
        "about": f"two ends of one cable{', each way' if rule.each_way else ''}",
        "for": "--between HOST:PORT,HOST:PORT",
    }
    for label, text in parts.items():
        yield from map(Line, wrapped(text, width, f"  {label:<7} "))
    lines = wrapped_command(rule.source, width, "  source  ", " " * 10)
    yield from (Line(line.removesuffix(" \\"), "source") for line in lines)


def pair_lines(answer: PairAnswer, width: int = WIDTH) -> Iterator[Line]:
    """Give the section: findings, what agrees, what could not be determined, the path's ceiling."""
    unknown = [one for one in answer.verdicts if one.outcome == "cannot tell"]
    counts = [
        (sum(one.severity is severity for one in answer.findings), severity.value)
        for severity in Severity
    ]
    found = [f"{count} {name}{'s' if count > 1 else ''}" for count, name in counts if count]
    said = found or ["nothing found"]
    if unknown:
        said.append(f"{len(unknown)} unknown")
    title = f"between {answer.between[0]} and {answer.between[1]}: {', '.join(said)}"
    yield from _text(title, width, "", "heading" if found or unknown else "good")
    for finding in answer.findings:
        yield Line("")
        yield from _finding(finding, width)
    alike = [one.reason for one in answer.verdicts if one.outcome == "absent"]
    if alike:
        yield Line("")
        yield from _text("; ".join(alike), width, "alike: ", "")
    for verdict in unknown:
        yield Line("")
        yield from _text(f"{verdict.rule}: {verdict.reason}", width, "cannot tell ", "warning")
        if verdict.would_tell:
            yield from _text(verdict.would_tell, width, f"{INDENT}would tell: ", "command")
    if answer.ceilings:
        yield Line("")
        yield Line("most that the whole path carries", "heading")
    for path in answer.ceilings:
        yield from _text(path_text(path), width, "  ", "")


def _finding(finding: PairFinding, width: int) -> Iterator[Line]:
    severity = finding.severity
    yield from _text(f"{severity.upper()} {finding.rule}", width, "", severity.value)
    for one in finding.evidence:
        yield from _text(f"{one.host}: {one.found}", width, INDENT, "")
        yield from _text(f"({one.source})", width, INDENT * 2, "source")
    yield from _text(finding.so, width, f"{INDENT}so    ", "")
    yield from _text(finding.do, width, f"{INDENT}do    ", "")
    for told in finding.commands:
        line = shown(told.command.line(), MOST)
        yield from _text(f"on {told.host}:", width, INDENT * 2, "source")
        for text in wrapped_command(line, width, INDENT * 2 + "  ", INDENT * 3):
            yield Line(text, "command")


def path_text(path: PathCeiling) -> str:
    """Give the most that the path carries one way, and what bounds it."""
    way = f"{path.sender} to {path.receiver}: "
    if path.load_pps is None:
        return way + path.reason
    unit = LoadUnit(path.frame_bytes)
    hosts: dict[str, list[str]] = {}
    for one in path.bound_by:
        hosts.setdefault(one.element, []).append(one.host)
    places = [f"{element} of {' and '.join(at)}" for element, at in hosts.items()]
    return f"{way}{unit.band(path.load_pps)} {unit.name}, bound by {' or '.join(places)}"


def _text(text: str, width: int, first: str, tone: str) -> Iterator[Line]:
    for line in wrapped(shown(text, MOST), width, first):
        yield Line(line, tone)
