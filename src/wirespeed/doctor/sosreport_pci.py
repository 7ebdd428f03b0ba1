"""PCI functions and netdevs of a sosreport, in the form of the collector's sections. Pure.

`udevadm info --export-db` has the paths and drivers, `lspci -nnvv` the links and SR-IOV, and
`ip -d link` the names of ports. Formats: udevadm(8), lspci(8) and pciutils' ls-caps.c.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

NETWORK = "2"
"""First digit of PCI_CLASS, which is printed without its leading zero: 20000 is Ethernet."""
ADDRESS = re.compile(r"(?:([0-9a-f]{4,8}):)?([0-9a-f]{2}:[0-9a-f]{2}\.[0-9a-f])")
HEAD = re.compile(rf"^{ADDRESS.pattern} [^\n]*\[([0-9a-f]{{4}})\]: ", re.M)
VENDOR_DEVICE = re.compile(
    r"\[([0-9a-f]{4}):([0-9a-f]{4})\](?: \(rev [0-9a-f]+\))?(?: \(prog-if|$)"
)
LINK = re.compile(r"Speed (\d+(?:\.\d)?)GT/s(?: \([a-z]+\))?, Width x(\d{1,2})\b")
SRIOV = re.compile(r"Initial VFs: \d+, Total VFs: (\d+), Number of VFs: (\d+)")
STRIDE = re.compile(r"VF offset: (\d+), stride: (\d+)")
NODE = re.compile(r"^[ \t]*NUMA node: (-?\d+)", re.M)
DEVICES = "/sys/bus/pci/devices"
FUNCTION_PATH = re.compile(r"/[0-9a-f]{4,8}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-9a-f]$")


@dataclass(frozen=True, slots=True)
class PciText:
    """Lines of the sections `ports`, `pci-hops`, `pci` and `sriov`."""

    ports: tuple[str, ...]
    hops: tuple[str, ...]
    attributes: tuple[str, ...]
    """`/sys/bus/pci/devices/0000:03:00.0/current_link_width:16`"""
    sriov: tuple[str, ...]
    pfs: tuple[str, ...] = field(default=())
    """Addresses of network functions that are not VFs of this host."""


def pci_text(records: dict[str, dict[str, str]], lspci: str, port_names: dict[str, str]) -> PciText:
    """Make the lines; `port_names` are the netdevs' phys_port_name, `records` as udev has them."""
    blocks = dict(lspci_blocks(lspci))
    physfns = _physfns(blocks)
    functions = {
        values.get("PCI_SLOT_NAME", path.rpartition("/")[2]): path
        for path, values in records.items()
        if values.get("SUBSYSTEM") == "pci" and FUNCTION_PATH.search(path)
    }
    network = [
        address
        for address, path in functions.items()
        if records[path].get("PCI_CLASS", "").startswith(NETWORK)
        and len(records[path]["PCI_CLASS"]) == 5
    ]
    pfs = [address for address in network if address not in physfns]
    ports = [*_netdev_lines(records, physfns, port_names)]
    ports += [
        _line("-", records[path].get("DRIVER", ""), physfns.get(a, ""), "", path)
        for a in network
        for path in (functions[a],)
    ]
    on_way = {a for pf in pfs for a in ADDRESS_IN_PATH.findall(functions[pf])}
    return PciText(
        ports=tuple(ports),
        # /sys/bus/pci/devices/ADDRESS tells nothing of what is above.
        hops=tuple(f"/sys{functions[pf]}" for pf in pfs if functions[pf].startswith("/devices/")),
        attributes=tuple(
            line for a in sorted(on_way) for line in _attributes(a, records, functions, blocks)
        ),
        sriov=tuple(line for pf in pfs for line in _sriov(pf, records, functions, blocks)),
        pfs=tuple(pfs),
    )


ADDRESS_IN_PATH = re.compile(r"(?<=/)[0-9a-f]{4,8}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-9a-f](?=/|$)")


def udev_records(udev: str) -> Iterator[tuple[str, dict[str, str]]]:
    """Give path and properties of each record, which an empty line ends."""
    for record in udev.split("\n\n"):
        lines = record.splitlines()
        path = next((line[3:].strip() for line in lines if line.startswith("P: ")), "")
        if path.startswith("/devices/"):
            pairs = (line[3:].partition("=") for line in lines if line.startswith("E: "))
            yield path, {name: value for name, _, value in pairs}


