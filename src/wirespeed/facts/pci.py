"""PCI Express: every hop from a network function up to its root port."""

import re
from dataclasses import dataclass
from typing import ClassVar, Self, TypeVar

from wirespeed.facts.kernel import Kernel
from wirespeed.facts.pci_link_registers import LinkRegisters, link_registers
from wirespeed.model.capture import Capture, Files
from wirespeed.model.fact import Fact
from wirespeed.model.observed import Absent, CannotTellError, Known, Observed, Unreadable

SYSFS = "/sys/bus/pci/devices"
ATTRIBUTES = (
    "vendor", "device", "subsystem_vendor", "subsystem_device", "revision", "class", "numa_node",
    "local_cpulist", "current_link_speed", "current_link_width", "max_link_speed",
    "max_link_width", "sriov_totalvfs", "sriov_numvfs", "removable",
)  # fmt: skip
PCI_ADDRESS = re.compile(r"[0-9a-f]{4,8}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-7]")
ROOT_BUS = re.compile(r"pci[0-9a-f]{4,8}:[0-9a-f]{2}")
FIRST_WITH_LINKS = (4, 13)
"""The Linux whose sysfs has `current_link_speed` and its like (drivers/pci/pci-sysfs.c)."""
NOT_SHOWN = "the kernel shows no state of its PCI Express link"
T = TypeVar("T")
TUNNEL_GT_PER_S = 2.5
"""What both ends of a link report that is a tunnel through Thunderbolt or USB4, whatever the cable
carries: AMD's USB4 bridge names it as its most, with one lane, above a card that carried 10 Gb/s in
the same box elsewhere (https://community.frame.work/t/76971)."""
EMULATORS = {0x1B36: "QEMU", 0x1AF4: "QEMU", 0x15AD: "VMware", 0x1AB8: "Parallels"}
"""Vendors of bridges and cards that only a hypervisor makes (pci-ids.ucw.cz)."""


@dataclass(frozen=True, slots=True)
class PciFunction:
    """One hop: the card's function itself, or a bridge on the way to the root port."""

    address: str
    vendor: Observed[int]
    device: Observed[int]
    subsystem_vendor: Observed[int]
    numa_node: Observed[int]
    """-1 where the firmware gives none."""
    local_cpus: Observed[str]
    """CPUs near it, as the kernel lists them: `0-23,48-71`."""
    lanes: Observed[int]
    max_lanes: Observed[int]
    """What this function can do; what the slot can is the capability of the hop above it."""
    gt_per_s: Observed[float]
    """10^9 transfers per second and lane."""
    max_gt_per_s: Observed[float]
    is_removable: bool = False
    """Known to be below a port that leads out of the machine: `removable` of sysfs, Linux 5.14."""

    @property
    def emulator(self) -> str | None:
        """What made it up, when it is no hardware: its link carries nothing then."""
        for vendor in (self.vendor, self.subsystem_vendor):
            if isinstance(vendor, Known) and vendor.value in EMULATORS:
                return EMULATORS[vendor.value]
        return None


@dataclass(frozen=True, slots=True)
class PciLink:
    """One link and its two ends, each of which reports the same state and its own capability."""

    lower: PciFunction
    """The end towards the card: an endpoint, or the upstream port of a switch."""
    upper: PciFunction
    """The end towards the host: a root port, or a downstream port of a switch."""

    @property
    def is_tunnel(self) -> bool:
        """Whether it is a tunnel through Thunderbolt or USB4: what it reports is nominal."""
        reported = (self.lower.gt_per_s, self.upper.max_gt_per_s)
        return self.lower.is_removable and all(
            isinstance(one, Known) and one.value == TUNNEL_GT_PER_S for one in reported
        )

    @property
    def element(self) -> str:
        """Its name in a ledger."""
        return f"pcie {self.lower.address}"


