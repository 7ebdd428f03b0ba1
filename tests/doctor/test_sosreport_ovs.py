"""Open vSwitch of a sosreport: its tables are text there, and one of them is not listed.

Text: `ovs-vsctl list` and `show` of Open vSwitch 2.17 (lib/ovsdb-data.c, utilities/ovs-vsctl.c);
file names: sos/report/plugins/openvswitch.py of sos 4.8, and sos/plugins/openvswitch.py of 3.9.
"""

import pytest
from sosreport_tree import host, tree

from wirespeed.doctor.diagnose import diagnose
from wirespeed.facts.ovs import Ovs
from wirespeed.facts.ovs_polling import OvsPolling
from wirespeed.facts.tc import Tc, TcFilters
from wirespeed.model.observed import Absent, Known, Unreadable, known
from wirespeed.model.question import Question

FOLDER = "sos_commands/openvswitch/"
VSCTL = f"{FOLDER}ovs-vsctl_-t_5_"
SWITCH = """\
_uuid               : 5d1c6a1e-8a5f-4a0b-9d59-3e0f6a7c1f11
bridges             : [0e6f3c1f-7ac9-4c27-a9c2-8a1b2c3d4e5f]
dpdk_initialized    : false
dpdk_version        : none
external_ids        : {hostname=alpha, rundir="/var/run/openvswitch", system-id="5d1c"}
other_config        : {dpdk-extra="-a 0000:01:00.0,x=y", hw-offload="true", tc-policy=none}
ovs_version         : "2.17.8"
"""
BRIDGES = """\
_uuid               : 0e6f3c1f-7ac9-4c27-a9c2-8a1b2c3d4e5f
datapath_type       : system
name                : br-int
other_config        : {mac-table-size="50000"}
ports               : [1e6f3c1f-7ac9-4c27-a9c2-8a1b2c3d4e5f, 2e6f3c1f-7ac9-4c27-a9c2-8a1b2c3d4e5f]

_uuid               : 9e6f3c1f-7ac9-4c27-a9c2-8a1b2c3d4e5f
datapath_type       : ""
name                : "1-br"
ports               : []
"""
INTERFACES = """\
_uuid               : 3e6f3c1f-7ac9-4c27-a9c2-8a1b2c3d4e5f
error               : []
link_state          : up
mtu                 : 9000
mtu_request         : []
name                : ens1f0
options             : {}
statistics          : {collisions=0, rx_bytes=12}
type                : ""

_uuid               : 4e6f3c1f-7ac9-4c27-a9c2-8a1b2c3d4e5f
error               : "could not open network device ens1f1 (No such device)"
link_state          : down
mtu                 : []
mtu_request         : 9000
name                : ens1f1
options             : {n_rxq="2"}
type                : system
"""
SHOW = """\
5d1c6a1e-8a5f-4a0b-9d59-3e0f6a7c1f11
    Manager "ptcp:6640:127.0.0.1"
        is_connected: true
    Bridge br-int
        Controller "tcp:127.0.0.1:6633"
        fail_mode: secure
        datapath_type: system
        Port bond0
            tag: 40
            trunks: [1, 2]
            Interface ens1f0
            Interface "ens1f1"
                error: "could not open network device ens1f1 (No such device)"
        Port br-int
            Interface br-int
                type: internal
    Bridge "1-br"
    ovs_version: "2.17.8"
"""
UPCALL = """\
system@ovs-system:
  flows         : (current 84) (avg 80) (max 90) (limit 200000)
  offloaded flows : 80
  dump duration : 2ms
"""
OVS = {
    f"{VSCTL}list_Open_vSwitch": SWITCH,
    f"{VSCTL}list_bridge": BRIDGES,
    f"{VSCTL}list_interface": INTERFACES,
    f"{VSCTL}show": SHOW,
    f"{FOLDER}ovs-appctl_upcall.show": UPCALL,
    f"{FOLDER}ovs-appctl_bond.show": "---- bond0 ----\nbond_mode: balance-slb\nbond may use: yes\n",
}
DOWN = (
    "ovs-vsctl: unix:/var/run/openvswitch/db.sock: database connection failed "
    "(No such file or directory)\n"
)


