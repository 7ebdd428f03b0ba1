"""RDMA devices: which card each is of, its link, MTU, and what it counted by the kernel's names."""

import re
from dataclasses import dataclass
from itertools import islice
from typing import ClassVar, Self

from wirespeed.model.capture import Capture, Files
from wirespeed.model.fact import Fact
from wirespeed.model.observed import Absent, Known, Observed, Unreadable, known
from wirespeed.model.port import Port

SYSFS = "/sys/class/infiniband"
ATTRIBUTES = ("state", "phys_state", "link_layer", "rate")
COUNTERS = (
    # The receiver's side, and the sender's.
    "out_of_sequence", "rx_icrc_encapsulated", "packet_seq_err", "local_ack_timeout_err",
    "implied_nak_seq_err", "roce_adp_retrans", "rnr_nak_retry_err", "out_of_buffer",
    "np_ecn_marked_roce_packets", "np_cnp_sent", "rp_cnp_handled", "rp_cnp_ignored",
    # Of the port.
    "port_rcv_packets", "port_xmit_packets", "port_rcv_errors", "symbol_error",
    "link_error_recovery", "link_downed", "local_link_integrity_errors",
    # The same of bnxt_re: receiver, sender, buffers, congestion.
    "oos_drop_count", "seq_err_naks_rcvd", "to_retransmits", "rx_out_of_buffer", "rnr_naks_rcvd",
    "rx_ecn_marked_pkts", "tx_cnp_pkts", "rx_cnp_pkts",
    # Of irdma.
    "RxECNMrkd", "cnpSent", "cnpHandled", "cnpIgnored",
)  # fmt: skip
"""hw/mlx5/counters.c, hw/bnxt_re/hw_counters.c and hw/irdma/verbs.c of drivers/infiniband, and
core/sysfs.c for those of the port."""
OF_THE_PORT = frozenset(
    COUNTERS[COUNTERS.index("port_rcv_packets") : COUNTERS.index("oos_drop_count")]
)
"""Those are in `counters`, all others in `hw_counters`."""
GID = re.compile(r"([\w.-]{1,64}) (\d{1,3}) \d{1,3} (ip|link-local) ((?:IB/)?RoCE v[12])")
GIDS = 16
"""So many of a port are read: those of its own netdev come first, its VLANs' after."""
TOS = re.compile(r"(?:Global tclass=)?(\d{1,3})")
"""MLNX_OFED's tc/N/traffic_class, and default_roce_tos of the ABI document configfs-rdma_cm."""
MODES = {"IB/RoCE v1": "RoCE v1", "RoCE v1": "RoCE v1", "RoCE v2": "RoCE v2"}
"""Kernel's words (core/sysfs.c, cache.c) to the one that has no InfiniBand in it."""
DEVICE = re.compile(r"([\w.-]{1,64}) (\d{1,3}) ([0-9a-f]{4,8}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-9a-f])")
MAX_PORTS = 1024
"""Of the kernel 8192 (RDMA_MAX_PORTS); a host has one for each function and VF that it drives."""
VERBS = "ibv_devinfo"
HCA = re.compile(r"hca_id:\s+([\w.-]{1,64})")
PORT = re.compile(r"port:\s+(\d{1,3})")
MTU = re.compile(r"(max|active)_mtu:\s+(256|512|1024|2048|4096)\b.*")
"""libibverbs/examples/devinfo.c of rdma-core: `active_mtu:		1024 (3)`."""
MAX_DIGITS = 20
MOST_TOS = 255


