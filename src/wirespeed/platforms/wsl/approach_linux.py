"""The Linux side of WSL 2: its adapter for a card of Windows, its buffers, rings and queues."""

from collections.abc import Iterator

from wirespeed.facts.kernel_tcp import TcpCounts
from wirespeed.facts.netstack import NetStack
from wirespeed.facts.ports import Ports
from wirespeed.facts.queues import Queues
from wirespeed.facts.sysctl import Sysctls
from wirespeed.facts.virtualization_wsl import Wsl
from wirespeed.model.error import InputError
from wirespeed.model.fact import HostFacts
from wirespeed.model.observed import Known, known, value_or_none
from wirespeed.model.spec.members import Wsl2
from wirespeed.model.step import Step
from wirespeed.platforms.windows.facts.windows_adapters import WindowsAdapter
from wirespeed.platforms.windows.facts.windows_behind import card_behind
from wirespeed.platforms.wsl.steps.wsl_conf import WslConf
from wirespeed.steps.file_content import FileContent
from wirespeed.steps.module import Module
from wirespeed.steps.mtu import Mtu
from wirespeed.steps.rings import Rings
from wirespeed.steps.sysctl import Sysctl
from wirespeed.steps.xps import Xps

BUFFER_BYTES = 128 << 20
SYSCTLS = {
    "net.core.wmem_max": str(BUFFER_BYTES),
    "net.core.rmem_max": str(BUFFER_BYTES),
    "net.ipv4.tcp_wmem": f"4096 87380 {BUFFER_BYTES}",
    "net.ipv4.tcp_rmem": f"4096 87380 {BUFFER_BYTES}",
    "net.core.netdev_max_backlog": "250000",
    "net.ipv4.tcp_congestion_control": "bbr",
}
"""As measured: fewer frames sent again, and more throughput, through Windows' switch."""
WHY = "through Windows' switch a stream needs larger buffers, and a sender that loss does not stop"
SCRIPT = "/etc/wirespeed-wsl2.sh"
AWAIT = """\
#!/bin/sh
# Made by `wirespeed apply`: what WSL forgets. Mirrored adapters come some seconds after the start.
tries=0
until [ -d /sys/class/net/NETDEV ] || [ $tries -ge 60 ]; do
	tries=$((tries + 1))
	sleep 1
done
"""
LASTS = "WSL forgets it with every `wsl --shutdown`, and has no systemd here that would do it again"


def linux_side(spec: Wsl2, name: str, host: HostFacts, card: WindowsAdapter) -> Iterator[Step]:
    """Give the steps. Raises InputError `spec.no_netdev`, CannotTellError.

    Where systemd runs, `wirespeed persist` makes them last; else a command of WSL's own boot does.
    """
    netdev = _netdev(spec, name, host, card)
    steps = list(_tuning(spec, host, netdev))
    yield from steps
    if not _has_systemd(host):
        lines = (line for step in steps for line in _again(step))
        script = "".join([AWAIT.replace("NETDEV", netdev), *lines])
        yield FileContent(path=SCRIPT, content=script, reason=LASTS)
        yield WslConf(section="boot", key="command", value=f"sh {SCRIPT}", reason=LASTS)


def _tuning(spec: Wsl2, host: HostFacts, netdev: str) -> Iterator[Step]:
    is_module, is_there = _bbr(host)
    if is_module:
        yield Module(name="tcp_bbr", reason=WHY)
    for sysctl, value in SYSCTLS.items():
        if value != "bbr" or is_there:
            yield Sysctl(name=sysctl, value=value, reason=WHY)
    # hv_netvsc makes its queues anew for another MTU or other rings: XPS comes after both.
    yield Mtu(netdev=netdev, mtu=spec.underlay.mtu)
    queues = host[Queues].of(netdev)
    yield Rings(
        netdev=netdev,
        rx=known(queues.rx_ring_descriptors_max, f"the largest receive ring of {netdev}"),
        tx=known(queues.tx_ring_descriptors_max, f"the largest transmit ring of {netdev}"),
    )
    count = known(queues.combined_channels, f"the channels of {netdev}")
    if count > 1:
        yield Xps(netdev=netdev, cpus={queue: str(queue) for queue in range(count)})


def _bbr(host: HostFacts) -> tuple[bool, bool]:
    """Tell whether BBR is a module of WSL's kernel, and whether that has it at all.

    Kernels before the one with modules have none to load, and the older of them no BBR:
    github.com/microsoft/WSL2-Linux-Kernel, Microsoft/config-wsl (TCP_CONG_ADVANCED is not set).
    """
    available = host[Sysctls].text("net.ipv4.tcp_available_congestion_control")
    module = host[TcpCounts].bbr_module
    if (isinstance(module, Known) and module.value) or not isinstance(available, Known):
        return True, True
    return False, "bbr" in available.value.split()


def _again(step: Step) -> Iterator[str]:
    """Give the lines that do a step again, whatever stands there."""
    if isinstance(step, Module):
        yield f"modprobe {step.name}\n"
        return
    goal = step.wanted({})
    for command in step.change(dict.fromkeys(goal), goal):
        yield f"{command.line()} >/dev/null\n"


def _netdev(spec: Wsl2, name: str, host: HostFacts, card: WindowsAdapter) -> str:
    """Find the netdev that goes by the card: as both sides tell, else by its address."""
    links = known(host[NetStack].links, "netdevs of the Linux side")
    netdevs = [port.netdev for port in host[Ports].ports if port.netdev in links]
    for netdev in filter(None, netdevs):
        behind = card_behind(host, netdev)
        if behind is not None and behind.guid == card.guid:
            return netdev
    subnet = spec.underlay.subnet
    for netdev in filter(None, netdevs):
        found = links[netdev].addresses
        addresses = found.value if isinstance(found, Known) else ()
        if any(address.ip in subnet for address in addresses):
            return netdev
    raise InputError(
        "spec.no_netdev",
        where=name,
        found=f"no netdev of WSL uses {card.description} or has an address in {subnet}",
        so="which netdev to configure is not known",
        next="in Windows, give the card an address in the underlay's subnet; mirrored mode "
        "copies it to WSL",
    )


def _has_systemd(host: HostFacts) -> bool:
    settings = value_or_none(host[Wsl].settings) or {}
    return settings.get("boot.systemd", "").lower() in ("true", "1")
