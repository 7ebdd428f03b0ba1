"""Where a paced flow goes is read on both hosts, while it is on, by counters that grew meanwhile.

The hosts are described: their counters grow with each second that passes, by a card or by cores.
"""

from dataclasses import dataclass, field
from ipaddress import IPv4Address

import pytest
from test_network_offload import IN_DPDK, IN_TC, TC_SOFTWARE

from wirespeed.host.runner import Completed
from wirespeed.measure.network import offload_trial as network_offload_trial
from wirespeed.measure.network.endpoint import Attachment, Endpoint
from wirespeed.measure.network.offload_trial import OffloadPlace, offloads
from wirespeed.model.error import HostError
from wirespeed.model.network_trial import NetworkTrial, OffloadTrial, OffloadVerdict, Pair

PAIR = Pair(client="ceph-1", server="gpu-1", network="storage")
LOAD_PPS = 1000
MACS = {"ceph-1": "02:00:00:00:00:01", "gpu-1": "02:00:00:00:00:02"}
FILTERS = """\
filter protocol ip pref 2 flower chain 0 handle 0x1
  in_hw in_hw_count 1
\taction order 1: mirred (Egress Redirect to device vxlan_sys_4789) stolen
\tSent software 0 bytes 0 pkt
\tSent hardware 84000 bytes 1000 pkt
"""


@dataclass
class World:
    """Seconds that have passed, and whether the flow is on."""

    seconds: float = 0
    is_on: bool = False
    asked_while_off: list[tuple[str, ...]] = field(default_factory=list)
    datapaths: list[str] = field(default_factory=list)
    """Whose flows were asked for."""


@dataclass
class DescribedHost:
    """A host with a ConnectX, or one with a card that knows none of it."""

    world: World
    is_hardware: bool = True
    has_card: bool = True
    flows: str = IN_TC
    is_gone: bool = False

    def run(
        self,
        argv: tuple[str, ...],
        *,
        timeout_s: float = 60.0,
        stdin: str | None = None,
        max_bytes: int = 1 << 20,
    ) -> Completed:
        assert stdin is None and timeout_s and max_bytes
        if self.is_gone:
            raise HostError("ssh.lost", where="alpha", found="the connection is lost")
        if not self.world.is_on:
            self.world.asked_while_off.append(argv)
        packets = round(self.world.seconds * LOAD_PPS)
        cores = 7 if self.is_hardware else packets
        match argv:
            case ("ethtool", "-S", "p0" | "p1" as port):
                # A bond of active-backup uses one of them.
                on_wire = packets if port == "p0" else 5
                text = f"NIC statistics:\n     rx_packets_phy: {on_wire}\n     tx_packets_phy: 5\n"
                return said(text if self.has_card else "NIC statistics:\n     rx_packets: 5\n")
            case ("ethtool", "-S", "ceph-1-n0" | "gpu-1-n0"):
                text = f"NIC statistics:\n     rx_packets: {cores}\n     tx_packets: 0\n"
                of_vf = f"     vport_rx_packets: {packets}\n     vport_tx_packets: 0\n"
                return said(text + (of_vf if self.has_card else ""))
            case ("ovs-appctl", "--timeout=10", "dpctl/dump-flows", "-m", datapath):
                # It has both, as one with an own bridge of the kernel's: without a name, refused.
                self.world.datapaths.append(datapath)
                return said(self.flows)
            case ("ovs-appctl", "--timeout=10", "dpif-netdev/pmd-stats-show"):
                return said(f"pmd thread numa_id 0 core_id 3:\n  packets received: {cores}\n")
            case ("tc", "-s", "filter", "show", "dev", _, "ingress"):
                return said(FILTERS if self.has_card else "")
            case _:
                raise AssertionError(argv)


def said(output: str) -> Completed:
    return Completed(argv=("true",), output=output, errors="", returncode=0, duration_s=0.1)


def guest(name: str, host: str) -> Endpoint:
    of = Attachment(
        network="storage",
        segment=42,
        netdev="net0p0",
        members=("net0p0",),
        address=IPv4Address("192.168.10.1"),
        prefix_length=24,
        mac=MACS[name],
        mtu=9000,
    )
    return Endpoint(name, host, DescribedHost(World()), {"storage": of})


