"""Dell's tables of LLDP neighbors: host names with blanks, cut to the column, or not told."""

from test_switchport import switch_of, value

from wirespeed.model.observed import Known
from wirespeed.model.switch_kind import SwitchKind
from wirespeed.platforms.switch.facts.switchport_os10 import os10
from wirespeed.platforms.switch.facts.switchport_pairs import is_own
from wirespeed.platforms.switch.facts.switchport_port import Neighbor

HEAD = "Loc PortID          Rem Host Name        Rem Port Id                    Rem Chassis Id\n"


def heard(lldp: str, port: str) -> object:
    interfaces = Known(f"{port} is up, line protocol is up\n", "show interface")
    ports = os10({"interfaces": interfaces, "lldp": Known(lldp, "show lldp neighbors")})
    assert isinstance(ports, Known)
    return value(ports.value[0].neighbors)


def test_a_host_name_of_os9_that_fills_its_column_ends_there():
    port = switch_of(SwitchKind.DELL_OS9).port("Te 1/2")
    assert value(port.neighbors) == (Neighbor("localhost.local...", "b8:59:9f:00:00:02"),)


def test_a_host_name_of_os10_may_have_blanks():
    port = switch_of(SwitchKind.DELL_OS10).port("ethernet1/1/49")
    assert value(port.neighbors) == (Neighbor("PowerEdge MX750c ...", "3PG6KN3 NIC.Mezzanine"),)


def test_a_host_name_that_is_not_advertised_is_none():
    row = "ethernet1/1/3:1     Not Advertised       00:78:57:aa:bb:cc             39373638-3935-\n"
    assert heard(HEAD + row, "Ethernet 1/1/3:1") == (Neighbor("", "00:78:57:aa:bb:cc"),)


def test_an_anonymous_table_whose_cells_moved_is_read_alike():
    """`--anonymous` replaces a name by one of another length."""
    row = "ethernet1/1/31      host-07b5fcd0  b8:59:9f:00:00:01              24:8a:07:bb:cc:aa\n"
    found = heard(HEAD + row, "Ethernet 1/1/31")
    assert found == (Neighbor("host-07b5fcd0", "b8:59:9f:00:00:01"),)


def test_a_table_without_its_first_blank_is_read_alike():
    row = " ethernet1/1/31      leaf-7               Eth1/32             24:8a:07:bb:cc:aa\n"
    assert heard(HEAD + row, "Ethernet 1/1/31") == (Neighbor("leaf-7", "Eth1/32"),)


def test_a_host_name_that_is_cut_may_be_of_several_hosts():
    cut = Neighbor("B-R03-U23-Mellano...", "eth0")
    assert is_own(cut, "eth0", (), "b-r03-u23-mellanox-1") is None
    assert is_own(cut, "eth0", (), "b-r04-u01") is False
    whole = Neighbor("localhost.local...", "eth0")
    assert is_own(whole, "eth0", (), "localhost") is True