@dataclass(frozen=True, slots=True)
class RdmaPort:
    """One port of one RDMA device."""

    device: str
    number: int
    system_image: Observed[str]
    """GUID of the card: the same for all its functions (include/uapi/rdma/rdma_netlink.h)."""
    state: Observed[str]
    """`4: ACTIVE`, `1: DOWN`."""
    phys_state: Observed[str]
    """`5: LinkUp`, `3: Disabled`, `2: Polling`: what the ends of the cable have agreed upon."""
    link_layer: Observed[str]
    """`Ethernet` (RoCE, and iWARP too), `InfiniBand`."""
    link_rate: Observed[str]
    """`100 Gb/sec (4X EDR)`; of RoCE the kernel's nearest word."""
    node_type: Observed[str]
    """`1: CA` (RoCE and InfiniBand), `4: RNIC` (iWARP: RDMA over TCP); Absent: not read."""
    totals: dict[str, Observed[int]]
    """Since the driver was loaded; Absent: the driver has no such counter."""
    rises: dict[str, Observed[int]]
    """Between the two readings of one capture."""
    gids: Observed[frozenset[tuple[str, str]]]
    """What a connection may go by: `RoCE v1` or `RoCE v2`, with `ip` (an address of the netdev) or
    `link-local`. Absent: InfiniBand."""
    tos: Observed[int]
    """Type of service that all RoCE of the port is given. Absent: each program chooses."""
    active_mtu: Observed[int]
    """Payload of one packet in bytes, as the driver sets it after the netdev's MTU (RoCE) or the
    subnet manager's (InfiniBand). Unreadable without ibv_devinfo: sysfs does not have it."""
    max_mtu: Observed[int]

    @property
    def is_active_roce(self) -> bool:
        """Whether it is an active port of RoCE.

        The kernel calls iWARP's one GID `IB/RoCE v1` too (drivers/infiniband/core/cache.c,
        config_non_roce_gid_cache).
        """
        layer, state, node = self.link_layer, self.state, self.node_type
        is_ethernet = isinstance(layer, Known) and layer.value == "Ethernet"
        is_iwarp = isinstance(node, Known) and "RNIC" in node.value
        is_active = isinstance(state, Known) and "ACTIVE" in state.value
        return is_ethernet and is_active and not is_iwarp

    @property
    def is_infiniband(self) -> bool:
        """Whether it is a port of InfiniBand, and not of Ethernet."""
        return isinstance(self.link_layer, Known) and self.link_layer.value == "InfiniBand"

    @property
    def waits_for_subnet_manager(self) -> bool:
        """Whether the cable's ends have a link, and nothing has given the port its addresses."""
        state, phys = self.state, self.phys_state
        is_linked = isinstance(phys, Known) and phys.value.endswith("LinkUp")
        return (
            self.is_infiniband and is_linked and isinstance(state, Known) and "INIT" in state.value
        )

    def source(self, counter: str) -> str:
        """Give the command that reads a counter again."""
        if isinstance(total := self.totals[counter], Known):
            return total.source
        place = "counters" if counter in OF_THE_PORT else "hw_counters"
        return f"cat {SYSFS}/{self.device}/ports/{self.number}/{place}/{counter}"


