"""`ethtool DEV`, `-a`, `--show-fec`, `-i`, and sysfs beside them.

Where the samples are from: settings_virtio and driver_virtio from a virtual machine, ethtool 6.1;
settings_no_link from the commit that brought lanes to ethtool (`swp1`), its last line from the one
that brought link-down reasons; settings_partner from an issue of a USB adapter's driver; fec_6 from
the commit that renamed that line, fec_5 and pause from published troubleshooting and a parser's
tests; driver_mlx5 from an issue of ethq.
"""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wirespeed.facts.link import Link, Links, mode_bps, modes_bps
from wirespeed.model.capture import Capture, Section
from wirespeed.model.observed import Absent, Known, Unreadable

SAMPLES = Path(__file__).parent / "samples/ethtool"
PORT = "ens1 driver=mlx5_core physfn= port=p0 device=/sys/devices/pci0000:00/0000:01:00.0"
NOT_INSTALLED = "timeout: failed to run command 'ethtool': No such file or directory"


def link(settings: str = "", *more: Section) -> Link:
    sections = [Section("ports", "", PORT, "", 0), *more]
    if settings:
        sections.append(Section("ethtool", "ens1", sample(settings), "", 0))
    return Links.parse(Capture(sections, complete=True)).by_netdev["ens1"]


def sample(name: str) -> str:
    return (SAMPLES / f"{name}.txt").read_text()


def sysfs(**attributes: str) -> Section:
    lines = [f"/sys/class/net/ens1/{name}:{value}" for name, value in attributes.items()]
    return Section("link", "", "\n".join(lines), "", 0)


@pytest.mark.parametrize(
    ("mode", "bps"),
    [
        ("10baseT/Half", 10_000_000),
        ("2500baseT/Full", 2_500_000_000),
        ("2500baseX/Full", 2_500_000_000),
        ("10000baseR_FEC", 10_000_000_000),
        ("25000baseCR/Full", 25_000_000_000),
        ("100000baseLR4_ER4/Full", 100_000_000_000),
        ("400000baseLR8_ER8_FR8/Full", 400_000_000_000),
        ("1600000baseCR8/Full", 1_600_000_000_000),
        ("BIT97", None),
        ("Not", None),
        ("", None),
    ],
)
def test_a_mode_has_the_speed_that_its_name_begins_with(mode: str, bps: int | None):
    assert mode_bps(mode) == bps


def test_an_unknown_mode_is_left_out_of_the_speeds():
    assert modes_bps(["25000baseCR/Full", "BIT97", "1000baseKX/Full", "25000baseSR/Full"]) == (
        1_000_000_000,
        25_000_000_000,
    )


def test_modes_of_both_ends_are_read_with_two_on_a_line():
    found = link("settings_partner")
    assert found.supported_bps == Known(
        (10_000_000, 100_000_000, 1_000_000_000, 2_500_000_000), "ethtool ens1"
    )
    assert found.advertised.bps == Known((10_000_000, 100_000_000, 10**9), "ethtool ens1")
    assert isinstance(found.partner.modes, Known)
    assert found.partner.modes.value[1] == "10baseT/Full"
    assert found.partner_autonegotiation == Known(True, "ethtool ens1")
    assert found.link_bps == Known(10**9, "ethtool ens1")
    assert found.is_full_duplex == Known(True, "ethtool ens1")
    assert found.is_up == Known(True, "ethtool ens1")
    assert isinstance(found.down_reason, Absent)


def test_a_link_that_is_down_has_its_reason_and_no_speed():
    found = link("settings_no_link")
    assert found.is_up == Known(False, "ethtool ens1")
    assert found.down_reason == Known("Autoneg, No partner detected", "ethtool ens1")
    assert isinstance(found.link_bps, Absent)
    assert isinstance(found.partner.bps, Absent)
    assert found.port_type == Known("Direct Attach Copper", "ethtool ens1")
    assert isinstance(found.supported_bps, Known)
    assert max(found.supported_bps.value) == 100_000_000_000