@dataclass(frozen=True, slots=True)
class Pci(Fact):
    """Functions by their address, and the way up from each network function."""

    functions: dict[str, PciFunction]
    hops: dict[str, tuple[str, ...]]
    """Of each physical function: its own address first, its root port last."""

    def links(self, pci_address: str | None) -> tuple[PciLink, ...]:
        """Give every link from a card's function up to its root port; none where there is none.

        Raises CannotTellError when the way up was not read, or is not card, any number of
        switches, root port.
        """
        if pci_address is None:
            return ()
        if pci_address not in self.hops:
            raise CannotTellError(
                f"the way from {pci_address} to its root port was not read",
                f"readlink -f {SYSFS}/{pci_address}",
            )
        way = [self.functions[address] for address in self.hops[pci_address]]
        if len(way) < 2:
            return ()
        if len(way) % 2:
            raise CannotTellError(
                f"{way[0].address} lies below an odd number of bridges: no way from a card through "
                "switches to a root port",
                "lspci -tv",
            )
        # A switch is two functions, and nothing lies between them but its inside.
        return tuple(
            PciLink(lower, upper) for lower, upper in zip(way[::2], way[1::2], strict=True)
        )

    script: ClassVar[str] = """\
list_hops() {
	for address in $pfs; do
		real_path "/sys/bus/pci/devices/$address" && printf '%s\\n' "$real"
	done
}
show pci-hops - list_hops
hops=$(list_hops | tr / '\\n' | grep -E '^[0-9a-f]{4,8}:..:..\\..$' | sort -u)

pci_files() {
	for address in $hops; do
		for attribute in ATTRIBUTES; do
			printf '%s\\0' "/sys/bus/pci/devices/$address/$attribute"
		done
	done
}
pci_files | files pci -
""".replace("ATTRIBUTES", " ".join(ATTRIBUTES))

    @classmethod
    def parse(cls, capture: Capture) -> Self:
        """Read `pci-hops` (one path a line) and the attributes of every hop on it."""
        section = capture.section("pci-hops")
        hops: dict[str, tuple[str, ...]] = {}
        for line in section.output.splitlines() if section else ():
            # The last root bus is the card's: a VMD or a Hyper-V bus lies below another.
            parts = ROOT_BUS.split(line)[-1].split("/")
            way = tuple(p for p in reversed(parts) if PCI_ADDRESS.fullmatch(p))
            if way:
                hops[way[0]] = way
        files = capture.files("pci", ATTRIBUTES)
        addresses = dict.fromkeys(address for way in hops.values() for address in way)
        dumps = capture.sections("pci-config")
        release = Kernel.parse(capture).version()
        is_old = isinstance(release, Known) and release.value < FIRST_WITH_LINKS
        return cls(
            {
                a: _function(a, files, link_registers(dumps.get(a), a), is_old=is_old)
                for a in addresses
            },
            hops,
        )


def _function(address: str, files: Files, registers: LinkRegisters, *, is_old: bool) -> PciFunction:
    def read(attribute: str) -> Observed[str]:
        return files[f"{SYSFS}/{address}/{attribute}"]

    width = read("current_link_width")
    # A VF, and a slot without a link, have width 0; a link of unknown speed has not.
    is_hidden = is_old or (isinstance(width, Known) and width.value.strip() != "0")
    return PciFunction(
        address=address,
        vendor=_integer(read("vendor"), 16),
        device=_integer(read("device"), 16),
        subsystem_vendor=_integer(read("subsystem_vendor"), 16),
        numa_node=_integer(read("numa_node")),
        local_cpus=read("local_cpulist"),
        lanes=_either(_lanes(width), registers.lanes, is_hidden),
        max_lanes=_either(_lanes(read("max_link_width")), registers.max_lanes, is_hidden),
        gt_per_s=_either(_gt_per_s(read("current_link_speed")), registers.gt_per_s, is_hidden),
        max_gt_per_s=_either(_gt_per_s(read("max_link_speed")), registers.max_gt_per_s, is_hidden),
        is_removable=isinstance(out := read("removable"), Known) and out.value == "removable",
    )


def _either(sysfs: Observed[T], register: Observed[T], is_hidden: bool) -> Observed[T]:
    """What sysfs says; else the register, which holds it also where the kernel shows none.

    `is_hidden`: that sysfs shows none does not mean that there is no link.
    """
    if isinstance(sysfs, Known):
        return sysfs
    if isinstance(register, Known):
        return register
    if is_hidden and isinstance(sysfs, Absent) and isinstance(register, Unreadable):
        return Unreadable(f"{NOT_SHOWN}; {register.reason}", register.source)
    return sysfs


def _integer(text: Observed[str], base: int = 10) -> Observed[int]:
    if not isinstance(text, Known):
        return text
    try:
        return Known(int(text.value, base), text.source)
    except ValueError:
        return Unreadable(f"{text.value[:40]!r} is not a number", text.source)


def _lanes(text: Observed[str]) -> Observed[int]:
    """Number of lanes. 0 and 255 are what the kernel prints where there is no link to speak of."""
    lanes = _integer(text)
    if isinstance(lanes, Known) and lanes.value in (0, 255):
        return Absent(lanes.source, NOT_SHOWN)
    return lanes


def _gt_per_s(text: Observed[str]) -> Observed[float]:
    """`16.0 GT/s PCIe`, and `8 GT/s` as kernels before 5.11 print it."""
    if not isinstance(text, Known):
        return text
    match = re.fullmatch(r"(\d{1,3}(?:\.\d)?) GT/s(?: PCIe)?", text.value.strip())
    if match is None:
        if text.value.strip() in ("Unknown", "Unknown speed"):
            return Absent(text.source, NOT_SHOWN)
        return Unreadable(f"{text.value[:40]!r} is not a speed", text.source)
    return Known(float(match[1]), text.source)
