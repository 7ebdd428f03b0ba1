"""What a DPDK program must be told so that it finds its port, its memory and its CPUs."""

import re
from pathlib import Path

from wirespeed.model.frozen import Frozen

VDEVS = ("net_", "own_memif")
"""Prefixes of devices without a card, which the tester opens on request."""
_PCI_ADDRESS = re.compile(r"^[0-9a-fA-F]{4,}:[0-9a-fA-F]{2}:[0-9a-fA-F]{2}\.[0-7](,|$)")


class EalSide(Frozen):
    """One program's half of a wire, or of a real link. Lcore 0 is for control, 1… for traffic."""

    devices: tuple[str, ...]
    """EAL device strings: `net_vhost0,iface=…` or `0000:3b:00.0`."""
    file_prefix: str
    runtime_folder: Path
    """Where DPDK keeps its sockets for this program: `<runtime_folder>/dpdk/<file_prefix>/`."""
    memory_mib: int
    hugepages: bool
    single_file_segments: bool = False
    """Needed by whoever offers its memory to the other end (virtio_user, memif zero copy)."""
    control_cpu: int
    worker_cpus: tuple[int, ...]
    inside: tuple[str, ...] = ()
    """Words that its command begins with, such as those that enter a network namespace."""
    is_far: bool = False
    """It runs on another host, which those words go to; they set its environment, too."""

    @property
    def environment(self) -> dict[str, str]:
        """Give what to add to the environment.

        DPDK takes RUNTIME_DIRECTORY first; without it, root gets /var/run whatever XDG says.
        """
        if self.is_far:
            return {}
        folder = str(self.runtime_folder)
        return {"RUNTIME_DIRECTORY": folder, "XDG_RUNTIME_DIR": folder}

    def arguments(self, *, memory_mib: int | None = None) -> list[str]:
        """EAL arguments except for lcores."""
        arguments = ["-m", str(memory_mib or self.memory_mib), f"--file-prefix={self.file_prefix}"]
        # 22.11 refuses --in-memory beside --no-huge; with hugepages it needs no mount and no root.
        arguments.append("--in-memory" if self.hugepages else "--no-huge")
        if self.single_file_segments:
            arguments.append("--single-file-segments")
        physical = [device for device in self.devices if _PCI_ADDRESS.match(device)]
        if not physical:
            arguments.append("--no-pci")
        for device in self.devices:
            arguments += ["-a", device] if device in physical else [f"--vdev={device}"]
        return arguments

    def lcores(self) -> str:
        """One lcore per CPU: 0 for control, then the workers, as `--lcores` takes it."""
        cpus = (self.control_cpu, *self.worker_cpus)
        return ",".join(f"{lcore}@{cpu}" for lcore, cpu in enumerate(cpus))

    def single_lcore(self) -> str:
        """For a program whose main lcore does the work, on the first worker's CPU."""
        return f"0@{self.worker_cpus[0]}"
