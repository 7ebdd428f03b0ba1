"""The XML of libvirt's domain for a virtual machine with VFs of its own. Pure.

Source: libvirt's reference "Domain XML format", and "QEMU command-line passthrough" of its driver.
"""

from xml.etree import ElementTree as ET

from wirespeed.steps.guest_machine import (
    DISK_SLOT,
    MANAGEMENT_SLOT,
    SEED_SLOT,
    GuestMachine,
    vf_slot,
)

QEMU = "http://libvirt.org/schemas/domain/qemu/1.0"
RESERVE_MIB = 1024
"""Beside the guest's memory: what QEMU itself takes, and the windows of the cards."""
DISK_BUS = 1
"""Behind the port of the disk."""


def domain_xml(machine: GuestMachine) -> str:
    """Give the domain, to be created by `virsh create`."""
    # Without the name space's usual prefix, libvirt does not see the part (virXMLNodeNameEqual).
    ET.register_namespace("qemu", QEMU)
    domain = ET.Element("domain", type="kvm")
    _text(domain, "name", machine.guest)
    _text(domain, "uuid", machine.definition_uuid)
    _memory(domain, machine)
    _cpu(domain, machine)
    _boot(domain, machine)
    _text(domain, "on_poweroff", "destroy")
    _text(domain, "on_crash", "destroy")
    devices = ET.SubElement(domain, "devices")
    _disk_port(devices)
    disk = _disk(devices, machine.image_format, machine.image, "vda", 0, bus=DISK_BUS)
    ET.SubElement(disk, "transient", shareBacking="yes")
    seed = _disk(devices, "raw", f"{machine.folder}/seed.iso", "vdb", SEED_SLOT)
    ET.SubElement(seed, "readonly")
    for number, address in enumerate(machine.vfs):
        _vf(devices, address, vf_slot(number))
    serial = ET.SubElement(devices, "serial", type="file")
    ET.SubElement(serial, "source", path=f"{machine.folder}/console")
    ET.SubElement(serial, "target", port="0")
    ET.SubElement(devices, "memballoon", model="none")
    _management(domain, machine)
    ET.indent(domain)
    return ET.tostring(domain, encoding="unicode") + "\n"


def _text(parent: ET.Element, tag: str, text: str, **attributes: str) -> ET.Element:
    child = ET.SubElement(parent, tag, attributes)
    child.text = text
    return child


def _memory(domain: ET.Element, machine: GuestMachine) -> None:
    _text(domain, "memory", str(machine.memory_mib), unit="MiB")
    backing = ET.SubElement(domain, "memoryBacking")
    if machine.hugepage_kib is not None:
        pages = ET.SubElement(backing, "hugepages")
        ET.SubElement(pages, "page", size=str(machine.hugepage_kib), unit="KiB")
        # Else libvirt wants a hugetlbfs of that size, mounted before its daemon started, and hosts
        # have one of the default size: Unable to find any usable hugetlbfs mount.
        ET.SubElement(backing, "source", type="memfd")
    # Same-page merging (KSM) reads pages again and again, and splits what it merged at a write.
    ET.SubElement(backing, "nosharepages")
    # A VF may write anywhere in the guest's memory: all of it stays where it is.
    ET.SubElement(backing, "locked")
    tune = ET.SubElement(domain, "memtune")
    _text(tune, "hard_limit", str(machine.memory_mib + RESERVE_MIB), unit="MiB")
    if machine.numa_node is not None:
        numa = ET.SubElement(domain, "numatune")
        ET.SubElement(numa, "memory", mode="strict", nodeset=str(machine.numa_node))


def _cpu(domain: ET.Element, machine: GuestMachine) -> None:
    _text(domain, "vcpu", str(machine.vcpus), placement="static")
    if machine.cpus:
        tune = ET.SubElement(domain, "cputune")
        cpus = machine.cpus.split(",")
        for number in range(machine.vcpus):
            # As many as vCPUs: each has its own, and does not move.
            own = cpus[number] if len(cpus) == machine.vcpus else machine.cpus
            ET.SubElement(tune, "vcpupin", vcpu=str(number), cpuset=own)
        ET.SubElement(tune, "emulatorpin", cpuset=machine.emulator_cpus or machine.cpus)
    ET.SubElement(domain, "cpu", mode="host-passthrough")


def _boot(domain: ET.Element, machine: GuestMachine) -> None:
    system = ET.SubElement(domain, "os")
    _text(system, "type", "hvm", arch="x86_64", machine="q35")
    if machine.kernel is not None:
        _text(system, "kernel", machine.kernel)
        if machine.initrd is not None:
            _text(system, "initrd", machine.initrd)
        if machine.append:
            _text(system, "cmdline", machine.append)
    features = ET.SubElement(domain, "features")
    # Without it the guest does not hear of its power button.
    ET.SubElement(features, "acpi")


def _disk_port(devices: ET.Element) -> None:
    """Give the disk a port: libvirt plugs it into a QEMU that runs, which pcie.0 does not take.

    Source: qemuProcessSetupDisksTransientHotplug(). QEMU: Bus 'pcie.0' does not support hotplugging
    """
    ET.SubElement(devices, "controller", type="pci", index="0", model="pcie-root")
    port = {"type": "pci", "index": str(DISK_BUS), "model": "pcie-root-port"}
    _slot(ET.SubElement(devices, "controller", port), DISK_SLOT)


def _disk(
    parent: ET.Element, form: str, path: str, name: str, slot: int, bus: int = 0
) -> ET.Element:
    disk = ET.SubElement(parent, "disk", type="file", device="disk")
    ET.SubElement(disk, "driver", name="qemu", type=form)
    ET.SubElement(disk, "source", file=path)
    ET.SubElement(disk, "target", dev=name, bus="virtio")
    _slot(disk, slot, bus)
    return disk


def _vf(devices: ET.Element, address: str, slot: int) -> None:
    """Hand a VF over; it is bound to vfio-pci already, and stays so."""
    domain, bus, rest = address.split(":")
    device, function = rest.split(".")
    hostdev = ET.SubElement(devices, "hostdev", mode="subsystem", type="pci", managed="no")
    ET.SubElement(hostdev, "driver", name="vfio")
    source = ET.SubElement(hostdev, "source")
    place = {"domain": domain, "bus": bus, "slot": device, "function": function}
    ET.SubElement(source, "address", {key: f"0x{value}" for key, value in place.items()})
    _slot(hostdev, slot)


def _slot(parent: ET.Element, slot: int, bus: int = 0) -> None:
    ET.SubElement(
        parent,
        "address",
        type="pci",
        domain="0x0000",
        bus=f"{bus:#04x}",
        slot=f"{slot:#04x}",
        function="0x0",
    )


def _management(domain: ET.Element, machine: GuestMachine) -> None:
    """A port that leads from the host's loopback to the guest's sshd, and nowhere else.

    libvirt has no element for it without `passt`: QEMU's own options.
    """
    commands = ET.SubElement(domain, f"{{{QEMU}}}commandline")
    forward = f"hostfwd=tcp:127.0.0.1:{machine.ssh_port}-:22"
    slot = f"addr={MANAGEMENT_SLOT:#x}"
    for value in (
        "-netdev",
        f"user,id=management,restrict=on,ipv6=off,{forward}",
        "-device",
        f"virtio-net-pci,netdev=management,romfile=,mac={machine.mac},bus=pcie.0,{slot}",
    ):
        ET.SubElement(commands, f"{{{QEMU}}}arg", value=value)
