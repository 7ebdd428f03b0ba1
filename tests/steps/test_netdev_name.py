"""A netdev is found by its PCI address, gets a name, and has its former one back."""

import json
import os
import subprocess
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from proof import Answer, UnknownCommandError, plan_on, prove
from pydantic import ValidationError
from samples import reason_of, section_of

from wirespeed.model.command import Command
from wirespeed.model.observed import CannotTellError
from wirespeed.steps.netdev_name import NAMED_BACK, NetdevName

STEP = NetdevName(pci_address="0000:00:08.0", netdev="net0p0")


@dataclass
class DescribedLinks:
    """One netdev of the function; Linux before 6.2 does not rename it while it is up.

    udev gives what is called otherwise the name of its own choice as a further one.
    """

    name: str = "enp0s8"
    is_up: bool = False
    other: str = "eth0"
    altname: str = field(default="", compare=False)

    def run(self, command: Command) -> Answer:
        match command.argv:
            case ("ip", "-j", "-d", "link", "show"):
                flags = ["BROADCAST", "UP"] if self.is_up else ["BROADCAST"]
                mine = {"parentbus": "pci", "parentdev": "0000:00:08.0"}
                other = {"ifname": self.other, "flags": [], **mine, "parentdev": "0000:00:02.0"}
                return Answer(json.dumps([{"ifname": self.name, "flags": flags, **mine}, other]))
            case ("ip", "link", "set", "dev", self.name, "down" | "up" as word):
                self.is_up = word == "up"
                return Answer()
            case ("ip", "link", "set", "dev", self.name, "name", new):
                return self.named(new)
            case ("sh", "-c", script, self.name, new) if script == NAMED_BACK:
                self.altname = "" if self.altname == new else self.altname
                return self.named(new)
            case ("ip", "link", "set", "dev", name, *_):
                return Answer(errors=f'Cannot find device "{name}"', returncode=1)
            case _:
                raise UnknownCommandError(command.line())

    def named(self, new: str) -> Answer:
        if self.is_up:
            return Answer(errors="RTNETLINK answers: Device or resource busy", returncode=2)
        if new == self.altname:
            return Answer(errors="RTNETLINK answers: File exists", returncode=2)
        self.name = new
        self.altname = "enp0s8" if new != "enp0s8" else ""
        return Answer()


def test_it_is_named_and_has_its_name_back():
    prove(STEP, DescribedLinks(), DescribedLinks("net0p0"))


def test_one_that_was_up_is_up_again():
    prove(STEP, DescribedLinks(is_up=True), DescribedLinks("net0p0", is_up=False))


def test_a_name_that_another_has_is_not_taken():
    with pytest.raises(CannotTellError, match="another netdev is called net0p0"):
        plan_on(STEP, DescribedLinks(other="net0p0"))


def test_a_function_without_a_netdev_is_not_known():
    reason_of(STEP, section_of("[]"))
    # A guest of Debian 11 or Ubuntu 20.04: no netdev is said to be of a function.
    old = section_of('[{"ifname":"ens2","flags":[]},{"ifname":"ens8","flags":[]}]')
    assert "Linux 5.14" in reason_of(STEP, old)
    other = section_of('[{"ifname":"ens2","parentbus":"virtio","parentdev":"virtio0"}]')
    assert "has no netdevs" in reason_of(STEP, other)
    reason_of(STEP, section_of('[{"ifname":"a b","parentbus":"pci","parentdev":"0000:00:08.0"}]'))


def test_of_one_that_is_not_there_yet_the_plan_says_how_it_is_found():
    made = STEP.made()
    line = STEP.change(made, STEP.wanted(made))[0].line()
    assert "/sys/bus/pci/devices/$0/net" in line and line.endswith("0000:00:08.0 net0p0")


def test_one_that_is_up_by_then_is_set_down_before_it_is_named(tmp_path: Path):
    """do_setlink() of Linux: of one message, the name comes before the flags."""
    made = STEP.made()
    shell, option, script, address, name = STEP.change(made, STEP.wanted(made))[0].argv
    script = script.replace("/sys/bus/pci/devices", str(tmp_path))
    (tmp_path / address / "net" / "ens8").mkdir(parents=True)
    (tmp_path / "ip").write_text(f'#!/bin/sh\necho "$*" >>{tmp_path}/done\n')
    (tmp_path / "ip").chmod(0o755)
    path = {"PATH": f"{tmp_path}:{os.environ['PATH']}"}
    subprocess.run([f"/bin/{shell}", option, script, address, name], env=path, check=True)
    assert (tmp_path / "done").read_text().splitlines() == [
        "link set dev ens8 down",
        "link set dev ens8 name net0p0",
    ]


@pytest.mark.parametrize("name", ["", "a b", "../x", "-x", "a" * 16])
def test_it_is_named_safely(name: str):
    with pytest.raises(ValidationError):
        NetdevName(pci_address="0000:00:08.0", netdev=name)