def test_a_virtual_card_knows_no_speed_and_that_is_an_absence():
    found = link(
        "settings_virtio", sysfs(carrier="1", duplex="unknown", flags="0x1003", speed="-1")
    )
    assert isinstance(found.link_bps, Absent)
    assert isinstance(found.is_full_duplex, Absent)
    assert isinstance(found.supported_bps, Absent)
    assert found.is_enabled == Known(True, "cat /sys/class/net/ens1/flags")


def test_without_ethtool_sysfs_still_tells_speed_duplex_and_carrier():
    found = link(
        "",
        Section("ethtool", "ens1", "", NOT_INSTALLED, 127),
        sysfs(carrier="1", duplex="full", flags="0x1003", speed="2500"),
    )
    assert found.link_bps == Known(2_500_000_000, "cat /sys/class/net/ens1/speed")
    assert found.is_full_duplex == Known(True, "cat /sys/class/net/ens1/duplex")
    assert found.is_up == Known(True, "cat /sys/class/net/ens1/carrier")
    assert found.supported_bps == Unreadable("ethtool is not installed", "ethtool ens1")


def test_a_port_that_is_set_down_is_down_although_the_kernel_refuses_its_files():
    errors = "".join(
        f"grep: /sys/class/net/ens1/{name}: Invalid argument\n"
        for name in ("carrier", "duplex", "speed")
    )
    files = Section("link", "", "/sys/class/net/ens1/flags:0x1002", errors, 123)
    found = link("", Section("ethtool", "ens1", "", NOT_INSTALLED, 127), files)
    assert found.is_enabled == Known(False, "cat /sys/class/net/ens1/flags")
    assert found.is_up == Known(False, "cat /sys/class/net/ens1/carrier")
    assert isinstance(found.link_bps, Absent)
    assert isinstance(found.is_full_duplex, Absent)


@pytest.mark.parametrize(
    ("name", "configured", "active"),
    [("fec_6", ("Auto", "RS", "BaseR"), ("RS",)), ("fec_5", ("Auto",), ("None",))],
)
def test_both_ways_of_printing_fec_are_read(
    name: str, configured: tuple[str, ...], active: tuple[str, ...]
):
    found = link("", Section("ethtool-fec", "ens1", sample(name), "", 0))
    assert found.fec_configured == Known(configured, "ethtool --show-fec ens1")
    assert found.fec_active == Known(active, "ethtool --show-fec ens1")


def test_fec_that_the_driver_does_not_know_is_absent():
    denied = Section("ethtool-fec", "ens1", "", "netlink error: Operation not supported", 1)
    assert isinstance(link("", denied).fec_active, Absent)


def test_pause_is_read_by_direction():
    pause = link("", Section("ethtool-a", "ens1", sample("pause"), "", 0)).pause
    assert pause.autonegotiation == Known(True, "ethtool -a ens1")
    assert pause.receive == Known(False, "ethtool -a ens1")
    assert pause.transmit == Known(True, "ethtool -a ens1")


def test_driver_and_firmware_are_read_and_an_empty_one_is_absent():
    driver = link("", Section("ethtool-i", "ens1", sample("driver_mlx5"), "", 0)).driver
    assert driver.name == Known("mlx5_core", "ethtool -i ens1")
    assert driver.firmware_version == Known("14.23.1020 (MT_2420110034)", "ethtool -i ens1")
    assert driver.bus_info == Known("0000:af:00.0", "ethtool -i ens1")
    driver = link("", Section("ethtool-i", "ens1", sample("driver_virtio"), "", 0)).driver
    assert isinstance(driver.firmware_version, Absent)


def test_a_speed_that_makes_no_sense_is_unreadable():
    odd = sample("settings_partner").replace("1000Mb/s", "vite")
    assert isinstance(link("", Section("ethtool", "ens1", odd, "", 0)).link_bps, Unreadable)


@given(st.text(), st.text(), st.sampled_from([0, 1, 75, 127, None]))
def test_no_text_makes_the_parser_raise(output: str, errors: str, returncode: int | None):
    names = ("ethtool", "ethtool-a", "ethtool-fec", "ethtool-i")
    sections = [Section(name, "ens1", output, errors, returncode) for name in names]
    link("", *sections, Section("link", "", output, errors, returncode))
