"""Every rule on every one of its cases: a folder with a capture and what the rule must say of it.

cases/<slug>/present_<what>/       the condition is there
cases/<slug>/absent_<what>/        it is not
cases/<slug>/cannot_tell_<what>/   a fact is missing
  capture.txt     as the collector prints it; sections that the rule does not read are left out
  expected.json   question (left out: none), findings, and where it cannot tell or does not apply;
                  `source`: where the case is from; rule_cases.py says what a finding states
"""

from pathlib import Path

import pytest
from rule_cases import FOLDERS, cases_of, read_case

from wirespeed.catalog import rules
from wirespeed.model.powershell import CMDLET

KINDS = ("present", "absent", "cannot_tell")
BY_SLUG = {rule.slug: rule for rule in rules()}


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda f: f"{f.parent.name}-{f.name}")
def test_a_rule_says_what_its_case_expects(folder: Path):
    case = read_case(folder)
    diagnosis = case.answer(BY_SLUG[folder.parent.name])
    assert not diagnosis.faults
    assert case.said(diagnosis) == case.expected
    kind = next(kind for kind in KINDS if folder.name.startswith(kind))
    assert (kind == "present") == bool(diagnosis.findings)
    assert (kind == "cannot_tell") == ("cannot tell" in case.expected)
    for verdict in diagnosis.verdicts:
        assert (verdict.outcome == "cannot tell") <= bool(verdict.would_tell), verdict


@pytest.mark.parametrize("slug", sorted(BY_SLUG))
def test_a_rule_has_a_case_of_each_kind(slug: str):
    names = [folder.name for folder in FOLDERS if folder.parent.name == slug]
    for kind in KINDS:
        assert any(name.startswith(kind) for name in names), f"no case {kind}_… of {slug}"


def test_every_case_belongs_to_a_rule():
    assert {folder.parent.name for folder in FOLDERS} <= BY_SLUG.keys()


@pytest.mark.parametrize("slug", sorted(BY_SLUG))
def test_a_rule_is_in_the_file_of_its_name(slug: str):
    module = BY_SLUG[slug].check.__module__.rpartition(".")[2]
    assert module == slug.replace(".", "_")


COMMANDS = {
    "cat", "chrt", "dcb",
    "devlink", "dmesg", "ethtool", "grep", "ibv_devinfo", "ip", "ls", "lscpu", "lspci", "modinfo",
    "mlnx_qos", "mlxlink", "mstconfig", "rdma", "ss",
    "ovs-appctl", "ovs-vsctl", "ps", "readlink", "setpci", "sudo", "sysctl",
    "systemd-detect-virt", "tc",
    "wirespeed", "wslinfo",
    # At a switch.
    "lldpcli", "nv", "show",
    # On ESXi.
    "esxcli", "vim-cmd",
}  # fmt: skip
NO_COMMANDS = {"as you gave it"}
"""What the user said, and no host."""


@pytest.mark.parametrize("slug", sorted(BY_SLUG))
def test_what_was_seen_or_would_tell_is_a_command_that_anyone_can_type(slug: str):
    for case in cases_of(slug):
        answer = case.answer(BY_SLUG[slug])
        lines = [evidence.source for f in answer.findings for evidence in f.evidence]
        lines += [v.would_tell for v in answer.verdicts if v.outcome == "cannot tell"]
        for line in lines:
            first = line.split()[0] if line else ""
            if CMDLET.fullmatch(first):
                assert first.startswith("Get-"), line
                continue
            assert first in COMMANDS or line in NO_COMMANDS or line.startswith("https://"), line


def test_every_price_and_bound_has_its_formula_in_the_rule():
    """`doctor --explain` prints it; a rule that never gives either has none."""
    for folder in FOLDERS:
        for finding in read_case(folder).answer(BY_SLUG[folder.parent.name]).findings:
            assert BY_SLUG[finding.rule].price or not (finding.changes or finding.bounds)
            assert all(bound.formula and bound.of for bound in finding.bounds)
