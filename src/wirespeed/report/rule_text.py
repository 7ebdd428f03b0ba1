"""What a rule is about, for `doctor --explain` and `doctor --rules`. Pure."""

from collections.abc import Iterator, Sequence

from wirespeed.model.rule import HostRule, Rule
from wirespeed.report.diagnosis_text import WIDTH, Line
from wirespeed.report.text_lines import wrapped, wrapped_command


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
