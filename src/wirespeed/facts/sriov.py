"""SR-IOV: how many VFs each PF has, could have, and who drives them."""

from dataclasses import dataclass
from typing import ClassVar, Self

from wirespeed.facts.ports import LINK, MAX_CHARACTERS, PCI_ADDRESS
from wirespeed.model.capture import Capture
from wirespeed.model.fact import Fact, HostFacts
from wirespeed.model.observed import Absent, Known, Observed, read_as
from wirespeed.model.port import Port, PortKind
from wirespeed.model.rule import DoesNotApplyError

SYSFS = "/sys/bus/pci/devices"
ATTRIBUTES = (
    "sriov_totalvfs", "sriov_numvfs", "sriov_drivers_autoprobe", "sriov_offset", "sriov_stride",
    "vendor", "device",
)  # fmt: skip
MAX_VFS = 0xFFFF
MELLANOX = 0x15B3
MELLANOX_VF_DEVICES = frozenset(
    {0x1002, 0x1004, 0x1012, 0x1014, 0x1016, 0x1018, 0x101A, 0x101C, 0x101E, 0xA2D3}
)
"""Device numbers of VFs: mlx4_pci_table and mlx5_core_pci_table of the kernel."""


@dataclass(frozen=True, slots=True)
class Vf:
    """One VF of a PF of this host."""

    index: int
    """Its place among the PF's VFs by address: VF 0 is the first."""
    pci_address: str
    driver: Observed[str]
    """Absent: bound to none."""
    netdev: Observed[str]
    """Absent: it is lent to a guest or a container, or no driver made one."""


@dataclass(frozen=True, slots=True)
class SriovPf:
    """One PF."""

    pci_address: str
    vendor: Observed[int]
    device: Observed[int]
    total_vfs: Observed[int]
    """Most that the card offers; Absent: the function has no SR-IOV capability, or it offers 0."""
    num_vfs: Observed[int]
    drivers_autoprobe: Observed[bool]
    """True: the host's own driver takes each new VF."""
    vf_offset: Observed[int]
    vf_stride: Observed[int]
    """First VF's routing id from the PF's, and each further one's from the one before."""
    vfs: tuple[Vf, ...]

    @property
    def is_mellanox(self) -> bool:
        """Known to be of Mellanox or NVIDIA."""
        return isinstance(self.vendor, Known) and self.vendor.value == MELLANOX

    @property
    def is_lent_vf(self) -> bool:
        """Known to be a VF that another host lent to this guest."""
        is_vf = isinstance(self.device, Known) and self.device.value in MELLANOX_VF_DEVICES
        return self.is_mellanox and is_vf


@dataclass(frozen=True, slots=True)
class Sriov(Fact):
    """Every network function that is no VF of this host, by its PCI address."""

    pfs: dict[str, SriovPf]

    # VFs themselves are among the ports that `list_ports` lists. What plans read of each function,
    # a VF too, comes by the same process: a thousand VFs take 20 ms.
    script: ClassVar[str] = """\
sriov_files() {
	for address in $pfs; do
		for attribute in ATTRIBUTES; do
			printf '%s\\0' "/sys/bus/pci/devices/$address/$attribute"
		done
	done
	for address in $functions; do
		printf '%s\\0' "/sys/bus/pci/devices/$address/driver_override" \\
			"/sys/bus/pci/devices/$address/uevent"
	done
}
sriov_files | files sriov -
""".replace("ATTRIBUTES", " ".join(ATTRIBUTES))

    @classmethod
    def parse(cls, capture: Capture) -> Self:
        """Read the attributes of each PF, and the VFs among the lines of the section `ports`."""
        files = capture.files("sriov", ATTRIBUTES)
        vfs = _vfs_by_pf(capture)
        pfs = {}
        for address in _functions(capture):

            def read(name: str, address: str = address) -> Observed[str]:
                return files[f"{SYSFS}/{address}/{name}"]

            pfs[address] = SriovPf(
                pci_address=address,
                vendor=read_as(read("vendor"), _hexadecimal),
                device=read_as(read("device"), _hexadecimal),
                total_vfs=read_as(read("sriov_totalvfs"), _register),
                num_vfs=read_as(read("sriov_numvfs"), _register),
                drivers_autoprobe=read_as(read("sriov_drivers_autoprobe"), _flag),
                vf_offset=read_as(read("sriov_offset"), _register),
                vf_stride=read_as(read("sriov_stride"), _register),
                vfs=tuple(vfs.get(address, ())),
            )
        return cls(pfs)


def physical_function(host: HostFacts, port: Port) -> SriovPf:
    """Give the PF of a port; raises DoesNotApplyError where the port is none."""
    pf = host[Sriov].pfs.get(port.pci_address or "")
    if pf is None or port.kind is not PortKind.PHYSICAL or pf.is_lent_vf:
        raise DoesNotApplyError("it is not a physical function")
    return pf


def _register(text: str) -> int:
    """Read a number of 16 bits, as TotalVFs, NumVFs, First VF Offset and VF Stride are (SR-IOV)."""
    number = int(text)
    if not 0 <= number <= MAX_VFS:
        raise ValueError(f"{number} is not a number of 16 bits")
    return number


def _hexadecimal(text: str) -> int:
    return int(text, 16)


def _flag(text: str) -> bool:
    return {"0": False, "1": True}.get(text) or bool(int(text))


def _lines(capture: Capture) -> list[tuple[str, str, str, str]]:
    """Netdev or `-`, driver, PF or nothing, and PCI address of each line of `ports`."""
    section = capture.section("ports")
    found = []
    # As long as `Ports` reads it: no host has more.
    for line in section.output[:MAX_CHARACTERS].splitlines() if section else ():
        match = LINK.fullmatch(line)
        addresses = PCI_ADDRESS.findall(match[5]) if match else []
        if match and addresses:
            found.append((match[1], match[2], match[3], addresses[-1]))
    return found


def _functions(capture: Capture) -> dict[str, None]:
    """PCI addresses of the functions that are no VF, in the order of the host."""
    return dict.fromkeys(address for _, _, physfn, address in _lines(capture) if not physfn)


def _vfs_by_pf(capture: Capture) -> dict[str, list[Vf]]:
    of_pf: dict[str, dict[str, tuple[str, str]]] = {}
    for netdev, driver, physfn, address in _lines(capture):
        if physfn:
            # The line of the netdev comes first; the function's own line knows no netdev.
            of_pf.setdefault(physfn, {}).setdefault(address, (netdev, driver))
    return {
        pf: [
            Vf(
                index=index,
                pci_address=address,
                driver=_name(driver, f"readlink {SYSFS}/{address}/driver"),
                netdev=_name(netdev.removeprefix("-"), f"ls {SYSFS}/{address}/net"),
            )
            for index, (address, (netdev, driver)) in enumerate(sorted(vfs.items()))
        ]
        for pf, vfs in of_pf.items()
    }


def _name(name: str, source: str) -> Observed[str]:
    return Known(name, source) if name else Absent(source)
