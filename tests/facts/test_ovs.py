"""`ovs-vsctl --format=json` and `upcall/show` of Open vSwitch 3.1: a bridge in the userspace
datapath with a VXLAN tunnel and a port whose device is not there.
"""

from pathlib import Path

import pytest

from wirespeed.facts.netstack import NetStack
from wirespeed.facts.ovs import Ovs
from wirespeed.model.capture import Capture, Section
from wirespeed.model.observed import Absent, CannotTellError, Known, Unreadable

SAMPLES = Path(__file__).parent / "samples/ovs"
DIED = 'ovs-appctl: cannot read pidfile "/var/run/openvswitch/ovs-vswitchd.pid" (No such process)\n'
GONE = "ovs-vsctl: unix:/var/run/openvswitch/db.sock: database connection failed "


def parse(*sections: Section) -> Ovs:
    return Ovs.parse(Capture(sections, complete=True))


def real() -> Ovs:
    tables = (SAMPLES / "tables_3_1.txt").read_text()
    upcall = (SAMPLES / "upcall_show_3_1.txt").read_text()
    return parse(Section("ovs-db", "", tables, "", 0), Section("ovs-upcall", "", upcall, "", 0))


def test_bridges_ports_and_interfaces_are_joined():
    ovs = real()
    assert ovs.bridges["br0"].datapath_type == "netdev"
    assert set(ovs.bridges["br0"].ports) == {"br0", "vx0", "bad0"}
    bridge = ovs.bridge_of("vx0")
    assert bridge and bridge.name == "br0"
    assert {one.name for one in ovs.interfaces_in(bridge)} == {"br0", "vx0", "bad0"}
    assert ovs.bridge_of("elsewhere") is None


def test_options_of_a_tunnel_are_read():
    tunnel = real().interfaces["vx0"]
    assert tunnel.kind == "vxlan"
    assert tunnel.options == {"key": "42", "local_ip": "192.168.9.2", "remote_ip": "10.1.1.1"}
    assert isinstance(tunnel.mtu, Absent) and isinstance(tunnel.error, Absent)


def test_a_port_that_could_not_be_made_says_why():
    error = real().interfaces["bad0"].error
    assert isinstance(error, Known)
    assert error.value == "could not open network device bad0 (No such device)"


def test_settings_and_version_of_the_switch_are_read():
    ovs = real()
    assert isinstance(ovs.other_config, Known) and ovs.other_config.value["hw-offload"] == "true"
    assert ovs.is_offload_asked
    assert ovs.dpdk_initialized == Known(False, "ovs-vsctl list Open_vSwitch")


def test_a_daemon_that_offloads_nothing_has_no_number_of_offloaded_flows():
    ovs = real()
    assert ovs.datapath_flows == Known(0, "ovs-appctl upcall/show")
    assert isinstance(ovs.offloaded_flows, Absent)


def test_flows_of_all_datapaths_are_added():
    text = "".join(
        f"{name}:\n  flows         : (current {n}) (avg 9) (max 9) (limit 10)\n"
        f"  offloaded flows : {hw}\n  dump duration : 1ms\n"
        for name, n, hw in (("system@ovs-system", 40, 30), ("netdev@ovs-netdev", 2, 1))
    )
    ovs = parse(Section("ovs-upcall", "", text, "", 0))
    assert (ovs.datapath_flows, ovs.offloaded_flows) == (
        Known(42, "ovs-appctl upcall/show"), Known(31, "ovs-appctl upcall/show"),
    )  # fmt: skip


@pytest.mark.parametrize(
    ("code", "errors"),
    [(127, "sh: ovs-vsctl: not found"), (1, GONE + "(No such file or directory)")],
)
def test_a_switch_that_is_not_there_is_absent_unless_its_netdevs_are(code: int, errors: str):
    section = Section("ovs-db", "", "", errors, code)
    assert isinstance(parse(section).other_config, Absent)
    links = '[{"ifindex":3,"ifname":"ovs-system","linkinfo":{"info_kind":"openvswitch"}}]'
    found = parse(section, Section("ip-link", "", links, "", 0)).other_config
    assert isinstance(found, Unreadable)


def test_a_daemon_that_does_not_answer_is_unreadable():
    ovs = parse(Section("ovs-db", "", "", GONE + "(Connection refused)", 1))
    assert isinstance(ovs.other_config, Unreadable)
    assert isinstance(ovs.dpdk_initialized, Unreadable)
    with pytest.raises(CannotTellError):
        assert ovs.is_offload_asked


@pytest.mark.parametrize(
    ("errors", "found"),
    [
        (DIED, False),
        (DIED.replace("read pidfile", "connect to").replace("such process", "such file"), None),
        (
            'ovs-appctl: cannot connect to "/var/run/openvswitch/ovs-vswitchd.7.ctl" '
            "(Connection refused)",
            False,
        ),
        (
            f"00001|daemon_unix|WARN|x.pid: stale pidfile for pid 7 being deleted by pid 0\n{DIED}",
            None,
        ),
        ("ovs-appctl: not found", None),
    ],
)
def test_a_daemon_that_died_is_not_there_and_one_in_a_container_cannot_be_told(
    errors: str, found: bool | None
):
    daemon = parse(Section("ovs-upcall", "", "", errors, 1)).has_daemon
    if found is None:
        assert isinstance(daemon, Unreadable)
    else:
        assert daemon == Known(found, "ovs-appctl upcall/show")
    assert real().has_daemon == Known(True, "ovs-appctl upcall/show")


@pytest.mark.parametrize("text", ["", "{", "[]", "7\n", '{"headings":1,"data":2}', "[" * 99_999])
def test_tables_that_make_no_sense_are_unreadable(text: str):
    ovs = parse(Section("ovs-db", "", text, "", 0))
    assert isinstance(ovs.other_config, Unreadable)
    assert ovs.representors(NetStack(Unreadable("", ""))) == ()


def test_two_readings_of_a_switch_that_does_not_run_are_the_same():
    """As ovs-appctl 3.1 says it: with the time of the line."""
    line = "2026-11-21T18:{}:36Z|00001|daemon_unix|WARN|/var/run/openvswitch/ovs-vswitchd.pid: open"
    one, other = (
        parse(Section("ovs-upcall", "", "", line.format(minute), 1)).has_daemon
        for minute in (29, 31)
    )
    assert one == other
    assert isinstance(one, Unreadable) and "ovs-vswitchd.pid" in one.reason


@pytest.mark.parametrize(
    ("section", "found"),
    [
        (("CAP_SYS_RAWIO 1\n", "", 0), True),
        (("CAP_SYS_RAWIO 0\n", "", 0), False),
        (("", "sh: cannot open /proc/77/comm: No such file", 1), None),
        (("CAP_SYS_RAWIO 7\n", "", 0), None),
    ],
)
def test_whether_the_daemon_has_raw_io_is_known_or_not(
    section: tuple[str, str, int], found: bool | None
):
    raw_io = parse(Section("ovs-raw-io", "", *section)).has_raw_io
    assert (raw_io.value if isinstance(raw_io, Known) else None) is found
    assert isinstance(parse().has_raw_io, Absent)