@dataclass(frozen=True, slots=True)
class Rdma(Fact):
    """RDMA ports by the PCI address of their function."""

    by_address: Observed[dict[str, tuple[RdmaPort, ...]]]

    script: ClassVar[str] = """\
rdma_devices() (
	set +f
	for path in /sys/class/infiniband/*/ports/*; do
		[ -e "$path/state" ] || continue
		device=${path%/ports/*}
		real_path "$device/device" || continue
		printf '%s %s %s\\n' "${device##*/}" "${path##*/}" "${real##*/}"
	done
)
show rdma - rdma_devices
rdma_ports=$(rdma_devices 2>/dev/null | while read -r device port _; do
	printf '%s\\n' "/sys/class/infiniband/$device/ports/$port"
done)
of_the_port='PORT_NAMES'
rdma_files() {
	for path in $rdma_ports; do
		printf '%s\\0' "${path%/ports/*}/sys_image_guid" "${path%/ports/*}/node_type"
		for name in ATTRIBUTES; do
			printf '%s\\0' "$path/$name"
		done
		for name in COUNTERS; do
			case " $of_the_port " in
			*" $name "*) printf '%s\\0' "$path/counters/$name" ;;
			*) printf '%s\\0' "$path/hw_counters/$name" ;;
			esac
		done
		case $path in
		*/ports/1) ;;
		*) continue ;;
		esac
		# In switchdev mode mlx5 has them beside the ports, of the uplink.
		[ -d "${path%/ports/*}/hw_counters" ] || continue
		for name in COUNTERS; do
			printf '%s\\0' "${path%/ports/*}/hw_counters/$name"
		done
	done
}
[ -z "$rdma_ports" ] || rdma_files | files rdma-counters -
rdma_gids() (
	for path in $rdma_ports; do
		device=${path%/ports/*} number=0
		while [ "$number" -lt GIDS ]; do
			gid= type=
			{ read -r gid <"$path/gids/$number"; } 2>/dev/null
			# The type of an empty entry cannot be read.
			{ read -r type <"$path/gid_attrs/types/$number"; } 2>/dev/null
			kind=ip
			case $gid in fe80:*) kind=link-local ;; esac
			[ -z "$type" ] ||
				printf '%s %s %s %s %s\\n' "${device##*/}" "${path##*/}" "$number" "$kind" "$type"
			number=$((number + 1))
		done
	done
)
rdma_tos_files() {
	for path in $rdma_ports; do
		device=${path%/ports/*} port=${path##*/}
		printf '%s\\0' "$device/tc/$port/traffic_class" \
			"/sys/kernel/config/rdma_cm/${device##*/}/ports/$port/default_roce_tos"
	done
}
[ -z "$rdma_ports" ] || show rdma-gids - rdma_gids
[ -z "$rdma_ports" ] || rdma_tos_files | files rdma-tos -
# Lines without a GUID or a serial number only.
rdma_mtus() {
	command -v ibv_devinfo >/dev/null 2>&1 || { echo 'ibv_devinfo: not found' >&2; return 127; }
	$limit ibv_devinfo | grep -E '^[[:space:]]*(hca_id|port|max_mtu|active_mtu):'
}
[ -z "$rdma_ports" ] || show rdma-mtu - rdma_mtus
""".replace("GIDS", str(GIDS))
    script = script.replace("ATTRIBUTES", " ".join(ATTRIBUTES))
    script = script.replace("COUNTERS", " ".join(COUNTERS))
    script = script.replace("PORT_NAMES", " ".join(n for n in COUNTERS if n in OF_THE_PORT))
    script_again: ClassVar[str] = """\
[ -z "$rdma_ports" ] || rdma_files | files rdma-counters-again -
"""

    @classmethod
    def parse(cls, capture: Capture) -> Self:
        """Read the list of devices, and both readings of their counters."""
        text = capture.text("rdma", f"ls {SYSFS}")
        if not isinstance(text, Known):
            return cls(text)
        names = ("sys_image_guid", "node_type", *ATTRIBUTES, *COUNTERS)
        first = capture.files("rdma-counters", names)
        again = capture.files("rdma-counters-again", names)
        gids = capture.text("rdma-gids", f"cat {SYSFS}/*/ports/*/gid_attrs/types/*")
        tos = capture.files("rdma-tos", ("traffic_class", "default_roce_tos"))
        mtus = _mtus(capture)
        found: dict[str, tuple[RdmaPort, ...]] = {}
        devices = list(islice(DEVICE.finditer(text.value), MAX_PORTS + 1))
        if len(devices) > MAX_PORTS:
            return cls(Unreadable(f"more than {MAX_PORTS} RDMA ports are listed", text.source))
        for match in devices:
            port = _port(match[1], int(match[2]), first, again, gids, tos, mtus)
            found[match[3]] = (*found.get(match[3], ()), port)
        return cls(Known(found, text.source))

    def of(self, port: Port) -> tuple[RdmaPort, ...]:
        """Give the RDMA ports of a function; none where it has none. Raises CannotTellError."""
        return known(self.by_address, "which RDMA devices there are").get(
            port.pci_address or "", ()
        )


