"""`ethtool -m`, and what the kernel says of modules.

Where the samples are from: module_sfp_optical from a mail to the kernel's network list, its serial
number left out; module_sfp_dac from the fixtures of jc. The kernel's lines are as in the drivers'
sources (mlx5 core/events.c, ixgbe_main.c, bnxt.c) and in published logs.
"""

import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wirespeed.facts.module import Module, Modules
from wirespeed.model.capture import Capture, Section
from wirespeed.model.observed import Absent, Known, Unreadable

SAMPLES = Path(__file__).parent / "samples/ethtool"
PORT = "ens1 driver=mlx5_core physfn= port=p0 device=/sys/devices/pci0000:5b/0000:5c:00.0"
PLUGGED = "[    8.9] mlx5_core 0000:5c:00.0: Port module event: module 0, Cable plugged"
UNQUALIFIED = (
    "[   13.0] mlx5_core 0000:5c:00.0: Port module event[error]: module 0, Cable error, "
    "Enforce part number list"
)


def modules(*sections: Section) -> Modules:
    return Modules.parse(Capture([Section("ports", "", PORT, "", 0), *sections], complete=True))


def module(name: str) -> Module:
    text = (SAMPLES / f"{name}.txt").read_text()
    return modules(Section("ethtool-m", "ens1", text, "", 0)).by_netdev["ens1"]


def said(*lines: str) -> Modules:
    return modules(Section("module-messages", "", "\n".join(lines), "", 0))


def test_an_optical_module_has_its_temperature_and_thresholds():
    found = module("module_sfp_optical")
    assert found.identifier == Known("0x03 (SFP)", "ethtool -m ens1")
    assert found.celsius == Known(35.32, "ethtool -m ens1")
    assert found.high_warning_celsius == Known(85.0, "ethtool -m ens1")
    assert found.high_alarm_celsius == Known(90.0, "ethtool -m ens1")
    assert isinstance(found.cable_m, Absent)
    assert found.compliance == Known(("Ethernet: 1000BASE-SX",), "ethtool -m ens1")


def test_a_copper_cable_has_a_length_and_no_temperature():
    found = module("module_sfp_dac")
    assert found.cable_m == Known(2.0, "ethtool -m ens1")
    assert found.part == Known("UDC-2", "ethtool -m ens1")
    assert found.lane_baud == Known(10_300_000_000, "ethtool -m ens1")
    assert isinstance(found.celsius, Absent)


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("BR, Nominal : 25500Mbps", Known(25_500_000_000, "ethtool -m ens1")),
        # ethtool 6.13: sff8079_show_all_common of sfpid.c, sff8636_show_page_zero of qsfp.c.
        ("BR Nominal : 10300MBd", Known(10_300_000_000, "ethtool -m ens1")),
        ("BR Nominal : 25500Mbps", Known(25_500_000_000, "ethtool -m ens1")),
        ("BR Nominal : 25750 Mbps", Known(25_750_000_000, "ethtool -m ens1")),
        ("BR Nominal : 0MBd", Absent("ethtool -m ens1", "it reports none")),
        ("BR, Nominal : 0MBd", Absent("ethtool -m ens1", "it reports none")),
        ("Identifier : 0x19 (OSFP 8X Pluggable Transceiver)", None),
    ],
)
def test_the_lanes_of_a_module_have_a_rate_or_none(line: str, expected: Known[int] | Absent | None):
    found = modules(Section("ethtool-m", "ens1", line, "", 0)).by_netdev["ens1"].lane_baud
    assert found == expected if expected else isinstance(found, Absent)


def test_a_port_without_a_module_has_none():
    gone = Section("ethtool-m", "ens1", "", "netlink error: Operation not supported", 1)
    assert isinstance(modules(gone).by_netdev["ens1"].identifier, Absent)


def test_without_root_nobody_knows_what_module_it_is():
    denied = Section("ethtool-m", "ens1", "", "netlink error: Operation not permitted", 1)
    assert isinstance(modules(denied).by_netdev["ens1"].identifier, Unreadable)


