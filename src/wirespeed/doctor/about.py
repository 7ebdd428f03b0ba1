"""The few lines at the head of an answer: which host it is about, and which cards. Pure."""

from collections.abc import Callable
from functools import partial

from wirespeed.catalog import platform_of, platforms
from wirespeed.facts.cpu import Cpus
from wirespeed.facts.firmware_driver import DriverOrigin
from wirespeed.facts.kernel import Kernel
from wirespeed.facts.link import Links
from wirespeed.facts.pci import Pci
from wirespeed.facts.ports import Ports
from wirespeed.facts.virtualization import UNNAMED, Virtualization
from wirespeed.facts.virtualization_wsl import Wsl
from wirespeed.model.fact import HostFacts
from wirespeed.model.observed import Absent, CannotTellError, Known, Observed
from wirespeed.model.port import Port
from wirespeed.model.question import Question
from wirespeed.model.shown import shown

CANNOT_TELL = "cannot tell"
MAX_PORTS = 16
"""A host with more is described by its first ones."""


def describe(host: HostFacts, question: Question) -> tuple[tuple[str, str], ...]:
    """Give label and value of each line; what could not be read says *cannot tell*."""
    own = platform_of(host.capture)
    lines: list[tuple[str, str]] = []
    if own.is_usual:
        lines += [
            ("system", _guarded(_system, host)),
            ("runs on", _guarded(_runs_on, host)),
            ("CPU", _guarded(_cpu, host)),
            ("driver", _guarded(lambda of: of[DriverOrigin].runs, host)),
        ]
    for platform in platforms():
        lines += platform.about(host, question)
    try:
        ports = host[Ports].ports
    except CannotTellError:
        ports = ()
    lines += [(port.name, _guarded(partial(_port, port), host)) for port in ports[:MAX_PORTS]]
    if len(ports) > MAX_PORTS:
        lines.append(("ports", f"{len(ports) - MAX_PORTS} more"))
    for platform in platforms():
        lines += platform.about_ports(host, question)
    return tuple((shown(label), shown(value)) for label, value in lines if value)


def _guarded(line: Callable[[HostFacts], str], host: HostFacts) -> str:
    try:
        return line(host)
    except CannotTellError:
        return CANNOT_TELL


def _system(host: HostFacts) -> str:
    kernel = host[Kernel]
    return f"{_value(kernel.distribution)}, kernel {_value(kernel.release)}"


def _runs_on(host: HostFacts) -> str:
    virtualization, wsl = host[Virtualization], host[Wsl]
    guest_of = virtualization.guest_of
    if isinstance(wsl.version, Known):
        mode = wsl.networking_mode
        network = f"{mode.value} networking" if isinstance(mode, Known) else "networking unknown"
        text = f"Windows, as WSL {wsl.version.value}, {network}"
    elif isinstance(guest_of, Absent):
        text = "bare metal"
    elif isinstance(guest_of, Known):
        text = guest_of.value if guest_of.value == UNNAMED else f"a hypervisor: {guest_of.value}"
    else:
        text = CANNOT_TELL
    if isinstance(virtualization.container, Known):
        text += f", in a container ({virtualization.container.value})"
    return text


def _cpu(host: HostFacts) -> str:
    cpus = host[Cpus]
    parts = [cpus.model_name.value] if isinstance(cpus.model_name, Known) else []
    if not cpus.by_number:
        return ", ".join(parts) or CANNOT_TELL
    try:
        parts.append(_count(cpus.cores(), "core"))
    except CannotTellError:
        parts.append("cores unknown")
    parts.append(_count(len(cpus.by_number), "CPU"))
    if isinstance(cpus.nodes, Known):
        parts.append(_count(len(cpus.nodes.value), "NUMA node"))
    clocks = [cpu.max_hz.value for cpu in cpus.by_number.values() if isinstance(cpu.max_hz, Known)]
    if clocks:
        parts.append(f"up to {max(clocks) / 1e9:.2f} GHz")
    elif isinstance(cpus.current_hz, Known):
        parts.append(f"{cpus.current_hz.value / 1e9:.2f} GHz")
    return ", ".join(parts)


def _port(port: Port, host: HostFacts) -> str:
    parts = [port.driver or "no driver"]
    if port.pci_address is not None:
        function = host[Pci].functions.get(port.pci_address)
        if (
            function is not None
            and isinstance(function.vendor, Known)
            and isinstance(function.device, Known)
        ):
            parts.append(f"{function.vendor.value:04x}:{function.device.value:04x}")
        parts.append(f"at {port.pci_address}")
    link = host[Links].by_netdev.get(port.netdev or "")
    if link is not None and isinstance(link.link_bps, Known):
        parts.append(f"{link.link_bps.value / 1e9:g} Gb/s")
    return ", ".join(parts)


def _count(number: int, what: str) -> str:
    return f"{number} {what}{'s' if number != 1 else ''}"


def _value(observed: Observed[str]) -> str:
    return observed.value if isinstance(observed, Known) else CANNOT_TELL
