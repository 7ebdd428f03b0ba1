"""What the doctor says, as blocks: findings, ceilings, what it could not determine. Pure."""

from collections.abc import Iterable, Iterator

from wirespeed.model.ceiling import Input, Ledger
from wirespeed.model.finding import Danger, Diagnosis, Finding
from wirespeed.report import diagnosis_view as view
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


def findings_blocks(found: Iterable[Finding], frame_bytes: int) -> Iterator[Block]:
    """Give those above a note as cards, then the notes, folded."""
    found, unit = tuple(found), LoadUnit(frame_bytes)
    above, notes = (
        tuple(_card(shared, unit) for shared in view.shared_findings(some))
        for some in (view.above_note(found), view.notes_of(found))
    )
    if above:
        yield Cards(above)
    if notes:
        yield Folded("Notes", str(len(notes)), (Cards(notes),))


def _card(shared: view.Shared, unit: LoadUnit) -> Card:
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
        (
            *(
                Fact("" if nth else "found", evidence.found, evidence.source)
                for nth, evidence in enumerate(view.evidence_by_source(one))
            ),
            Fact("so", one.so),
            *(
                Fact(
                    "next",
                    remedy.text,
                    danger=remedy.danger.value if remedy.danger is not Danger.NONE else "",
                    commands=tuple(map(view.command_text, remedy.commands)),
                )
                for remedy in one.remedies
            ),
        ),
    )


def answer_blocks(answer: Diagnosis) -> Iterator[Block]:
    """Give all that the doctor says of a host."""
    yield from warning_blocks(answer)
    yield Items(tuple(map(Text, view.bound_texts(answer))))
    yield from findings_blocks(answer.findings, answer.question.frame_bytes)
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