def _port(
    device: str,
    number: int,
    first: Files,
    again: Files,
    gids: Observed[str],
    tos: Files,
    mtus: Observed[dict[tuple[str, int, str], int]],
) -> RdmaPort:
    folder = f"{SYSFS}/{device}/ports/{number}"
    totals, rises = {}, {}
    for name in COUNTERS:
        path = f"{folder}/{'counters' if name in OF_THE_PORT else 'hw_counters'}/{name}"
        before, after = _count(first[path]), _count(again[path])
        if number == 1 and name not in OF_THE_PORT and isinstance(before, Absent):
            # alloc_hw_device_stats of hw_switchdev_stats_ops, hw/mlx5/counters.c.
            path = f"{SYSFS}/{device}/hw_counters/{name}"
            before, after = _count(first[path]), _count(again[path])
        totals[name] = after if isinstance(after, Known) else before
        rises[name] = _rise(before, after)
    return RdmaPort(
        device=device,
        number=number,
        system_image=first[f"{SYSFS}/{device}/sys_image_guid"],
        state=first[f"{folder}/state"],
        phys_state=first[f"{folder}/phys_state"],
        link_layer=first[f"{folder}/link_layer"],
        link_rate=first[f"{folder}/rate"],
        node_type=first[f"{SYSFS}/{device}/node_type"],
        totals=totals,
        rises=rises,
        gids=_gids(gids, device, number),
        tos=_tos(device, number, tos),
        active_mtu=_mtu(mtus, device, number, "active"),
        max_mtu=_mtu(mtus, device, number, "max"),
    )


def _mtus(capture: Capture) -> Observed[dict[tuple[str, int, str], int]]:
    """By device, port, and `active` or `max`."""
    text = capture.text("rdma-mtu", VERBS)
    if isinstance(text, Absent):
        return Unreadable(text.reason, VERBS)
    if not isinstance(text, Known):
        return text
    found: dict[tuple[str, int, str], int] = {}
    device, number = "", 0
    for line in map(str.strip, text.value.splitlines()):
        if hca := HCA.fullmatch(line):
            device, number = hca[1], 0
        elif port := PORT.fullmatch(line):
            number = int(port[1])
        elif mtu := MTU.fullmatch(line):
            found[device, number, mtu[1]] = int(mtu[2])
    return Known(found, VERBS)


def _mtu(
    mtus: Observed[dict[tuple[str, int, str], int]], device: str, number: int, which: str
) -> Observed[int]:
    source = f"{VERBS} -d {device} -i {number}"
    if not isinstance(mtus, Known):
        return Unreadable(mtus.reason, source)
    if (device, number, which) not in mtus.value:
        return Unreadable(f"it does not list the {which}_mtu of {device}", source)
    return Known(mtus.value[device, number, which], source)


def _gids(text: Observed[str], device: str, number: int) -> Observed[frozenset[tuple[str, str]]]:
    if not isinstance(text, Known):
        return text
    found = frozenset(
        (MODES[match[4]], match[3])
        for match in map(GID.fullmatch, text.value.splitlines())
        if match and (match[1], int(match[2])) == (device, number) and match[4] in MODES
    )
    return Known(found, text.source) if found else Absent(text.source, "it has no GID of RoCE")


def _tos(device: str, number: int, files: Files) -> Observed[int]:
    """What the driver of MLNX_OFED forces goes before what connections are made with."""
    source = f"{SYSFS}/{device}/tc/{number}/traffic_class"
    default = f"/sys/kernel/config/rdma_cm/{device}/ports/{number}/default_roce_tos"
    for path in (source, default):
        text = files[path]
        if isinstance(text, Unreadable):
            return text
        match = TOS.fullmatch(text.value.strip()) if isinstance(text, Known) else None
        # A forced class of 0 is none: the program's own counts.
        if match and int(match[1]) <= MOST_TOS and (int(match[1]) or path == default):
            return Known(int(match[1]), f"cat {path}")
    return Absent(f"cat {source}", "each program chooses its own")


def _count(text: Observed[str]) -> Observed[int]:
    if not isinstance(text, Known):
        return text
    word = text.value.strip()
    if not (word.isascii() and word.isdecimal() and len(word) <= MAX_DIGITS):
        # `N/A (no PMA)` of drivers that count nothing there.
        return Absent(text.source, f"{word[:40]!r} is not a count")
    return Known(int(word), text.source)


def _rise(before: Observed[int], after: Observed[int]) -> Observed[int]:
    if not isinstance(before, Known):
        return before
    if not isinstance(after, Known):
        return after
    if after.value < before.value:
        return Unreadable("the counter was reset between the readings", after.source)
    return Known(after.value - before.value, after.source)
