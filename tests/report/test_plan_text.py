"""A plan as an administrator reads it, within 80 columns, and as a script that a shell takes."""

import subprocess

import pytest

from wirespeed.apply.planner import make_plan
from wirespeed.model.command import Command, Shell
from wirespeed.model.observed import Known
from wirespeed.model.plan import Later, Plan
from wirespeed.report.plan_diff import diff_lines, states_diff
from wirespeed.report.plan_text import plan_lines, shell_script
from wirespeed.steps.driver_override import DriverOverride
from wirespeed.steps.file_content import FileContent
from wirespeed.steps.in_namespace import InNamespace
from wirespeed.steps.link_up import LinkUp
from wirespeed.steps.mtu import Mtu

VF = "0000:03:02.3"


def plan() -> Plan:
    return make_plan(
        [
            ("alpha", Mtu(netdev="enp3s0f0np0", mtu=9080), Known({"mtu": 1500}, "cat")),
            ("alpha", LinkUp(netdev="enp3s0f0np0"), Known({"up": True}, "ip link")),
            ("beta", DriverOverride(pci_address=VF), None),
        ]
    )


def test_every_command_and_its_undo_are_shown():
    assert list(plan_lines(plan())) == [
        "alpha: once per boot",
        "  1 mtu enp3s0f0np0  (DROPS THE LINK)",
        "      check cat /sys/class/net/enp3s0f0np0/mtu",
        "      from  mtu 1500",
        "      to    mtu 9080",
        "      run   ip link set dev enp3s0f0np0 mtu 9080",
        "      undo  ip link set dev enp3s0f0np0 mtu 1500",
        "  2 link_up enp3s0f0np0: it is so already: up yes",
        "",
        "beta: once per boot",
        f"  3 driver_override {VF}  (DROPS THE LINK)",
        f"      check grep -H '' /sys/bus/pci/devices/{VF}/driver_override \\",
        f"              /sys/bus/pci/devices/{VF}/uevent",
        "      to    driver vfio-pci, driver_override vfio-pci; an earlier step makes it",
        "      run   echo vfio-pci | tee \\",
        f"              /sys/bus/pci/devices/{VF}/driver_override",
        f"      run   echo {VF} | tee /sys/bus/pci/drivers_probe",
        f"      undo  echo {VF} | tee \\",
        f"              /sys/bus/pci/devices/{VF}/driver/unbind",
        f"      undo  echo '' | tee /sys/bus/pci/devices/{VF}/driver_override",
        "",
        "2 of 3 steps to do (drops the link: 2)",
    ]


def test_the_script_of_a_host_is_one_that_a_shell_takes():
    script = shell_script(plan(), "alpha")
    assert script.splitlines()[-6:] == [
        "# 1 mtu enp3s0f0np0",
        "ip link set dev enp3s0f0np0 mtu 9080",
        "# undo: ip link set dev enp3s0f0np0 mtu 1500",
        "",
        "# 2 link_up enp3s0f0np0",
        "# it is so already: up yes",
    ]
    assert "vfio-pci" not in script
    subprocess.run(["/bin/sh", "-n"], input=script, text=True, check=True)


def test_a_step_within_a_namespace_is_called_by_its_own_kind():
    step = InNamespace.of("ceph-1", Mtu(netdev="bond0", mtu=9000))
    lines = list(plan_lines(make_plan([("alpha", step, None)])))
    assert lines[:2] == ["alpha: once per guest", "  1 mtu bond0 in ceph-1"]


def test_a_stage_says_what_it_waits_for_and_the_next_goes_on_counting():
    later = Later(host="alpha", after=("firmware_settings 0000:03:00.0",), needs_reboot=True)
    lines = list(plan_lines(plan().model_copy(update={"later": (later,)}), first=10))
    assert lines[0] == "alpha, stage 1: once per boot"
    assert lines[1].startswith(" 10 mtu ")
    assert lines[-2:] == [
        "after the reboot of alpha (firmware_settings 0000:03:00.0): planned again, from",
        "  the state of the host then",
    ]


def test_a_diff_has_only_what_differs():
    assert list(diff_lines(plan())) == [
        "alpha",
        "  1 mtu enp3s0f0np0  (DROPS THE LINK)",
        "    -mtu 1500",
        "    +mtu 9080",
        "",
        "beta",
        f"  3 driver_override {VF}  (DROPS THE LINK)",
        "    +driver vfio-pci",
        "    +driver_override vfio-pci",
        "     an earlier step makes it",
    ]


def test_a_diff_of_a_file_is_by_its_lines():
    was, now = {"content": "one\ntwo\n"}, {"content": "one\n\x1b[2J\n"}
    assert list(states_diff(was, now)) == ["     content", "    -two", "    +\\x1b[2J"]
    assert list(states_diff({"content": None}, {"content": "a\n"})) == ["     content", "    +a"]
    assert list(states_diff(was, was)) == []


def test_a_plan_of_no_ops_differs_in_nothing():
    no_op = make_plan([("alpha", LinkUp(netdev="eth0"), Known({"up": True}, "ip link"))])
    assert list(diff_lines(no_op)) == ["nothing differs"]


def test_nothing_is_wider_than_a_terminal():
    step = FileContent(path="/etc/a" + "b" * 90, content="c " * 90 + "\n", reason="for a test")
    made = make_plan([("alpha", step, Known({"content": None}, "cat"))])
    wide = [line for line in diff_lines(made) if len(line) > 80]
    assert wide == [f"  1 file_content {step.path}"], "a path stays whole"


@pytest.mark.parametrize(
    ("shell", "argv", "is_told"),
    [
        (Shell.SWITCH, ("configure", "interface Te1/0/1", "speed 10000"), True),
        (Shell.VSPHERE, ("reconfigure", "7", "numCPUs=8"), True),
        (Shell.POSIX, ("ip", "link"), False),
    ],
)
def test_a_plan_says_where_no_lock_keeps_two_operators_apart(
    shell: Shell, argv: tuple[str, ...], is_told: bool
):
    step = make_plan([("sw1", Mtu(netdev="eth0", mtu=9000), Known({"mtu": 1500}, "cat"))]).steps[0]
    typed = step.model_copy(update={"commands": (Command(argv=argv, shell=shell),)})
    said = "\n".join(plan_lines(Plan(steps=(typed, typed))))
    assert said.count("sw1: no lock keeps others from changing it") == int(is_told)
    done = typed.model_copy(update={"no_op": "it is so already"})
    assert "no lock" not in "\n".join(plan_lines(Plan(steps=(done,))))
