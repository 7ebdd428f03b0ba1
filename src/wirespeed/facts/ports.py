"""The network ports of a host: every netdev with a device, and every function without a netdev."""

import re
from dataclasses import dataclass
from typing import ClassVar, Self

from wirespeed.model.capture import Capture
from wirespeed.model.fact import Fact
from wirespeed.model.observed import CannotTellError
from wirespeed.model.port import Port, PortKind

PCI_ADDRESS = re.compile(r"[0-9a-f]{4,8}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-7]")
REPRESENTOR = re.compile(r"(c\d+)?pf\d+((vf|sf)\d+|hpf)?")
"""What `phys_port_name` calls those of VFs, subfunctions and the PF itself, on a DPU the host's
(devlink_port_phys_port_name_get of net/devlink; `pf0hpf` in BlueField's own driver)."""
SUBFUNCTION = ".sf"
"""`mlx5_core.sf`: a part of its PF's port, as a VF of this host is."""
MAX_PORTS, MAX_CHARACTERS = 1024, 2 << 20
"""Of ports, without VFs and representors; of their list, which 8 PFs of 1,000 VFs fill half."""
LINK = re.compile(r"(\S+) driver=(\S*) physfn=(\S*) port=(\S*) device=(\S+)")


@dataclass(frozen=True, slots=True)
class Ports(Fact):
    """Ports by the order in which the host lists them.

    No representor, no subfunction, no VF that a host lends.
    """

    ports: tuple[Port, ...]
    representors: tuple[str, ...]
    """Netdevs that stand for a VF, a subfunction or a PF of an eswitch in switchdev mode."""
    host_vfs: tuple[str, ...]
    """PCI addresses of VFs whose PF is on this host."""

    # One line each, by the shell's own `cd -P`: a process for every VF would cost seconds.
    script: ClassVar[str] = """\
list_ports() {
	for netdev in $netdevs; do
		list_port "/sys/class/net/$netdev/device" "$netdev"
	done
	for address in $functions; do
		list_port "/sys/bus/pci/devices/$address" -
	done
}
list_port() {
	phys_port=
	[ "$2" = - ] || { read -r phys_port <"/sys/class/net/$2/phys_port_name"; } 2>/dev/null
	real_path "$1/driver" && driver=${real##*/}
	real_path "$1/physfn" && physfn=${real##*/}
	real_path "$1"
	printf '%s driver=%s physfn=%s port=%s device=%s\\n' \\
		"$2" "$driver" "$physfn" "$phys_port" "$real"
}
show ports - list_ports
"""

    @classmethod
    def parse(cls, capture: Capture) -> Self:
        """Read the lines of `list_ports`; a line that makes no sense is no port.

        Raises CannotTellError where the list is missing: that is not a host without a port.
        """
        ports, representors, host_vfs = [], [], []
        seen: set[str | None] = set()
        section = capture.section("ports")
        if section is None:
            raise CannotTellError("the capture has no list of ports", "ls -l /sys/class/net")
        if len(section.output) > MAX_CHARACTERS:
            raise _too_many(f"is longer than {MAX_CHARACTERS >> 20} MiB")
        old = old_representors(section.output)
        for line in section.output.splitlines():
            match = LINK.fullmatch(line)
            if match is None:
                continue
            netdev, driver, physfn, phys_port, device = match.groups()
            if driver.endswith(SUBFUNCTION):
                continue
            address = next(iter(PCI_ADDRESS.findall(device)[-1:]), None)
            if netdev == "-" and address in seen:
                continue
            seen.add(address)
            if physfn and address:
                host_vfs.append(address)
            elif netdev in old or REPRESENTOR.fullmatch(phys_port):
                representors.append(netdev)
            else:
                ports.append(
                    Port(
                        netdev=None if netdev == "-" else netdev,
                        pci_address=address,
                        driver=driver or None,
                        kind=_kind(driver, device, address),
                    )
                )
        if len(ports) > MAX_PORTS:
            raise _too_many(f"has more than {MAX_PORTS} ports")
        return cls(tuple(ports), tuple(representors), tuple(host_vfs))


def _too_many(found: str) -> CannotTellError:
    return CannotTellError(f"the list of ports {found}: no host has so many", "ls /sys/class/net")


def old_representors(lines: str) -> frozenset[str]:
    """Netdevs that kernels before 5.2 or so call by a VF's bare number, as `0`, on mlx5's PF.

    Beside them the same function has the uplink's netdev, which has no such number (Linux 4.19,
    drivers/net/ethernet/mellanox/mlx5/core/en_rep.c, mlx5e_rep_get_phys_port_name).
    """
    found = [match for line in lines.splitlines() if (match := LINK.fullmatch(line))]
    mlx5 = [m for m in found if m[1] != "-" and m[2] == "mlx5_core" and not m[3]]
    uplinks = {m[5] for m in mlx5 if not m[4].isdecimal()}
    return frozenset(m[1] for m in mlx5 if m[4].isdecimal() and m[5] in uplinks)


def _kind(driver: str, device: str, address: str | None) -> PortKind:
    if driver.startswith("virtio") or "/virtio" in device:
        return PortKind.VIRTIO
    if driver.startswith("hv_") or "VMBUS" in device or "vmbus" in device:
        return PortKind.HYPERV
    if driver.endswith("vf"):
        return PortKind.VIRTUAL_FUNCTION
    return PortKind.PHYSICAL if address else PortKind.OTHER
