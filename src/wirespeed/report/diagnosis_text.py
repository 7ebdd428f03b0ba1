"""The doctor's answer about one host, and its rules, as lines for a terminal. Pure.

Everything that a host printed passes `shown`, so that it cannot steer the terminal, and every line
fits the width, save a word of a command that is longer than a line: cut, it could not be pasted.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from wirespeed.model.ceiling import Ledger
from wirespeed.model.finding import Diagnosis, Finding, Remedy
from wirespeed.model.rule import HostRule, Rule
from wirespeed.model.shown import shown
from wirespeed.report.cause_view import CauseView, cause_text, cause_views, cost_text, effect_text
from wirespeed.report.diagnosis_view import (
    about_texts,
    alike,
    asked,
    bound_texts,
    command_text,
    computed,
    conditions,
    counted,
    counts,
    evidence_by_source,
    headline,
    notes_beside,
    price_texts,
    remedy_text,
    same_verdicts,
    undetermined,
    with_places,
)
from wirespeed.report.ledger_bars import ledger_bars
from wirespeed.report.load_text import LoadUnit
from wirespeed.report.praise import PRAISE
from wirespeed.report.shared_findings import Shared, shared_findings
from wirespeed.report.text_lines import columns_of, wrapped, wrapped_command

WIDTH = 80
BRIEF_CAUSES = 6
BRIEF_PORTS, BRIEF_REASONS, BRIEF_COMMANDS, BRIEF_PLACES, BRIEF_NOTES = 4, 5, 3, 4, 6
"""How many are shown without --verbose."""
COMMAND_CHARACTERS = 2000
INDENT = " " * 4
LABEL_COLUMNS = 8


class Line(NamedTuple):
    """One line, and what it is, which a terminal may show by a colour."""

    text: str
    tone: str = ""
    """A severity, or heading, price, command, source, good, warning; empty: plain."""


def diagnosis_lines(
    diagnosis: Diagnosis, *, verbose: bool = False, width: int = WIDTH
) -> Iterator[Line]:
    """Give all of it: findings by rank, ceilings as bars, and what could not be determined."""
    diagnosis = with_places(diagnosis)
    yield from _head(diagnosis, verbose, width)
    unit = LoadUnit(diagnosis.question.frame_bytes)
    causes = cause_views(diagnosis)
    for number, told in enumerate(causes, 1):
        yield Line("")
        yield from _cause(number, told, unit, width)
        for nth, shared in enumerate((*told.before, *told.effects) if verbose else (), 1):
            yield from _finding(f"{number}.{nth}", shared, unit, width)
    notes = notes_beside(diagnosis)
    if verbose:
        for number, shared in enumerate(shared_findings(notes), 1 + len(causes)):
            yield Line("")
            yield from _finding(number, shared, unit, width)
    else:
        yield from _notes(notes, width)
    yield from _ledgers(diagnosis, verbose, width)
    yield from _undetermined(diagnosis, verbose, width)
    if verbose:
        yield from _checked(diagnosis, width)
    yield from _warnings(diagnosis, width)
    yield from _footer(diagnosis, verbose, width)


def _footer(diagnosis: Diagnosis, verbose: bool, width: int) -> Iterator[Line]:
    words = []
    if diagnosis.findings:
        first = diagnosis.causes[0].findings[0] if diagnosis.causes else 0
        words.append(f"why: wirespeed doctor --explain {shown(diagnosis.findings[first].rule)}")
    if diagnosis.verdicts and not verbose:
        words.append("all that was checked: --verbose")
    if words:
        yield Line("")
    for text in words:
        yield from _text(text, width, "", "source")


def _head(diagnosis: Diagnosis, verbose: bool, width: int) -> Iterator[Line]:
    found = counted(diagnosis)
    tone = "heading" if found else "good"
    title = shown(headline(diagnosis))
    yield from _text(title, width, "", tone if diagnosis.is_complete else "warning")
    yield from _causes_in_short(diagnosis, width)
    yield from _text(shown(f"{counts(diagnosis)} ({asked(diagnosis)})"), width, "  ")
    for text in about_texts(diagnosis, None if verbose else BRIEF_PORTS):
        yield from _text(shown(text), width, "  ", "source")
    hidden = (
        0 if verbose else len(about_texts(diagnosis)) - len(about_texts(diagnosis, BRIEF_PORTS))
    )
    if hidden:
        yield from _text(f"and {hidden} more: --verbose shows them", width, "  ", "source")
    texts = bound_texts(diagnosis)
    for text in texts if verbose else texts[:BRIEF_PORTS]:
        yield from _text(shown(text), width, "  ", "good" if text.startswith(PRAISE) else "")
    if len(texts) > BRIEF_PORTS and not verbose:
        yield from _text(
            f"and {len(texts) - BRIEF_PORTS} more ports: --verbose shows them", width, "  "
        )


def _causes_in_short(diagnosis: Diagnosis, width: int) -> Iterator[Line]:
    """List those after the first, in the order of work."""
    unit = LoadUnit(diagnosis.question.frame_bytes)
    for number, cause in enumerate(diagnosis.causes[1:BRIEF_CAUSES], 2):
        text = f"{number} {cause.severity}: {cause_text(cause, unit)}"
        yield from _text(shown(text), width, "  ", cause.severity.value)
    left = len(diagnosis.causes) - BRIEF_CAUSES
    if left > 0:
        yield Line(f"  and {left} more, below")


def _cause(number: int, told: CauseView, unit: LoadUnit, width: int) -> Iterator[Line]:
    """What it is, what has to be done first, what to do then, and what ends with it."""
    finding = told.itself.finding.model_copy(update={"severity": told.cause.severity})
    shared = Shared(finding, told.itself.places, told.itself.besides)
    yield from _what(number, shared, unit, width)
    if not any(price.cost_pps > 0 for price in finding.prices):
        cost = cost_text(told.cause, unit)
        yield from _labelled("", f"with what follows from it, it {cost}", width) if cost else ()
    for first in told.before:
        named = f"{first.finding.rule} {_places(first.places)}: {first.finding.so}"
        yield from _labelled("first", named, width)
        for remedy in first.finding.remedies:
            yield from _remedy("", remedy, width)
    label = "then" if told.before else "next"
    for remedy in finding.remedies:
        yield from _remedy(label, remedy, width)
    for effect in told.effects:
        yield from _labelled("effect", effect_text(effect), width)
    if told.cause.confirm:
        yield from _labelled("confirm", told.cause.confirm, width)


def _finding(number: int | str, shared: Shared, unit: LoadUnit, width: int) -> Iterator[Line]:
    yield from _what(number, shared, unit, width)
    for remedy in shared.finding.remedies:
        yield from _remedy("next", remedy, width)


def _what(number: int | str, shared: Shared, unit: LoadUnit, width: int) -> Iterator[Line]:
    """Say what was found, what follows, and what it costs."""
    finding = shared.finding
    head = f"{number} {finding.severity.upper()} {finding.rule} {_places(shared.places)}"
    yield from _text(shown(head), width, "", finding.severity.value)
    label = "found"
    for evidence in evidence_by_source(finding):
        yield from _evidence(label, shown(evidence.found), shown(evidence.source), width)
        label = ""
    for text in shared.besides[:BRIEF_PLACES]:
        yield from _labelled("", text, width)
    yield from _labelled("so", finding.so, width)
    for nth, text in enumerate(price_texts(finding, unit)):
        yield from _labelled("" if nth else "price", text, width, "price")


def _remedy(label: str, remedy: Remedy, width: int) -> Iterator[Line]:
    yield from _labelled(label, remedy_text(remedy.text, remedy.danger), width)
    for command in remedy.commands:
        line = shown(command_text(command), COMMAND_CHARACTERS)
        yield from _command(line, width)


def _notes(notes: Sequence[Finding], width: int) -> Iterator[Line]:
    """Say what each of the first means and what helps, without its evidence; name the others."""
    if not notes:
        return
    yield Line("")
    count = "1 note" if len(notes) == 1 else f"{len(notes)} notes"
    yield Line(f"{count}: --verbose shows the evidence", "note")
    alike: dict[tuple[str, str, str], list[str]] = {}
    for note in notes:
        first = "".join(f"next: {remedy_text(r.text, r.danger)}" for r in note.remedies[:1])
        alike.setdefault((note.rule, note.so, first), []).append(note.where)
    for (rule, so, helps), places in list(alike.items())[:BRIEF_NOTES]:
        yield from _text(f"{shown(rule)} {shown(_places(places))}: {shown(so)}", width, "  ")
        yield from _text(shown(helps), width, INDENT) if helps else ()
    by_rule: dict[str, list[str]] = {}
    for (rule, _, _), places in list(alike.items())[BRIEF_NOTES:]:
        by_rule.setdefault(rule, []).extend(places)
    for rule, places in by_rule.items():
        names = tuple(dict.fromkeys(places))
        yield from _text(f"{shown(rule)} {shown(_places(names))}", width, "  ")


def _places(places: Sequence[str]) -> str:
    more = len(places) - BRIEF_PLACES
    return ", ".join(places[:BRIEF_PLACES]) + (f" and {more} more" if more > 0 else "")


def _evidence(label: str, found: str, source: str, width: int) -> Iterator[Line]:
    first = INDENT + label.ljust(LABEL_COLUMNS)
    lines = wrapped(found, width, first)
    if columns_of(lines[-1]) + columns_of(source) + 4 <= width:
        lines[-1] = f"{lines[-1]}  ({source})"
        yield from map(Line, lines)
    else:
        yield from map(Line, lines)
        yield from _text(f"({source})", width, " " * (len(first) + 2), "source")


def _ledgers(diagnosis: Diagnosis, verbose: bool, width: int) -> Iterator[Line]:
    brief = alike(diagnosis.ledgers)
    groups = [(ledger, ()) for ledger in diagnosis.ledgers] if verbose else brief[:BRIEF_PORTS]
    for ledger, others in groups:
        yield Line("")
        for place, line in enumerate(ledger_bars(ledger, width)):
            yield Line(line, "" if place else "heading")
        if others:
            yield from _text(f"alike: {shown(_places(others))}", width, "  ")
        if verbose:
            yield from _inputs(ledger, width)
    left = 0 if verbose else sum(1 + len(others) for _, others in brief[BRIEF_PORTS:])
    if left:
        yield Line("")
        yield from _text(
            f"{left} more ports: --port PORT or --verbose shows them", width, "  ", "source"
        )


def _inputs(ledger: Ledger, width: int) -> Iterator[Line]:
    """What each ceiling was computed from."""
    for element, formula, inputs in computed(ledger):
        yield from _text(f"{shown(element)} = {shown(formula)}", width, "    ", "source")
        for item in inputs:
            word = "assumed" if item.assumed else "from"
            text = f"{shown(item.name)}: {shown(item.shown)}, {word} {shown(item.source)}"
            yield from _text(text, width, "      ", "source")


def _undetermined(diagnosis: Diagnosis, verbose: bool, width: int) -> Iterator[Line]:
    groups = undetermined(diagnosis)
    if not groups:
        return
    count = sum(len(group.verdicts) for group in groups)
    yield Line("")
    yield Line(f"{conditions(count)} could not be determined", "heading")
    for group in groups if verbose else groups[:BRIEF_REASONS]:
        first, reason = group.verdicts[0], shown(group.reason)
        alone = f"{shown(first.rule)} {shown(first.where)}: {reason}"
        many = f"{reason}: {conditions(len(group.verdicts))}"
        yield from _text(alone if len(group.verdicts) == 1 else many, width, "  ")
        commands = group.commands if verbose else group.commands[:BRIEF_COMMANDS]
        for command in commands:
            yield from _would_tell(shown(command), width)
        more = len(group.commands) - len(commands)
        if more:
            yield Line(f"    and {more} more command{'s' * (more > 1)}", "source")
        if group.denied:
            yield Line("    run it as root, or with --sudo", "source")
        for verdict in group.verdicts if verbose and len(group.verdicts) > 1 else ():
            text = f"{shown(verdict.rule)} {shown(verdict.where)}: {shown(verdict.reason)}"
            yield from _text(text, width, "    - ")
    left = sum(len(group.verdicts) for group in groups[BRIEF_REASONS:])
    if left and not verbose:
        yield Line(f"  and {conditions(left)} for other reasons", "source")


def _would_tell(command: str, width: int) -> Iterator[Line]:
    lines = wrapped_command(command, width, "    would tell: ", " " * 6)
    if any(columns_of(line) > width for line in lines):
        lines = wrapped(command, width, "    would tell: ", " " * 6)
    yield from (Line(line, "source") for line in lines)


def _checked(diagnosis: Diagnosis, width: int) -> Iterator[Line]:
    for outcome, title in (("absent", "checked, and fine"), ("does not apply", "does not apply")):
        groups = same_verdicts(diagnosis, outcome)
        if not groups:
            continue
        yield Line("")
        yield Line(f"{title}: {conditions(len({rule for rule, _ in groups}))}", "heading")
        for (rule, reason), places in groups.items():
            where = shown(_places(places))
            text = f"{shown(rule)} {where}" + (f": {shown(reason)}" if reason else "")
            yield from _text(text, width, "  ")


def _warnings(diagnosis: Diagnosis, width: int) -> Iterator[Line]:
    said = [shown(warning) for warning in diagnosis.warnings]
    said += [f"wirespeed's own mistake, please report it: {shown(f)}" for f in diagnosis.faults]
    if said:
        yield Line("")
    for warning in said:
        yield from _text(warning, width, "! ", "warning")


def _labelled(label: str, text: str, width: int, tone: str = "") -> Iterator[Line]:
    yield from _text(shown(text), width, INDENT + label.ljust(LABEL_COLUMNS), tone)


def _text(text: str, width: int, first: str, tone: str = "") -> Iterator[Line]:
    for line in wrapped(text, width, first):
        yield Line(line, tone)


def _command(line: str, width: int) -> Iterator[Line]:
    start = " " * (len(INDENT) + LABEL_COLUMNS + 2)
    for part in wrapped_command(line, width, start, start + "  "):
        yield Line(part, "command")


def rule_lines(rule: Rule, width: int = WIDTH) -> Iterator[Line]:
    """Title, why it costs, where that is known from, and what it is asked about."""
    yield Line(rule.slug, "heading")
    parts = {
        "is": rule.title,
        "why": rule.why,
        "price": rule.price or "depends on the traffic: no formula",
        "about": "the host as a whole" if isinstance(rule, HostRule) else "each port",
        "for": "any purpose"
        if rule.purposes is None
        else " or ".join(f"--for {purpose}" for purpose in sorted(rule.purposes)),
    }
    for label, text in parts.items():
        yield from map(Line, wrapped(text, width, f"  {label:<7} "))
    # A link stays whole, so that it can be opened.
    lines = wrapped_command(rule.source, width, "  source  ", " " * 10)
    yield from (Line(line.removesuffix(" \\"), "source") for line in lines)


def rules_lines(rules: Sequence[Rule], width: int = WIDTH) -> Iterator[Line]:
    """Each rule's slug and title; its purposes where it is not for any."""
    columns = max(len(rule.slug) for rule in rules) + 2
    for rule in rules:
        purposes = "" if rule.purposes is None else f" ({', '.join(sorted(rule.purposes))})"
        yield from map(Line, wrapped(rule.title + purposes, width, rule.slug.ljust(columns)))
