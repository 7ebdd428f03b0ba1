"""What an approach needs of a host's distribution; what it lacks is refused. Pure."""

from collections.abc import Collection

from wirespeed.facts.distribution import SwitchUnit, distribution_of, switch_unit_of
from wirespeed.facts.installed import Installed
from wirespeed.facts.ovs import Ovs
from wirespeed.model.error import InputError
from wirespeed.model.fact import HostFacts
from wirespeed.model.observed import Known
from wirespeed.model.spec.guests import GuestKind

KEEPS_RAW_IO_SINCE = (3, 2)
"""Open vSwitch with --hw-rawio-access."""


def switch_unit(host: HostFacts, name: str) -> SwitchUnit:
    """Give the unit that restarts Open vSwitch there. Raises InputError `spec.no_switch_unit`."""
    unit = switch_unit_of(host)
    if unit is not None:
        return unit
    raise InputError(
        "spec.no_switch_unit",
        where=name,
        found="Open vSwitch runs, but systemd has neither openvswitch-switch.service nor "
        "openvswitch.service",
        so="the plan must restart Open vSwitch, and how it was started is not known",
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
            so="no DPDK port could be created",
            next=f"{distribution_of(host).install} {distribution_of(host).switch_with_dpdk}, in a "
            "build with DPDK",
        )


def require_raw_io(host: HostFacts, name: str) -> None:
    """Raise InputError `spec.no_raw_io` where DPDK could write no rules of an embedded switch.

    Red Hat runs Open vSwitch as the user openvswitch, which gives the privilege up.
    """
    has = host[Ovs].has_raw_io
    if not isinstance(has, Known) or has.value:
        return
    unit = distribution_of(host).unit
    told = "set OVS_USER_ID=root:root"
    if (host[Ovs].release or KEEPS_RAW_IO_SINCE) >= KEEPS_RAW_IO_SINCE:
        told = "add --ovs-vswitchd-options=--hw-rawio-access to OPTIONS"
    raise InputError(
        "spec.no_raw_io",
        where=name,
        found=f"ovs-vswitchd has no CAP_SYS_RAWIO ({has.source})",
        so="DPDK's driver could not write rules of the card's embedded switch, and its port would "
        "not be created",
        next=f"{told} in /etc/sysconfig/openvswitch, then `systemctl restart {unit}`",
    )


def require_own_dpdk(host: HostFacts, name: str, ports: Collection[str]) -> None:
    """Raise InputError `spec.dpdk_in_use` where DPDK has ports of other cards than `ports`."""
    others = [
        f"{one.name} ({devargs or 'no device'})"
        for one in host[Ovs].interfaces.values()
        if one.kind == "dpdk"
        and (devargs := one.options.get("dpdk-devargs", "")).partition(",")[0] not in ports
    ]
    if not others:
        return
    raise InputError(
        "spec.dpdk_in_use",
        where=name,
        found=f"Open vSwitch has DPDK ports of other cards: {', '.join(others)[:200]}",
        so="dpdk-extra, dpdk-socket-mem and pmd-cpu-mask are of the switch as a whole: the plan's "
        "would replace theirs, and these ports would lose their card at the restart",
        next="take a host without such ports, remove them, or take approach: ovs-tc",
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
    packages_of = {"qemu-system-x86_64": where.qemu, "virsh": where.libvirt}
    packages = " ".join(packages_of.get(program, program) for program in missing)
    if kind is GuestKind.QEMU and not packages:
        next_step = (
            f"kind: {GuestKind.LIBVIRT}; this distribution's qemu-kvm lacks what wirespeed uses"
        )
    else:
        next_step = f"{where.install} {packages}, on {name}"
    raise InputError(
        "spec.no_program",
        where=f"guest {guest}",
        found=f"{name} has no {', '.join(missing)}",
        so=f"a guest of kind {kind} cannot be started there",
        next=next_step,
    )
