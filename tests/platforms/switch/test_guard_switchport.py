"""A port of a switch that somebody else is plugged in is left alone."""

from dataclasses import replace

import pytest

from wirespeed.model.error import InputError
from wirespeed.model.observed import Absent, Known, Unreadable
from wirespeed.model.switch_kind import SwitchKind
from wirespeed.platforms.switch.cable_proof import (
    CardEnd,
    Match,
    PortMatch,
    port_match,
    refuse_port,
)
from wirespeed.platforms.switch.facts.switchport import Switch
from wirespeed.platforms.switch.facts.switchport_port import APART, Neighbor, SwitchPort

G = 10**9
MAC = "b8599f000001"
UNTOLD = Unreadable("not asked", "x")
NOBODY = Absent("x", "nobody")
OURS = Neighbor("alpha", "b8:59:9f:00:00:01", "")
CARD = CardEnd("enp59s0f0", (MAC,), Known(True, "x"), Known(G, "x"), "alpha")
PORT = SwitchPort(
    name="Te1/0/1", is_enabled=Known(True, "x"), is_up=Known(True, "x"), link_bps=Known(G, "x"),
    set_bps=UNTOLD, autonegotiation=Known(True, "x"), fec=UNTOLD, mtu_bytes=UNTOLD,
    fcs_errors=UNTOLD, runts=UNTOLD, symbol_errors=UNTOLD, input_errors=APART, neighbors=NOBODY,
)  # fmt: skip


def match(*ports: SwitchPort, card: CardEnd = CARD, port: str = "Te1/0/1") -> PortMatch:
    return port_match(card, Switch(SwitchKind.DELL_OS6, Known(ports, "x"), ()), port)


def hearing(*neighbors: Neighbor, name: str = "Te1/0/1") -> SwitchPort:
    return replace(PORT, name=name, neighbors=Known(neighbors, "x"))


@pytest.mark.parametrize(
    "neighbor",
    [
        OURS,
        Neighbor("", "B8-59-9F-00-00-01"),
        Neighbor("alpha", "enp59s0f0"),
        Neighbor("Alpha.example.net", "11:22:33:44:55:66", "Interface   8 as enp59s0f0"),
    ],
)
def test_a_switchport_that_hears_the_card_is_the_right_one(neighbor: Neighbor):
    assert match(hearing(neighbor)).match is Match.PROVEN


def test_a_switchport_that_hears_another_is_not_touched():
    found = match(hearing(Neighbor("core-1", "Ethernet1/49")))
    assert found.match is Match.CONTRADICTED
    assert "Ethernet1/49 of core-1" in found.found


def test_the_netdev_of_that_name_in_another_host_is_not_taken_for_it_at_its_switchport():
    """Hosts of one make have netdevs of the same names."""
    found = match(hearing(Neighbor("beta", "enp59s0f0")), hearing(OURS, name="Te1/0/7"))
    assert found == PortMatch(Match.CONTRADICTED, "enp59s0f0 is the LLDP neighbor of Te1/0/7")
    found = match(hearing(Neighbor("beta", "0c:42:a1:00:00:09", "enp59s0f0")))
    assert found.match is Match.CONTRADICTED and "of beta" in found.found


@pytest.mark.parametrize(("system", "host"), [("", "alpha"), ("alpha", "")])
def test_a_netdev_of_that_name_in_a_host_of_no_name_does_not_prove_the_switchport(
    system: str, host: str
):
    found = match(hearing(Neighbor(system, "enp59s0f0")), card=replace(CARD, host=host))
    assert found.match is Match.UNKNOWN and "could not be determined" in found.found


def test_a_card_that_is_heard_at_another_switchport_is_not_in_this_one():
    found = match(PORT, hearing(OURS, name="Te1/0/7"))
    assert found == PortMatch(Match.CONTRADICTED, "enp59s0f0 is the LLDP neighbor of Te1/0/7")


def test_a_phone_beside_the_card_at_one_switchport_takes_nothing_from_the_proof():
    assert match(hearing(Neighbor("phone", "1"), OURS)).match is Match.PROVEN


@pytest.mark.parametrize("here", [True, False])
def test_a_link_at_one_end_alone_is_no_cable_to_that_switchport(here: bool):
    card = replace(CARD, is_up=Known(here, "x"))
    found = match(replace(PORT, is_up=Known(not here, "x")), card=card)
    assert found.match is Match.CONTRADICTED and "has none" in found.found


def test_two_speeds_are_no_cable_to_that_switchport():
    found = match(replace(PORT, link_bps=Known(10 * G, "x")))
    assert found.match is Match.CONTRADICTED and "at 10 Gb/s" in found.found


@pytest.mark.parametrize(
    ("port", "card"),
    [
        (PORT, CARD),
        (replace(PORT, neighbors=UNTOLD), CARD),
        (replace(PORT, is_up=UNTOLD), replace(CARD, is_up=Known(False, "x"))),
        (replace(PORT, is_up=Known(False, "x")), replace(CARD, is_up=Known(False, "x"))),
        (PORT, replace(CARD, macs=(), link_bps=UNTOLD)),
    ],
)
def test_a_switchport_that_hears_nobody_is_not_known_to_be_the_right_one(
    port: SwitchPort, card: CardEnd
):
    assert match(port, card=card).match is Match.UNKNOWN


def test_no_such_switchport_is_not_known():
    assert match(PORT, port="Te1/0/9").match is Match.UNKNOWN


def test_a_card_whose_address_is_not_known_is_not_heard_in_every_switchport():
    found = match(hearing(Neighbor("core-1", "")), card=replace(CARD, macs=()))
    assert found.match is Match.CONTRADICTED


@pytest.mark.parametrize(
    ("found", "is_right", "asks", "what"),
    [
        (Match.PROVEN, False, False, ""),
        (Match.CONTRADICTED, False, True, "link.wrong_port"),
        (Match.CONTRADICTED, True, False, ""),
        (Match.UNKNOWN, False, True, ""),
        (Match.UNKNOWN, False, False, "link.port_not_proven"),
        (Match.UNKNOWN, True, False, ""),
    ],
)
def test_when_a_switchport_is_refused(found: Match, is_right: bool, asks: bool, what: str):
    try:
        refuse_port(PortMatch(found, "why"), "Te1/0/1 of sw1", is_right=is_right, asks=asks)
    except InputError as error:
        assert error.what == what
        return
    assert what == ""
