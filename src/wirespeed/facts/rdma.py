"""RDMA devices: which card each is of, its link, and what it counted by the kernel's names."""

import re
from dataclasses import dataclass
from typing import ClassVar, Self

from wirespeed.model.capture import Capture, Files
from wirespeed.model.fact import Fact
from wirespeed.model.observed import Absent, Known, Observed, Unreadable, known
from wirespeed.model.port import Port

SYSFS = "/sys/class/infiniband"
ATTRIBUTES = ("state", "link_layer")
COUNTERS = (
    # The receiver's side, and the sender's.
    "out_of_sequence", "rx_icrc_encapsulated", "packet_seq_err", "local_ack_timeout_err",
    "implied_nak_seq_err", "roce_adp_retrans", "rnr_nak_retry_err", "out_of_buffer",
    "np_ecn_marked_roce_packets", "np_cnp_sent", "rp_cnp_handled", "rp_cnp_ignored",
    "port_rcv_packets", "port_xmit_packets",
)  # fmt: skip
"""drivers/infiniband/hw/mlx5/counters.c, and core/sysfs.c for those of the port."""
PLACES = ("hw_counters", "counters")
DEVICE = re.compile(r"([\w.-]{1,64}) (\d{1,3}) ([0-9a-f]{4,8}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-9a-f])")
MAX_DIGITS = 20


@dataclass(frozen=True, slots=True)
class RdmaPort:
    """One port of one RDMA device."""

    device: str
    number: int
    system_image: Observed[str]
    """GUID of the card: the same for all its functions (include/uapi/rdma/rdma_netlink.h)."""
    state: Observed[str]
    """`4: ACTIVE`, `1: DOWN`."""
    link_layer: Observed[str]
    """`Ethernet` (RoCE), `InfiniBand`."""
    totals: dict[str, Observed[int]]
    """Since the driver was loaded; Absent: the driver has no such counter."""
    rises: dict[str, Observed[int]]
    """Between the two readings of one capture."""

    def source(self, counter: str) -> str:
        """Give the command that reads a counter again."""
        place = "counters" if counter.startswith("port_") else "hw_counters"
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
rdma_files() {
	for path in $rdma_ports; do
		printf '%s\\n' "${path%/ports/*}/sys_image_guid"
		for name in ATTRIBUTES; do
			printf '%s\\n' "$path/$name"
		done
		for name in COUNTERS; do
			case $name in
			port_*) printf '%s\\n' "$path/counters/$name" ;;
			*) printf '%s\\n' "$path/hw_counters/$name" ;;
			esac
		done
	done
}
[ -z "$rdma_ports" ] || rdma_files | files rdma-counters -
""".replace("ATTRIBUTES", " ".join(ATTRIBUTES)).replace("COUNTERS", " ".join(COUNTERS))
    script_again: ClassVar[str] = """\
[ -z "$rdma_ports" ] || rdma_files | files rdma-counters-again -
"""

    @classmethod
    def parse(cls, capture: Capture) -> Self:
        """Read the list of devices, and both readings of their counters."""
        text = capture.text("rdma", f"ls {SYSFS}")
        if not isinstance(text, Known):
            return cls(text)
        names = ("sys_image_guid", *ATTRIBUTES, *COUNTERS)
        first = capture.files("rdma-counters", names)
        again = capture.files("rdma-counters-again", names)
        found: dict[str, tuple[RdmaPort, ...]] = {}
        for match in DEVICE.finditer(text.value):
            port = _port(match[1], int(match[2]), first, again)
            found[match[3]] = (*found.get(match[3], ()), port)
        return cls(Known(found, text.source))

    def of(self, port: Port) -> tuple[RdmaPort, ...]:
        """Give the RDMA ports of a function; none where it has none. Raises CannotTellError."""
        return known(self.by_address, "which RDMA devices there are").get(
            port.pci_address or "", ()
        )


def _port(device: str, number: int, first: Files, again: Files) -> RdmaPort:
    folder = f"{SYSFS}/{device}/ports/{number}"
    totals, rises = {}, {}
    for name in COUNTERS:
        path = f"{folder}/{'counters' if name.startswith('port_') else 'hw_counters'}/{name}"
        before, after = _count(first[path]), _count(again[path])
        totals[name] = after if isinstance(after, Known) else before
        rises[name] = _rise(before, after)
    return RdmaPort(
        device=device,
        number=number,
        system_image=first[f"{SYSFS}/{device}/sys_image_guid"],
        state=first[f"{folder}/state"],
        link_layer=first[f"{folder}/link_layer"],
        totals=totals,
        rises=rises,
    )


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
