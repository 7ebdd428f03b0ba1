"""How a host's distribution calls what an approach needs, and what it lacks. Pure."""

from dataclasses import dataclass

from wirespeed.facts.installed import Installed
from wirespeed.facts.kernel import Kernel
from wirespeed.facts.ovs import Ovs
from wirespeed.model.error import InputError
from wirespeed.model.fact import HostFacts
from wirespeed.model.observed import Known
from wirespeed.model.spec.guests import GuestKind
from wirespeed.steps.ovs_config import SwitchUnit

RED_HATS = ("Red Hat", "CentOS", "Rocky", "AlmaLinux", "Fedora", "Oracle Linux")
SUSES = ("SUSE", "openSUSE")


@dataclass(frozen=True, slots=True)
class Distribution:
    """Names of packages; no name: it has none that would do."""

    install: str
    switch: str
    switch_with_dpdk: str
    qemu: str


DEBIAN = Distribution(
    "apt install", "openvswitch-switch", "openvswitch-switch-dpdk", "qemu-system-x86"
)
"""And Ubuntu: two builds, and an alternative that chooses one."""
RED_HAT = Distribution("dnf install", "openvswitch", "openvswitch", "")
"""One build, with DPDK. Its qemu-kvm has no disk made of a folder (vvfat), and no emulated CPU."""
SUSE = Distribution("zypper install", "openvswitch", "openvswitch", "qemu-x86")


def distribution_of(host: HostFacts) -> Distribution:
    """Give the distribution by what os-release says; one that is not known has Debian's names."""
    name = host[Kernel].distribution
    said = name.value if isinstance(name, Known) else ""
    if said.startswith(RED_HATS):
        return RED_HAT
    return SUSE if said.startswith(SUSES) else DEBIAN


def switch_unit(host: HostFacts, name: str) -> SwitchUnit:
    """Give the unit that restarts Open vSwitch there. Raises InputError `spec.no_switch_unit`."""
    units = host[Installed].units
    if not isinstance(units, Known) or "openvswitch-switch.service" in units.value:
        # A capture of a former version does not tell: it is looked at, and nothing is done by it.
        return "openvswitch-switch.service"
    if "openvswitch.service" in units.value:
        return "openvswitch.service"
    raise InputError(
        "spec.no_switch_unit",
        where=name,
        found="Open vSwitch answers, and systemd has neither openvswitch-switch.service nor "
        "openvswitch.service",
        so="it is to be restarted, and what started it is not known",
        next="run Open vSwitch from the distribution's package: "
        f"{distribution_of(host).install} {distribution_of(host).switch}",
    )


def require_dpdk(host: HostFacts, name: str) -> None:
    """Raise InputError `spec.no_dpdk` where the one build of the switch has no DPDK."""
    version = host[Ovs].dpdk_version
    if isinstance(version, Known) and version.value == "none":
        raise InputError(
            "spec.no_dpdk",
            where=name,
            found=f"this Open vSwitch was built without DPDK ({version.source})",
            so="no port of DPDK could be made",
            next=f"{distribution_of(host).install} {distribution_of(host).switch_with_dpdk}, in a "
            "build with DPDK",
        )


def require_programs(host: HostFacts, name: str, guest: str, kind: GuestKind) -> None:
    """Raise InputError `spec.no_program` where the host cannot run such a virtual machine."""
    programs = host[Installed].programs
    if not isinstance(programs, Known):
        return
    needed = {GuestKind.QEMU: ("qemu-system-x86_64",), GuestKind.LIBVIRT: ("virsh", "xorriso")}
    missing = [one for one in needed.get(kind, ()) if one not in programs.value]
    if not missing:
        return
    where = distribution_of(host)
    packages = where.qemu if kind is GuestKind.QEMU else f"libvirt-clients {' '.join(missing)}"
    if kind is GuestKind.QEMU and not packages:
        next_step = f"kind: {GuestKind.LIBVIRT}; this distribution's qemu-kvm lacks what we use"
    else:
        next_step = f"{where.install} {packages}, on {name}"
    raise InputError(
        "spec.no_program",
        where=f"guest {guest}",
        found=f"{name} has no {', '.join(missing)}",
        so=f"a guest of kind {kind} could not be started there",
        next=next_step,
    )
