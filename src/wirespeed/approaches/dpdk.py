"""A tester and a device under test: both hosts' ports given to DPDK, their settings as a report's.

On each host, in this order: parameters of its kernel, which wait for a reboot; sysctls, clock,
interrupts; on each port pause and the size of read requests; hugepages; then its ports leave the
kernel for vfio-pci, or stay with a driver that DPDK works beside (mlx5), and get their MTU. With
`use_vfs` a port stays with the kernel, and a VF of it goes to vfio-pci.

Not proven on hardware. On virtual hosts with `igb`: pages, ports, a forwarder, and back.
"""

from collections.abc import Iterator

from wirespeed.approaches.dpdk_vfs import longest_payload, vf_binding, vf_steps
from wirespeed.approaches.host_ports import (
    mtu_steps,
    netdev_of,
    port_of,
    require_iommu,
    whole_port_of,
)
from wirespeed.approaches.polling_cores import polling_cores
from wirespeed.approaches.traits import ApproachTraits, Between, Proven, RequestedStep
from wirespeed.facts.cpu import Cpus
from wirespeed.facts.cpu_list import cpu_list_text
from wirespeed.facts.cpu_power import CpuPower
from wirespeed.facts.cpu_realtime import FAIR_NS, FAIR_SERVER, FAIR_SERVERS, RealtimeThreads
from wirespeed.facts.distribution import distribution_of
from wirespeed.facts.interrupts import Interrupts
from wirespeed.facts.kernel import Kernel
from wirespeed.facts.kernel_boot import boot_remedy
from wirespeed.facts.locality import node_of_port
from wirespeed.model.error import InputError
from wirespeed.model.fact import HostFacts
from wirespeed.model.observed import Absent, Known, known, value_or_none
from wirespeed.model.spec.dpdk import PortDriver, ProfileSpec
from wirespeed.model.spec.members import Dpdk
from wirespeed.model.step import Step
from wirespeed.steps.cpu_governor import CpuGovernor
from wirespeed.steps.dpdk_port import DpdkPort
from wirespeed.steps.hugepages import Hugepages
from wirespeed.steps.irq_affinity import IrqAffinity
from wirespeed.steps.irqbalance import Irqbalance
from wirespeed.steps.irqbalance_banned import IrqbalanceBanned
from wirespeed.steps.kernel_arguments import KernelArguments
from wirespeed.steps.kernel_command_line import KernelCommandLine
from wirespeed.steps.kernel_switch import KernelSwitch
from wirespeed.steps.module import Module
from wirespeed.steps.mtu import ETHERNET
from wirespeed.steps.pause import Pause
from wirespeed.steps.read_request import ReadRequest
from wirespeed.steps.sysctl import Sysctl

MANAGED_IRQ = (5, 6)
"""Linux from which isolcpus= knows the flag; one before drops the whole option for it."""
DOMAIN = (4, 15)
"""Linux from which it knows flags at all (admin-guide/kernel-parameters.txt)."""
NAME = "dpdk"
"""Of GRUB's drop-in."""
UNTHROTTLED, THROTTLED = "-1", "950000"


def dpdk(spec: Dpdk, name: str, host: HostFacts) -> Iterator[RequestedStep]:
    """Give the steps of the host `name`.

    Raises InputError `spec.*` where the host has no such port or CPU, CannotTellError where what a
    step would follow is not known.
    """
    polling_cores(spec, name, host)
    takes = spec.dpdk.driver is PortDriver.VFIO_PCI and not spec.hosts[name].use_vfs
    for address in spec.hosts[name].ports if takes else ():
        whole_port_of(host, name, address)
    if spec.dpdk.driver is PortDriver.VFIO_PCI:
        require_iommu(name, host, parameters=boot_parameters(spec, name, host))
    yield from map(RequestedStep, _boot(spec, name, host))
    yield from map(RequestedStep, _settings(spec.profile, host))
    if spec.profile.rt_throttling is not None:
        cores = polling_cores(spec, name, host)
        yield from map(RequestedStep, _served(spec.profile.rt_throttling, name, host, cores))
    if spec.profile.ban_cores:
        yield RequestedStep(_banned(spec.hosts[name].cores or "", host))
    for address in spec.hosts[name].ports:
        yield from map(RequestedStep, _port(spec.profile, name, host, address))
        if spec.profile.interrupts is not None:
            yield RequestedStep(_moved(spec, name, host, address))
        if spec.hosts[name].use_vfs:
            yield from vf_steps(spec, name, host, address)
    node = value_or_none(node_of_port(host, port_of(host, name, spec.hosts[name].ports[0])))
    pages = spec.dpdk.hugepages
    yield RequestedStep(Hugepages(page_kib=pages.page_kib, numa_node=node, count=pages.count))
    if spec.dpdk.driver is PortDriver.KERNEL:
        yield from _mtus(spec, name, host)
        return
    # Both come with vfio-pci, and modprobe -r of that does not take them away.
    yield RequestedStep(Module(name="vfio", reason="lets a program have a device of its own"))
    yield RequestedStep(Module(name="vfio-pci", reason="hands a port to DPDK, behind the IOMMU"))
    yield RequestedStep(Module(name="vfio_iommu_type1", reason="maps DPDK's memory for the port"))
    for address in spec.hosts[name].ports:
        if spec.hosts[name].use_vfs:
            yield vf_binding(host, address)
            continue
        netdev = port_of(host, name, address).netdev
        yield RequestedStep(DpdkPort(pci_address=address, netdev=netdev))


