"""Answers about many hosts: one line each, worst first, and the exit code of them all. Pure."""

from collections.abc import Iterator, Sequence

from wirespeed.ceilings.ethernet import is_without_link
from wirespeed.model.finding import Diagnosis, Severity, Unanswered
from wirespeed.model.shown import shown
from wirespeed.report.diagnosis_text import WIDTH, Line
from wirespeed.report.diagnosis_view import above_note, bound_text, host_label, verdict_text
from wirespeed.report.praise import doubts
from wirespeed.report.text_lines import clip, columns_of, pad, wrapped

Answer = Diagnosis | Unanswered
HOST_COLUMNS = 28


def ranked(answers: Sequence[Answer]) -> list[Answer]:
    """Dearest first, then those without an answer, then the good ones; equals as they were."""
    return sorted(answers, key=_rank)


def summary_lines(answers: Sequence[Answer], width: int = WIDTH) -> Iterator[Line]:
    """Give one line for each host, by their rank; before them, that some were cut off."""
    if cut := [shown(host_label(a.host)) for a in answers if not is_complete(a)]:
        said = f"INCOMPLETE: {len(cut)} of {len(answers)} readings cut off: {', '.join(cut)}"
        yield from (Line(text, "warning") for text in wrapped(said, width))
    labels = {answer.host: shown(host_label(answer.host)) for answer in answers}
    columns = min(max(columns_of(label) for label in labels.values()), HOST_COLUMNS)
    for answer in ranked(answers):
        text, tone = _worst(answer)
        label = _padded(labels[answer.host], columns)
        yield Line(clip(f"{label}  {shown(text)}", width), tone)
    held = sum(isinstance(a, Diagnosis) and has_findings(a) for a in answers)
    silent = sum(isinstance(a, Unanswered) for a in answers)
    yield Line(f"{len(answers)} hosts: {held} with findings, {silent} without an answer", "heading")


def unanswered_lines(answer: Unanswered, width: int = WIDTH) -> Iterator[Line]:
    """Say why there is no answer, in the shape of an error."""
    yield Line(
        clip(f"{host_label(answer.host)}: no answer, {shown(answer.what)}", width), "warning"
    )
    for label in ("found", "so", "next"):
        text = getattr(answer, label)
        if text:
            yield from map(Line, wrapped(shown(text), width, f"    {label:<7} "))


def has_findings(diagnosis: Diagnosis) -> bool:
    """Tell whether anything above a note was found."""
    return bool(above_note(diagnosis.findings))


def is_complete(answer: Answer) -> bool:
    """Tell whether no reading was cut off: no answer at all is another matter."""
    return isinstance(answer, Unanswered) or answer.is_complete


def exit_code(answers: Sequence[Answer]) -> int:
    """0: nothing above a note. 1: findings, or a host without an answer.

    2: bad input, or a reading that was cut off.
    """
    if any((isinstance(a, Unanswered) and a.bad_input) or not is_complete(a) for a in answers):
        return 2
    return int(any(isinstance(a, Unanswered) or has_findings(a) for a in answers))


def json_line(answer: Answer) -> str:
    """Give the answer as one line of JSON in plain ASCII: a terminal can take it as it is."""
    return answer.model_dump_json()


def _padded(label: str, columns: int) -> str:
    """Fill up, or keep the end: the files of one folder differ there."""
    while columns_of(label) > columns:
        label = f"…{label[2:]}"
    return pad(label, columns)


def _worst(answer: Answer) -> tuple[str, str]:
    if isinstance(answer, Unanswered):
        return f"NO ANSWER {answer.what}: {answer.found}", "warning"
    if answer.causes:
        first = answer.causes[0]
        more = len(answer.causes) - 1
        text = f"{first.severity.upper()} {verdict_text(answer)}"
        return text + (f", and {more} more" if more else ""), first.severity.value
    for ledger in answer.ledgers:
        if is_without_link(ledger):
            continue
        unsure = doubts(answer, ledger)
        before = f"no finding; {ledger.port} carries at most" if unsure else f"good: {ledger.port}"
        if text := bound_text(ledger, before):
            return (f"{text} ({unsure[0]})", "") if unsure else (text, "good")
    without = all(map(is_without_link, answer.ledgers)) and bool(answer.ledgers)
    why = "none of its ports has a link" if without else "what bounds its ports is not known"
    return f"nothing found; {why}", ""


def _rank(answer: Answer) -> tuple[int, float, int]:
    if isinstance(answer, Unanswered):
        return 1, 0.0, 0
    if not answer.causes:
        return 2, 0.0, 0
    first = answer.causes[0]
    cost = max((price.cost_pps for price in first.prices), default=0.0)
    return 0, -cost, list(Severity).index(first.severity)
