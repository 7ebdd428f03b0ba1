"""Network ports of a described host: a netdev with what ethtool, ip and sysfs say of it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from described.host import Host
from described.pcie import DEVICES
from wirespeed.facts.cpu_list import cpu_list_text

IP_LINK, IP_ADDR = "ip -j -d link show", "ip -j addr show"
IP_ROUTE = "ip -j route show table all"
RULES = [{"priority": 0, "src": "all", "table": "local"},
         {"priority": 32766, "src": "all", "table": "main"}]  # fmt: skip
NO_SUPPORT = "netlink error: Operation not supported\n"
CONNECTX5_MODES = (
    "1000baseKX/Full", "10000baseKR/Full", "40000baseKR4/Full", "40000baseCR4/Full",
    "40000baseSR4/Full", "40000baseLR4/Full", "25000baseCR/Full", "25000baseKR/Full",
    "25000baseSR/Full", "50000baseCR2/Full", "50000baseKR2/Full", "100000baseKR4/Full",
    "100000baseSR4/Full", "100000baseCR4/Full", "100000baseLR4_ER4/Full",
)  # fmt: skip
SFP28_MODES = (
    "1000baseKX/Full", "10000baseKR/Full", "25000baseCR/Full", "25000baseKR/Full",
    "25000baseSR/Full",
)  # fmt: skip
FEATURES = """rx-checksumming: on
tx-checksumming: on
	tx-checksum-ipv4: off [fixed]
	tx-checksum-ip-generic: on
	tx-checksum-ipv6: off [fixed]
scatter-gather: on
	tx-scatter-gather: on
	tx-scatter-gather-fraglist: off [fixed]
tcp-segmentation-offload: on
	tx-tcp-segmentation: on
	tx-tcp-ecn-segmentation: off [fixed]
	tx-tcp-mangleid-segmentation: off
	tx-tcp6-segmentation: on
generic-segmentation-offload: on
generic-receive-offload: on
large-receive-offload: off
rx-vlan-offload: on
tx-vlan-offload: on
ntuple-filters: off
receive-hashing: on
highdma: on [fixed]
tx-udp_tnl-segmentation: on
tx-udp_tnl-csum-segmentation: on
tx-gso-partial: on
tx-nocache-copy: off
rx-fcs: off
rx-all: off
hw-tc-offload: off
rx-udp_tunnel-port-offload: on
rx-gro-hw: off [fixed]
"""
PRIVATE_FLAGS_MLX5 = """rx_cqe_moder       : on
tx_cqe_moder       : off
rx_cqe_compress    : off
rx_striding_rq     : on
rx_no_csum_complete: off
xdp_tx_mpwqe       : on
skb_tx_mpwqe       : on
tx_port_ts         : off
"""
MLX5_COUNTERS = (
    "rx_out_of_buffer", "rx_buff_alloc_err", "rx_xsk_buff_alloc_err", "tx_queue_dropped",
    "rx_steer_missed_packets", "rx_crc_errors_phy", "rx_pause_ctrl_phy", "tx_pause_ctrl_phy",
    "rx_discards_phy", "tx_discards_phy", "tx_errors_phy", "rx_pcs_symbol_err_phy",
    "rx_corrected_bits_phy", "outbound_pci_stalled_rd", "outbound_pci_stalled_wr",
    "outbound_pci_stalled_rd_events", "outbound_pci_stalled_wr_events",
    "outbound_pci_buffer_overflow", "rx_global_pause", "rx_global_pause_duration",
    "tx_global_pause", "tx_global_pause_duration", "rx_prio0_packets", "tx_prio0_packets",
)  # fmt: skip
HASH_HEADER = "UDP over IPV4 flows use these fields for computing Hash flow key:\n"
HASH_ADDRESSES = ("IP SA", "IP DA")
HASH_ALL = (
    *HASH_ADDRESSES, "L4 bytes 0 & 1 [TCP/UDP src port]", "L4 bytes 2 & 3 [TCP/UDP dst port]",
)  # fmt: skip
NO_HASH_FIELDS = "Cannot get RX network flow hashing options: Operation not supported\n"
DAC_QSFP28 = """	Identifier                                : 0x11 (QSFP28)
	Extended identifier                       : 0x00
	Connector                                 : 0x23 (No separable connector)
	Transceiver type                          : 100G Ethernet: 100G Base-CR4 or 25G Base-CR CA-L
	Length (Passive copper or Active cable)   : 1m
	Vendor name                               : Mellanox
	Vendor PN                                 : MCP1600-C001
	Module temperature                        : 0.00 degrees C / 32.00 degrees F
