"""Ports of switches: what every kind prints, and what is read of it."""

import random
from pathlib import Path

import pytest

from wirespeed.model.capture import Capture, Section
from wirespeed.model.observed import Absent, CannotTellError, Known, Observed, Unreadable
from wirespeed.model.switch_kind import SwitchKind, same_port
from wirespeed.platforms.switch.facts.switchport import COMMANDS, Switch, Switches
from wirespeed.platforms.switch.facts.switchport_port import Neighbor, SwitchPort, bps_of

SAMPLES = Path(__file__).parent / "samples" / "switchport"
FILES = {
    SwitchKind.DELL_OS6: {"status": "os6_status", "lldp": "os6_lldp"},
    SwitchKind.DELL_OS9: {"interfaces": "os9_interfaces", "lldp": "os9_lldp"},
    SwitchKind.DELL_OS10: {"interfaces": "os10_interface", "lldp": "os10_lldp"},
    SwitchKind.SONIC: {
        "status": "sonic_status",
        "autoneg": "sonic_autoneg",
        "counters": "sonic_counters",
        "lldp": "sonic_lldp",
    },
    SwitchKind.CUMULUS: {"interfaces": "nvue_interface", "lldp": "lldpcli"},
    SwitchKind.EOS: {
        "interfaces": "eos_interfaces",
        "fec": "eos_fec",
        "lldp": "eos_lldp",
    },
    SwitchKind.NXOS: {"interfaces": "nxos_interface", "lldp": "nxos_lldp"},
}
G = 10**9


def text_of(name: str) -> str:
    return (SAMPLES / f"{name}.txt").read_text(encoding="utf-8")


def capture_of(kind: str, texts: dict[str, str], code: int | None = 0) -> Capture:
    sections = [Section("switch-kind", "sw1", f"{kind}\n", "", 0)]
    sections += [Section(f"switch-{key}", "sw1", text, "", code) for key, text in texts.items()]
    return Capture(sections, complete=True)


def switch_of(kind: SwitchKind) -> Switch:
    texts = {key: text_of(name) for key, name in FILES[kind].items()}
    return Switches.parse(capture_of(kind, texts)).by_name["sw1"]


def value(observed: Observed[object]) -> object:
    """What is known; `-` for what is absent, `?` for what nobody knows."""
    if isinstance(observed, Known):
        return observed.value
    return "-" if isinstance(observed, Absent) else "?"


def row(port: SwitchPort) -> tuple[object, ...]:
    return tuple(
        value(one)
        for one in (
            port.is_enabled, port.is_up, port.link_bps, port.set_bps, port.autonegotiation,
            port.fec, port.mtu_bytes, port.fcs_errors, port.runts, port.symbol_errors,
            port.input_errors,
        )
    )  # fmt: skip


EXPECTED: dict[SwitchKind, dict[str, tuple[object, ...]]] = {
    SwitchKind.DELL_OS6: {
        "Te1/0/1": (True, True, 10 * G, "-", True, "?", "?", "?", "?", "?", "-"),
        "Te1/0/2": (True, True, G, "-", True, "?", "?", "?", "?", "?", "-"),
        "Te1/0/3": ("?", False, "-", 10 * G, False, "?", "?", "?", "?", "?", "-"),
        "Te1/0/12": ("?", False, "-", "-", True, "?", "?", "?", "?", "?", "-"),
    },
    SwitchKind.DELL_OS9: {
        "TenGigabitEthernet 1/1": (True, True, 10 * G, "?", "?", "?", 1554, 17, 3, "?", "-"),
        "TenGigabitEthernet 1/2": (False, False, "-", "?", "?", "?", 9216, 0, 0, "?", "-"),
    },
    SwitchKind.DELL_OS10: {
        "Ethernet 1/1/47:1": (True, True, 10 * G, 10 * G, False, "off", 9216, 0, 0, "?", "-"),
        "Ethernet 1/1/49": (True, True, 25 * G, "?", True, "rs", 9216, 2, 0, "?", "-"),
    },
    SwitchKind.SONIC: {
        "Ethernet0": (True, False, "-", "?", True, "off", 9100, "?", "?", "?", 10),
        "Ethernet1": (True, True, 25 * G, 25 * G, False, "rs", 9100, "?", "?", "?", 1234),
        "Ethernet2": (False, False, "-", "?", "?", "?", 9100, "?", "?", "?", "?"),
    },
    SwitchKind.CUMULUS: {
        "swp1": (True, True, 10 * G, 10 * G, False, "rs", 9216, "?", "?", "?", 7),
        "swp2": (True, False, "-", "?", True, "?", 9216, "?", "?", "?", "?"),
    },
    SwitchKind.EOS: {
        "Ethernet10": (True, False, "-", "?", False, "?", 10178, 0, 0, 0, "-"),
        "Ethernet11": (True, True, 25 * G, "?", True, "rs", 9214, 4, 1, 9, "-"),
    },
    SwitchKind.NXOS: {
        "Ethernet1/1": (False, False, "-", "?", True, "auto", 1500, 0, 0, "?", "-"),
        "Ethernet1/2": (True, True, 25 * G, "?", False, "rs", 9216, 5, 2, "?", "-"),
    },
}
"""Enabled, up, runs at, set to, negotiates, FEC, MTU; FCS errors, runts, symbol, errors at all."""
MAC = "b8:59:9f:00:00:01"
HEARD = {
    SwitchKind.DELL_OS6: ("Te1/0/1", Neighbor("node-1", "enp59s0f0")),
    SwitchKind.DELL_OS9: ("Te 1/1", Neighbor("", MAC)),
    SwitchKind.DELL_OS10: ("ethernet1/1/47:1", Neighbor("node-1", MAC)),
    SwitchKind.SONIC: ("Ethernet1", Neighbor("node-1", MAC, "Interface   8 as enp59s0f0")),
    SwitchKind.CUMULUS: ("swp1", Neighbor("node-1", MAC, "enp59s0f0")),
    SwitchKind.EOS: ("Ethernet11", Neighbor("node-1", "b859.9f00.0001", "enp59s0f0")),
    SwitchKind.NXOS: ("Ethernet1/2", Neighbor("node-1", "b859.9f00.0001", "enp59s0f0")),
}


