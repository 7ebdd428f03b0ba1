"""What the doctor says, as blocks: findings, ceilings, what it could not determine. Pure."""

from collections.abc import Iterable, Iterator, Sequence

from wirespeed.model.ceiling import Input, Ledger
from wirespeed.model.finding import Danger, Diagnosis, Finding
from wirespeed.report import diagnosis_view as view
from wirespeed.report.cause_view import CauseView, cause_text, cause_views, cost_text, effect_text
from wirespeed.report.charts.ledger import ledger_chart
from wirespeed.report.document import (
    Block,
    Card,
    Cards,
    Drawing,
    Fact,
    Folded,
    Items,
    Text,
    Warn,
)
from wirespeed.report.load_text import LoadUnit
from wirespeed.report.shared_findings import Shared, shared_findings


def causes_blocks(answer: Diagnosis) -> Iterator[Block]:
    """Give each cause as a card, in the order of work, then the notes, folded."""
    unit = LoadUnit(answer.question.frame_bytes)
    causes = cause_views(answer)
    if causes:
        yield Cards(tuple(_cause(told, unit) for told in causes))
    if effects := tuple(_card(shared, unit) for told in causes for shared in told.effects):
        yield Folded("What ends with these causes", str(len(effects)), (Cards(effects),))
    yield from _notes(view.notes_beside(answer), unit)


def findings_blocks(found: Iterable[Finding], frame_bytes: int) -> Iterator[Block]:
    """Give those above a note as cards, then the notes, folded."""
    found, unit = tuple(found), LoadUnit(frame_bytes)
    if above := view.above_note(found):
        yield Cards(tuple(_card(shared, unit) for shared in shared_findings(above)))
    yield from _notes(view.notes_of(found), unit)


def _notes(notes: Sequence[Finding], unit: LoadUnit) -> Iterator[Block]:
    if cards := tuple(_card(shared, unit) for shared in shared_findings(notes)):
        yield Folded("Notes", str(len(cards)), (Cards(cards),))


def _cause(told: CauseView, unit: LoadUnit) -> Card:
    one = told.itself.finding
    prices = view.price_texts(one, unit)
    if not any(price.cost_pps > 0 for price in one.prices) and told.cause.prices:
        prices = (*prices, f"with what follows from it, it {cost_text(told.cause, unit)}")
    return Card(
        told.cause.severity.value,
        one.rule,
        ", ".join(told.itself.places),
        tuple(Text(f"price {text}", "meta") for text in prices)
        if not one.prices
        else tuple(Text(text, "price") for text in prices),
        (
            Fact("is", cause_text(told.cause, unit)),
            *_seen(told.itself),
            *(fact for first in told.before for fact in _first(first)),
            *_remedies(one, "then" if told.before else "next"),
            *(Fact("effect", effect_text(effect)) for effect in told.effects),
            *([Fact("confirm", told.cause.confirm)] if told.cause.confirm else []),
        ),
    )


def _first(shared: Shared) -> Iterator[Fact]:
    one = shared.finding
    yield Fact("first", f"{one.rule} {', '.join(shared.places)}: {one.so}")
    yield from _remedies(one, "")


def _seen(shared: Shared) -> Iterator[Fact]:
    for nth, evidence in enumerate(view.evidence_by_source(shared.finding)):
        yield Fact("" if nth else "found", evidence.found, evidence.source)
    yield from (Fact("", text) for text in shared.besides)
    yield Fact("so", shared.finding.so)


def _remedies(finding: Finding, label: str) -> Iterator[Fact]:
    for remedy in finding.remedies:
        yield Fact(
            label,
            remedy.text,
            danger=remedy.danger.value if remedy.danger is not Danger.NONE else "",
            commands=tuple(map(view.command_text, remedy.commands)),
        )


def _card(shared: Shared, unit: LoadUnit) -> Card:
    one = shared.finding
    prices = [
        Text(text, "price") if one.prices else Text(f"price {text}", "meta")
        for text in view.price_texts(one, unit)
    ]
    return Card(
        one.severity.value,
        one.rule,
        ", ".join(shared.places),
        tuple(prices),
        (*_seen(shared), *_remedies(one, "next")),
    )


def answer_blocks(answer: Diagnosis) -> Iterator[Block]:
    """Give all that the doctor says of a host."""
    yield from warning_blocks(answer)
    yield Items(tuple(map(Text, view.bound_texts(answer))))
    yield from causes_blocks(answer)
    for ledger, others in view.alike(answer.ledgers):
        yield from _ledger(ledger)
        if others:
            yield Text(f"Alike: {', '.join(others)}", "meta")
    yield from undetermined_blocks(answer)
    for outcome, title in (("absent", "Checked, and fine"), ("does not apply", "Does not apply")):
        if groups := view.same_verdicts(answer, outcome):
            items = (
                Text(": ".join(filter(None, (rule, ", ".join(places), reason))))
                for (rule, reason), places in groups.items()
            )
            yield Folded(title, str(len(groups)), (Items(tuple(items)),))


def warning_blocks(answer: Diagnosis) -> Iterator[Block]:
    """Give what to know before the rest, mistakes of wirespeed among it."""
    faults = (f"A mistake of wirespeed, please report it: {fault}" for fault in answer.faults)
    if texts := (*answer.warnings, *faults):
        yield Warn(texts)


def undetermined_blocks(answer: Diagnosis) -> Iterator[Block]:
    """Give what could not be determined, and the commands that would tell."""
    groups = view.undetermined(answer)
    if groups:
        count = view.conditions(sum(len(group.verdicts) for group in groups))
        items = Items(tuple(map(_undetermined, groups)))
        yield Folded(f"{count} could not be determined", "and which command would tell", (items,))


def _undetermined(group: view.Undetermined) -> Text:
    rules = ", ".join(f"{verdict.rule} ({verdict.where})" for verdict in group.verdicts)
    denied = ". Run it as root, or with --sudo." if group.denied else ""
    return Text(f"{group.reason}: {rules}{denied}", sources=group.commands)


def _ledger(ledger: Ledger) -> Iterator[Block]:
    if ledger.ceilings:
        at_once = ", both directions at once" if ledger.bidirectional else ""
        yield Drawing(
            ledger_chart(ledger),
            f"{ledger.port}: the most that each element carries of {ledger.frame_bytes}-byte "
            f"frames{at_once}. A bar is solid up to what the whole model gives and light up to "
            "headers only. The element that bounds is orange, each that may where bands overlap; "
            "one far above is cut.",
        )
        items = (
            Text(f"= {formula}", strong=element, items=tuple(map(_input, inputs)))
            for element, formula, inputs in view.computed(ledger)
        )
        yield Folded(f"How {ledger.port}'s ceilings are computed", "", (Items(tuple(items)),))
    if ledger.unknown:
        unknown = (Text(f"{ledger.port}, not known: {reason}") for reason in ledger.unknown)
        yield Items(tuple(unknown))


def _input(item: Input) -> Text:
    assumed = ", assumed" if item.assumed else ""
    return Text(f"{item.name}: {item.shown}{assumed}", sources=(item.source,))
