"""Hosts of the corpus: one card of any maker, healthy, with what a report says of it set apart."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from described import healthy
from described.bonds import bond
from described.firmware import firmware, mlx5_eswitch, module_of_kernel, no_eswitch
from described.host import Host
from described.machine import FLAGS, busy_kernel, cpus, kernel, memory, thread
from described.ovs import POLLING, Interface, OpenVSwitch
from described.pcie import card, on_board
from described.port import (
    CONNECTX5_MODES,
    HASH_ALL,
    SFP28_MODES,
    Ethernet,
    Port,
    gateway,
    interrupts,
    mlx5_names,
    netdev,
)

BOOT = "BOOT_IMAGE=/boot/vmlinuz root=UUID=0 ro quiet"
RELEASE = "6.8.0-45-generic"
RULE_CASES = Path(__file__).parents[1] / "rules/cases"
COPPER_10G = ("100baseT/Full", "1000baseT/Full", "10000baseT/Full")
MAKERS: Mapping[str, dict[str, Any]] = {
    "mlx5_core": {"ids": ("0x15b3", "0x1017"), "modes": CONNECTX5_MODES, "megabits": 100_000},
    "ixgbe": {"ids": ("0x8086", "0x10fb"), "modes": ("10000baseT/Full",), "megabits": 10_000,
              "lanes": 8, "gt": 5.0},
    "i40e": {"ids": ("0x8086", "0x1583"), "modes": ("40000baseCR4/Full", "40000baseSR4/Full"),
             "megabits": 40_000, "lanes": 8, "gt": 8.0},
    "ice": {"ids": ("0x8086", "0x159b"), "megabits": 25_000, "lanes": 8, "gt": 16.0,
            "modes": ("10000baseSR/Full", "25000baseCR/Full", "25000baseSR/Full")},
    "bnxt_en": {"ids": ("0x14e4", "0x16d7"), "modes": SFP28_MODES, "megabits": 25_000, "lanes": 8,
                "gt": 8.0},
    "e1000": {"ids": ("0x8086", "0x100e"), "modes": ("1000baseT/Full",), "megabits": 1000,
              "emulated": True},
    "igb": {"ids": ("0x8086", "0x1521"), "modes": COPPER_10G[:2], "megabits": 1000, "lanes": 4,
            "gt": 5.0},
    "atlantic": {"ids": ("0x1d6a", "0xd107"), "modes": COPPER_10G, "megabits": 10_000, "lanes": 4,
                 "gt": 8.0},
    "igc": {"ids": ("0x8086", "0x125c"), "modes": (*COPPER_10G[:2], "2500baseT/Full"),
            "megabits": 2500, "lanes": 1, "gt": 5.0},
    "mlx4_en": {"ids": ("0x15b3", "0x1003"), "modes": ("10000baseCR/Full", "10000baseSR/Full"),
                "megabits": 10_000, "lanes": 4, "gt": 8.0},
    "sfc": {"ids": ("0x1924", "0x0903"), "modes": ("1000baseT/Full", "10000baseT/Full"),
            "megabits": 10_000, "lanes": 8, "gt": 8.0},
    "tn40xx": {"ids": ("0x1fc9", "0x4022"), "modes": ("10000baseT/Full",), "megabits": 10_000,
               "lanes": 8, "gt": 5.0},
    "r8169": {"ids": ("0x10ec", "0x8125"), "modes": (*COPPER_10G[:2], "2500baseT/Full"),
              "megabits": 2500, "lanes": 1, "gt": 5.0},
    "r8125": {"ids": ("0x10ec", "0x8125"), "modes": (*COPPER_10G[:2], "2500baseT/Full"),
              "megabits": 2500, "lanes": 1, "gt": 5.0},
}  # fmt: skip
"""Card of each driver as it comes: ids, what its ports can do, its lanes."""


def one_card(
    driver: str,
    *,
    ids: Sequence[str] = (),
    ports: int = 1,
    megabits: int | None = None,
    modes: Sequence[str] | None = None,
    partner: Sequence[str] = (),
    autonegotiation: bool | None = None,
    partner_autonegotiation: str | None = None,
    medium: str = "FIBRE",
    fec: str = "RS",
    configured_fec: str = "Auto",
    down_reason: str = "",
    lanes: int | None = None,
    max_lanes: int | None = None,
    slot_lanes: int = 16,
    gt: float | None = None,
    max_gt: float | None = None,
    slot_gt: float = 16.0,
    cores: int = 16,
    nodes: int = 1,
    node: int = 0,
    governor: str = "performance",
    channels: int = 16,
    queues_on: Sequence[int] | None = None,
    rings: Sequence[int] = (1024, 1024),
    rings_max: Sequence[int] = (8192, 8192),
    mtu: int = 1500,
    pause: Sequence[str] = ("off", "off", "off"),
    module: str | None = None,
    counters: Mapping[str, int] | None = None,
    grown: Mapping[str, int] | None = None,
    features: Mapping[str, str] | None = None,
    bond_mode: str = "",
    hash_policy: str = "layer3+4",
    release: str = RELEASE,
    guest_of: str = "",
) -> Host:
    """A server with one card; what is not given is as it should be. Units as ethtool's and PCI's.

    `down` is `megabits` 0. `queues_on`: the CPUs that its interrupts go to, in turn.
    """
    maker = MAKERS[driver]
    speed_mbps = maker["megabits"] if megabits is None else megabits
    host = Host()
    as_guest: dict[str, Any] = {"guest_of": guest_of} if guest_of else {}
    kernel(host, release=release, distribution="Ubuntu 24.04.1 LTS", command_line=BOOT, **as_guest)
    clock: dict[str, Any] = (
        {"max_khz": None, "idle_driver": "none", "idle": (), "flags": f"{FLAGS} hypervisor"}
        if guest_of
        else {"max_khz": 3_200_000, "base_khz": 2_000_000, "governor": governor}
    )
    cpus(host, model="Intel(R) Xeon(R) Gold 6338 CPU @ 2.00GHz", nodes=nodes, cores=cores, **clock)
    memory(host, gib=128, nodes=nodes, huge_2m=(0,) * nodes, huge_1g=(0,) * nodes)
    busy_kernel(host)
    both = (ids[0], ids[1]) if ids else maker["ids"]
    own = range(node * cores, (node + 1) * cores)
    most_lanes, most_gt = max_lanes or maker.get("lanes", 16), max_gt or maker.get("gt", 16.0)
    if maker.get("emulated"):
        addresses = ["0000:00:03.0"]
        on_board(host, addresses[0], ids=both, driver=driver, local_cpus=f"{own[0]}-{own[-1]}")
    else:
        addresses = card(
            host, card="0000:3b:00", slot="0000:3a:02.0", ids=both, driver=driver,
            subsystem=both, functions=ports, numa_node=node if nodes > 1 else -1,
            local_cpus=f"{own[0]}-{own[-1]}", lanes=lanes or most_lanes, max_lanes=most_lanes,
            slot_lanes=slot_lanes, gt_per_s=gt or most_gt, max_gt_per_s=most_gt,
            slot_gt_per_s=slot_gt, payload_bytes=256,
        )  # fmt: skip
    is_mlx5 = driver == "mlx5_core"
    has_fec = speed_mbps >= 25_000
    is_copper = medium == "Twisted Pair"
    negotiates = (is_copper or is_mlx5) if autonegotiation is None else autonegotiation
    link = Ethernet(
        speed_mbps or None, modes or maker["modes"], partner=partner, port=medium,
        autonegotiation=negotiates, partner_autonegotiation=partner_autonegotiation,
        supported_fec="None RS BASER" if has_fec else "Not reported",
        fec=fec if has_fec else "None", configured_fec=configured_fec if has_fec else "",
        down_reason=down_reason,
    )  # fmt: skip
    for number, address in enumerate(addresses):
        name = f"eth{number}"
        more: dict[str, Any] = {} if is_mlx5 else {"private_flags": None, "firmware": "1.0"}
        Port(name, address, driver, link, mtu=mtu, channels=channels,
             channels_max=max(channels, 63), rings=(rings[0], rings[1]),
             rings_max=(rings_max[0], rings_max[1]), module=module,
             pause=(pause[0], pause[1], pause[2]),
             counters=counters or {}, grown=grown or {}, features=features or {},
             hash_fields=HASH_ALL, usecs=(50, 50), link={"master": "bond0"} if bond_mode else {},
             **more).place(host)  # fmt: skip
        names = (
            mlx5_names(address, channels)
            if is_mlx5
            else [f"{driver}-{name}-TxRx-{queue}" for queue in range(channels)]
        )
        interrupts(host, address, names, queues_on or own, first=100 + 70 * number)
    if bond_mode:
        names = [f"eth{number}" for number in range(ports)]
        bond(host, "bond0", names, mode=bond_mode, megabits=speed_mbps, mtu=mtu)
        (one,) = (link for link in host.data["ip -j -d link show"] if link["ifname"] == "bond0")
        one["linkinfo"]["info_data"]["xmit_hash_policy"] = hash_policy
        netdev(host, "bond0", "192.0.2.10/24")
        gateway(host, "bond0", "192.0.2.1")
    else:
        for number in range(ports):
            netdev(host, f"eth{number}", f"192.0.{2 + number}.10/24")
        gateway(host, "eth0", "192.0.2.1")
    if is_mlx5:
        firmware(host, addresses, settings={})
        mlx5_eswitch(host, addresses)
        module_of_kernel(host, release)
    else:
        no_eswitch(host, addresses)
    return host


@dataclass
class Recorded:
    """A host as a case of a rule recorded it, for platforms that nothing describes."""

    case: str
    """Below `tests/rules/cases`."""
    text: str = ""

    def __post_init__(self) -> None:
        """Read it."""
        self.text = (RULE_CASES / self.case / "capture.txt").read_text()

    def replace(self, old: str, new: str) -> None:
        """Change every place where a text stands."""
        if old not in self.text:
            raise LookupError(f"{old!r} does not stand in {self.case}")
        self.text = self.text.replace(old, new)

    def capture(self) -> str:
        """Give what the collector read."""
        return self.text


def gcp(*, cores: int = 4, threads: int = 2) -> Host:
    """An instance of Google Cloud with gVNIC, whose driver knows neither speed nor modes."""
    host = Host()
    kernel(host, release="6.1.0-25-cloud-amd64", distribution="Debian GNU/Linux 12 (bookworm)",
           command_line=BOOT, vendor="Google", product="Google Compute Engine",
           clocksource="kvm-clock", clocksources="kvm-clock tsc acpi_pm ",
           guest_of="google")  # fmt: skip
    cpus(host, model="Intel(R) Xeon(R) CPU @ 2.30GHz", cores=cores, threads=threads, max_khz=None,
         idle_driver="none", idle=(), flags=f"{FLAGS} hypervisor")  # fmt: skip
    memory(host, gib=30)
    busy_kernel(host)
    own = cores * threads
    address = "0000:00:04.0"
    on_board(host, address, ids=("0x1ae0", "0x0042"), driver="gve", local_cpus=f"0-{own - 1}",
             subsystem="0x1ae0")  # fmt: skip
    link = Ethernet(None, (), port="Other", supported_fec="Not reported", fec="None",
                    configured_fec="", autonegotiation=False,
                    partner_autonegotiation=None)  # fmt: skip
    Port("ens4", address, "gve", link, mtu=1460, rings=(1024, 1024), rings_max=(1024, 1024),
         channels=own, channels_max=16, usecs=None, pause=None, private_flags=None, module=None,
         firmware="", xps={n: f"{1 << n:02x}" for n in range(own)},
         counters={"rx_packets": 900_000, "tx_packets": 800_000, "rx_dropped": 0, "tx_dropped": 0,
                   "tx_timeouts": 0}, hash_fields=None).place(host)  # fmt: skip
    host.replace_answer("ethtool ens4", "Link detected: no", "Link detected: yes")
    host.put("/sys/class/net/ens4", carrier=1)
    names = [
        *(f"gve-ntfy-blk{n}@pci:{address}" for n in range(2 * own)),
        f"gve-mgmnt@pci:{address}",
    ]
    interrupts(host, address, names, range(own), first=27, allowed=f"0-{own - 1}")
    netdev(host, "ens4", "10.128.0.2/32", operstate="UP",
           flags=["BROADCAST", "MULTICAST", "UP", "LOWER_UP"])  # fmt: skip
    gateway(host, "ens4", "10.128.0.1")
    no_eswitch(host, [address])
    return host


def ovs_dpdk(
    *,
    ports: Sequence[str] = (),
    polling: str = "",
    share: float = 0.02,
    mtus: Mapping[str, int] | None = None,
) -> Host:
    """Open vSwitch with a userspace datapath over one DPDK port, and kernel ports beside it.

    `ports`: netdevs without a device in its bridge. `polling`: what `pmd-rxq-show` prints.
    `share`: of one CPU, what the daemon's own thread takes. `mtus`: of `dpdk0` and of ports of
    guests (vhost-user), each of which is made.
    """
    host = healthy.dpdk_vfio()
    for name in ports:
        netdev(host, name, mtu=1500, operstate="UP", link_type="ether",
               flags=["BROADCAST", "MULTICAST", "UP", "LOWER_UP"],
               linkinfo={"info_kind": "tun", "info_data": {"type": "tap"}})  # fmt: skip
    of_dpdk = {"dpdk0": 1500, **(mtus or {})}
    card_port = {"dpdk-devargs": "0000:01:00.0", "n_rxq": "4"}
    members = [Interface("dpdk0", "dpdk", card_port, of_dpdk.pop("dpdk0")),
               *(Interface(name, "dpdkvhostuserclient", {"vhost-server-path": f"/run/{name}"}, mtu)
                 for name, mtu in of_dpdk.items()),
               *(Interface(name) for name in ports)]  # fmt: skip
    OpenVSwitch({"br-int": members}, {"dpdk-init": "true", "pmd-cpu-mask": "0x1e0"}, "netdev",
                dpdk_initialized=True, version="2.17.3",
                dpdk_version="DPDK 21.11.2").place(host)  # fmt: skip
    host.answer(POLLING, polling)
    thread(host, 1077, "ovs-vswitchd", cpu=1, allowed="0-3", share=share)
    for worker in range(5, 9):
        thread(host, 1077, f"pmd-c{worker:02}/id:{worker}", tid=1080 + worker,
               process="ovs-vswitchd", cpu=worker, share=1.0)  # fmt: skip
    return host


def rdma(
    host: Host,
    netdev: str,
    device: str = "mlx5_0",
    *,
    layer: str = "Ethernet",
    state: str = "4: ACTIVE",
    rate: str = "100 Gb/sec (4X EDR)",
    counted: Mapping[str, Sequence[int]] | None = None,
    lossless: str = "0   0   0   1   0   0   0   0",
    tos: int = 106,
    active_mtu: int = 4096,
) -> None:
    """Give a port its RDMA device. `counted`: total of a counter at the first and second reading.

    Without more it is as it should be: RoCE in priority 3, which is lossless.
    """
    function = host.links[f"/sys/class/net/{netdev}/device"]
    folder = f"/sys/class/infiniband/{device}"
    port = f"{folder}/ports/1"
    host.links[f"{folder}/device"] = function
    host.put(f"{function}/infiniband/{device}", node_type="1: CA")
    host.put(folder, node_type="1: CA", sys_image_guid="0202:5eff:fe00:5300")
    host.put(port, state=state, link_layer=layer, rate=rate, phys_state="5: LinkUp")
    zero = dict.fromkeys(RDMA_COUNTERS, (0, 0))
    for name, (before, after) in {**zero, **(counted or {})}.items():
        place = "counters" if name in PORT_COUNTERS else "hw_counters"
        host.files[f"{port}/{place}/{name}"] = str(before)
        host.later[f"{port}/{place}/{name}"] = str(after)
    exponents = {256: 1, 512: 2, 1024: 3, 2048: 4, 4096: 5}
    others = host.answers["ibv_devinfo"].output if "ibv_devinfo" in host.answers else ""
    host.answer(
        "ibv_devinfo",
        f"{others}hca_id:\t{device}\n\t\tport:\t1\n\t\t\tmax_mtu:\t\t4096 (5)\n"
        f"\t\t\tactive_mtu:\t\t{active_mtu} ({exponents[active_mtu]})\n",
    )
    if layer != "Ethernet":
        return
    host.put(f"{port}/gids", **{"0": "0000:0000:0000:0000:0000:ffff:c000:020a"})
    host.put(f"{port}/gid_attrs/types", **{"0": "RoCE v2"})
    host.put(f"{folder}/tc/1", traffic_class=f"Global tclass={tos}")
    for point in ("roce_np", "roce_rp"):
        host.put(f"/sys/class/net/{netdev}/ecn/{point}/enable", **dict.fromkeys("01234567", 1))
    host.answer(
        f"mlnx_qos -i {netdev}",
        "DCBX mode: OS controlled\nPriority trust state: dscp\ndscp2prio mapping:\n"
        + "".join(
            f"prio:{one} dscp:{','.join(f'{8 * one + n:02}' for n in range(7, -1, -1))},\n"
            for one in range(8)
        )
        + "PFC configuration:\n\tpriority    0   1   2   3   4   5   6   7\n"
        f"\tenabled     {lossless}\n",
    )


RDMA_COUNTERS = (
    "out_of_sequence", "rx_icrc_encapsulated", "packet_seq_err", "local_ack_timeout_err",
    "implied_nak_seq_err", "roce_adp_retrans", "rnr_nak_retry_err", "out_of_buffer",
    "np_ecn_marked_roce_packets", "np_cnp_sent", "rp_cnp_handled", "rp_cnp_ignored",
)  # fmt: skip
PORT_COUNTERS = (
    "port_rcv_packets", "port_xmit_packets", "symbol_error", "link_error_recovery", "link_downed",
    "port_rcv_errors", "port_xmit_wait", "port_xmit_discards",
)  # fmt: skip
"""Names of core/sysfs.c and hw/mlx5/counters.c in drivers/infiniband of the kernel."""


def one_port_of_two_functions() -> Host:
    """One port of 200 Gb/s that two functions share, each by four lanes of PCIe 5 (DGX Spark)."""
    host = one_card(
        "mlx5_core", ids=("0x15b3", "0x1021"), megabits=200_000, lanes=4, max_lanes=16,
        slot_lanes=4, gt=32.0, max_gt=32.0, slot_gt=32.0, cores=20,
        modes=(*CONNECTX5_MODES, "200000baseCR4/Full"),
    )  # fmt: skip
    other = card(
        host, card="0000:5b:00", slot="0000:5a:02.0", ids=("0x15b3", "0x1021"), driver="mlx5_core",
        functions=1, local_cpus="0-19", lanes=4, max_lanes=16, slot_lanes=4, gt_per_s=32.0,
        max_gt_per_s=32.0, slot_gt_per_s=32.0, payload_bytes=256,
    )  # fmt: skip
    link = Ethernet(200_000, (*CONNECTX5_MODES, "200000baseCR4/Full"))
    for name, address in (("eth0", "0000:3b:00.0"), ("eth1", other[0])):
        Port(name, address, ethernet=link, phys_port_name="p0", switch_id="").place(host)
        interrupts(host, address, mlx5_names(address, 16), range(20), first=100 if name == "eth0"
                   else 200)  # fmt: skip
    firmware(host, other, settings={})
    mlx5_eswitch(host, other)
    return host