@pytest.mark.parametrize("kind", SwitchKind)
def test_the_switchports_of_every_kind_are_read(kind: SwitchKind):
    ports = switch_of(kind).ports
    assert isinstance(ports, Known)
    assert {port.name: row(port) for port in ports.value} == EXPECTED[kind]


@pytest.mark.parametrize("kind", SwitchKind)
def test_a_switchport_tells_what_it_hears_of_its_neighbour(kind: SwitchKind):
    name, neighbor = HEARD[kind]
    assert value(switch_of(kind).port(name).neighbors) == (neighbor,)


@pytest.mark.parametrize("kind", SwitchKind)
def test_nothing_that_a_switch_prints_makes_its_switchports_raise(kind: SwitchKind):
    texts = {key: text_of(name) for key, name in FILES[kind].items()}
    draw = random.Random(6)
    for _ in range(200):
        torn = dict(texts)
        key = draw.choice(list(torn))
        text = torn[key]
        at, end = sorted((draw.randrange(len(text)), draw.randrange(len(text))))
        torn[key] = draw.choice((text[:at], text[:at] + text[end:], text[at:], "[" * 3000, "null"))
        switch = Switches.parse(capture_of(kind, torn)).by_name["sw1"]
        assert isinstance(switch.ports, Known | Unreadable)


@pytest.mark.parametrize("kind", SwitchKind)
def test_switchports_that_could_not_be_asked_for_are_not_known(kind: SwitchKind):
    switch = Switches.parse(capture_of(kind, {})).by_name["sw1"]
    assert switch.ports == Unreadable(
        "the capture has no such section", next(iter(COMMANDS[kind].values()))
    )
    with pytest.raises(CannotTellError):
        switch.port("Te1/0/1")


def test_a_host_alone_has_no_switchports_and_a_strange_kind_is_none():
    assert Switches.parse(Capture((), complete=True)).by_name == {}
    assert Switches.parse(capture_of("abacus", {})).by_name == {}


def test_the_cables_that_a_user_named_are_of_the_capture():
    sections = [
        Section("switch-kind", "sw1", "dell_os6\n", "", 0),
        Section("switch-cable", "sw1", "eth0 Te1/0/1\neth1 $(reboot)\n", "", 0),
    ]
    found = Switches.parse(Capture(sections, complete=True)).by_name["sw1"]
    assert found.cables == (("eth0", "Te1/0/1"),)


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("Te 1/1", "TenGigabitEthernet 1/1", True),
        ("Eth1/2", "Ethernet1/2", True),
        ("ethernet1/1/47:1", "Ethernet 1/1/47:1", True),
        ("Et1", "Ethernet1", True),
        ("Et49/1", "Ethernet49/1", True),
        ("Tw1/0/1", "twentyfivegigabitethernet 1/0/1", True),
        ("Hu1/0/1", "HundredGigabitEthernet 1/0/1", True),
        ("Tw1/0/1", "Te1/0/1", False),
        ("Te1/0/1", "Te1/0/11", False),
        ("swp1", "swp10", False),
        ("Ethernet1/1", "Fo1/1", False),
    ],
)
def test_a_switchport_has_several_names(one: str, other: str, same: bool):
    assert same_port(one, other) is same


def test_link_speeds_are_numbers():
    assert [bps_of(t) for t in ("10G", "1000 Mb/s", "25 Gb/s", "10000 Mbit", "2.5G")] == [
        10 * G, G, 25 * G, 10 * G, 2_500_000_000,
    ]  # fmt: skip
    for text in ("", "auto", "10", "10G$(x)"):
        with pytest.raises(ValueError, match="not a speed"):
            bps_of(text)
