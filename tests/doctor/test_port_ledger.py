"""The ledger of a port: each element once, and what is not known by its reason."""

import json
import re
from pathlib import Path

import pytest

from wirespeed.doctor.ledger import build_ledger
from wirespeed.facts.ports import Ports
from wirespeed.model.capture import parse_capture
from wirespeed.model.ceiling import Direction, Ledger
from wirespeed.model.fact import HostFacts
from wirespeed.model.question import Purpose, Question

CASES = Path(__file__).parents[1] / "rules/cases"
SWITCH = CASES / "pcie.hop_below_card/present_chipset_uplink_of_x4"
X4 = CASES / "measured.above_ceiling/absent_53_6_through_pcie_4_x4"
CPUS = CASES / "pcie.node_without_cpus/absent_node_with_cpus"


def ledger(folder: Path, question: Question | None = None, more: str = "") -> Ledger:
    text = (folder / "capture.txt").read_text()
    return of(text.replace("case done\n", f"{more}case done\n"), question)


def of(text: str, question: Question | None = None) -> Ledger:
    host = HostFacts("host", parse_capture(text, "case"))
    (port,) = host[Ports].ports
    return build_ledger(host, port, question or Question())


def section(name: str, body: str) -> str:
    return f"case begin {name} -\n{body}\n\ncase end 0\n"


def elements(found: Ledger) -> list[str]:
    return [c.element for c in found.ceilings if c.direction is Direction.RECEIVE]


def test_a_link_is_counted_once_and_a_switch_s_inside_is_none():
    assert elements(ledger(SWITCH)) == ["ethernet", "pcie 10001:03:00.0", "pcie 10001:01:00.0"]


def test_the_lowest_hop_bounds_the_path():
    bound = ledger(SWITCH).bound(Direction.TRANSMIT)
    assert bound is not None
    assert bound.element == "pcie 10001:01:00.0"


def test_without_root_the_band_is_wider():
    text = (X4 / "capture.txt").read_text()
    head, _, rest = text.partition("case begin pci-config 0000:3b:00.0")
    lines = rest.split("\n")
    public = "\n".join([*lines[:5], "", "case end 0", *lines[lines.index("case end 0") + 1 :]])
    known, unknown = (
        next(c for c in of(t).ceilings if c.element.startswith("pcie")).load_pps
        for t in (text, f"{head}case begin pci-config 0000:3b:00.0{public}")
    )
    assert unknown.low < known.low
    assert unknown.high > known.high


def test_both_directions_at_once_are_less():
    one, both = (ledger(X4, Question(bidirectional=b)) for b in (False, True))
    assert both.bidirectional
    bounds = [found.bound(Direction.TRANSMIT) for found in (one, both)]
    assert bounds[0] is not None
    assert bounds[1] is not None
    assert bounds[1].load_pps.low < bounds[0].load_pps.low


def test_dpdk_moves_less_beside_the_frames_than_the_kernel():
    kernel, dpdk = (
        next(c for c in ledger(X4, Question(purpose=p, frame_bytes=64)).ceilings
             if c.element.startswith("pcie"))
        for p in (None, Purpose.DPDK)
    )  # fmt: skip
    assert dpdk.load_pps.low > kernel.load_pps.low


def test_isolated_cores_are_a_ceiling_for_dpdk():
    text = (CPUS / "capture.txt").read_text().replace("cpu/isolated:", "cpu/isolated:4-5")
    for cpu in range(8):
        text = text.replace(
            f"cpu{cpu}/topology/core_id",
            f"cpu{cpu}/cpufreq/cpuinfo_max_freq:3400000\n/sys/devices/system/cpu/cpu{cpu}/topology/core_id",
        )
    found = of(text, Question(purpose=Purpose.DPDK, frame_bytes=64))
    cores = next(c for c in found.ceilings if c.element == "cores")
    assert cores.load_pps.low == pytest.approx(2 * 3.4e9 / 43.7)
    assert cores.load_pps.high == pytest.approx(2 * 3.4e9 / 33)
    assert any(i.assumed for i in cores.inputs)


def test_without_isolated_cores_how_many_poll_is_not_known():
    found = ledger(CPUS, Question(purpose=Purpose.DPDK))
    assert any("no CPU is isolated" in reason for reason in found.unknown)


def test_the_kernel_s_cost_of_a_frame_is_never_assumed():
    assert "cores" not in elements(ledger(CPUS))