"""
OPTIC_SFP = """	Identifier                                : 0x03 (SFP)
	Connector                                 : 0x07 (LC)
	Transceiver type                          : 10G Ethernet: 10G Base-SR
	Length (Copper)                           : 0m
	Vendor name                               : OEM
	Vendor PN                                 : SFP-10G-SR
	Module temperature                        : 41.20 degrees C / 106.16 degrees F
	Module temperature high alarm threshold   : 80.00 degrees C / 176.00 degrees F
	Module temperature high warning threshold : 75.00 degrees C / 167.00 degrees F
"""


@dataclass
class Ethernet:
    """What `ethtool NETDEV` says of the link."""

    megabits: int | None = 100_000
    """None: the link is down."""
    supported: Sequence[str] = CONNECTX5_MODES
    advertised: Sequence[str] | None = None
    """None: all that are supported."""
    partner: Sequence[str] = ()
    autonegotiation: bool = True
    partner_autonegotiation: str | None = "Yes"
    port: str = "Direct Attach Copper"
    supported_fec: str = "None	 RS	 BASER"
    fec: str = "RS"
    configured_fec: str = "Auto"
    down_reason: str = ""

    def settings(self, netdev: str) -> str:
        """Print it as ethtool 6 does."""
        modes = "\n\t                        ".join(self.supported) or "Not reported"
        own = self.supported if self.advertised is None else self.advertised
        advertised = "\n\t                        ".join(own) or "Not reported"
        partner = "\n\t                                     ".join(self.partner) or "Not reported"
        lines = [
            f"Settings for {netdev}:",
            f"\tSupported ports: [ {'FIBRE' if self.port != 'Twisted Pair' else 'TP'} ]",
            f"\tSupported link modes:   {modes}",
            "\tSupported pause frame use: Symmetric",
            "\tSupports auto-negotiation: Yes",
            f"\tSupported FEC modes: {self.supported_fec}",
            f"\tAdvertised link modes:  {advertised}",
            "\tAdvertised pause frame use: Symmetric",
            f"\tAdvertised auto-negotiation: {'Yes' if self.autonegotiation else 'No'}",
            f"\tAdvertised FEC modes: {self.fec if self.fec != 'None' else 'Not reported'}",
        ]
        if self.partner_autonegotiation is not None and self.megabits:
            lines += [
                f"\tLink partner advertised link modes:  {partner}",
                "\tLink partner advertised pause frame use: No",
                f"\tLink partner advertised auto-negotiation: {self.partner_autonegotiation}",
                "\tLink partner advertised FEC modes: Not reported",
            ]
        lines += [
            f"\tSpeed: {f'{self.megabits}Mb/s' if self.megabits else 'Unknown!'}",
            f"\tDuplex: {'Full' if self.megabits else 'Unknown! (255)'}",
            f"\tAuto-negotiation: {'on' if self.autonegotiation else 'off'}",
            f"\tPort: {self.port}",
            "\tPHYAD: 0",
            "\tTransceiver: internal",
            "\tSupports Wake-on: d",
            "\tWake-on: d",
            f"\tLink detected: {'yes' if self.megabits else 'no'}"
            + (f" ({self.down_reason})" if self.down_reason else ""),
        ]
        return "\n".join(lines) + "\n"


@dataclass
class Port:
    """A port, and what is set on it. `place` writes it down, and writes it again when changed."""

    netdev: str
    pci_address: str | None
    driver: str = "mlx5_core"
    ethernet: Ethernet | None = field(default_factory=Ethernet)
    """None: the driver knows no link."""
    mtu: int = 1500
    rings: tuple[int, int] | None = (1024, 1024)
    rings_max: tuple[int, int] = (8192, 8192)
    channels: int | None = 16
    channels_max: int = 63
    channel_kind: str = "Combined"
    adaptive: tuple[str, str] = ("on", "on")
    usecs: tuple[int, int] | None = (8, 8)
    pause: tuple[str, str, str] | None = ("off", "on", "on")
    """Autonegotiate, RX, TX; mlx5's come so."""
    features: Mapping[str, str] = field(default_factory=dict)
    """Those that are not as in FEATURES."""
    private_flags: str | None = PRIVATE_FLAGS_MLX5
    module: str | None = DAC_QSFP28
    firmware: str = "16.35.4506 (MT_0000000008)"
    version: str = "6.12.38+deb13-amd64"
    rss_rings: int | None = None
    """None: as many as channels."""
    hash_fields: tuple[str, ...] | None = HASH_ALL
    """Of UDP over IPv4. None: the driver does not tell."""
    xps: Mapping[int, str] | None = None
    """Transmit queue to mask. None: each queue has a CPU of its own, as mlx5 sets it."""
    rps: str = "0"
    counters: Mapping[str, int] = field(default_factory=dict)
    """`ethtool -S`: since boot. What is left out of mlx5's is 0."""
    grown: Mapping[str, int] = field(default_factory=dict)
    """Between the readings."""
    phys_port_name: str = ""
    switch_id: str = ""
    link: dict[str, Any] = field(default_factory=dict)
    """More of `ip -d link`: master, linkinfo, vfinfo_list."""
    bus_path: str = ""
    """Of a device that is not a PCI function."""

    def place(self, host: Host) -> None:
        """Write everything into the description."""
        path = f"/sys/class/net/{self.netdev}"
        device = self.bus_path or host.links[f"{DEVICES}/{self.pci_address}"]
        host.links[f"{path}/device"] = device
        if self.bus_path:
            host.links[f"{device}/driver"] = f"/sys/bus/drivers/{self.driver}"
            host.put(f"/sys/bus/drivers/{self.driver}", bind="")
            host.put(device, uevent="")
        up = self.ethernet is None or self.ethernet.megabits is not None
        megabits = (self.ethernet.megabits if self.ethernet else None) or -1
        host.put(path, carrier=int(up), flags="0x1003", speed=megabits,
                 duplex="full" if megabits > 0 else "unknown")  # fmt: skip
        host.put(path, threaded=0)
        if self.phys_port_name:
            host.put(path, phys_port_name=self.phys_port_name)
        if self.switch_id:
            host.put(path, phys_switch_id=self.switch_id)
        self._statistics(host, path)
        self._ethtool(host)
        self._queues(host, path)
        self._link(host, up)

    def _statistics(self, host: Host, path: str) -> None:
        passed = {"rx_packets": 90_000_000, "tx_packets": 80_000_000}
        grown = {"rx_packets": 20_000, "tx_packets": 18_000, **self.grown}
        none = {"tx_dropped": 0, "rx_missed_errors": 0, "rx_crc_errors": 0}
        for name, count in {**passed, **none}.items():
            file = f"{path}/statistics/{name}"
            host.files[file] = str(count)
            host.later[file] = str(count + grown.get(name, 0))
        counters = dict(self.counters)
        if self.driver == "mlx5_core":
            counters = {
                "rx_packets": passed["rx_packets"], "tx_packets": passed["tx_packets"],
                "rx_packets_phy": 91_000_000, "tx_packets_phy": 81_000_000,
                **dict.fromkeys(MLX5_COUNTERS, 0), **counters,
            }  # fmt: skip
            grown = {"rx_packets_phy": 20_000, "tx_packets_phy": 18_000, **grown}
        line = f"ethtool -S {self.netdev}"
        if not counters:
            host.answer(line, errors="no stats available\n", returncode=94)
            return
        host.answer(line, _counters(counters))
        host.answers_later[line] = type(host.answers[line])(
            _counters({name: n + grown.get(name, 0) for name, n in counters.items()})
        )

    def _ethtool(self, host: Host) -> None:
        def say(option: str, text: str | None) -> None:
            errors = "" if text is not None else NO_SUPPORT
            host.answer(f"ethtool {option}{self.netdev}", text or "", errors, int(text is None))

        name = self.netdev
        link = self.ethernet
        nothing = f"Settings for {name}:\n\tLink detected: yes\n"
        say("", link.settings(name) if link else nothing)
        say("-a ", _pause(name, self.pause))
        say("--show-fec ", (link and link.configured_fec and (
            f"FEC parameters for {name}:\nSupported/Configured FEC encodings: "
            f"{link.configured_fec}\nActive FEC encoding: {link.fec}\n"
        )) or None)  # fmt: skip
        say("-i ", (
            f"driver: {self.driver}\nversion: {self.version}\n"
            f"firmware-version: {self.firmware}\nexpansion-rom-version: \n"
            f"bus-info: {self.pci_address or ''}\nsupports-statistics: yes\n"
            f"supports-priv-flags: {'yes' if self.private_flags else 'no'}\n"
        ))  # fmt: skip
        say("-m ", self.module)
        say("-k ", self._features())
        say("--show-priv-flags ", self.private_flags and (
            f"Private flags for {name}:\n{self.private_flags}"
        ))  # fmt: skip
        say("-g ", self.rings and _rings(name, self.rings_max, self.rings))
        say("-l ", (self.channels and _channels(
            name, self.channel_kind, self.channels_max, self.channels
        )) or None)  # fmt: skip
        say("-c ", self.usecs and _coalescing(name, self.adaptive, self.usecs))
        fields = self.hash_fields
        host.answer(
            f"ethtool -n {name} rx-flow-hash udp4",
            "" if fields is None else HASH_HEADER + "\n".join(fields) + "\n\n",
            errors="" if fields is not None else NO_HASH_FIELDS,
            returncode=int(fields is None),
        )
        say("-x ", _rss(name, self.rss_rings or self.channels or 1))

    def _features(self) -> str:
        text = f"Features for {self.netdev}:\n{FEATURES}"
        for name, state in self.features.items():
            lines = text.splitlines()
            at = next(i for i, line in enumerate(lines) if line.strip().startswith(f"{name}: "))
            lines[at] = f"{lines[at].partition(':')[0]}: {state}"
            text = "\n".join(lines) + "\n"
        return text

    def _queues(self, host: Host, path: str) -> None:
        for file in [f for f in host.files if f.startswith(f"{path}/queues/")]:
            del host.files[file]
        for queue in range(self.channels or 1):
            mask = f"{1 << queue:08x}" if self.xps is None else self.xps.get(queue, "00000000")
            host.put(f"{path}/queues/tx-{queue}", xps_cpus=mask)
            host.put(f"{path}/queues/rx-{queue}", rps_cpus=self.rps, rps_flow_cnt=0)

    def _link(self, host: Host, up: bool) -> None:
        link = {
            "flags": ["BROADCAST", "MULTICAST", "UP", *(["LOWER_UP"] if up else ["NO-CARRIER"])],
            "mtu": self.mtu,
            "qdisc": "mq",
            "operstate": "UP" if up else "DOWN",
            "link_type": "ether",
            "min_mtu": 68,
            "max_mtu": 9978,
            **({"parentbus": "pci", "parentdev": self.pci_address} if self.pci_address else {}),
            **({"phys_port_name": self.phys_port_name} if self.phys_port_name else {}),
            **({"phys_switch_id": self.switch_id} if self.switch_id else {}),
            **self.link,
        }
        netdev(host, self.netdev, **link)


