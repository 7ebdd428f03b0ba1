"""Faults on demand: the real mlx5_core meets them on a modelled card, and the doctor names each."""

import os
import subprocess
from collections.abc import Iterator

import pytest
from mlx5_host import BUILDER, PORTS, facts_of, sh, spec_of, until

from wirespeed.catalog import rules
from wirespeed.doctor.diagnose import diagnose
from wirespeed.host.qmp import Qmp
from wirespeed.lab.machine_fault import make_fault, parse_fault
from wirespeed.lab.machine_qemu import card
from wirespeed.lab.machines import Machine, Machines
from wirespeed.model.error import MeasurementError
from wirespeed.model.finding import Severity
from wirespeed.model.question import Question

pytestmark = [pytest.mark.machines, pytest.mark.rare, pytest.mark.timeout(900)]
P0, P1 = "enp1s0f0", "enp1s0f1"
FATAL = f"devlink health show pci/{PORTS[0]} reporter fw_fatal"
ACCESS_REG = "0x805"
RULES = (
    "driver.health_error",
    "driver.refused",
    "link.down",
    "link.flaps",
    "link.module_overheated",
    "link.module_unqualified",
)


@pytest.fixture(scope="module")
def alpha() -> Iterator[Machine]:
    subprocess.run([BUILDER], check=True, capture_output=True, timeout=240)
    name = f"test-{os.getpid()}-faults"
    with Machines(spec_of("alpha", wiring="switch"), name=name) as lab:
        yield lab.hosts["alpha"]
        # Its complaints about the card are wanted here; those of the IOMMU and its own are not.
        bad = "dmesg | grep -E 'DMAR:.*fault|WARNING|BUG:|Call Trace' || :"
        assert sh(lab.hosts["alpha"], bad) == ""


def make(host: Machine, fault: str, port: int = 0) -> None:
    make_fault(host.control, port, parse_fault(fault))


def said(host: Machine) -> dict[tuple[str, str], tuple[Severity, str]]:
    """Each finding of these rules: how severe, and all that was found."""
    chosen = [rule for rule in rules() if rule.slug in RULES]
    return {
        (one.rule, one.where): (one.severity, " ".join(e.found for e in one.evidence))
        for one in diagnose(facts_of(host), Question(), chosen).findings
    }


def test_mlx5_modules_and_links_that_fail_are_named(alpha: Machine):
    assert not said(alpha)
    make(alpha, "module-hot")
    make(alpha, "flaps=12")
    make(alpha, "module-out", port=1)
    found = said(alpha)
    assert found["link.module_overheated", P0] == (
        Severity.FAULT,
        "the kernel says: High Temperature",
    )
    severity, text = found["link.flaps", P0]
    assert severity is Severity.NOTE
    assert text.startswith("link_down_events_phy: ")
    # mlx5_core asks the card why (PDDR), and ethtool has the kernel's word for it.
    assert found["link.down", P1][1] == "no link: No cable"
    assert ("link.module_unqualified", P0) not in found

    make(alpha, "module-in", port=1)
    until(lambda: sh(alpha, f"cat /sys/class/net/{P1}/carrier") == "1")
    assert ("link.down", P1) not in said(alpha)


def test_mlx5_commands_that_fail_are_named(alpha: Machine):
    make(alpha, f"command={ACCESS_REG}:8:badc0de", port=1)
    sh(alpha, f"ethtool -a {P1} || :")
    make(alpha, "none", port=1)
    severity, text = said(alpha)["driver.refused", P1]
    assert severity is Severity.NOTE
    assert "syndrome (0xbadc0de)" in text


def test_mlx5_firmware_that_fails_is_named_and_so_is_its_recovery(alpha: Machine):
    make(alpha, "health=10", port=1)
    until(lambda: ("driver.health_error", P1) in said(alpha))
    severity, text = said(alpha)["driver.health_error", P1]
    assert (severity, text) == (Severity.FAULT, "fw: in error, 1 errors, 0 recovered")
    make(alpha, "none", port=1)

    make(alpha, "fatal=1")
    # The driver tries to recover it by itself, and brings the netdev back for a second or two;
    # it fails again, and then the port has no netdev any more.
    until(lambda: ("driver.health_error", PORTS[0]) in said(alpha))
    severity, text = said(alpha)["driver.health_error", PORTS[0]]
    assert severity is Severity.FAULT
    assert text.startswith("fw_fatal: in error")

    make(alpha, "none")
    sh(alpha, f"devlink health recover pci/{PORTS[0]} reporter fw_fatal")
    until(lambda: "state healthy" in sh(alpha, FATAL))
    (netdev,) = sh(alpha, f"ls /sys/bus/pci/devices/{PORTS[0]}/net").split()
    assert said(alpha)["driver.health_error", netdev][0] is Severity.RISK


def test_mlx5_a_fault_that_the_model_does_not_know_is_refused(alpha: Machine):
    with Qmp(alpha.control) as qmp, pytest.raises(MeasurementError, match="not known: burn"):
        path = f"/machine/peripheral/{card(0)}"
        qmp.execute("qom-set", path=path, property="fault", value="burn")
