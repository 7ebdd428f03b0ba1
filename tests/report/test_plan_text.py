"""A plan as an administrator reads it, within 80 columns, and as a script that a shell takes."""

import subprocess

from wirespeed.apply.planner import make_plan
from wirespeed.model.observed import Known
from wirespeed.model.plan import Plan
from wirespeed.report.plan_text import plan_lines, shell_script
from wirespeed.steps.driver_override import DriverOverride
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
        "2 of 3 steps are to be done (drops the link: 2)",
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