def netdev(host: Host, name: str, *addresses: str, **link: Any) -> None:
    """A netdev in the lists of `ip`; a second time, it is changed."""
    links = host.data.setdefault(IP_LINK, [{
        "ifindex": 1, "ifname": "lo", "flags": ["LOOPBACK", "UP", "LOWER_UP"], "mtu": 65536,
        "operstate": "UNKNOWN", "link_type": "loopback", "address": "00:00:00:00:00:00",
    }])  # fmt: skip
    known = host.data.setdefault(IP_ADDR, [{"ifindex": 1, "ifname": "lo", "addr_info": [
        {"family": "inet", "local": "127.0.0.1", "prefixlen": 8, "scope": "host"}]}])  # fmt: skip
    host.data.setdefault(IP_ROUTE, [])
    host.data.setdefault("ip -j rule show", RULES)
    host.data.setdefault("ip -6 -j rule show", RULES)
    own = next((one for one in links if one["ifname"] == name), None)
    if own is None:
        own = {"ifindex": len(links) + 1, "ifname": name,
               "address": f"02:00:5e:00:53:{len(links):02x}"}  # fmt: skip
        links.append(own)
        known.append({"ifindex": own["ifindex"], "ifname": name, "addr_info": []})
    own.update(link)
    for address in addresses:
        local, _, length = address.partition("/")
        entry = next(one for one in known if one["ifname"] == name)
        entry["addr_info"].append(
            {"family": "inet", "local": local, "prefixlen": int(length), "scope": "global"}
        )
        network = f"{local.rpartition('.')[0]}.0/{length}"
        host.data[IP_ROUTE].append(
            {"dst": network, "dev": name, "protocol": "kernel", "scope": "link",
             "prefsrc": local, "flags": []}
        )  # fmt: skip


