"""The sections that a capture of this release may have. Pure.

What identifies somebody in a section is known by what the section is; of another one it is not.
"""

from wirespeed.model.capture import Capture

_NAMES = (
    "accelerators bbr-module bonding boot-loader collective collective-qps collective-sockets "
    "cpu cpu-power cpuinfo crash-analysis dcb-app dcb-pfc detect-virt devlink-eswitch "
    "devlink-health devlink-info devlink-steering dmesg dmi driver driver-installed "
    "driver-log driver-package esxi-counters esxi-cpu esxi-fec esxi-guests esxi-memory "
    "esxi-module esxi-passthrough esxi-ports esxi-power esxi-uplink esxi-version esxi-vmx "
    "ethtool ethtool-S ethtool-a ethtool-channels ethtool-coalescing ethtool-features "
    "ethtool-fec ethtool-fec-statistics ethtool-i ethtool-m ethtool-private-flags "
    "ethtool-rings ethtool-rss ethtool-udp-hash fair-server firmware-vfs hugepage-mounts "
    "idle-usage installed interrupts iommu ip-addr ip-link ip-route ip-rule ip-rule6 irq "
    "irqbalance irqbalance-setup irqs kernel link link-messages lockdown memory "
    "memory-modules mlnx-qos mlx5-lag mlx5-steering mlxconfig mlxlink mlxlink-fec "
    "mlxlink-tool module-messages modules mstconfig names namespace-addr namespace-link "
    "namespaces ovs-db ovs-pmd-rxq ovs-raw-io ovs-upcall pci pci-aer pci-config pci-hops "
    "port-owners ports queues rdma rdma-counters rdma-gids rdma-mtu rdma-tos roce-ecn "
    "secure-boot session softnet sriov statistics swapped switch-autoneg switch-cable "
    "switch-counters switch-fec switch-interfaces switch-kind switch-lldp switch-seconds "
    "switch-status sysctl tc-filters tcp-counts thread-status threads tuned virtualization "
    "vsphere vulnerabilities windows-adapters windows-addresses windows-advanced "
    "windows-bindings windows-bugchecks windows-dcbx windows-default-routes windows-firmware "
    "windows-hardware windows-host windows-lso windows-migration windows-mlx5cmd "
    "windows-mlx5cmd-link windows-names windows-numa windows-qos windows-qos-flow-control "
    "windows-qos-policies windows-rdma windows-rsc windows-rss windows-sessions "
    "windows-smb-client windows-smb-client-interfaces windows-smb-connections "
    "windows-smb-server windows-smb-server-interfaces windows-sriov windows-statistics "
    "windows-switch-teams windows-switches windows-tcp-settings windows-teams "
    "windows-throttling windows-vm-adapters windows-vmhost "
    "windows-vmq windows-wslconfig wsl-conf wsl-mode "
)
NAMES = frozenset(_NAMES.split())
AGAIN = "-again"
"""Of a section that is read a second time, for what is counted."""


def is_known(name: str) -> bool:
    """Whether a section of this name is one that this release makes."""
    return name.removesuffix(AGAIN) in NAMES


def unknown_sections(capture: Capture) -> tuple[str, ...]:
    """Give the names of the others: of a newer release, or written by somebody."""
    return tuple(dict.fromkeys(s.name for s in capture.all_sections() if not is_known(s.name)))


def known_parts(parts: list[str]) -> list[str]:
    """Leave out the others; `parts` are a header, then each a mark and what stands behind it."""
    kept, is_kept = parts[:1], True
    for mark, part in zip(parts[1::2], parts[2::2], strict=True):
        if part.startswith("begin "):
            is_kept = is_known(part.partition("\n")[0].split(" ")[1])
        if is_kept or not part.startswith(("begin ", "errors", "end ")):
            kept += [mark, part]
    return kept
