"""What lldpcli of a Cumulus switch tells of its neighbors."""

import json

import pytest
from test_switchport import value

from wirespeed.model.observed import Known
from wirespeed.platforms.switch.facts.switchport_linux import cumulus
from wirespeed.platforms.switch.facts.switchport_port import Neighbor

MAC = "b8:59:9f:00:00:01"
ID = {"id": {"type": "mac", "value": MAC}}


@pytest.mark.parametrize(
    ("chassis", "system"),
    [
        # As lldpd's src/client/json_writer.c has it with a name, and without one.
        ({"node-1": {**ID, "descr": "Debian GNU/Linux 12"}}, "node-1"),
        (ID, ""),
        ({**ID, "descr": "a card's own agent", "mgmt-ip": ["fe80::1"]}, ""),
        ({}, ""),
    ],
)
def test_a_neighbor_of_a_switchport_without_a_system_name_has_none(
    chassis: dict[str, object], system: str
):
    one = {"via": "LLDP", "chassis": chassis, "port": ID}
    lldp = json.dumps({"lldp": {"interface": [{"swp1": one}]}})
    interfaces = json.dumps({"swp1": {"link": {"oper-status": "up"}}})
    ports = cumulus({"interfaces": Known(interfaces, "nv"), "lldp": Known(lldp, "lldpcli")})
    assert isinstance(ports, Known)
    assert value(ports.value[0].neighbors) == (Neighbor(system, MAC),)
