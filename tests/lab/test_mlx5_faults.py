"""Faults on demand: the real mlx5_core meets them on a modelled card, and the doctor names each."""

import os
import subprocess
from collections.abc import Iterator

import pytest
from mlx5_host import BUILDER, PORTS, counters, facts_of, sh, spec_of, until

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
    "errors.no_receive_buffer",
    "errors.port_buffer",
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


def test_mlx5_frames_lost_at_the_port_and_at_a_full_ring_are_told_apart(alpha: Machine):
    # From one port of the host over the lab's switch to the other.
    sh(
        alpha,
        f"ip netns add far; ip link set {P1} netns far; ip address add 10.9.0.1/24 dev {P0}\n"
        f"ip -n far address add 10.9.0.2/24 dev {P1}; ip -n far link set {P1} up",
    )
    until(lambda: "1 received" in sh(alpha, "ping -c 1 -W 1 10.9.0.2 || :"))
    make(alpha, "port-full=5")
    before = counters(alpha, P0)
    sh(alpha, f"ip netns exec far arping -c 1 -I {P1} 10.9.0.1 || :")
    sh(alpha, "ip netns exec far ping -f -c 100 -W 1 10.9.0.1 || :")
    after = counters(alpha, P0)
    grown = {name: after[name] - before[name] for name in after}
    # A frame without room came over the cable: the card counts it as received, too.
    assert grown["rx_discards_phy"] == pytest.approx(grown["rx_packets_phy"] / 5, abs=1)
    assert grown["rx_discards_phy"] >= 20
    assert grown["rx_out_of_buffer"] == 0
    make(alpha, "none")
    assert ("errors.port_buffer", P0) in said(alpha)
    assert ("errors.no_receive_buffer", P0) not in said(alpha)

    # A large send is 45 frames at once: 16 descriptors are too few for it.
    sh(alpha, f"ethtool -G {P0} rx 16; iperf3 -s -1 -D")
    before = counters(alpha, P0)
    sh(alpha, "ip netns exec far iperf3 -c 10.9.0.1 -t 2 --connect-timeout 9000")
    after = counters(alpha, P0)
    grown = {name: after[name] - before[name] for name in after}
    assert grown["rx_out_of_buffer"] > 0 and grown["rx_discards_phy"] == 0
    assert ("errors.no_receive_buffer", P0) in said(alpha)
    sh(alpha, f"ip netns del far; ip address flush dev {P0}; ethtool -G {P0} rx 1024")
    until(lambda: sh(alpha, f"ls /sys/class/net/{P1} 2>/dev/null || :") != "")
    sh(alpha, f"ip link set {P1} up")


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