def _netdev_lines(
    records: dict[str, dict[str, str]], physfns: dict[str, str], port_names: dict[str, str]
) -> Iterator[str]:
    for path, values in records.items():
        device, net, netdev = path.rpartition("/net/")
        if values.get("SUBSYSTEM") != "net" or not net or "/devices/virtual/" in path:
            continue
        own = values.get("DRIVER") or records.get(device, {}).get("DRIVER")
        driver = own or values.get("ID_NET_DRIVER", "")
        address = device.rpartition("/")[2]
        name = port_names.get(netdev, "")
        yield _line(netdev, driver, physfns.get(address, ""), name, device)


def _line(netdev: str, driver: str, physfn: str, port: str, path: str) -> str:
    return f"{netdev} driver={driver} physfn={physfn} port={port} device=/sys{path}"


def lspci_blocks(lspci: str) -> Iterator[tuple[str, str]]:
    """Give the address with its domain, and the paragraph of each function."""
    for block in re.split(r"\n(?=[0-9a-f]{2,8}:)", lspci):
        if match := HEAD.match(block):
            yield f"{match[1] or '0000'}:{match[2]}", block


def lspci_head(block: str) -> str:
    """Give the class of a paragraph's function, as four digits: `0200` is Ethernet."""
    match = HEAD.match(block)
    return match[3] if match else "0000"


def _physfns(blocks: dict[str, str]) -> dict[str, str]:
    """VF to PF, by the routing ids that the PF's capability gives (PCI-SIG SR-IOV 1.1, 3.3)."""
    found = {}
    for address, block in blocks.items():
        counts, steps = SRIOV.search(block), STRIDE.search(block)
        if counts is None or steps is None:
            continue
        domain, bus, rest = address.rsplit(":", 2)[0], *address.rsplit(":", 2)[1:]
        device, function = rest.split(".")
        own = int(bus, 16) << 8 | int(device, 16) << 3 | int(function, 16)
        for number in range(min(int(counts[2]), 4096)):
            vf = own + int(steps[1]) + number * int(steps[2])
            name = f"{domain}:{vf >> 8:02x}:{vf >> 3 & 31:02x}.{vf & 7:x}"
            found[name] = address
    return found


def _ids(
    address: str,
    records: dict[str, dict[str, str]],
    functions: dict[str, str],
    blocks: dict[str, str],
) -> Iterator[tuple[str, str]]:
    values = records.get(functions.get(address, ""), {})
    vendor, _, device = values.get("PCI_ID", "").partition(":")
    if not vendor:
        match = VENDOR_DEVICE.search(blocks.get(address, "").partition("\n")[0])
        vendor, device = match.groups() if match else ("", "")
    if vendor and device:
        yield "vendor", f"0x{vendor.lower().zfill(4)}"
        yield "device", f"0x{device.lower().zfill(4)}"


def _attributes(
    address: str,
    records: dict[str, dict[str, str]],
    functions: dict[str, str],
    blocks: dict[str, str],
) -> Iterator[str]:
    pairs = [*_ids(address, records, functions, blocks)]
    block = blocks.get(address, "")
    for name, label in (("max", "LnkCap:"), ("current", "LnkSta:")):
        line = next((line for line in block.splitlines() if label in line), "")
        if match := LINK.search(line):
            pairs.append((f"{name}_link_speed", f"{float(match[1])} GT/s PCIe"))
            pairs.append((f"{name}_link_width", match[2]))
    if match := NODE.search(block):
        pairs.append(("numa_node", match[1]))
    for name, value in pairs:
        yield f"{DEVICES}/{address}/{name}:{value}"


def _sriov(
    address: str,
    records: dict[str, dict[str, str]],
    functions: dict[str, str],
    blocks: dict[str, str],
) -> Iterator[str]:
    pairs = [*_ids(address, records, functions, blocks)]
    if match := SRIOV.search(blocks.get(address, "")):
        pairs += [("sriov_totalvfs", match[1]), ("sriov_numvfs", match[2])]
    for name, value in pairs:
        yield f"{DEVICES}/{address}/{name}:{value}"
