"""Every host optimization of the report has its step, or its reason, and a line in the docs."""

from pathlib import Path

import pytest
from optimizations import BARE_METAL, BEYOND, COMMANDS, GUEST, HYPERVISOR, REPORT, Row

from wirespeed.catalog import read_step, rules, step_types

PAGE = (Path(__file__).parents[2] / "docs/optimizations.md").read_text(encoding="utf-8")
ALL = (*REPORT, *BEYOND)
LINES = {
    cells[1].strip(): [cell.strip() for cell in cells[2:-1]]
    for cells in (line.split("|") for line in PAGE.splitlines() if line.startswith("| "))
}
"""First column: the others."""


def name(row: Row) -> str:
    return row.what


@pytest.mark.parametrize("settings", [BARE_METAL, HYPERVISOR, GUEST])
def test_every_parameter_of_the_kernel_has_its_step(settings: str):
    ours = {parameter for row in REPORT for parameter in row.parameters}
    assert set(settings.split()) - ours == set()


def test_nothing_is_said_to_be_of_the_report_that_is_not():
    published = set(f"{BARE_METAL} {HYPERVISOR} {GUEST}".split())
    assert {parameter for row in REPORT for parameter in row.parameters} == published


def test_every_command_has_its_row():
    assert [command for row in REPORT for command in row.commands] == list(COMMANDS)


@pytest.mark.parametrize("row", ALL, ids=name)
def test_it_is_a_step_or_says_why_not(row: Row):
    assert bool(row.steps) != bool(row.by_hand)
    for call in row.steps:
        step = read_step(call.data)
        assert step.subject and step.why
    slugs = {rule.slug for rule in rules()}
    assert set(row.rules) <= slugs
    # What only a person can do, the doctor at least sees the effect of.
    assert row.steps or row.rules


@pytest.mark.parametrize("row", ALL, ids=name)
def test_a_parameter_of_the_row_is_one_of_its_step(row: Row):
    for call in row.steps:
        if call.kind.startswith("kernel_") and row.parameters:
            assert call.parameters["parameters"] == list(row.parameters)


@pytest.mark.parametrize("row", ALL, ids=name)
def test_the_page_names_its_steps(row: Row):
    step, proven = LINES[row.what][1], LINES[row.what][-1]
    for call in row.steps:
        assert f"`{call.kind}`" in step
    if row.by_hand:
        assert step.startswith("by hand")
    else:
        assert proven in ("described", "described, lab")
    for parameter in row.parameters:
        assert parameter in LINES[row.what][0]


def test_the_page_names_no_other_optimization():
    assert LINES.keys() - {row.what for row in ALL} <= {"optimization", "---", "by", "step"}


def test_a_step_that_the_page_names_is_there():
    words = {word for cells in LINES.values() for word in cells[1].split("`")[1::2]}
    assert {word for word in words if "=" not in word and " " not in word} <= step_types().keys()
