"""Every host optimization of the report has its step, or its reason, and a line in the docs."""

import re
from pathlib import Path

import pytest
from askers import kinds, who_asks
from optimizations import BARE_METAL, BEYOND, COMMANDS, GUEST, HYPERVISOR, REPORT, Row

from wirespeed.catalog import read_step, rules, step_types
from wirespeed.model.spec.dpdk import DpdkSpec

ROOT = Path(__file__).parents[2]
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


STEPS = [row for row in ALL if row.steps]


@pytest.mark.parametrize("row", STEPS, ids=name)
def test_the_page_says_who_asks_for_it_and_names_all_of_them(row: Row):
    found = who_asks(row.steps)
    assert all(found), "something of it is asked for by nobody: no user can get it"
    named = LINES[row.what][2].split("`")[1::2]
    assert sorted(named) == sorted(set().union(*found))


def test_every_step_is_asked_for_by_a_rule_a_spec_or_a_command():
    files = [path for path in (ROOT / "src").rglob("*.py") if path.parent.name != "steps"]
    text = "\n".join(path.read_text() for path in files)
    made = {
        kind
        for kind, of in step_types().items()
        if re.search(rf"\b{of.__name__}(\.of|\.model_validate)?\(", text)
    }
    assert step_types().keys() - made - kinds() == set()


@pytest.mark.parametrize("row", [row for row in ALL if row.fields], ids=name)
def test_the_page_names_the_fields_that_give_a_program_its_options(row: Row):
    assert set(row.fields) <= set(DpdkSpec.model_fields)
    named = LINES[row.what][1].split("`")[1::2]
    assert [one for one in named if one.startswith("dpdk.")] == [f"dpdk.{f}" for f in row.fields]


def test_the_page_names_no_other_optimization():
    assert LINES.keys() - {row.what for row in ALL} <= {"optimization", "---", "by", "step"}


def test_a_step_that_the_page_names_is_there():
    words = {word for cells in LINES.values() for word in cells[1].split("`")[1::2]}
    found = {w for w in words if "=" not in w and " " not in w and not w.startswith("dpdk.")}
    assert found <= step_types().keys()
