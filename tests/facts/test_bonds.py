"""/proc/net/bonding: two LACP bonds from issues (of systemd; of a kernel of 2012, without speeds),
an active-backup one with ARP monitoring from the kernel's own documentation.
"""

from pathlib import Path

import pytest

from wirespeed.facts.bonds import Bonds, BondState
from wirespeed.model.capture import Capture, Section
from wirespeed.model.observed import Absent, Known, Unreadable

SAMPLES = Path(__file__).parent / "samples/bonding"
SOURCE = "cat /proc/net/bonding/bond0"


def parse(text: str, errors: str = "", code: int = 0) -> Bonds:
    section = Section("bonding", "bond0", text, errors, code)
    return Bonds.parse(Capture([section], complete=True))


def bond(name: str) -> BondState:
    found = parse((SAMPLES / f"{name}.txt").read_text()).bonds["bond0"]
    assert isinstance(found, Known)
    return found.value


def test_members_of_an_lacp_bond_tell_their_aggregator():
    state = bond("lacp_two_aggregators")
    assert state.mode == Known("IEEE 802.3ad Dynamic link aggregation", SOURCE)
    assert state.active_aggregator_id == Known(2, SOURCE)
    assert [(m.netdev, m.aggregator_id) for m in state.members] == [
        ("enp7s0", Known(1, SOURCE)), ("enp8s0", Known(2, SOURCE)),
    ]  # fmt: skip
    assert state.members[1].link_bps == Known(10**9, SOURCE)
    assert state.members[1].link_failures == Known(2, SOURCE)


def test_an_older_driver_prints_neither_speed_nor_aggregator():
    state = bond("lacp_no_aggregator")
    assert isinstance(state.active_aggregator_id, Absent)
    member = state.members[0]
    assert member.is_up == Known(True, SOURCE)
    assert isinstance(member.link_bps, Absent) and isinstance(member.aggregator_id, Absent)


def test_arp_monitoring_is_read_and_is_0_where_it_is_not_printed():
    state = bond("active_backup_arp")
    assert (state.miimon_ms, state.arp_interval_ms) == (Known(0, SOURCE), Known(1000, SOURCE))
    assert state.active_member == Known("eth0", SOURCE)
    assert state.members[1].is_up == Known(False, SOURCE)
    assert bond("lacp_two_aggregators").arp_interval_ms == Known(0, SOURCE)


@pytest.mark.parametrize("text", ["", "nonsense", "Slave Interface: eth0\nMII Status: up\n"])
def test_what_is_no_bond_is_unreadable(text: str):
    assert isinstance(parse(text).bonds["bond0"], Unreadable)


def test_permission_denied_is_not_a_bond_without_members():
    denied = parse("", "cat: /proc/net/bonding/bond0: Permission denied", 1).bonds["bond0"]
    assert isinstance(denied, Unreadable) and "Permission denied" in denied.reason


def test_a_speed_in_another_unit_is_unreadable():
    text = (SAMPLES / "lacp_two_aggregators.txt").read_text().replace("1000 Mbps", "1 Gbps")
    found = parse(text).bonds["bond0"]
    assert isinstance(found, Known)
    assert isinstance(found.value.members[0].link_bps, Unreadable)
