"""The mode of an embedded switch."""

import json
import subprocess
from dataclasses import dataclass

import pytest
from proof import Answer, UnknownCommandError, plan_on, prove
from samples import is_never_guessed, reason_of, section_of, state_of

from wirespeed.model.command import Command
from wirespeed.model.finding import Danger
from wirespeed.steps.eswitch_mode import AS_FOUND, EswitchMode

PF = "0000:03:00.0"
STEP = EswitchMode(pci_address=PF, mode="switchdev")
REAL = '{"dev":{"pci/0000:03:00.0":{"mode":"legacy","inline-mode":"none","encap-mode":"basic"}}}\n'
"""devlink of iproute2 6.1 on mlx5."""


@dataclass
class DescribedCard:
    """A PF with an embedded switch, and devlink on it."""

    mode: str

    def run(self, command: Command) -> Answer:
        assert command.stdin is None
        match command.argv:
            case ("devlink", "-j", "dev", "eswitch", "show", "pci/0000:03:00.0"):
                return Answer(json.dumps({"dev": {f"pci/{PF}": {"mode": self.mode}}}))
            case ("devlink", "dev", "eswitch", "set", "pci/0000:03:00.0", "mode", mode):
                assert mode in ("legacy", "switchdev")
                self.mode = mode
                return Answer()
            case _:
                raise UnknownCommandError(command.line())


@pytest.mark.parametrize(("before", "after"), [("legacy", "switchdev"), ("switchdev", "legacy")])
def test_to_and_fro(before: str, after: str):
    prove(STEP.model_copy(update={"mode": after}), DescribedCard(before), DescribedCard(after))


def test_the_commands():
    planned = plan_on(STEP, DescribedCard("legacy")).steps[0]
    assert planned.danger is Danger.DROPS_LINK
    set_mode = "devlink dev eswitch set pci/0000:03:00.0 mode"
    assert [c.line() for c in planned.commands] == [f"{set_mode} switchdev"]
    assert [c.line() for c in planned.undo] == [f"{set_mode} legacy"]


def test_channels_and_rings_are_set_again_after_each_change():
    found = {"netdev": "enp3s0", "combined": 4, "rx": 4096, "tx": 512}
    there, back = (
        STEP.model_copy(update=found).commands({"mode": one}, {"mode": other})
        for one, other in (("legacy", "switchdev"), ("switchdev", "legacy"))
    )
    assert there[1:] == back[1:]
    assert [c.argv[-4:] for c in there[2:3]] == [("ethtool", "-L", "enp3s0", "combined", "4")[-4:]]
    assert there[3].argv[-7:] == ("ethtool", "-G", "enp3s0", "rx", "4096", "tx", "512")
    assert (
        STEP.model_copy(update={"combined": 4}).commands({"mode": "legacy"}, {"mode": "x"})[1:]
        == ()
    )


@pytest.mark.parametrize(
    ("said", "code"),
    [("no ring parameters changed, aborting", 0), ("netlink error: Invalid argument", 1)],
)
def test_what_is_so_already_is_no_failure(said: str, code: int):
    script = f"echo '{said}' >&2; exit 80"
    argv = ("sh", "-c", AS_FOUND, "sh", "sh", "-c", script)
    done = subprocess.run(argv, capture_output=True, text=True, check=False)
    assert (done.returncode, said in done.stderr) == (code, bool(code))


def test_real_output():
    assert state_of(STEP, section_of(REAL)) == {"mode": "legacy"}


def test_a_card_without_an_embedded_switch():
    errors = "kernel answers: Operation not supported\n"
    assert "not supported" in reason_of(STEP, section_of("", errors, 1))
    # Another card's answer, and a mode that nobody knows.
    reason_of(STEP, section_of(REAL.replace("03:00.0", "04:00.0")))
    reason_of(STEP, section_of(REAL.replace("legacy", "offline")))
    is_never_guessed(STEP)


def test_a_netdev_that_is_made_anew_has_its_name_before_the_next_step():
    step = STEP.model_copy(update={"netdev": "enp3s0f0np0"})
    lines = [c.line() for c in plan_on(step, DescribedCard("legacy")).steps[0].commands]
    assert lines[1:] == ["udevadm settle --timeout=30"]