def test_a_fault_of_a_module_is_told_in_the_kernels_words():
    assert said(PLUGGED, UNQUALIFIED).complaint("ens1", "0000:5c:00.0") == Known(
        "Enforce part number list", "dmesg"
    )


def test_a_module_that_was_plugged_anew_has_no_fault():
    assert isinstance(said(UNQUALIFIED, PLUGGED).complaint("ens1", "0000:5c:00.0"), Absent)


@pytest.mark.parametrize(
    ("line", "fault"),
    [
        (
            "[13.05] ixgbe 0000:5c:00.0: failed to load because an unsupported SFP+ or QSFP module "
            "type was detected.",
            "failed to load because an unsupported SFP+ or QSFP module type was detected.",
        ),
        (
            "[9.1] bnxt_en 0000:5c:00.0 ens1: Unqualified SFP+ module detected on port 0",
            "Unqualified SFP+ module detected on port 0",
        ),
        (
            "[9.1] mlx5_core 0000:5c:00.0: mlx5_port_module_event:1131:(pid 0): "
            "Port module event[error]: module 0, Cable error, High Temperature",
            "High Temperature",
        ),
    ],
)
def test_drivers_complain_in_their_own_ways(line: str, fault: str):
    assert said(line).complaint("ens1", "0000:5c:00.0") == Known(fault, "dmesg")


def test_another_ports_fault_is_not_this_ones():
    other = UNQUALIFIED.replace("5c:00.0", "5c:00.1")
    assert isinstance(said(other).complaint("ens1", "0000:5c:00.0"), Absent)


def collected(*log: str, pfs: str = "") -> list[str]:
    """What the collector keeps of the kernel's messages."""
    script = f'limit= port_netdevs= pfs="{pfs}"\nshow() {{ shift 2; "$@"; }}\n'
    script += f"dmesg() {{ cat <<'E'\n{chr(10).join(log)}\nE\n}}\n"
    done = subprocess.run(
        ["/bin/sh", "-c", script + Modules.script], capture_output=True, text=True, timeout=20
    )
    return done.stdout.splitlines()


def test_what_vfs_ask_for_again_and_again_drives_no_reset_of_the_card_out():
    """igb logs a line each time that a guest's VF changes its mode: hundreds a day."""
    hang = "igb 0000:01:00.0: Detected Tx Unit Hang"
    refused = "igb 0000:01:00.0: VF 0 requested MAC filter but is administratively denied"
    log = [hang, *[refused] * 300]
    lines = collected(*log)
    assert lines.count(hang) == 1
    assert lines.count(refused) == 50


def test_where_the_kernel_places_other_devices_drives_nothing_of_a_port_out():
    """drivers/pci/setup-res.c logs a line for each BAR and bridge window that it places."""
    refused = "[    1.1] pci 0000:5c:00.0: BAR 7: failed to assign [mem size 0x00100000 64bit]"
    placed = "[    1.2] pci 0000:5c:00.0: BAR 7: assigned [mem 0xe1218000-0xe1317fff 64bit]"
    others = [f"[    1.3] pci 0000:17:{n:02x}.0: BAR 14: assigned [mem 0xe0]" for n in range(250)]
    log = (UNQUALIFIED, refused, placed, *others, "pci 0000:5c:00.0: BAR 0: no address assigned")
    lines = collected(*log, pfs=" 0000:03:00.0 0000:5c:00.0")
    assert lines[3:] == [refused, placed, UNQUALIFIED]


def test_without_the_kernels_messages_nobody_knows():
    section = Section(
        "module-messages", "", "", "dmesg: read kernel buffer failed: Operation not permitted", 0
    )
    assert isinstance(modules(section).complaint("ens1", "0000:5c:00.0"), Unreadable)


@given(st.text(), st.text(), st.sampled_from([0, 1, 124, None]))
def test_no_text_makes_the_parser_raise(output: str, errors: str, returncode: int | None):
    modules(
        Section("ethtool-m", "ens1", output, errors, returncode),
        Section("module-messages", "", output, errors, returncode),
    )