@pytest.fixture
def world(monkeypatch: pytest.MonkeyPatch) -> World:
    """A flow that is on or not, and a clock that goes as it is slept."""
    world = World()

    class Flow:
        def __init__(self, *_: object) -> None:
            pass

        def __enter__(self) -> "Flow":
            world.is_on = True
            return self

        def __exit__(self, *_: object) -> None:
            world.is_on = False

    def sleep_s(seconds: float) -> None:
        world.seconds += seconds

    monkeypatch.setattr(network_offload_trial, "Flow", Flow)
    monkeypatch.setattr(network_offload_trial, "sleep_s", sleep_s)
    monkeypatch.setattr(network_offload_trial, "monotonic_s", lambda: world.seconds)
    monkeypatch.setattr(network_offload_trial, "await_path", lambda *_: None)
    return world


def measured(*hosts: DescribedHost, tunnel: str = "vxlan_sys_4789") -> list[OffloadTrial]:
    names = ("alpha", "beta")
    ports = {("ceph-1", "storage"): "ceph-1-n0", ("gpu-1", "storage"): "gpu-1-n0"}
    places = {
        name: OffloadPlace(name, host, ("p0", "p1"), ports, tunnel, host.has_card)
        for name, host in zip(names, hosts, strict=True)
    }
    recorded: list[NetworkTrial] = []
    guests = {"ceph-1": guest("ceph-1", "alpha"), "gpu-1": guest("gpu-1", "beta")}
    offloads(guests, places, [PAIR], LOAD_PPS, recorded.append)
    return [one for one in recorded if isinstance(one, OffloadTrial)]


def test_both_hosts_are_asked_while_the_flow_is_on(world: World):
    one, other = measured(DescribedHost(world), DescribedHost(world))
    assert (one.host, other.host) == ("alpha", "beta")
    assert world.asked_while_off == []
    # 3 s between the readings: 3000 packets by the card, none by the cores.
    assert (one.vf_packets, one.software_packets, one.port_packets) == (3000, 0, 3000)
    assert one.seconds == 3
    # Two netdevs have filters: the guest's port, and the tunnel's.
    assert one.tc_hardware_packets == 2000
    assert one.verdict is other.verdict is OffloadVerdict.HIT
    assert world.datapaths == ["system@ovs-system"] * 2


def test_a_flow_that_says_offloaded_while_the_cores_count_its_packets_is_not_hit(world: World):
    one, other = measured(DescribedHost(world, is_hardware=False), DescribedHost(world))
    assert one.software_packets == 3000
    assert (one.verdict, other.verdict) == (OffloadVerdict.NOT_HIT, OffloadVerdict.HIT)
    assert "3000 packets in software" in one.said


def test_another_card_has_no_such_counters_and_its_flows_are_in_software(world: World):
    bare = [DescribedHost(world, has_card=False, flows=TC_SOFTWARE) for _ in range(2)]
    one, _ = measured(*bare)
    # A pair of virtual ports counts packets too: they are not told for those of a representor.
    assert (one.vf_packets, one.software_packets, one.port_packets) == (None, None, None)
    assert one.verdict is OffloadVerdict.IN_SOFTWARE
    assert not one.is_expected


@pytest.mark.parametrize(
    ("is_hardware", "verdict"), [(True, OffloadVerdict.HIT), (False, OffloadVerdict.NOT_HIT)]
)
def test_in_userspace_the_polling_threads_are_held_against_the_wire(
    world: World, is_hardware: bool, verdict: OffloadVerdict
):
    hosts = [DescribedHost(world, is_hardware, flows=IN_DPDK) for _ in range(2)]
    one, _ = measured(*hosts, tunnel="")
    assert one.tc_hardware_packets is None
    assert one.software_packets == (0 if is_hardware else 3000)
    assert one.verdict is verdict
    assert world.datapaths == ["netdev@ovs-netdev"] * 2


def test_a_host_that_does_not_answer_is_recorded_with_its_reason(world: World):
    found = measured(DescribedHost(world), DescribedHost(world, is_gone=True))
    assert [one.verdict for one in found] == [OffloadVerdict.CANNOT_TELL] * 2
    assert found[1].said == "ssh.lost: the connection is lost"
    assert not world.is_on