def boot_parameters(spec: Dpdk, name: str, host: HostFacts) -> tuple[str, ...]:
    """Give what the host's kernel is to be booted with, isolation as that kernel reads it."""
    profile, cores = spec.profile, spec.hosts[name].cores
    found = list(profile.kernel_parameters)
    if profile.isolate and cores is not None:
        text = cpu_list_text(frozenset(map(int, cores.split(","))))
        flags = isolation_flags(host[Kernel])
        found += [f"isolcpus={flags}{text}", f"nohz_full={text}", f"rcu_nocbs={text}"]
    return tuple(found)


def isolation_flags(kernel: Kernel) -> str:
    """Give the flags of isolcpus= that this kernel knows; a release that is not known is new."""
    release = kernel.version()
    if not isinstance(release, Known) or release.value >= MANAGED_IRQ:
        return "managed_irq,domain,"
    return "domain," if release.value >= DOMAIN else ""


def _boot(spec: Dpdk, name: str, host: HostFacts) -> Iterator[Step]:
    parameters = boot_parameters(spec, name, host)
    if not parameters:
        return
    remedy = boot_remedy(host[Kernel], "boot as a forwarder", NAME, " ".join(parameters))
    if not remedy.steps:
        raise InputError(
            "spec.boot_loader",
            where=name,
            found="GRUB was not found on this host, did not start its kernel, or the distribution "
            "is not known",
            so=f"wirespeed cannot set the kernel's command line: {' '.join(parameters)}",
            next="set it in this host's boot loader, and leave `kernel_parameters` and `isolate` "
            "out of the spec",
        )
    why = "The cores that forward do nothing else, and memory and clock are as they shall be."
    if remedy.steps[0].kind == "kernel_arguments":
        yield KernelArguments(parameters=parameters, reason=why)
    else:
        yield KernelCommandLine(name=NAME, parameters=parameters, reason=why)


def _settings(profile: ProfileSpec, host: HostFacts) -> Iterator[Step]:
    if profile.rt_throttling is not None:
        yield Sysctl(
            name="kernel.sched_rt_runtime_us",
            value=THROTTLED if profile.rt_throttling else UNTHROTTLED,
            reason="A polling thread of real-time priority is stopped for 5 % of each second, "
            "unless this is -1.",
        )
    if profile.zone_reclaim is not None:
        yield Sysctl(
            name="vm.zone_reclaim_mode",
            value="1" if profile.zone_reclaim else "0",
            reason="Freeing pages of this node first stalls who asks for one.",
        )
    if profile.swappiness is not None:
        yield Sysctl(
            name="vm.swappiness",
            value=str(profile.swappiness),
            reason="A page of the program on a disk is missing when a frame comes.",
        )
    if profile.governor is not None and (policies := sorted(host[CpuPower].policies)):
        yield CpuGovernor(policies=tuple(policies), governor=profile.governor)
    if profile.irqbalance is not None:
        yield Irqbalance(is_running=profile.irqbalance)


