"""What the datapath says of its flows, and tc of its filters; outputs as they were printed."""

import pytest

from wirespeed.measure.network_offload import (
    FlowCounts,
    OffloadVerdict,
    hardware_packets,
    judge_offload,
    parse_flows,
)

UFID = "ufid:25030bd6-d82f-473f-b8b3-40aebe04e33a, "
MATCH = (
    "skb_priority(0/0),tunnel(tun_id=0x5,src=192.168.9.1,dst=192.168.9.2,ttl=0/0,tp_dst=6081,"
    "flags(+key)),skb_mark(0/0),recirc_id(0),dp_hash(0/0),in_port(genev_sys_6081),"
    "packet_type(ns=0/0,id=0/0),eth(src=02:00:00:00:00:01,dst=02:00:00:00:00:02),"
    "eth_type(0x0800),ipv4(src=0.0.0.0/0.0.0.0,frag=no)"
)
IN_TC = f"{UFID}{MATCH}, packets:36, bytes:3024, used:0.320s, offloaded:yes, dp:tc, actions:3\n"
"""`ovs-appctl dpctl/dump-flows -m` with a ConnectX-6 (ovn-org/ovn issue 173), other addresses."""
TC_SOFTWARE = IN_TC.replace(", offloaded:yes", "")
IN_KERNEL = f"{UFID}{MATCH}, packets:4, bytes:392, used:0.9s, dp:ovs, actions:3\n"
IDLE = f"{UFID}{MATCH}, packets:0, bytes:0, used:never, dp:ovs, actions:drop\n"
PARTIAL = IN_KERNEL.replace("dp:ovs", "offloaded:partial, dp:ovs")
FILTER = """\
filter protocol ip pref 2 flower chain 0
filter protocol ip pref 2 flower chain 0 handle 0x1
  dst_mac 02:00:00:00:00:02
  src_mac 02:00:00:00:00:01
  eth_type ipv4
  in_hw in_hw_count 1
\taction order 1: tunnel_key  set
\tindex 3 ref 1 bind 1 installed 88 sec used 0 sec
\tAction statistics:
\tSent 8400 bytes 100 pkt (dropped 0, overlimits 0 requeues 0)
\tSent software 0 bytes 0 pkt
\tSent hardware 8400 bytes 100 pkt
\tbacklog 0b 0p requeues 0

\taction order 2: mirred (Egress Redirect to device vxlan_sys_4789) stolen
\tindex 4 ref 1 bind 1 installed 88 sec used 0 sec
\tAction statistics:
\tSent 8400 bytes 100 pkt (dropped 0, overlimits 0 requeues 0)
\tSent software 0 bytes 0 pkt
\tSent hardware 8400 bytes 100 pkt
\tbacklog 0b 0p requeues 0

"""
"""`tc -s filter show dev NETDEV ingress`, as in LNST-project/lnst pull request 341."""


def test_flows_are_counted_where_they_are():
    text = "flow-dump from the main thread:\n" + IN_TC + IN_KERNEL + IDLE + PARTIAL
    assert parse_flows(text) == FlowCounts(1, 36, 2, 8, ("ovs", "tc"))


@pytest.mark.parametrize("text", ["", "\n", "ovs-vswitchd: nonsense\n", IDLE])
def test_what_was_not_hit_shows_nothing(text: str):
    assert judge_offload(parse_flows(text), 0).verdict is OffloadVerdict.NOT_SHOWN


def test_each_filter_counts_once_and_only_what_hardware_sent():
    assert hardware_packets(FILTER) == 100
    other = FILTER.replace("hardware 8400 bytes 100", "hardware 84 bytes 1")
    assert hardware_packets(FILTER + other) == 101
    assert hardware_packets(FILTER.replace("Sent hardware", "Sent software")) == 0


@pytest.mark.parametrize(
    ("text", "counted", "verdict"),
    [
        (IN_KERNEL, 0, OffloadVerdict.IN_SOFTWARE),
        (TC_SOFTWARE, 0, OffloadVerdict.IN_SOFTWARE),
        (PARTIAL, 0, OffloadVerdict.IN_SOFTWARE),
        # It says so, and no counter of the card bears it out.
        (IN_TC, 0, OffloadVerdict.IN_SOFTWARE),
        (IN_TC, 36, OffloadVerdict.IN_HARDWARE),
        (IN_TC + IN_KERNEL, 36, OffloadVerdict.IN_HARDWARE),
        (IN_TC + IN_KERNEL.replace("packets:4,", "packets:400,"), 36, OffloadVerdict.PARTLY),
    ],
)
def test_the_verdict_is_of_packets_and_not_of_promises(
    text: str, counted: int, verdict: OffloadVerdict
):
    assert judge_offload(parse_flows(text), counted).verdict is verdict
