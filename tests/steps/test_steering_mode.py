"""Who writes the rules of an embedded switch, in both spellings."""

import json
from dataclasses import dataclass

import pytest
from described_files import DescribedFiles
from proof import Answer, UnknownCommandError, plan_on, prove
from samples import is_never_guessed, reason_of, section_of, state_of

from wirespeed.model.command import Command
from wirespeed.steps.steering_mode import SteeringMode

PF = "0000:03:00.0"
STEP = SteeringMode(pci_address=PF, mode="smfs")
BY_FILE = SteeringMode(pci_address=PF, mode="smfs", netdev="enp3s0f0np0")
PATH = "/sys/class/net/enp3s0f0np0/compat/devlink/steering_mode"
NAME = "flow_steering_mode"
REAL = (
    '{"param":{"pci/0000:03:00.0":[{"name":"flow_steering_mode","type":"driver-specific",'
    '"values":[{"cmode":"runtime","value":"dmfs"}]}]}}\n'
)
"""devlink of iproute2 6.1 on mlx5."""


@dataclass
class DescribedCard:
    """A port in legacy mode; in switchdev mode mlx5_fs_mode_validate() refuses smfs."""

    mode: str
    eswitch: str = "legacy"

    def run(self, command: Command) -> Answer:
        handle = f"pci/{PF}"
        match command.argv:
            case ("devlink", "-j", "dev", "param", "show", one, "name", name):
                assert (one, name) == (handle, NAME)
                values = [{"cmode": "runtime", "value": self.mode}]
                return Answer(json.dumps({"param": {handle: [{"name": NAME, "values": values}]}}))
            case ("devlink", "dev", "param", "set", one, "name", name, "value", mode, *rest):
                assert (one, name, rest) == (handle, NAME, ["cmode", "runtime"])
                if mode == "smfs" and self.eswitch == "switchdev":
                    return Answer("", "kernel answers: Operation not supported", 1)
                self.mode = mode
                return Answer()
        raise UnknownCommandError(command.line())


class DescribedVendorFile(DescribedFiles):
    def write(self, path: str, text: str) -> str:
        if path != PATH or text not in ("dmfs", "smfs"):
            return super().write(path, text)
        self.files[path] = f"{text}\n"
        return ""


@pytest.mark.parametrize(("before", "after"), [("dmfs", "smfs"), ("smfs", "dmfs")])
def test_to_and_fro(before: str, after: str):
    prove(STEP.model_copy(update={"mode": after}), DescribedCard(before), DescribedCard(after))


def test_to_and_fro_by_the_file_of_a_vendor():
    prove(BY_FILE, DescribedVendorFile({PATH: "dmfs\n"}), DescribedVendorFile({PATH: "smfs\n"}))


def test_the_commands_in_both_spellings():
    planned = plan_on(STEP, DescribedCard("dmfs")).steps[0]
    start = f"devlink dev param set pci/{PF} name {NAME} value"
    assert [c.line() for c in planned.commands] == [f"{start} smfs cmode runtime"]
    assert [c.line() for c in planned.undo] == [f"{start} dmfs cmode runtime"]
    planned = plan_on(BY_FILE, DescribedVendorFile({PATH: "dmfs\n"})).steps[0]
    assert [c.line() for c in planned.commands] == [f"echo smfs | tee {PATH}"]
    assert [c.line() for c in planned.undo] == [f"echo dmfs | tee {PATH}"]


def test_real_output():
    assert state_of(STEP, section_of(REAL)) == {"mode": "dmfs"}


def test_what_is_no_mode_is_unreadable():
    reason_of(STEP, section_of("", "kernel answers: Invalid argument\n", 1))
    reason_of(STEP, section_of(REAL.replace("03:00.0", "04:00.0")))
    reason_of(STEP, section_of(REAL.replace("dmfs", "other")))
    reason_of(STEP, section_of(REAL.replace("runtime", "driverinit")))
    reason_of(BY_FILE, section_of("", f"cat: {PATH}: No such file or directory\n", 1))
    is_never_guessed(STEP)
