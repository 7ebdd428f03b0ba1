"""Which build of the switch runs."""

from dataclasses import dataclass

import pytest
from proof import Answer, UnknownCommandError, plan_on, prove
from pydantic import ValidationError
from samples import is_never_guessed, reason_of, section_of, state_of

from wirespeed.model.command import Command
from wirespeed.steps.alternative import Alternative

KERNEL = "/usr/lib/openvswitch-switch/ovs-vswitchd"
DPDK = "/usr/lib/openvswitch-switch-dpdk/ovs-vswitchd-dpdk"
STEP = Alternative(program=DPDK, package="openvswitch-switch-dpdk")
# update-alternatives --query ovs-vswitchd, Debian 12 with openvswitch-switch alone.
ALONE = f"""\
Name: ovs-vswitchd
Link: /usr/sbin/ovs-vswitchd
Status: auto
Best: {KERNEL}
Value: {KERNEL}

Alternative: {KERNEL}
Priority: 100
"""
BOTH = f"{ALONE}\nAlternative: {DPDK}\nPriority: 50\n"


@dataclass
class Described:
    """dpkg's update-alternatives(1), with two builds."""

    value: str = KERNEL
    is_auto: bool = True

    def run(self, command: Command) -> Answer:
        match command.argv:
            case ("update-alternatives", "--query", "ovs-vswitchd"):
                status = "auto" if self.is_auto else "manual"
                text = BOTH.replace("Status: auto", f"Status: {status}")
                return Answer(text.replace(f"Value: {KERNEL}", f"Value: {self.value}"))
            case ("update-alternatives", "--set", "ovs-vswitchd", program) if program in BOTH:
                self.value, self.is_auto = program, False
            case ("update-alternatives", "--auto", "ovs-vswitchd"):
                self.value, self.is_auto = KERNEL, True
            case _:
                raise UnknownCommandError(command.line())
        return Answer()


def test_the_build_with_dpdk_is_chosen_and_then_the_former_one():
    prove(STEP, Described(), Described(value=DPDK, is_auto=False))


def test_an_administrators_own_choice_comes_back_as_one():
    before = Described(is_auto=False)
    prove(STEP, before, Described(value=DPDK, is_auto=False))


def test_nothing_is_done_where_it_is_the_choice():
    assert plan_on(STEP, Described(value=DPDK, is_auto=False)).steps[0].no_op


def test_as_the_document_does_it():
    lines = [command.line() for command in plan_on(STEP, Described()).steps[0].commands]
    assert lines == [
        f"update-alternatives --set ovs-vswitchd {DPDK}",
    ]


def test_real_outputs():
    assert state_of(STEP, section_of(BOTH)) == {"program": KERNEL, "is_auto": True}
    assert "apt install openvswitch-switch-dpdk" in reason_of(STEP, section_of(ALONE))
    is_never_guessed(STEP)


@pytest.mark.parametrize(
    ("was", "becomes", "why"),
    [
        (f"Value: {KERNEL}", "Value: none", "'none'"),
        (f"Value: {KERNEL}", "Value: /opt/ovs-vswitchd", "'/opt/ovs-vswitchd'"),
        ("Status: auto", "Status: odd", "does not name the program"),
        ("Name: ovs-vswitchd", "Name: editor", "does not name the program"),
    ],
)
def test_what_could_not_be_put_back_is_not_changed(was: str, becomes: str, why: str):
    assert why in reason_of(STEP, section_of(BOTH.replace(was, becomes)))


@pytest.mark.parametrize("program", ["ovs-vswitchd", "/usr/bin/x y", "/a;b"])
def test_no_path_of_a_program(program: str):
    with pytest.raises(ValidationError):
        Alternative(program=program, package="x")
