"""PCI Express parts of a described host: a card, its slot, and their configuration spaces."""

from described.host import Host

DEVICES = "/sys/bus/pci/devices"
ROOT_BUS = "/sys/devices/pci0000:00"
SIZES = (128, 256, 512, 1024, 2048, 4096)
SPEEDS = (2.5, 5.0, 8.0, 16.0, 32.0, 64.0)
ENDPOINT, ROOT_PORT = 0, 4
SLOT_IMPLEMENTED = 0x100
EXPRESS_AT = 0x60
"""Where a ConnectX-5 has it: `setpci -s … 68.w` is its device control word."""
AER = """RxErr 0
BadTLP 0
BadDLLP 0
Rollover 0
Timeout 0
NonFatalErr 0
CorrIntErr 0
HeaderOF 0
TOTAL_ERR_COR 0"""
AER_NONFATAL = "Undefined 0\nDLP 0\nSDES 0\nTLP 0\nTOTAL_ERR_NONFATAL 0"
AER_FATAL = "Undefined 0\nDLP 0\nSDES 0\nTLP 0\nTOTAL_ERR_FATAL 0"


def card(
    host: Host,
    *,
    card: str = "0000:03:00",
    slot: str = "0000:00:01.1",
    ids: tuple[str, str] = ("0x15b3", "0x1019"),
    subsystem: tuple[str, str] = ("0x15b3", "0x0008"),
    functions: int = 2,
    driver: str = "mlx5_core",
    numa_node: int = -1,
    local_cpus: str = "0-31",
    lanes: int = 16,
    max_lanes: int = 16,
    slot_lanes: int = 16,
    gt_per_s: float = 16.0,
    max_gt_per_s: float = 16.0,
    slot_gt_per_s: float = 16.0,
    payload_bytes: int = 512,
    total_vfs: int | None = None,
    is_root: bool = True,
) -> list[str]:
    """A card of some functions below one root port; gives their addresses.

    `is_root` False: whoever captures sees 64 bytes of configuration space only.
    """
    below = f"{ROOT_BUS}/{slot}"
    root_vendor = "0x1022" if slot.startswith("0000:00:01") else "0x8086"
    _function(host, slot, below, ids=(root_vendor, "0x14a5"), subsystem=(root_vendor, "0x1453"),
              pci_class="0x060400", numa_node=numa_node, local_cpus=local_cpus)  # fmt: skip
    _link(host, below, lanes, slot_lanes, gt_per_s, slot_gt_per_s)
    _config(host, below, ROOT_PORT, slot_lanes, slot_gt_per_s, payload_bytes, payload_bytes, 512,
            is_root)  # fmt: skip
    host.links[f"{below}/driver"] = "/sys/bus/pci/drivers/pcieport"
    host.put("/sys/bus/pci/drivers/pcieport", bind="")
    addresses = []
    for number in range(functions):
        address = f"{card}.{number}"
        path = f"{below}/{address}"
        _function(host, address, path, ids=ids, subsystem=subsystem, pci_class="0x020000",
                  numa_node=numa_node, local_cpus=local_cpus)  # fmt: skip
        _link(host, path, lanes, max_lanes, gt_per_s, max_gt_per_s)
        _config(host, path, ENDPOINT, max_lanes, max_gt_per_s, 512, payload_bytes,
                512, is_root)  # fmt: skip
        bind(host, address, driver)
        if total_vfs is not None:
            host.put(path, sriov_totalvfs=total_vfs, sriov_numvfs=0,
                     sriov_drivers_autoprobe=1)  # fmt: skip
        addresses.append(address)
    return addresses


def on_board(
    host: Host,
    address: str,
    *,
    ids: tuple[str, str],
    driver: str,
    local_cpus: str,
    subsystem: str = "0x8086",
) -> None:
    """A function on the root bus itself, with no PCI Express link; as in a guest, too."""
    path = f"{ROOT_BUS}/{address}"
    _function(host, address, path, ids=ids, subsystem=(subsystem, "0x0001"), pci_class="0x020000",
              numa_node=-1, local_cpus=local_cpus)  # fmt: skip
    config = bytearray(256)
    config[0:2], config[2:4] = (int(n, 16).to_bytes(2, "little") for n in ids)
    host.files[f"{path}/config"] = bytes(config)
    bind(host, address, driver)


def virtual_function(host: Host, pf: str, index: int, address: str, driver: str | None) -> None:
    """A VF of a PF of this host."""
    path = f"{host.links[f'{DEVICES}/{pf}'].rpartition('/')[0]}/{address}"
    parent = host.links[f"{DEVICES}/{pf}"]
    device = {"0x1019": "0x101a", "0x1017": "0x1018"}[str(host.files[f"{parent}/device"])]
    _function(host, address, path, ids=("0x15b3", device), subsystem=("0x15b3", "0x0008"),
              pci_class="0x020000", numa_node=int(str(host.files[f"{parent}/numa_node"])),
              local_cpus=str(host.files[f"{parent}/local_cpulist"]))  # fmt: skip
    host.links[f"{path}/physfn"] = parent
    host.links[f"{parent}/virtfn{index}"] = path
    if driver:
        bind(host, address, driver)