def test_a_window_is_computed_when_the_round_trip_time_is_given():
    sysctls = section(
        "sysctl",
        "/proc/sys/net/ipv4/tcp_rmem:4096 131072 6291456\n"
        "/proc/sys/net/ipv4/tcp_wmem:4096 16384 4194304",
    )
    found = ledger(X4, Question(rtt_s=0.01), more=sysctls)
    windows = {c.direction: c for c in found.ceilings if c.element == "tcp window"}
    # 6 MiB: half of it, and all of it, each 10 ms.
    assert windows[Direction.RECEIVE].load_pps.low * 1448 == pytest.approx(3145728 / 0.01)
    assert windows[Direction.RECEIVE].load_pps.high * 1448 == pytest.approx(6291456 / 0.01)
    assert windows[Direction.TRANSMIT].load_pps.high * 1448 == pytest.approx(4194304 / 0.01)


def test_a_window_that_is_not_scaled_ends_at_16_bits_whatever_the_buffer():
    sysctls = section(
        "sysctl",
        "/proc/sys/net/ipv4/tcp_rmem:4096 131072 6291456\n"
        "/proc/sys/net/ipv4/tcp_wmem:4096 16384 4194304\n"
        "/proc/sys/net/ipv4/tcp_window_scaling:0",
    )
    found = ledger(X4, Question(rtt_s=0.01), more=sysctls)
    windows = [c for c in found.ceilings if c.element == "tcp window"]
    assert [c.load_pps.high * 1448 for c in windows] == pytest.approx([65535 / 0.01] * 2)
    assert {c.load_pps.low == c.load_pps.high for c in windows} == {True}


def test_without_a_round_trip_time_there_is_no_window():
    assert "tcp window" not in elements(ledger(X4))


HYPERV = """\
wirespeed-capture 1 case
case begin ports -
eth0 driver=hv_netvsc physfn= port= device=/sys/devices/LNXSYSTM:00/VMBUS:00/3b6b7c55

case end 0
case begin link -
/sys/class/net/eth0/flags:0x1003
/sys/class/net/eth0/carrier:1
/sys/class/net/eth0/speed:10000

case end 0
case done
"""


def test_a_virtual_adapter_has_a_virtual_switch_and_no_slot():
    found = of(HYPERV)
    assert elements(found) == ["virtual switch"]
    assert not any(reason.startswith("pcie") for reason in found.unknown)


def test_an_adapter_that_looks_like_a_card_is_virtual_by_its_driver():
    text = HYPERV.replace("hv_netvsc", "vmxnet3")
    text = text.replace("LNXSYSTM:00/VMBUS:00/3b6b7c55", "pci0000:00/0000:00:15.0/0000:03:00.0")
    assert elements(of(text)) == ["virtual switch"]


@pytest.mark.parametrize(
    ("ids", "virtualization", "found"),
    [
        ("0x8086 0x100e", "kvm", "virtual switch"),
        ("0x10ec 0x8139", "kvm", "virtual switch"),
        ("0x8086 0x100e", "none", "ethernet"),
        ("0x8086 0x10d3", "kvm", "ethernet"),
    ],
)
def test_the_speed_of_a_card_that_a_hypervisor_plays_bounds_nothing(
    ids: str, virtualization: str, found: str
):
    vendor, device = ids.split()
    at = "/sys/bus/pci/devices/0000:00:03.0"
    text = HYPERV.replace("hv_netvsc", "e1000")
    text = text.replace("LNXSYSTM:00/VMBUS:00/3b6b7c55", "pci0000:00/0000:00:03.0")
    hops = section("pci-hops", "/sys/devices/pci0000:00/0000:00:03.0")
    card = section("pci", f"{at}/vendor:{vendor}\n{at}/device:{device}\n{at}/class:0x020000")
    more = hops + card + section("detect-virt", virtualization)
    assert found in elements(of(text.replace("case done\n", more + "case done\n")))


def test_a_port_that_a_userspace_driver_owns_has_no_speed():
    way = "/sys/devices/pci0000:3a/0000:3a:00.0/0000:3b:00.0"
    text = section("ports", f"- driver=vfio-pci physfn= port= device={way}")
    found = of(f"wirespeed-capture 1 case\n{text}case done\n")
    assert found.ceilings == ()
    assert any("no netdev" in reason for reason in found.unknown)
    assert any(reason.startswith("pcie: ") for reason in found.unknown)


