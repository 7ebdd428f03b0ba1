"""What the page of the doctor says: each host by its rank, with all that it was asked. Pure."""

from collections.abc import Iterator, Sequence

from wirespeed import __version__
from wirespeed.model.finding import Diagnosis
from wirespeed.model.pair import PairAnswer
from wirespeed.report.diagnosis_blocks import answer_blocks
from wirespeed.report.diagnosis_hosts import Answer, ranked
from wirespeed.report.diagnosis_view import about_texts, asked, headline, host_label, with_places
from wirespeed.report.document import Block, Document, Section, Text, Warn
from wirespeed.report.pair_blocks import pair_section

IN_TAB = 3
"""So many hosts are named in a browser's tab."""


def diagnosis_document(answers: Sequence[Answer], pair: PairAnswer | None = None) -> Document:
    """Make the page of one host, or of many by their rank; `pair`: two ends of one cable."""
    sections = tuple(
        Section(f"h{number}", _title(answer), tuple(_host(answer)))
        for number, answer in enumerate(ranked(answers), 1)
    )
    if pair is not None:
        sections = (pair_section(pair), *sections)
    return Document(
        title="What holds these ports below line rate",
        tab=" · ".join(section.title for section in sections[:IN_TAB]),
        sections=sections,
        footer=(
            f"Read by wirespeed {__version__}, which changed nothing on these hosts. Gb/s include "
            "gap and preamble (wire time). The command next to a finding shows the same again."
        ),
    )


def _title(answer: Answer) -> str:
    if isinstance(answer, Diagnosis):
        return headline(answer)
    return f"{host_label(answer.host)}: no answer"


def _host(answer: Answer) -> Iterator[Block]:
    if not isinstance(answer, Diagnosis):
        said = (f"{answer.what}: {answer.found}", answer.so, answer.next)
        yield Warn(tuple(filter(None, said)))
        return
    for text in (asked(answer), *about_texts(answer)):
        yield Text(text, "meta")
    yield from answer_blocks(with_places(answer))
