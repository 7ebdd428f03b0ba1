"""The doctor's answer about two ends of one cable, as a section of its page. Pure."""

from collections.abc import Iterator

from wirespeed.model.pair import PairAnswer, PairFinding
from wirespeed.report.document import Block, Card, Cards, Fact, Items, Section, Text
from wirespeed.report.pair_text import path_text


def pair_section(answer: PairAnswer) -> Section:
    """Give findings, what agrees, what could not be determined, and the path's ceiling."""
    title = f"Between {answer.between[0]} and {answer.between[1]}"
    return Section("between", title, tuple(_blocks(answer)))


def _blocks(answer: PairAnswer) -> Iterator[Block]:
    if answer.ceilings:
        yield Items(
            tuple(Text(path_text(path), strong="carries at most") for path in answer.ceilings)
        )
    if answer.findings:
        yield Cards(tuple(map(_card, answer.findings)))
    else:
        yield Text("Nothing found between the two.")
    alike = [one.reason for one in answer.verdicts if one.outcome == "absent"]
    if alike:
        yield Text(f"Alike: {'; '.join(alike)}", "meta")
    unknown = [one for one in answer.verdicts if one.outcome == "cannot tell"]
    if unknown:
        yield Items(
            tuple(
                Text(
                    f"{one.rule}: {one.reason}",
                    strong="cannot tell",
                    sources=(one.would_tell,) if one.would_tell else (),
                )
                for one in unknown
            )
        )


def _card(finding: PairFinding) -> Card:
    facts = [
        Fact("" if number else "found", f"{one.host}: {one.found}", source=one.source)
        for number, one in enumerate(finding.evidence)
    ]
    facts.append(Fact("so", finding.so))
    facts.append(Fact("next", finding.do))
    for host in dict.fromkeys(told.host for told in finding.commands):
        lines = tuple(told.command.line() for told in finding.commands if told.host == host)
        facts.append(Fact("", f"on {host}", commands=lines))
    return Card(
        severity=finding.severity.value,
        title=finding.rule,
        places="",
        prices=(),
        facts=tuple(facts),
    )
