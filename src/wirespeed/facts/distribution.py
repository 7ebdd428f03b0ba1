"""What a host's distribution calls packages, and the unit that runs Open vSwitch there. Pure."""

from dataclasses import dataclass
from typing import Literal, TypeAlias

from wirespeed.facts.installed import Installed
from wirespeed.facts.kernel import Kernel
from wirespeed.model.command import Command
from wirespeed.model.fact import HostFacts
from wirespeed.model.observed import Known

SwitchUnit: TypeAlias = Literal["openvswitch-switch.service", "openvswitch.service"]
"""Of Debian and Ubuntu; of Red Hat and SUSE."""
IrqbalanceFile: TypeAlias = Literal["/etc/default/irqbalance", "/etc/sysconfig/irqbalance"]
SWITCH_UNITS: tuple[SwitchUnit, ...] = ("openvswitch-switch.service", "openvswitch.service")
RED_HATS = ("Red Hat", "CentOS", "Rocky", "AlmaLinux", "Fedora", "Oracle Linux")
SUSES = ("SUSE", "openSUSE")


@dataclass(frozen=True, slots=True)
class Distribution:
    """Names of packages; no name: it has none that would do."""

    install: str
    switch: str
    switch_with_dpdk: str
    qemu: str
    libvirt: str
    """virsh, and the daemon that it asks."""
    unit: SwitchUnit
    """Of systemd, that runs Open vSwitch."""
    irqbalance: IrqbalanceFile
    """Settings of irqbalance, which its unit reads."""


DEBIAN = Distribution(
    "apt install", "openvswitch-switch", "openvswitch-switch-dpdk", "qemu-system-x86",
    "libvirt-daemon-system libvirt-clients", "openvswitch-switch.service",
    "/etc/default/irqbalance",
)  # fmt: skip
"""And Ubuntu: two builds, and an alternative that chooses one."""
RED_HAT = Distribution(
    "dnf install", "openvswitch", "openvswitch", "", "libvirt-daemon-kvm libvirt-client",
    "openvswitch.service", "/etc/sysconfig/irqbalance",
)  # fmt: skip
"""One build, with DPDK. Its qemu-kvm has no disk made of a folder (vvfat), and no emulated CPU."""
SUSE = Distribution(
    "zypper install", "openvswitch", "openvswitch", "qemu-x86",
    "libvirt-daemon-qemu libvirt-client", "openvswitch.service", "/etc/sysconfig/irqbalance",
)  # fmt: skip


def distribution_of(host: HostFacts) -> Distribution:
    """Give the distribution by what os-release says; one that is not known has Debian's names."""
    name = host[Kernel].distribution
    said = name.value if isinstance(name, Known) else ""
    if said.startswith(RED_HATS):
        return RED_HAT
    return SUSE if said.startswith(SUSES) else DEBIAN


def switch_unit_of(host: HostFacts) -> SwitchUnit | None:
    """Give the unit that restarts Open vSwitch there; None: systemd has none.

    A capture of a former version does not list the units: the distribution's name is used.
    """
    units = host[Installed].units
    if isinstance(units, Known):
        for unit in SWITCH_UNITS:
            if unit in units.value:
                return unit
        return None
    return distribution_of(host).unit


def switch_restart(host: HostFacts) -> tuple[Command, ...]:
    """Give the command that restarts Open vSwitch there; none where systemd does not run it."""
    unit = switch_unit_of(host)
    return (Command(argv=("systemctl", "restart", unit)),) if unit else ()


def build_shown(host: HostFacts) -> tuple[Command, ...]:
    """Give what shows which build of the daemon runs: of two, or that of the one package."""
    if distribution_of(host) is DEBIAN:
        return (Command(argv=("update-alternatives", "--display", "ovs-vswitchd")),)
    return (Command(argv=("ovs-vswitchd", "--version")),)
