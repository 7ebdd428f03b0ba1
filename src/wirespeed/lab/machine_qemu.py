"""The command line of QEMU for one host of a lab. Pure.

q35 with an IOMMU; each card behind a root port of its own (function 1 of QEMU's cards with several
is not found); an uncompressed kernel, so that no emulated CPU has to unpack it.
"""

from pathlib import Path

from wirespeed.lab.machine_spec import PORTS, SPEEDS, MachineSpec
from wirespeed.model.frozen import Frozen

PROGRAM = "qemu-system-x86_64"
KERNEL_LINE = (
    "console=ttyS0 quiet loglevel=4 panic=-1 intel_iommu=on iommu=pt systemd.show_status=false"
)
STRICT_KERNEL_LINE = KERNEL_LINE.replace("iommu=pt", "iommu.strict=1 pci=realloc")
"""For a card whose accesses are to be checked: what the driver took back is a fault at once."""
MODEL_LANES, MODEL_SPEED = 16, 3
"""Of the modelled ConnectX; the speed as PCI Express codes it, 3 for 8 GT/s."""
FW_CFG = "opt/wirespeed"
"""Where the host finds its name and keys; machine_init.sh reads it."""
CONTROL = "lab"
"""QEMU's name of the network that ssh comes by."""


class Cable(Frozen):
    """Ends of one port's cable: Unix datagram sockets."""

    local: Path
    remote: Path


class MachineFiles(Frozen):
    """Files that one host is started with."""

    image: Path
    """Folder of `vmlinux`, `initramfs`, `root.erofs`."""
    console: Path
    control: Path
    """Socket of QMP."""
    host_key: Path
    authorized_keys: Path
    systemd: Path
    """What process 1 reads where it is to become systemd."""
    disk: Path
    """Used where the host has one."""
    report: Path
    """Where a modelled card tells what it was asked and does not know."""
    flash: Path
    """Where a modelled card keeps its firmware's settings."""
    cables: tuple[Cable, ...]


def qemu_argv(
    machine: MachineSpec, number: int, files: MachineFiles, *, uuid: str, kvm: bool
) -> list[str]:
    """Give the whole command; `number` counts the hosts of the lab and is part of its MACs."""
    line = STRICT_KERNEL_LINE if machine.card == "mlx5" else KERNEL_LINE
    argv = [
        *(PROGRAM, "-name", machine.name, "-nodefaults", "-no-user-config", "-display", "none"),
        *("-machine", "q35", "-uuid", uuid, "-m", str(machine.memory_mib)),
        *("-smp", str(machine.cpus)),
        *(("-accel", "kvm", "-cpu", "host") if kvm else ("-accel", "tcg", "-cpu", "max")),
        *("-device", "intel-iommu,intremap=on"),
        *("-kernel", str(files.image / "vmlinux"), "-initrd", str(files.image / "initramfs")),
        *("-append", " ".join((line, *machine.kernel_parameters))),
        "-drive",
        f"if=none,id=root,file={_quoted(files.image / 'root.erofs')},format=raw,readonly=on",
        *("-device", "virtio-blk-pci,drive=root"),
        *("-chardev", f"file,id=console,path={_quoted(files.console)}"),
        *("-serial", "chardev:console"),
        *("-qmp", f"unix:{_quoted(files.control)},server=on,wait=off"),
        # Port 0: the kernel picks a free one. The host itself cannot get out.
        *("-netdev", f"user,id={CONTROL},restrict=on,ipv6=off,hostfwd=tcp:127.0.0.1:0-:22"),
        *("-device", f"virtio-net-pci,netdev={CONTROL},romfile=,mac={mac(number, 255)}"),
        *("-fw_cfg", f"name={FW_CFG}/name,string={machine.name}"),
        *("-fw_cfg", f"name={FW_CFG}/host_key,file={_quoted(files.host_key)}"),
        *("-fw_cfg", f"name={FW_CFG}/authorized_keys,file={_quoted(files.authorized_keys)}"),
    ]
    if machine.systemd:
        argv += ["-fw_cfg", f"name={FW_CFG}/systemd,file={_quoted(files.systemd)}"]
    if machine.mstflint:
        argv += ["-fw_cfg", f"name={FW_CFG}/mstflint,string=yes"]
    if kvm:
        # Without it, KVM and the IOMMU's interrupt remapping exclude each other.
        argv[argv.index("q35")] = "q35,kernel-irqchip=split"
    # The VFs of a ConnectX want more address space behind a root port than QEMU sets aside.
    above = ",pref64-reserve=128M" if machine.card == "mlx5" else ""
    kept = f",report={_quoted(files.report)},flash={_quoted(files.flash)}"
    own = kept if machine.card == "mlx5" else ""
    if machine.card == "mlx5":
        # The model says what it is told that its link trained at: QEMU trains its own cards alone.
        lanes = min(MODEL_LANES, machine.root_port_lanes or MODEL_LANES)
        generation = min(MODEL_SPEED, list(SPEEDS).index(machine.root_port_gts or "8") + 1)
        own += f",lanes={lanes},gts={generation}"
    if machine.root_port_lanes is not None:
        above += f",x-width={machine.root_port_lanes}"
    if machine.root_port_gts is not None:
        above += f",x-speed={SPEEDS[machine.root_port_gts]}"
    for port, cable in enumerate(files.cables):
        # Ports of a ConnectX are functions of one card: elsewhere it would not join them to a LAG.
        slot = 0 if machine.card == "mlx5" else port
        if slot == port:
            bridge = f"pcie-root-port,id=slot{slot},chassis={slot + 1},slot={slot + 1}{above}"
            argv += ["-device", bridge]
        at = f",addr=0.{port},multifunction=on" if machine.card == "mlx5" else ""
        argv += [
            "-netdev",
            f"dgram,id={netdev(port)},local.type=unix,local.path={_quoted(cable.local)},"
            f"remote.type=unix,remote.path={_quoted(cable.remote)}",
            "-device",
            f"{machine.card},id={card(port)},bus=slot{slot},netdev={netdev(port)},romfile=,"
            f"mac={mac(number, port)}{own}{at}",
        ]
    if machine.disk:
        # The last one, so that no other device moves to another slot.
        disk = f"if=none,id=disk,file={_quoted(files.disk)},format=raw,discard=unmap"
        argv += ["-drive", disk, "-device", "virtio-blk-pci,drive=disk"]
        argv += ["-fw_cfg", f"name={FW_CFG}/disk,string=yes"]
    return argv


def mac(number: int, port: int) -> str:
    """Address of a port, locally administered."""
    return f"02:00:00:{number:02x}:00:{port:02x}"


def netdev(port: int) -> str:
    """QEMU's name of the cable's end at a port."""
    return f"cable{port}"


def card(port: int) -> str:
    """QEMU's name of the card, which `set_link` takes."""
    if not 0 <= port < PORTS:
        raise ValueError(f"no port {port}")
    return f"card{port}"


def _quoted(path: Path) -> str:
    """As QEMU's options want it: a comma is doubled."""
    return str(path).replace(",", ",,")
