"""Hosts with two ports and their specs, as small captures, for every format."""

import json
from collections.abc import Sequence

from wirespeed import catalog
from wirespeed.apply.spec_file import parse_spec
from wirespeed.formats.every import FORMATS
from wirespeed.formats.form import Exported, exported
from wirespeed.formats.wanted import WantedHost, WantedPort, wanted_host
from wirespeed.model.capture import parse_capture
from wirespeed.model.fact import HostFacts

PFS = {"0000:03:00.0": ("enp3s0f0np0", 2), "0000:03:00.1": ("enp3s0f1np1", 17)}
"""Netdev, and the offset of the VFs: VF 0 is 03:00.2, and 03:02.2 of the other port."""
GUESTS = """
hosts:
  alpha: {reach: ALPHA, ports: ["0000:03:00.0", "0000:03:00.1"]}
approach: legacy-vlan
underlay: {subnet: 192.168.9.0/24, mtu: 9080}
networks:
  storage: {segment: 42, subnet: 192.168.10.0/24, mtu: 9000}
  public: {segment: 40, subnet: 192.168.20.0/24, mtu: 1500}
guests:
  ceph-1: {host: alpha, networks: [storage], vcpus: 16, memory_gib: 8}
  web-1: {host: alpha, networks: [public], vcpus: 1, memory_gib: 1}
"""
"""Two VFs of each port, which vfio-pci has."""
SPACES = GUESTS.replace("vcpus: 16, memory_gib: 8", "kind: namespace").replace(
    "vcpus: 1, memory_gib: 1", "kind: namespace"
)
"""The same of guests that are namespaces, whose VFs have netdevs."""
ONE_EACH = GUESTS.replace("vcpus: 1, memory_gib: 1", "kind: namespace")
"""VF 0 is lent, VF 1 has a netdev."""
CABLE = """
hosts:
  alpha: {reach: ALPHA, ports: ["0000:03:00.0"]}
  beta: {reach: BETA, ports: ["0000:03:00.0"]}
approach: none
underlay: {subnet: 192.168.9.0/24, mtu: 9000}
tuning: {rings: largest, channels: 4, pause: false}
"""
BRIDGED = """
hosts:
  alpha: {reach: ALPHA, ports: ["0000:03:00.0"]}
approach: ovs-tc
failover: none
underlay: {subnet: 192.168.9.0/24, mtu: 9080}
networks:
  storage: {segment: 7042, subnet: 192.168.10.0/24, mtu: 9000}
  public: {segment: 7040, subnet: 192.168.20.0/24, mtu: 1500}
guests:
  alpha-vf0: {host: alpha, networks: [storage], KIND}
  alpha-vf1: {host: alpha, networks: [public], KIND}
"""
"""Two VFs whose representors are in bridges of Open vSwitch."""
RINGS = (
    "Ring parameters for enp3s0f0np0:",
    "Pre-set maximums:", "RX:\t\t8192", "TX:\t\t4096",
    "Current hardware settings:", "RX:\t\t1024", "TX:\t\t1024",
)  # fmt: skip


def capture_text(driver: str = "mlx5_core", total: int = 16) -> str:
    ports = [
        f"{netdev} driver={driver} physfn= port=p{n} device=/sys/devices/pci0000:00/{address}"
        for n, (address, (netdev, _)) in enumerate(PFS.items())
    ]
    files: list[str] = []
    for address, (_, offset) in PFS.items():
        content = {
            "sriov_totalvfs": total, "sriov_numvfs": 0, "sriov_drivers_autoprobe": 1,
            "sriov_offset": offset, "sriov_stride": 1,
        }  # fmt: skip
        files += [f"/sys/bus/pci/devices/{address}/{name}:{n}" for name, n in content.items()]
    sections: list[tuple[str, Sequence[str]]] = [
        ("ports -", ports), ("sriov -", files), ("ethtool-rings enp3s0f0np0", RINGS),
        ("ethtool-channels enp3s0f0np0", CHANNELS),
        ("mstconfig 0000:03:00.0", MSTCONFIG), ("ovs-db -", [json.dumps(SWITCH)]),
    ]  # fmt: skip
    for address in PFS:
        handle = {"dev": {f"pci/{address}": {"mode": "legacy"}}}
        sections.append((f"devlink-eswitch {address}", [json.dumps(handle)]))
    lines = ["wirespeed-capture 1 case"]
    for name, text in sections:
        lines += [f"case begin {name}", *text, "", "case end 0"]
    return "\n".join([*lines, "case done", ""])


SWITCH = {
    "headings": ["ovs_version", "other_config"], "data": [["3.1.0", ["map", []]]],
}  # fmt: skip
CHANNELS = (
    "Channel parameters for enp3s0f0np0:", "Pre-set maximums:", "Combined:\t63",
    "Current hardware settings:", "Combined:\t8",
)  # fmt: skip
MSTCONFIG = (
    "Configurations:   Default  Current  Next Boot",
    "  NUM_OF_VFS   0   1   1",
    "  SRIOV_EN   False(0)   True(1)   True(1)",
)


def wanted(text: str, name: str = "alpha") -> WantedHost:
    spec = parse_spec(text.replace("ALPHA", "ssh://alpha").replace("BETA", "ssh://beta"), "spec")
    facts = HostFacts(name, parse_capture(capture_text(), name))
    steps = catalog.approaches()[spec.approach].steps(spec, name, facts)
    ports = []
    for address in spec.hosts[name].ports:
        netdev, offset = PFS[address]
        first = int(address[-1]) + offset
        vfs = (f"0000:03:{n >> 3:02x}.{n & 7}" for n in range(first, first + 16))
        ports.append(WantedPort(address, netdev, tuple(vfs)))
    return wanted_host(name, ports, steps)


def written(form: str, text: str, name: str = "alpha") -> Exported:
    return exported(FORMATS[form], wanted(text, name))