def gateway(host: Host, name: str, address: str) -> None:
    """A default route."""
    host.data[IP_ROUTE].append({"dst": "default", "gateway": address, "dev": name, "flags": []})


def interrupts(
    host: Host,
    address: str,
    names: Sequence[str],
    cpus: Sequence[int],
    *,
    first: int = 64,
    allowed: str | None = None,
    grown: int = 400,
    count: int = 2_000_000,
) -> None:
    """Interrupts of a function, one for each name, landing on `cpus` in turn."""
    folder = f"{host.links[f'{DEVICES}/{address}']}/msi_irqs"
    last = str(host.files["/sys/devices/system/cpu/online"]).rpartition("-")[2]
    total = int(last) + 1
    header = "           " + " ".join(f"{f'CPU{cpu}':>10}" for cpu in range(total))
    for readings, more in ((host.files, 0), (host.later, grown)):
        lines = str(readings.get("/proc/interrupts", header)).splitlines()
        mine = {f"{number:>4}:" for number in range(first, first + len(names))}
        lines = [line for line in lines if line[:5] not in mine]
        for index, name in enumerate(names):
            taken = [0] * total
            taken[cpus[index % len(cpus)]] = count + more
            counts = " ".join(f"{n:>10}" for n in taken)
            kind = f"PCI-MSIX-{address}    {index}-edge"
            lines.append(f"{first + index:>4}: {counts} {kind}      {name}")
        readings["/proc/interrupts"] = "\n".join(lines)
    for index in range(len(names)):
        cpu = cpus[index % len(cpus)]
        host.files[f"{folder}/{first + index}"] = "msix"
        host.put(
            f"/proc/irq/{first + index}",
            smp_affinity_list=allowed if allowed is not None else cpu_list_text([cpu]),
            effective_affinity_list=cpu,
        )


