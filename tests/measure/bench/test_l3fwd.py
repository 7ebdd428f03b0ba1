import os
import re
import signal
from collections.abc import Callable
from ipaddress import IPv4Address, IPv4Network
from pathlib import Path

import pytest
from pcap_tester import frame, ipv4_checksum, read_pcap

from wirespeed.host.clock import Deadline, sleep_s
from wirespeed.host.local import LocalRunner
from wirespeed.host.runner import Completed
from wirespeed.measure.bench import l3fwd_build
from wirespeed.measure.bench.eal_side import EalSide
from wirespeed.measure.bench.l3fwd import L3fwd
from wirespeed.measure.bench.l3fwd_build import build_l3fwd, patch, with_burst
from wirespeed.measure.bench.l3fwd_rules import (
    MAX_EM_FLOWS,
    MAX_FLOWS,
    em_ipv4,
    flow_addresses,
    lpm_ipv4,
)
from wirespeed.model.error import InputError, MeasurementError

NEXT_HOP = bytes.fromhex("02aaaaaaaaaa")
PORT_MAC = bytes.fromhex("027063617000")
Sides = Callable[..., tuple[EalSide, Path]]


def test_flow_addresses_are_distinct_and_keep_the_checksum():
    flows = [0, 1, 255, 256, 8191, 65535, 65536, 70000, MAX_FLOWS - 1]
    tuples = {tuple(flow_addresses(flow)) for flow in flows}
    assert len(tuples) == len(flows)
    assert len({frame(flow)[24:26] for flow in flows}) == 1


def test_flow_70000_by_hand():
    a = flow_addresses(70000)  # 0x011170
    assert (str(a.source), str(a.destination)) == ("198.18.17.112", "198.19.238.143")
    assert (a.source_port, a.destination_port) == (0xC001, 0xD001)


@pytest.mark.parametrize("flow", [-1, MAX_FLOWS])
def test_a_flow_outside_24_bits_is_refused(flow: int):
    with pytest.raises(ValueError):
        flow_addresses(flow)


def test_lpm_routes_cover_every_flow_once():
    routes = [re.fullmatch(r"R(\S+) 0", line) for line in lpm_ipv4().splitlines()]
    networks = [IPv4Network(route[1]) for route in routes if route]
    assert len(networks) == len(routes) == 256
    for flow in (0, 1, 8191, 65535, 70000, MAX_FLOWS - 1):
        destination = flow_addresses(flow).destination
        assert sum(destination in network for network in networks) == 1


def test_lpm_routes_of_two_streams_are_of_two_networks_and_ports():
    rules = [line.removeprefix("R").split() for line in lpm_ipv4(0, 1).splitlines()]
    routes = [(IPv4Network(network), port) for network, port in rules]
    assert len(routes) == 512  # of the 1024 that l3fwd holds
    for flow in (0, 1, 8191, 65535, 70000, MAX_FLOWS - 1):
        there = flow_addresses(flow)
        # The second stream's networks are exchanged: tester/tests/test_frame.c.
        ways = {"0": there.destination, "1": there.source}
        for port, destination in ways.items():
            assert [out for net, out in routes if destination in net] == [port]


def test_em_rules_are_destination_first():
    first, second = em_ipv4(2).splitlines()
    assert first == f"R198.19.255.255 198.18.0.0 {0xD000} {0xC000} 0x11 0"
    assert second.startswith("R198.19.255.254 198.18.0.1 ")
    assert IPv4Address("198.19.255.254") == flow_addresses(1).destination


@pytest.mark.parametrize("flows", [0, MAX_EM_FLOWS + 1])
def test_em_takes_only_so_many_flows(flows: int):
    with pytest.raises(InputError) as error:
        em_ipv4(flows)
    assert error.value.what == "l3fwd.flows"
    assert str(MAX_EM_FLOWS) in error.value.so


def test_the_patch_changes_one_line():
    stock = "a\n\t\t.offloads = RTE_ETH_RX_OFFLOAD_CHECKSUM,\nb\n"
    assert patch(stock) == "a\n\t\t.offloads = 0,\nb\n"


@pytest.mark.dpdk
def test_an_l3fwd_of_another_burst_is_built_beside_the_stock_one():
    stock, other = build_l3fwd(), build_l3fwd(burst=64)
    assert stock != other
    assert os.access(other, os.X_OK)


@pytest.mark.dpdk
def test_only_the_burst_is_another_in_the_header_of_the_distribution():
    """The report's l3fwd takes 64; its transmit burst is half of it, by the header itself."""
    stock = (l3fwd_build.EXAMPLES / "l3fwd/l3fwd.h").read_text()
    changed = with_burst(stock, 64)
    differ = [
        pair
        for pair in zip(stock.splitlines(), changed.splitlines(), strict=True)
        if pair[0] != pair[1]
    ]
    assert differ == [("#define MAX_PKT_BURST     32", "#define MAX_PKT_BURST     64")]
    with pytest.raises(InputError, match=r"l3fwd\.patch"):
        with_burst(changed, 64)