def bind(host: Host, address: str, driver: str) -> None:
    """Bind a function to a driver, as its `bind` file does."""
    path = host.links[f"{DEVICES}/{address}"]
    folder = f"/sys/bus/pci/drivers/{driver}"
    before = host.links.get(f"{path}/driver")
    if before:
        host.links.pop(f"{before}/{address}")
    host.links[f"{path}/driver"] = folder
    host.links[f"{folder}/{address}"] = path
    host.put(folder, bind="")
    own = [line for line in str(host.files[f"{path}/uevent"]).split("\n") if "DRIVER=" not in line]
    host.files[f"{path}/uevent"] = "\n".join((f"DRIVER={driver}", *own))


def set_read_request(host: Host, address: str, size_bytes: int) -> None:
    """`setpci -s ADDRESS 68.w=…`: the first digit of device control."""
    path = f"{host.links[f'{DEVICES}/{address}']}/config"
    config = bytearray(_bytes(host, path))
    config[EXPRESS_AT + 9] = config[EXPRESS_AT + 9] & 0x8F | SIZES.index(size_bytes) << 4
    host.files[path] = bytes(config)


def _bytes(host: Host, path: str) -> bytes:
    content = host.files[path]
    if not isinstance(content, bytes):
        raise TypeError(path)
    return content


def _function(
    host: Host,
    address: str,
    path: str,
    *,
    ids: tuple[str, str],
    subsystem: tuple[str, str],
    pci_class: str,
    numa_node: int,
    local_cpus: str,
) -> None:
    host.links[f"{DEVICES}/{address}"] = path
    host.put(
        path,
        vendor=ids[0],
        device=ids[1],
        subsystem_vendor=subsystem[0],
        subsystem_device=subsystem[1],
        revision="0x00",
        numa_node=numa_node,
        local_cpulist=local_cpus,
    )
    host.files[f"{path}/class"] = pci_class
    host.put(path, driver_override="(null)")
    vendor, device, of, card = (word[2:].upper() for word in (*ids, *subsystem))
    host.files[f"{path}/uevent"] = (
        f"PCI_CLASS={int(pci_class, 16):X}\nPCI_ID={vendor}:{device}\n"
        f"PCI_SUBSYS_ID={of}:{card}\nPCI_SLOT_NAME={address}"
    )


def _link(
    host: Host, path: str, lanes: int, max_lanes: int, gt_per_s: float, max_gt_per_s: float
) -> None:
    host.put(
        path,
        current_link_width=lanes,
        max_link_width=max_lanes,
        current_link_speed=f"{gt_per_s} GT/s PCIe",
        max_link_speed=f"{max_gt_per_s} GT/s PCIe",
        aer_dev_correctable=AER,
        aer_dev_nonfatal=AER_NONFATAL,
        aer_dev_fatal=AER_FATAL,
    )


def _config(
    host: Host,
    path: str,
    port_type: int,
    max_lanes: int,
    max_gt_per_s: float,
    most_payload_bytes: int,
    payload_bytes: int,
    read_request_bytes: int,
    is_root: bool,
) -> None:
    """Lay a configuration space out after the PCI Express Base Specification 5.0, section 7.5."""
    config = bytearray(4096)
    for at, name in ((0x00, "vendor"), (0x02, "device")):
        config[at : at + 2] = int(str(host.files[f"{path}/{name}"]), 16).to_bytes(2, "little")
    config[0x04:0x08] = bytes((0x46, 0x05, 0x10, 0x00))
    config[0x0E] = 0x01 if port_type == ROOT_PORT else 0x80
    config[0x34] = EXPRESS_AT
    control = 0x0110 | SIZES.index(payload_bytes) << 5 | SIZES.index(read_request_bytes) << 12
    capable = SPEEDS.index(max_gt_per_s) + 1 | max_lanes << 4
    for at, size, value in (
        (0x00, 1, 0x10),
        (0x02, 2, port_type << 4 | 2 | (SLOT_IMPLEMENTED if port_type == ROOT_PORT else 0)),
        (0x04, 4, 0x11E08FC0 | SIZES.index(most_payload_bytes)),
        (0x08, 2, control),
        (0x0C, 4, capable),
        (0x10, 2, 0x0008),
    ):
        config[EXPRESS_AT + at : EXPRESS_AT + at + size] = value.to_bytes(size, "little")
    # Advanced error reporting, then access control services at 0x148.
    config[0x100:0x104] = (0x0001 | 2 << 16 | 0x148 << 20).to_bytes(4, "little")
    config[0x148:0x14C] = (0x000D | 1 << 16).to_bytes(4, "little")
    config[0x14C:0x150] = bytes((0x5F, 0x00, 0x01, 0x00))
    host.files[f"{path}/config"] = bytes(config if is_root else config[:64])


def remove_virtual_functions(host: Host, pf: str) -> None:
    """`echo 0 | tee …/sriov_numvfs`."""
    parent = host.links[f"{DEVICES}/{pf}"]
    for link in [link for link in host.links if link.startswith(f"{parent}/virtfn")]:
        path = host.links.pop(link)
        address = path.rpartition("/")[2]
        host.links.pop(f"{host.links[f'{path}/driver']}/{address}")
        for own in [own for own in host.links if own.startswith(f"{path}/")]:
            del host.links[own]
        for file in [file for file in host.files if file.startswith(f"{path}/")]:
            del host.files[file]
        del host.links[f"{DEVICES}/{address}"]
    host.put(parent, sriov_numvfs=0)
