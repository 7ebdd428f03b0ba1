"""Who is cabled to whom, and what the two hosts are, by captures that are written here."""

import json
from collections.abc import Sequence

from wirespeed.apply.spec_file import parse_spec
from wirespeed.model.capture import parse_capture
from wirespeed.model.fact import HostFacts
from wirespeed.model.spec.members import Dpdk
from wirespeed.report.bench_hosts import bench_hosts
from wirespeed.report.document import Block, Drawing
from wirespeed.report.grid import Grid

PORTS = ("0000:01:00.0", "0000:02:00.0")
SYSFS = "/sys/devices/system"
VFS = [
    f"/sys/bus/pci/devices/{port}/sriov_{name}:{value}"
    for port in PORTS
    for name, value in (("totalvfs", 7), ("numvfs", 0), ("offset", 128), ("stride", 2))
]


def spec_of(*, use_vfs: bool = False) -> Dpdk:
    host = {"ports": PORTS, "cores": "2-3", "use_vfs": use_vfs}
    data = {
        "hosts": {
            "fwd": {"reach": "ssh://fwd", "role": "dut", **host},
            "gen": {"reach": "ssh://gen", "role": "tester", **host},
        },
        "approach": "dpdk",
        "dpdk": {
            "forwarder": "testpmd-mac",
            "tester": {"queues": 4},
            "hugepages": {"count": 512},
        },
        "measure": {"rfc2544": {"frame_bytes": [64]}},
    }
    spec = parse_spec(json.dumps(data), "spec.yaml")
    assert isinstance(spec, Dpdk)
    return spec


def host(name: str, *, ports: Sequence[str] = PORTS, system: str = "Debian 12") -> HostFacts:
    sections = {
        "ports": [
            f"enp{number}s0 driver=igb physfn= port= device=/sys/devices/pci0000:00/{port}"
            for number, port in enumerate(ports, 1)
        ],
        "cpu": [f"{SYSFS}/node/node0/cpulist:0-3", f"{SYSFS}/cpu/online:0-3"],
        "kernel": [
            "/proc/sys/kernel/osrelease:6.1.0-18-amd64",
            "/proc/cmdline:isolcpus=2-3 audit=0 quiet",
            f'/etc/os-release:PRETTY_NAME="{system}"',
        ],
        "sriov": VFS,
        "dmi": [
            "/sys/class/dmi/id/sys_vendor:Dell Inc.",
            "/sys/class/dmi/id/product_name:PowerEdge R740",
            "/sys/class/dmi/id/bios_version:2.4.8",
            "/sys/class/dmi/id/bios_date:11/26/2019",
        ],
        "memory-modules": [
            *(2 * ["Memory Device", "\tSize: 16 GB", "\tType: DDR4", "\tSpeed: 2666 MT/s"]),
            *("Memory Device", "\tSize: No Module Installed"),
        ],
    }
    lines = ["wirespeed-capture 1 case"]
    for section, said in sections.items():
        lines += [f"case begin {section} -", *said, "", "case end 0"]
    for port in ports[:1]:
        lines += [f"case begin card-data {port}", "\t\t[PN] Part number: MCX556A-EDAT"]
        lines += ["", "case end 0"]
    return HostFacts(name, parse_capture("\n".join([*lines, "case done", ""]), name))


def shown(spec: Dpdk, **hosts: HostFacts) -> list[Block]:
    return list(bench_hosts(spec, hosts))


def rows(block: Block) -> list[tuple[str, ...]]:
    assert isinstance(block, Grid)
    return [tuple(cell.text for cell in row) for row in block.rows]


def test_each_cable_goes_from_the_testers_port_to_the_duts_whatever_the_order_of_the_hosts():
    drawing, cables, *_ = shown(spec_of(), gen=host("gen"), fwd=host("fwd"))
    assert rows(cables) == [
        (str(n), f"{port} · one node · 4 queues", f"{port} · one node · 1 queue", "not told")
        for n, port in enumerate(PORTS, 1)
    ]
    assert isinstance(drawing, Drawing)
    assert drawing.svg.index("gen: tester") < drawing.svg.index("fwd: testpmd-mac")
    assert drawing.svg.count("polls on CPU 2-3") == 2
    # A line for each of two cables, and four for each of two hosts.
    assert drawing.svg.count("<line") == 2 + 8


def test_of_a_vf_its_own_address_and_its_ports_are_told():
    _, cables, *_ = shown(spec_of(use_vfs=True), gen=host("gen"), fwd=host("fwd"))
    # Routing id 0x0180 is bus 1, device 16 (SR-IOV 1.1, 2.1.2).
    assert rows(cables)[0][1].startswith("VF 0000:01:10.0 of 0000:01:00.0 · ")


def test_each_host_is_told_by_its_own_capture():
    mine, other = host("gen", system="<img src=x>"), host("fwd", system="Rocky Linux 9")
    *_, tester, dut = shown(spec_of(), gen=mine, fwd=other)
    told = dict(rows(tester))
    assert told["role"] == "tester"
    assert told["system"] == "<img src=x>, kernel 6.1.0-18-amd64"
    assert told["boot line"] == "isolcpus=2-3 audit=0 quiet"
    assert told["CPUs that poll"] == "2-3"
    assert (told["server"], told["BIOS"]) == ("Dell Inc. PowerEdge R740", "2.4.8, 11/26/2019")
    assert told["memory modules"] == "2 x 16 GB DDR4 at 2666 MT/s"
    assert [told[f"part number of {port}"] for port in PORTS] == ["MCX556A-EDAT", "not told"]
    assert (told["memory"], told["PSID of 0000:01:00.0"]) == ("not told", "not told")
    assert dict(rows(dut))["system"].startswith("Rocky Linux 9")


def test_without_both_hosts_or_without_a_port_nothing_is_shown():
    assert shown(spec_of(), gen=host("gen")) == []
    assert shown(spec_of(), gen=host("gen"), fwd=host("fwd", ports=PORTS[:1])) == []
