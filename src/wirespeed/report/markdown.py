"""The page as Markdown: the same tables, read in a terminal, a diff or an issue."""

import re

from wirespeed.model.finding import Diagnosis
from wirespeed.model.shown import shown
from wirespeed.report import words
from wirespeed.report.diagnosis_view import price_texts
from wirespeed.report.grid import Cell, Grid
from wirespeed.report.load_text import LoadUnit
from wirespeed.report.page import MachineSection, Page, Run
from wirespeed.report.tables.comparison import comparison_grids
from wirespeed.report.tables.of_dut import account_grids, answer_grids
from wirespeed.report.tables.rows import named, unfinished_name
from wirespeed.report.tables.setup import setup_grids
from wirespeed.report.tables.trials import trials_grid


def render_markdown(page: Page) -> str:
    """`report.md`."""
    aborted = " (aborted)" if any(run.aborted for run in page.runs) else ""
    blocks = [f"# {escape(page.title)}{aborted}"]
    blocks += [escape(words.in_words(h)) for h in page.headlines]
    blocks += [f"**{escape(words.sentence(h))}.**" for h in page.headlines]
    for note, labels in words.notes(page):
        blocks.append(f"> {labels + ': ' if labels else ''}{escape(note)}")
    if page.comparison is not None:
        blocks.append("## A and B")
        blocks += [grid_markdown(g) for g in comparison_grids(page.comparison)]
    if page.machine is not None:
        blocks += _machine(page.machine)
    for run in page.runs:
        blocks += _run(run)
    return "\n\n".join(blocks) + "\n"


def _machine(machine: MachineSection) -> list[str]:
    blocks = ["## What bounds these measurements here", escape(machine.about)]
    if machine.limits:
        blocks.append("\n".join(f"- {escape(text)}" for text in machine.limits))
    if not isinstance(machine.answer, Diagnosis):
        said = f"{machine.answer.what}, {machine.answer.found}"
        return [*blocks, f"The doctor gave no answer: {escape(shown(said))}"]
    blocks.append(escape(words.machine(machine)))
    unit = LoadUnit(machine.answer.question.frame_bytes)
    for finding in machine.findings:
        found = "; ".join(f"{e.found} ({e.source})" for e in finding.evidence)
        price = "; ".join(price_texts(finding, unit))
        texts = [finding.so, f"Found: {found}", f"Price: {price}"]
        texts += [f"Next: {remedy.text}" for remedy in finding.remedies]
        head = f"**{escape(shown(f'{finding.severity}: {finding.rule}'))}**"
        blocks.append(f"- {head}: " + ". ".join(escape(shown(text)) for text in texts))
    return blocks


def _run(run: Run) -> list[str]:
    blocks = [f"## Run {escape(run.label)}"] if run.label else []
    for dut in run.duts:
        blocks.append(f"## {escape(dut.name)}")
        blocks += [grid_markdown(g) for g in (*answer_grids(dut), *account_grids(dut))]
        if not dut.results:
            blocks.append("No result.")
    blocks.append("## Setup and settings")
    blocks += [grid_markdown(g) for g in setup_grids(run)]
    blocks.append("## Every trial")
    for dut in run.duts:
        blocks += [grid_markdown(trials_grid(name, result.trials)) for name, result in named(dut)]
        for left in dut.unfinished:
            blocks.append(grid_markdown(trials_grid(unfinished_name(dut, left), left.trials)))
    return blocks


def grid_markdown(grid: Grid) -> str:
    """Give a table with its title, caption and notes."""
    lines = [
        _line([escape(c.heading) for c in grid.columns]),
        _line(["---:" if c.figures else "---" for c in grid.columns]),
        *(_line([_cell(c) for c in row]) for row in grid.rows),
    ]
    notes = "".join(f"\n- ({n}) {escape(note)}" for n, note in enumerate(grid.notes, 1))
    caption = f": {escape(grid.caption)}" if grid.caption else ""
    return (
        f"**{escape(grid.title)}**{caption}\n\n"
        + "\n".join(lines)
        + (f"\n{notes}" if notes else "")
    )


def _line(cells: list[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _cell(cell: Cell) -> str:
    return escape(cell.text) + (f" ({cell.note})" if cell.note is not None else "")


def escape(text: str) -> str:
    r"""Text that Markdown, and HTML inside it, takes as it is: no table, emphasis, link or tag.

    A line break becomes a space, for a table's row is one line.
    """
    one_line = " ".join(text.split())
    html = one_line.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return re.sub(r"([\\`*_\[\]|~#])", r"\\\1", html)
