"""nmlx5_core's parameters on a described ESXi host, which writes all of them at once."""

import json
from dataclasses import dataclass, field

import pytest
from proof import Answer, UnknownCommandError, prove
from pydantic import ValidationError

from wirespeed.model.capture import Section
from wirespeed.model.command import Command, Shell
from wirespeed.model.observed import Known, Observed, Unreadable
from wirespeed.model.step import State
from wirespeed.platforms.esxi.steps.esxi_module_parameters import EsxiModuleParameters

VFS = EsxiModuleParameters(parameters={"max_vfs": "1,1"}, reason="each guest has a VF")
REPORT = EsxiModuleParameters(
    parameters={"max_vfs": "1,1,1,1,1,1,1", "supported_num_ports": "8"},
    reason="test 5 of the report",
)
HAS = ("DRSS", "RSS", "max_vfs", "supported_num_ports")
LIST = ("esxcli", "--formatter=json", "system", "module", "parameters", "list", "-m", "nmlx5_core")
SET = ("esxcli", "system", "module", "parameters", "set", "-m", "nmlx5_core", "-p")


@dataclass
class DescribedEsxi:
    """`esxcli system module parameters`: `set` writes the whole text, and forgets what it had."""

    kept: dict[str, str] = field(default_factory=dict)

    def run(self, command: Command) -> Answer:
        if command.shell is not Shell.POSIX or command.stdin is not None:
            raise UnknownCommandError(command.line())
        if command.argv == LIST:
            rows = [
                {"Description": "", "Name": name, "Type": "", "Value": self.kept.get(name, "")}
                for name in HAS
            ]
            return Answer(json.dumps(rows) + "\n")
        if command.argv[:-1] != SET:
            raise UnknownCommandError(command.line())
        wanted = dict(word.split("=", 1) for word in command.argv[-1].split())
        if unknown := wanted.keys() - set(HAS):
            text = f"Unable to set module parameters, these are invalid: {', '.join(unknown)}\n"
            return Answer("", text, 1)
        self.kept = wanted
        return Answer()


def test_vfs_are_asked_for_on_esxi_where_nothing_was_set():
    prove(VFS, DescribedEsxi(), DescribedEsxi({"max_vfs": "1,1"}))


def test_what_else_was_set_on_esxi_stays_and_comes_back():
    prove(
        VFS,
        DescribedEsxi({"DRSS": "4", "max_vfs": "8"}),
        DescribedEsxi({"DRSS": "4", "max_vfs": "1,1"}),
    )


def test_the_reports_parameters_on_esxi():
    goal = DescribedEsxi({"max_vfs": "1,1,1,1,1,1,1", "supported_num_ports": "8"})
    prove(REPORT, DescribedEsxi(), goal)


def test_it_waits_for_a_reboot_of_esxi():
    assert VFS.waits_for_reboot and VFS.ends_stage


def state_of(output: str, code: int | None = 0) -> Observed[State]:
    return VFS.parse(Section("step", "", output, "", code))


def test_none_set_is_no_default():
    assert state_of('[{"Name": "max_vfs", "Value": ""}]') == Known({}, VFS.read().line())


@pytest.mark.parametrize(
    ("output", "code"),
    [
        ("[]", 0),
        ('[{"Name": "DRSS", "Value": "4"}]', 0),
        ('[{"Name": "max_vfs", "Value": 1}]', 0),
        ('[{"Name": "max_vfs", "Value": "1 -f"}]', 0),
        ('[{"Name": "max_vfs", "Value": ""}, {"Name": "a b", "Value": "1"}]', 0),
        ("{}", 0),
        ("", 0),
        ("[" * 5000, 0),
        ("Unable to find module", 1),
        ('[{"Name": "max_vfs", "Value": ""}]', None),
    ],
)
def test_what_esxi_does_not_tell_is_unreadable(output: str, code: int | None):
    assert isinstance(state_of(output, code), Unreadable)


@pytest.mark.parametrize(
    "parameters", [{}, {"max vfs": "1"}, {"max_vfs": "1 RSS=0"}, {"-p": "1"}, {"max_vfs": ""}]
)
def test_only_names_and_values_that_are_one_word_are_taken(parameters: dict[str, str]):
    with pytest.raises(ValidationError):
        EsxiModuleParameters(parameters=parameters, reason="x")
