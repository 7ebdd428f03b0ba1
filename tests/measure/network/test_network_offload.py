"""What the datapath says of its flows, and tc of its filters; outputs as they were printed."""

import pytest

from wirespeed.measure.network.offload import (
    Counted,
    counters_of,
    hardware_packets,
    judge_offload,
    parse_flows,
    polled_packets,
)
from wirespeed.model.network_trial import FlowCounts, OffloadVerdict

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
IN_DPDK = IN_TC.replace("dp:tc", "dp:dpdk")
REPRESENTOR = """\
NIC statistics:
     rx_packets: 12
     rx_bytes: 840
     tx_packets: 9
     tx_bytes: 630
     vport_rx_packets: 812345
     vport_rx_bytes: 1218517500
     vport_tx_packets: 812001
     vport_tx_bytes: 53592066
     rx_vport_rdma_unicast_packets: 0
"""
"""`ethtool -S` of a VF's representor: the names and their order of mlx5's en_rep.c (Linux 6.12)."""
PMD_STATS = """\
pmd thread numa_id 0 core_id 3:
  packets received: 13
  packet recirculations: 0
  avg. datapath passes per packet: 1.00
main thread:
  packets received: 0
  packet recirculations: 0
"""
"""`ovs-appctl dpif-netdev/pmd-stats-show` (Open vSwitch 3.1), in part."""
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
    assert parse_flows(text) == FlowCounts(
        offloaded=1, offloaded_packets=36, others=2, other_packets=8, layers=("ovs", "tc")
    )


def test_of_two_guests_only_the_flows_between_them_count():
    others = IN_KERNEL.replace("src=02:00:00:00:00:01", "src=02:00:00:00:00:09")
    macs = ("02:00:00:00:00:02", "02:00:00:00:00:01")
    assert parse_flows(IN_TC + others, macs) == parse_flows(IN_TC)


@pytest.mark.parametrize("text", ["", "\n", "ovs-vswitchd: nonsense\n", IDLE])
def test_what_was_not_hit_shows_nothing(text: str):
    told = judge_offload(parse_flows(text), 0, Counted())
    assert told.verdict is OffloadVerdict.CANNOT_TELL


def test_each_filter_counts_once_and_only_what_hardware_sent():
    assert hardware_packets(FILTER) == 100
    other = FILTER.replace("hardware 8400 bytes 100", "hardware 84 bytes 1")
    assert hardware_packets(FILTER + other) == 101
    assert hardware_packets(FILTER.replace("Sent hardware", "Sent software")) == 0


@pytest.mark.parametrize(
    ("text", "filtered", "verdict"),
    [
        (IN_KERNEL, 0, OffloadVerdict.IN_SOFTWARE),
        (TC_SOFTWARE, 0, OffloadVerdict.IN_SOFTWARE),
        (PARTIAL, 0, OffloadVerdict.IN_SOFTWARE),
        # It says so, and no counter of the card bears it out.
        (IN_TC, 0, OffloadVerdict.NOT_HIT),
        (IN_TC, None, OffloadVerdict.NOT_HIT),
        (IN_TC, 36, OffloadVerdict.HIT),
        (IN_DPDK, None, OffloadVerdict.HIT),
        (IN_TC + IN_KERNEL, 36, OffloadVerdict.HIT),
        (IN_TC + IN_KERNEL.replace("packets:4,", "packets:400,"), 36, OffloadVerdict.PARTLY),
    ],
)
def test_the_verdict_is_of_packets_and_not_of_promises(
    text: str, filtered: int | None, verdict: OffloadVerdict
):
    assert judge_offload(parse_flows(text), filtered, Counted()).verdict is verdict


@pytest.mark.parametrize(
    ("text", "counted", "verdict"),
    [
        # Of 3000 packets of the VF the host's cores saw 2, and 2900.
        (IN_TC, Counted(3000, 2, 3100), OffloadVerdict.HIT),
        (IN_TC, Counted(3000, 2900, 3100), OffloadVerdict.NOT_HIT),
        (TC_SOFTWARE, Counted(3000, 2900, 3100), OffloadVerdict.IN_SOFTWARE),
        # What the switch says and what is counted cannot both be.
        (TC_SOFTWARE, Counted(3000, 2, 3100), OffloadVerdict.CANNOT_TELL),
        # No representor of the kernel: polling threads against the wire.
        (IN_DPDK, Counted(None, 1, 3100), OffloadVerdict.HIT),
        (IN_DPDK, Counted(None, 3000, 3100), OffloadVerdict.NOT_HIT),
        # Too few, or not known: the flows alone are believed.
        (IN_TC, Counted(9, 9, 9), OffloadVerdict.HIT),
        (IN_TC, Counted(None, None, 3100), OffloadVerdict.HIT),
        (IN_TC, Counted(None, 3000, None), OffloadVerdict.HIT),
    ],
)
def test_what_the_switch_says_is_held_against_counters_of_card_and_host(
    text: str, counted: Counted, verdict: OffloadVerdict
):
    assert judge_offload(parse_flows(text), 36, counted).verdict is verdict


def test_a_representor_counts_twice():
    found = counters_of(REPRESENTOR)
    assert (found["rx_packets"], found["vport_rx_packets"]) == (12, 812345)
    assert counters_of("no stats available\n") == {}


def test_all_polling_threads_are_added():
    assert polled_packets(PMD_STATS) == 13
    # lib/dpif-netdev-perf.c (pmd_perf_format_overall_stats) of 4.0.
    perf = "".join(
        f"pmd thread numa_id 0 core_id {cpu}:\n\n  Used TSC cycles:         2600000000"
        f"  (100.1 % of total cycles)\n  Rx packets:         {packets}\n"
        "  Tx packets:                  990  (1 Kpps)\n"
        for cpu, packets in ((2, "        1004  (1 Kpps, 848 cycles/pkt)"), (3, "           0"))
    )
    assert polled_packets(perf) == 1004
    assert polled_packets("") is None
