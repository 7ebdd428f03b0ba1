"""A VF's representor is found by the port that the kernel says it is, and by nothing else."""

import json
from dataclasses import dataclass, field

import pytest
from proof import Answer, DescribedControl, UnknownCommandError, plan_on, prove
from pydantic import ValidationError
from samples import is_never_guessed, reason_of, section_of, state_of

from wirespeed.apply.executor import Executor
from wirespeed.apply.planner import planned
from wirespeed.model.command import Command
from wirespeed.model.error import ApplyError
from wirespeed.model.plan import Plan
from wirespeed.steps.netdev_name import NAMED_BACK
from wirespeed.steps.representor_name import RepresentorName

PF = "0000:06:00.0"
STEP = RepresentorName(pci_address=PF, vf=1, netdev="gpu-1-n0")
REAL = """\
{"port":{"pci/0000:06:00.0/65535":{"type":"eth","netdev":"ens2f0np0","flavour":"physical","port":0,\
"splittable":false},\
"pci/0000:06:00.0/2":{"type":"eth","netdev":"ens2f0pf0vf1","flavour":"pcivf","controller":0,\
"pfnum":0,"vfnum":1,"external":false,"splittable":false,"function":{"hw_addr":"00:00:00:00:00:00"}}}}
"""
"""As devlink-port(8) and the kernel's commits about pcivf and external have it; in one line."""


def port(netdev: str, vf: int, **more: object) -> dict[str, object]:
    flavour = {"flavour": "pcivf", "controller": 0, "pfnum": 0, "vfnum": vf, "external": False}
    return {"type": "eth", "netdev": netdev, **flavour, "splittable": False, **more}


@dataclass
class DescribedPorts:
    """Representors of two VFs, whose names say the contrary of what they are.

    udev gives what is called otherwise the name of its own choice as a further one.
    """

    names: dict[int, str] = field(default_factory=lambda: {0: "rep1", 1: "rep0"})
    up: set[str] = field(default_factory=set)
    late: int = field(default=0, compare=False)
    """Readings that do not list them yet."""
    altnames: set[str] = field(default_factory=set, compare=False)

    def run(self, command: Command) -> Answer:
        match command.argv:
            case ("devlink", "-j", "port", "show") if self.late:
                self.late -= 1
                return Answer('{"port":{}}')
            case ("devlink", "-j", "port", "show"):
                ports = {f"pci/{PF}/{vf + 1}": port(name, vf) for vf, name in self.names.items()}
                other = {"pci/0000:06:00.1/2": port("rep9", 1)}
                return Answer(json.dumps({"port": ports | other}))
            case ("ip", "link", "set", "dev", name, "down") if name in self.names.values():
                self.up.discard(name)
                return Answer()
            case ("ip", "link", "set", "dev", name, "name", new) if name in self.names.values():
                return self.named(name, new)
            case ("sh", "-c", script, name, new) if script == NAMED_BACK:
                self.altnames.discard(new)
                return self.named(name, new)
            case _:
                raise UnknownCommandError(command.line())

    def named(self, name: str, new: str) -> Answer:
        if name in self.up:
            return Answer(errors="RTNETLINK answers: Device or resource busy", returncode=2)
        if new in self.altnames:
            return Answer(errors="RTNETLINK answers: File exists", returncode=2)
        self.names = {vf: new if n == name else n for vf, n in self.names.items()}
        self.altnames |= {name} & {"rep0", "rep1"}
        return Answer()


def test_it_is_named_and_has_its_name_back():
    prove(STEP, DescribedPorts(), DescribedPorts({0: "rep1", 1: "gpu-1-n0"}))


def test_one_that_is_up_is_set_down_before():
    lines = [c.line() for c in plan_on(STEP, DescribedPorts(up={"rep0"})).steps[0].commands]
    assert lines == ["ip link set dev rep0 down", "ip link set dev rep0 name gpu-1-n0"]


def test_one_that_appears_late_is_awaited_and_one_that_never_does_is_not_for_ever(
    monkeypatch: pytest.MonkeyPatch,
):
    plan = Plan(steps=(planned("alpha", STEP, None),))
    control = DescribedControl(DescribedPorts(late=2))
    Executor(plan, {"alpha": control}, lambda _: None, lambda: "now").apply()
    assert control.host == DescribedPorts({0: "rep1", 1: "gpu-1-n0"})

    monkeypatch.setattr(RepresentorName, "settle_s", 0.2)
    never = DescribedControl(DescribedPorts(late=99))
    with pytest.raises(ApplyError, match="step"):
        Executor(plan, {"alpha": never}, lambda _: None, lambda: "now").apply()


def test_real_output():
    assert state_of(STEP, section_of(REAL)) == {"netdev": "ens2f0pf0vf1"}


def test_one_that_is_not_there_or_of_another_host_of_the_card_is_not_known():
    assert "no representors" in reason_of(STEP, section_of('{"port":{}}'))
    reason_of(STEP, section_of(REAL.replace('"vfnum":1', '"vfnum":2')))
    reason_of(STEP, section_of(REAL.replace('"external":false', '"external":true')))
    reason_of(STEP, section_of(REAL.replace("pcivf", "pcisf")))
    reason_of(STEP, section_of(REAL.replace("ens2f0pf0vf1", "a b")))
    two = {f"pci/{PF}/{n}": port(f"rep{n}", 1) for n in (1, 2)}
    assert "2 representors" in reason_of(STEP, section_of(json.dumps({"port": two})))
    is_never_guessed(STEP)


def test_of_one_that_is_not_there_yet_the_plan_says_how_it_is_found():
    made = STEP.made()
    line = STEP.change(made, STEP.wanted(made))[0].line()
    assert "devlink port show" in line and line.endswith(f"{PF} 1 gpu-1-n0")


@pytest.mark.parametrize("name", ["", "a b", "../x", "-x", "a" * 16])
def test_it_is_named_safely(name: str):
    with pytest.raises(ValidationError):
        RepresentorName(pci_address=PF, vf=0, netdev=name)