def _served(is_served: bool, name: str, host: HostFacts, cores: tuple[int, ...]) -> Iterator[Step]:
    """Give the fair servers of the cores that poll, since Linux 6.12.

    Since then the sysctl stops no thread where the kernel has no CONFIG_RT_GROUP_SCHED
    (`update_curr_rt`, kernel/sched/rt.c): a fair server of each CPU runs what waits behind it.
    Where none can be read, they are taken for the kernel's default, which debugfs alone changes.
    """
    release, servers = host[Kernel].version(), host[RealtimeThreads].fair_server_ns
    if not isinstance(release, Known) or release.value < FAIR_SERVERS:
        return
    missing = [core for core in cores if core not in servers]
    if missing and is_served and not servers:
        return
    if missing:
        raise InputError(
            "spec.fair_servers",
            where=f"{name} profile.rt_throttling",
            found=f"since Linux 6.12, {FAIR_SERVER}/cpu{missing[0]}/runtime limits real-time "
            "threads, and it could not be read",
            so="kernel.sched_rt_runtime_us alone would change nothing on this host",
            next="as root, mount debugfs (mount -t debugfs none /sys/kernel/debug). A kernel in "
            "lockdown (Secure Boot) opens no such file: leave `rt_throttling` out",
        )
    yield KernelSwitch(
        paths=tuple(f"{FAIR_SERVER}/cpu{core}/runtime" for core in cores),
        value=str(FAIR_NS[0]) if is_served else "0",
        reason="A fair server stops a polling thread of real-time priority for its runtime while "
        "an ordinary thread waits for the core; 0 turns it off.",
    )


def _banned(cores: str, host: HostFacts) -> Step:
    """Ban the cores that poll, and those that irqbalance leaves alone unless it is given a list."""
    path, cpus = distribution_of(host).irqbalance, host[Cpus]
    banned = frozenset(map(int, cores.split(",")))
    for left_alone in (cpus.isolated, cpus.nohz_full):
        banned |= value_or_none(left_alone) or frozenset()
    return IrqbalanceBanned(cpus=cpu_list_text(banned), path=path)


def _port(profile: ProfileSpec, name: str, host: HostFacts, address: str) -> Iterator[Step]:
    if profile.pause is not None:
        netdev = netdev_of(host, name, address)
        yield Pause(netdev=netdev, autoneg=False, rx=profile.pause, tx=profile.pause)
    if profile.max_read_request_bytes is not None:
        yield ReadRequest(
            pci_address=address, max_read_request_bytes=profile.max_read_request_bytes
        )


def _mtus(spec: Dpdk, name: str, host: HostFacts) -> Iterator[RequestedStep]:
    """Set the MTU that the program wants, so that undo gives back the one of before.

    mlx5 sets it on the kernel's netdev and leaves it so (`mlx5_dev_configure`, since DPDK 22.11.6,
    23.11.2 and 24.07); releases before that do not, and the card then drops longer frames.
    """
    for address in spec.hosts[name].ports:
        if (netdev := port_of(host, name, address).netdev) is not None:
            yield from mtu_steps(host, netdev, max(ETHERNET, longest_payload(spec)))


def _moved(spec: Dpdk, name: str, host: HostFacts, address: str) -> Step:
    """Move what a port raises as it is found; its numbers are others once its driver loads again.

    Raises InputError `spec.no_far_node`, CannotTellError.
    """
    of_port = known(host[Interrupts].of(address), f"interrupts of {address}")
    online = known(host[Cpus].online, f"CPUs of {name}")
    if spec.profile.interrupts == "far-node":
        node = node_of_port(host, port_of(host, name, address))
        if isinstance(node, Absent):
            raise InputError(
                "spec.no_far_node",
                where=f"{name}, {address}",
                found=node.reason,
                so="its interrupts cannot go to another node",
                next="profile: {interrupts: other-cores}",
            )
        near = host[Cpus].of_node(known(node, f"node of {address}"))
        cpus = online - known(near, f"CPUs near {address}")
    else:
        cpus = online - set(polling_cores(spec, name, host))
    if not cpus or not of_port:
        raise InputError(
            "spec.no_interrupts",
            where=f"{name}, {address}",
            found="it raises none now" if cpus else "no CPU is left for them",
            next="leave `profile.interrupts` out",
        )
    listed = cpu_list_text(frozenset(cpus))
    return IrqAffinity(pci_address=address, cpus={one.number: listed for one in of_port})


APPROACH = ApproachTraits(
    Dpdk,
    dpdk,
    Proven(
        Between.FORWARDER,
        no_switch="DPDK drives the ports: frames pass no switch of the host",
    ),
)
