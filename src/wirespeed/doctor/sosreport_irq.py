"""Interrupts of a sosreport's network functions, in the form of the collector's sections. Pure.

Its plugin `hardware` copies /proc/interrupts and /proc/irq. Which function raises an interrupt,
kernels from 6.2 on say; before, its name does, in which most drivers have the PCI address or the
netdev.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

FILES = r"proc/interrupts|proc/irq/\d+/(?:smp|effective)_affinity_list"
PORT = re.compile(r"(\S+) driver=\S* .*\bdevice=(\S+)")
LINE = re.compile(r" *(\d{1,9}): .* (\S+)")
OF_CHIP = re.compile(r"-MSIX?-([0-9a-f]{4,8}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-9a-f]) ")
"""`IR-PCI-MSIX-0000:03:00.0`: since Linux 6.2 each function has a chip of its own
(pci_create_device_domain() in drivers/pci/msi/irqdomain.c)."""
OF_PCI = re.compile(r"@(?:pci:)?([0-9a-f]{4,8}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-9a-f])$")
"""`mlx5_comp3@pci:0000:03:00.0` (mlx5/core/pci_irq.c), `mlx4-3@0000:03:00.0`,
`ena-mgmnt@pci:0000:00:05.0`."""
IN_PATH = re.compile(r"(?<=/)[0-9a-f]{4,8}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-9a-f](?=/|$)")
VIRTIO = re.compile(r"/(virtio\d+)$")
"""`virtio2-input.0` (virtio_net.c): its device stands below the PCI function."""


@dataclass(frozen=True, slots=True)
class IrqText:
    """Lines of the sections `irqs`, `interrupts` and `irq`."""

    functions: tuple[str, ...]
    interrupts: tuple[str, ...]
    affinities: tuple[str, ...]


def irq_text(files: Mapping[str, str], ports: Iterable[str]) -> IrqText | None:
    """Make the lines of the functions in `ports`; None: no interrupt is known to be of one."""
    head, _, rest = files.get("proc/interrupts", "").partition("\n")
    names = dict(_names(ports))
    addresses = set(names.values())
    numbers: dict[str, list[str]] = {}
    kept = [head]
    for line in rest.splitlines():
        match = LINE.fullmatch(line.rstrip())
        address = _function(line, match[2], names, addresses) if match else None
        if match and address:
            numbers.setdefault(address, []).append(match[1])
            kept.append(line)
    if not numbers:
        return None
    wanted = {number for of in numbers.values() for number in of}
    return IrqText(
        functions=tuple(f"{address} {' '.join(of)}" for address, of in numbers.items()),
        interrupts=tuple(kept),
        affinities=tuple(
            f"/{path}:{text.strip()}"
            for path, text in files.items()
            if path.startswith("proc/irq/") and path.split("/")[2] in wanted
        ),
    )


def _names(ports: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Netdevs, virtio devices and addresses, by which a name may call it, to the function."""
    for line in ports:
        match = PORT.fullmatch(line)
        if match is None or not (found := IN_PATH.findall(match[2])):
            continue
        yield (match[1] if match[1] != "-" else found[-1]), found[-1]
        if virtio := VIRTIO.search(match[2]):
            yield virtio[1], found[-1]


def _function(line: str, name: str, names: Mapping[str, str], addresses: set[str]) -> str | None:
    """`i40e-ens1f0-TxRx-3`, `ens1f0-TxRx-3`, `ens5-Tx-Rx-0`: the longest netdev that fits."""
    if match := OF_CHIP.search(line) or OF_PCI.search(name):
        return match[1] if match[1] in addresses else None
    fits = [own for own in names if f"-{own}-" in f"-{name}-"]
    return names[max(fits, key=len)] if fits else None