@pytest.mark.parametrize("printed", ["-1", "0", "fast"])
def test_a_port_without_a_speed_is_no_ceiling_of_0(printed: str):
    text = (X4 / "capture.txt").read_text().replace("speed:100000", f"speed:{printed}")
    found = of(text)
    assert "ethernet" not in elements(found)
    assert any(reason.startswith("ethernet: speed of") for reason in found.unknown)


def test_a_port_without_a_link_is_bound_by_its_fastest_mode_and_not_by_its_slot():
    down = CASES / "link.down/present_unused_port_is_a_note/capture.txt"
    bound = of(down.read_text()).bound(Direction.RECEIVE)
    assert bound is not None
    assert bound.element == "ethernet"
    assert [(i.shown, i.assumed) for i in bound.inputs] == [("25 Gb/s", True)]


NETSTACK = (
    section(
        "ip-link",
        """[{"ifindex": 2, "ifname": "enp59s0f0np0", "mtu": 9050, "flags": ["UP"]},
 {"ifindex": 3, "ifname": "vxlan42", "mtu": 9000, "flags": ["UP"], "linkinfo":
  {"info_kind": "vxlan", "info_data": {"id": 42, "link": "enp59s0f0np0", "port": 4789}}},
 {"ifindex": 4, "ifname": "vlan40", "link": "enp59s0f0np0", "mtu": 9000, "flags": ["UP"],
  "linkinfo": {"info_kind": "vlan", "info_data": {"id": 40}}}]""",
    )
    + section(
        "ip-route",
        """[{"dst": "192.168.10.0/24", "dev": "vxlan42", "table": "main"},
 {"dst": "192.168.40.0/24", "dev": "vlan40", "table": "main"},
 {"dst": "192.168.9.0/24", "dev": "enp59s0f0np0", "table": "main"}]""",
    )
    + section("ip-rule", '[{"priority": 32766, "src": "all", "table": "main"}]')
)


@pytest.mark.parametrize(
    ("peer", "added_bytes"), [("192.168.10.1", 50), ("192.168.40.1", 4), ("192.168.9.1", None)]
)
def test_what_a_tunnel_on_the_way_to_the_peer_adds_is_counted(peer: str, added_bytes: int | None):
    found = ledger(X4, Question(peer=peer), NETSTACK)
    added = [c for c in found.ceilings if c.element == "encapsulation"]
    if added_bytes is None:
        assert added == []
    else:
        assert added[0].load_pps.low == pytest.approx(1e11 / 8 / (1518 + 20 + added_bytes))
    assert not any(reason.startswith("encapsulation") for reason in found.unknown)


def test_without_routes_what_is_added_is_not_known():
    found = ledger(X4, Question(peer="192.168.10.1"))
    assert any(reason.startswith("encapsulation: ") for reason in found.unknown)


@pytest.mark.parametrize(
    ("device", "said"), [("0x101a", "VF of a ConnectX-5 Ex"), ("0x1019", "part of the chipset")]
)
def test_why_no_link_can_be_seen_is_said(device: str, said: str):
    folder = CASES / "pcie.width_below_capability/absent_vf_of_a_guest_has_no_link"
    text = (folder / "capture.txt").read_text().replace("0x101a", device)
    assert any(said in reason for reason in of(text).unknown)


def test_a_card_of_the_700_series_has_its_own_packet_rate():
    """40GbE would be 59.5 Mpps of 64 bytes; the device takes about 37 (Intel, document 683749)."""
    text = (X4 / "capture.txt").read_text()
    intel = text.replace("/vendor:0x15b3", "/vendor:0x8086")
    intel = re.sub(r"(/0000:3b:00\.0/device:)0x\w+", r"\g<1>0x1583", intel)
    assert intel != text
    found = of(intel, Question(frame_bytes=64))
    assert "card's packet rate" in elements(found)
    assert "card's packet rate" not in elements(of(intel))
    assert "card's packet rate" not in elements(of(text, Question(frame_bytes=64)))


def test_a_link_of_infiniband_is_not_called_ethernet():
    text = (X4 / "capture.txt").read_text()
    netdev = re.search(r"^(\S+) driver=", text, re.M)
    assert netdev is not None
    link = section("ip-link", json.dumps([
        {"ifindex": 2, "ifname": netdev[1], "mtu": 2044, "flags": ["UP"], "link_type": "infiniband"}
    ]))  # fmt: skip
    found = elements(of(text.replace("case done\n", f"{link}case done\n")))
    assert (found[0], "ethernet" in found) == ("infiniband", False)