def mlx5_names(address: str, channels: int) -> list[str]:
    """Interrupts as mlx5 names them: events first, then completions."""
    events = f"mlx5_async0@pci:{address}"
    return [events, *(f"mlx5_comp{n}@pci:{address}" for n in range(channels))]


def _counters(counters: Mapping[str, int]) -> str:
    return "NIC statistics:\n" + "".join(f"     {name}: {n}\n" for name, n in counters.items())


def _pause(name: str, pause: tuple[str, str, str] | None) -> str | None:
    if pause is None:
        return None
    return f"Pause parameters for {name}:\nAutonegotiate:\t{pause[0]}\nRX:\t\t{pause[1]}\nTX:\t\t{pause[2]}\n"  # noqa: E501


def _rings(name: str, most: tuple[int, int], now: tuple[int, int]) -> str:
    def block(rx_tx: tuple[int, int]) -> str:
        return f"RX:\t\t{rx_tx[0]}\nRX Mini:\tn/a\nRX Jumbo:\tn/a\nTX:\t\t{rx_tx[1]}\n"

    return (
        f"Ring parameters for {name}:\nPre-set maximums:\n{block(most)}"
        f"Current hardware settings:\n{block(now)}RX Buf Len:\t\tn/a\nTX Push:\toff\n"
    )


def _channels(name: str, kind: str, most: int, now: int) -> str:
    def block(count: int) -> str:
        counts = {"RX": "n/a", "TX": "n/a", "Other": "n/a", "Combined": "n/a"}
        for part in kind.split("+"):
            counts[part] = str(count)
        return "".join(f"{part}:\t\t{value}\n" for part, value in counts.items())

    return (
        f"Channel parameters for {name}:\nPre-set maximums:\n{block(most)}"
        f"Current hardware settings:\n{block(now)}"
    )


def _coalescing(name: str, adaptive: tuple[str, str], usecs: tuple[int, int]) -> str:
    return (
        f"Coalesce parameters for {name}:\nAdaptive RX: {adaptive[0]}  TX: {adaptive[1]}\n"
        f"stats-block-usecs: n/a\n\nrx-usecs: {usecs[0]}\nrx-frames: 128\nrx-usecs-irq: n/a\n\n"
        f"tx-usecs: {usecs[1]}\ntx-frames: 128\n\nCQE mode RX: on  TX: off\n"
    )


def _rss(name: str, rings: int) -> str:
    rows = ""
    for start in range(0, 128, 8):
        cells = "".join(f"{(start + n) % rings:>6}" for n in range(8))
        rows += f"{start:>5}: {cells}\n"
    return (
        f"RX flow hash indirection table for {name} with {rings} RX ring(s):\n{rows}"
        "RSS hash key:\n" + ":".join(["6d"] * 40) + "\nRSS hash function:\n"
        "    toeplitz: on\n    xor: off\n    crc32: off\n"
    )