def test_since_dpdk_24_11_the_burst_is_the_default_of_an_option():
    """examples/l3fwd/l3fwd.h of 24.11 and 25.11."""
    header = "#define DEFAULT_PKT_BURST 32\n#define MAX_PKT_BURST 512\n"
    assert with_burst(header, 64) == header.replace("32", "64")


@pytest.mark.parametrize("count", [0, 2])
def test_a_source_that_the_patch_does_not_fit_is_refused(count: int):
    with pytest.raises(InputError) as error:
        patch(".offloads = RTE_ETH_RX_OFFLOAD_CHECKSUM,\n" * count)
    assert error.value.what == "l3fwd.patch"
    assert f"{count} times" in error.value.found


def test_missing_source_names_the_packages(tmp_path: Path):
    with pytest.raises(InputError) as error:
        build_l3fwd(examples=tmp_path)
    assert error.value.what == "l3fwd.not_installed"
    assert "dpdk-doc" in error.value.next


def test_missing_compiler_names_the_packages(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(l3fwd_build, "find_program", lambda name: None if name == "cc" else name)
    with pytest.raises(InputError) as error:
        build_l3fwd()
    assert error.value.where == "cc"
    assert "build-essential" in error.value.next


class FailingMake(LocalRunner):
    """A host whose compiler says no."""

    def run(self, argv: object, *, timeout_s: float = 60.0) -> Completed:
        words = tuple(argv)  # type: ignore[call-overload]
        if words[0] != "make":
            return super().run(words, timeout_s=timeout_s)
        return Completed(argv=words, output="", errors="main.c:1: no", returncode=2, duration_s=0.1)


@pytest.mark.dpdk
def test_a_failed_build_says_why_and_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    with pytest.raises(InputError) as error:
        build_l3fwd(FailingMake())
    assert error.value.what == "l3fwd.build"
    assert "main.c:1: no" in error.value.found
    assert all(p.name.endswith(".lock") for p in (tmp_path / "wirespeed").iterdir())


def test_an_unknown_lookup_is_bad_input(null_side: Callable[..., EalSide]):
    with pytest.raises(InputError) as error:
        L3fwd(null_side(), "guess", flows=1)
    assert error.value.what == "dut.unknown_mode"


def test_em_with_too_little_memory_is_bad_input(null_side: Callable[..., EalSide]):
    with pytest.raises(InputError) as error:
        L3fwd(null_side(memory_mib=512), "em", flows=1)
    assert error.value.what == "dut.memory"


def routed(f: bytes) -> bytes:
    """What l3fwd makes of a frame: both addresses new, TTL - 1, the checksum's high byte + 1."""
    ttl = (f[22] - 1) & 0xFF
    little_endian = (int.from_bytes(f[24:26], "little") + 1) & 0xFFFF
    checksum = little_endian.to_bytes(2, "little")
    return NEXT_HOP + PORT_MAC + f[12:22] + bytes([ttl]) + f[23:24] + checksum + f[26:]


@pytest.mark.dpdk
@pytest.mark.parametrize("lookup", ["lpm", "em"])
def test_frames_come_back_routed(pcap_side: Sides, lookup: str):
    sent = [
        *(frame(flow) for flow in range(0, 8192, 511)),
        frame(1, ttl=1),
        frame(5, mbuf_bytes=1514),
        frame(6, mbuf_bytes=9596),
    ]
    side, out = pcap_side(sent)
    with L3fwd(side, lookup, flows=8192, next_hop_mac="02:aa:aa:aa:aa:aa") as dut:
        dut.start_trial()
        deadline = Deadline(5)
        while dut.read().ports[0].opackets < len(sent) and not deadline.expired:
            sleep_s(0.01)
        dut.end_trial()
        assert dut.description.expect == "routed"
        assert dut.read().cpu_run_ns
    returned = read_pcap(out)
    assert returned == [routed(f) for f in sent]
    assert all(ipv4_checksum(f[14:34]) == 0 for f in returned)


@pytest.mark.dpdk
def test_a_checksum_of_feff_becomes_ffff_where_rfc_1624_has_0000(pcap_side: Sides):
    odd = next(f for f in (frame(1, ident=i) for i in range(65536)) if f[24:26] == b"\xfe\xff")
    side, out = pcap_side([odd])
    with L3fwd(side, "lpm", flows=1, next_hop_mac="02:aa:aa:aa:aa:aa") as dut:
        dut.start_trial()
        deadline = Deadline(5)
        while dut.read().ports[0].opackets < 1 and not deadline.expired:
            sleep_s(0.01)
    assert read_pcap(out)[0][24:26] == b"\xff\xff"


@pytest.mark.dpdk
def test_an_l3fwd_that_dies_is_noticed(null_side: Callable[..., EalSide]):
    with L3fwd(null_side(), "lpm", flows=1) as dut:
        dut.start_trial()
        os.kill(dut.pid, signal.SIGKILL)
        deadline = Deadline(5)
        while dut.alive() and not deadline.expired:
            sleep_s(0.01)
        assert not dut.alive()
        with pytest.raises(MeasurementError) as error:
            dut.read()
        assert error.value.what == "dut.died"