def test_tables_are_read_of_the_text():
    ovs = host(tree() | OVS)[Ovs]
    assert known(ovs.other_config, "") == {
        "dpdk-extra": "-a 0000:01:00.0,x=y", "hw-offload": "true", "tc-policy": "none",
    }  # fmt: skip
    assert ovs.is_offload_asked and known(ovs.dpdk_initialized, "") is False
    assert (ovs.release, known(ovs.dpdk_version, "")) == ((2, 17), "none")
    assert (known(ovs.datapath_flows, ""), known(ovs.offloaded_flows, "")) == (84, 80)
    good, bad = ovs.interfaces["ens1f0"], ovs.interfaces["ens1f1"]
    assert (good.kind, known(good.mtu, ""), good.options) == ("system", 9000, {})
    assert isinstance(good.error, Absent) and isinstance(bad.mtu, Absent)
    assert known(bad.error, "").startswith("could not open") and bad.options == {"n_rxq": "2"}


def test_what_is_in_which_bridge_is_of_show():
    ovs = host(tree() | OVS)[Ovs]
    assert ovs.bridges["br-int"].ports == ("bond0", "br-int") and not ovs.bridges["1-br"].ports
    bond = ovs.ports["bond0"]
    assert bond.interfaces == ("ens1f0", "ens1f1") and known(bond.vlan, "") == 40
    assert known(bond.bond_mode, "") == "balance-slb"
    assert ovs.is_in_kernel(ovs.interfaces["ens1f0"])


@pytest.mark.parametrize("shown", ["---- bond0 ----\nbond_mode: active-backup\n", ""])
def test_a_bond_whose_mode_may_be_the_default_is_not_said_to_have_none(shown: str):
    facts = host(tree() | OVS | {f"{FOLDER}ovs-appctl_bond.show": shown})
    assert isinstance(facts[Ovs].ports["bond0"].bond_mode, Unreadable)
    rules = {finding.rule for finding in diagnose(facts, Question()).findings}
    assert "ovs.bond_one_member" not in rules and "ovs.interface_error" in rules


def test_one_that_does_not_run_is_told_from_one_that_was_not_listed_whole():
    down = dict.fromkeys(OVS, DOWN) | {
        f"{FOLDER}ovs-appctl_upcall.show": 'ovs-appctl: cannot connect to "/run/a.ctl" '
        "(Connection refused)\n"
    }
    facts = host(tree() | down)
    assert isinstance(facts[Ovs].other_config, Absent)
    assert isinstance(facts[Ovs].datapath_flows, Absent | Unreadable)
    for name in ("show", "list_bridge", "list_interface", "list_Open_vSwitch"):
        files = tree() | {path: text for path, text in OVS.items() if path != VSCTL + name}
        assert isinstance(host(files)[Ovs].other_config, Unreadable)
    ended = (
        "2026-11-23T10:00:05Z|00001|fatal_signal|WARN|terminating with signal 14 (Alarm clock)\n"
    )
    assert isinstance(host(tree() | OVS | {f"{VSCTL}show": ended})[Ovs].other_config, Unreadable)


def test_file_names_of_older_versions_are_read():
    older = {path.replace("-t_5_list", "list"): text for path, text in OVS.items()}
    assert known(host(tree() | older)[Ovs].version, "") == "2.17.8"


def test_threads_that_poll_are_read():
    shown = """\
pmd thread numa_id 0 core_id 3:
  isolated : false
  port: dpdk0             queue-id:  0 (enabled)   pmd usage: 95 %
  overhead:  2 %
"""
    files = tree() | {f"{FOLDER}ovs-appctl_dpif-netdev.pmd-rxq-show": shown}
    (thread,) = known(host(files)[OvsPolling].threads, "")
    assert (thread.cpu, known(thread.busy_percent, "")) == (3, 97)


def test_filters_of_ports_of_an_eswitch_are_counted():
    networking = "sos_commands/networking"
    links = tree()[f"{networking}/ip_-s_-d_link"].replace(
        "portname p0", "portname p0 switchid 6c4b"
    )
    files = tree() | {
        f"{networking}/ip_-s_-d_link": links,
        f"{networking}/tc_-s_filter_show_dev_ens1f0_ingress": "filter protocol ip pref 2 flower "
        "chain 0 handle 0x1\n  eth_type ipv4\n  in_hw in_hw_count 1\n\taction order 1: mirred\n"
        "filter protocol arp pref 3 flower chain 0 handle 0x1\n  not_in_hw\n",
        f"{networking}/tc_-s_filter_show_dev_ens1f1_ingress": "",
    }
    tc = host(files)[Tc]
    assert tc.of("ens1f0") == Known(
        TcFilters(1, 1), "tc -s filter show dev ens1f0 ingress"
    ) and isinstance(tc.of("ens1f1"), Unreadable)
