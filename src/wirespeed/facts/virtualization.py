"""Whether this host is a guest, and of what; whether it is a container."""

from dataclasses import dataclass
from typing import ClassVar, Self

from wirespeed.facts.cpu import Cpus
from wirespeed.model.capture import NOT_FOUND_RETURNCODE, Capture, Files
from wirespeed.model.fact import Fact
from wirespeed.model.observed import Absent, Known, Observed, Unreadable

ATTRIBUTES = ("type", "sys_vendor", "product_name", "container", ".dockerenv", ".containerenv")
DMI = "/sys/class/dmi/id"
VENDORS = {
    "QEMU": "kvm", "Red Hat": "kvm", "Amazon EC2": "amazon", "Google": "google",
    "VMware, Inc.": "vmware", "innotek GmbH": "oracle", "Xen": "xen",
    "Microsoft Corporation": "microsoft", "OpenStack Foundation": "kvm", "KubeVirt": "kvm",
    "Nutanix": "kvm", "DigitalOcean": "kvm", "Hetzner": "kvm", "Parallels": "parallels",
}  # fmt: skip
"""What stands in DMI, and systemd's word for it (src/basic/virt.c)."""
UNNAMED = "an unnamed hypervisor"


@dataclass(frozen=True, slots=True)
class Virtualization(Fact):
    """What lies between this kernel and the hardware."""

    guest_of: Observed[str]
    """`kvm`, `microsoft`, `vmware`, `wsl`, in systemd-detect-virt's words; Absent: bare metal."""
    container: Observed[str]
    """`docker`, `lxc`, as systemd or the container's manager says; Absent: none is known of."""

    script: ClassVar[str] = f"""\
show virtualization - grep -H '' /sys/hypervisor/type {DMI}/sys_vendor {DMI}/product_name \\
	/run/systemd/container /.dockerenv /run/.containerenv
run detect-virt - systemd-detect-virt --vm
"""

    @property
    def is_guest(self) -> Observed[bool]:
        """Whether a hypervisor runs this kernel."""
        if isinstance(self.guest_of, Absent):
            return Known(False, self.guest_of.source)
        if isinstance(self.guest_of, Known):
            return Known(True, self.guest_of.source)
        return self.guest_of

    @classmethod
    def parse(cls, capture: Capture) -> Self:
        """Read the small files, what systemd-detect-virt says, and the CPU's hypervisor flag."""
        files = capture.files("virtualization", ATTRIBUTES)
        return cls(_guest_of(capture, files), _container(files))


def _guest_of(capture: Capture, files: Files) -> Observed[str]:
    source = "systemd-detect-virt --vm"
    section = capture.section("detect-virt")
    said = section.output.strip() if section else ""
    if section and section.returncode is not None and section.returncode < NOT_FOUND_RETURNCODE:
        if said == "none":
            return Absent(source, "bare metal")
        if said.isascii() and said.replace("-", "").isalnum():
            return Known(said, source)
    hypervisor = files["/sys/hypervisor/type"]
    if isinstance(hypervisor, Known) and hypervisor.value:
        return hypervisor
    vendor = files[f"{DMI}/sys_vendor"]
    flags = Cpus.parse(capture).flags
    if isinstance(flags, Known) and flags.source.endswith("/proc/cpuinfo"):
        source = "grep -c hypervisor /proc/cpuinfo"
        if "hypervisor" in flags.value:
            return _of_vendor(vendor, source)
        if isinstance(vendor, Known) and vendor.value not in VENDORS:
            return Absent(source, "bare metal")
    return Unreadable("neither systemd-detect-virt nor the CPU's flags could be read", source)


def _of_vendor(vendor: Observed[str], source: str) -> Observed[str]:
    """The CPU says that it is a guest's; DMI, where there is any, says whose."""
    if isinstance(vendor, Known):
        for name, word in VENDORS.items():
            if vendor.value.startswith(name):
                return Known(word, vendor.source)
    return Known(UNNAMED, source)


def _container(files: Files) -> Observed[str]:
    named = files["/run/systemd/container"]
    if isinstance(named, Known) and named.value:
        return named
    for path, word in (("/.dockerenv", "docker"), ("/run/.containerenv", "podman")):
        # An empty file: `grep` prints nothing for it, and no error.
        if isinstance(files[path], Known):
            return Known(word, f"ls {path}")
    return named
