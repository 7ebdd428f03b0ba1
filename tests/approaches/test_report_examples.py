"""The published report's six tests as specs, planned line by line on described hosts.

What is expected stands in the report's tables 3, 6, 9, 12, 15 and 18, word for word.
"""

import json
import re
from collections.abc import Sequence
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
from test_legacy_vlan import MSTCONFIG
from test_legacy_vlan_vm import KEY

from wirespeed import catalog
from wirespeed.apply.spec_file import parse_spec
from wirespeed.approaches.dpdk import boot_parameters, dpdk
from wirespeed.measure.bench.eal_side import EalSide
from wirespeed.measure.bench.far_dut import l3fwd_options
from wirespeed.measure.bench.l3fwd import rules_of
from wirespeed.measure.bench.testpmd import Ports, argv
from wirespeed.measure.bench.two_hosts_bed import End, TwoHosts
from wirespeed.model.capture import Capture, Section, parse_capture
from wirespeed.model.error import InputError
from wirespeed.model.fact import HostFacts
from wirespeed.model.spec.dpdk import Role
from wirespeed.model.spec.members import Dpdk, Esxi
from wirespeed.model.step import Step
from wirespeed.platforms.esxi.approach import esxi
from wirespeed.platforms.esxi.steps.esxi_guest import EsxiGuest
from wirespeed.platforms.esxi.steps.esxi_module_parameters import EsxiModuleParameters
from wirespeed.runs.measure_dpdk import far_dut_of, plan_of, streams_of
from wirespeed.steps.guest_domain_xml import domain_xml
from wirespeed.steps.guest_libvirt import GuestLibvirt
from wirespeed.steps.irq_affinity import IrqAffinity
from wirespeed.steps.netdev_name import NetdevName

EXAMPLES = Path(__file__).parent.parent.parent / "examples"
CPUS = "/sys/devices/system"
BOOT = {
    1: "isolcpus=24-47 intel_idle.max_cstate=0 processor.max_cstate=0 intel_pstate=disable "
    "nohz_full=24-47 rcu_nocbs=24-47 rcu_nocb_poll default_hugepagesz=1G hugepagesz=1G "
    "hugepages=64 audit=0 nosoftlockup",
    2: "isolcpus=0-23 intel_idle.max_cstate=0 processor.max_cstate=0 intel_pstate=disable "
    "nohz_full=0-23 rcu_nocbs=0-23 rcu_nocb_poll default_hugepagesz=1G hugepagesz=1G hugepages=64 "
    "audit=0 nosoftlockup",
    3: "isolcpus=24-47 intel_idle.max_cstate=0 processor.max_cstate=0 intel_pstate=disable "
    "nohz_full=24-47 rcu_nocbs=24-47 rcu_nocb_poll default_hugepagesz=1G hugepagesz=1G "
    "hugepages=64 audit=0",
    4: "isolcpus=24-47 intel_idle.max_cstate=0 processor.max_cstate=0 intel_pstate=disable "
    "nohz_full=24-47 rcu_nocbs=24-47 rcu_nocb_poll default_hugepagesz=1G hugepagesz=1G "
    "hugepages=64 audit=0 nosoftlockup",
    5: "isolcpus=0-22 intel_idle.max_cstate=0 processor.max_cstate=0 intel_pstate=disable "
    "idle=poll nohz_full=0-22 rcu_nocbs=0-22 rcu_nocb_poll default_hugepagesz=1G hugepagesz=1G "
    "hugepages=16 nosoftlockup",
    6: "isolcpus=0-17 intel_idle.max_cstate=0 processor.max_cstate=0 intel_pstate=disable "
    "idle=poll nohz_full=0-17 rcu_nocbs=0-17 rcu_nocb_poll default_hugepagesz=1G hugepagesz=1G "
    "hugepages=16 nosoftlockup",
}
IN_A_GUEST = (5, 6)
CPU_COUNT = {1: 48, 2: 48, 3: 48, 4: 48, 5: 23, 6: 23}
MASK = {3: [44], 4: [37]}
"""CPUs that forward: the mask without its first CPU or its last, which is testpmd's own:
0x110000000000 and 0x3000000000."""
CONFIG = {
    1: "(0,0,47),(0,1,46),(0,2,45),(0,3,44),(1,0,43),(1,1,42),(1,2,41),(1,3,40)",
    2: "(0,0,47),(0,1,46),(0,2,45),(0,3,44),(0,4,43),(0,5,42),(0,6,41),(0,7,40),(0,8,39),"
    "(0,9,38),(0,10,37),(0,11,36)",
    5: "(0,0,21),(0,1,20),(0,2,19),(0,3,18),(1,0,17),(1,1,16),(1,2,15),(1,3,14)",
    6: "(0,0,21),(0,1,20),(0,2,19),(0,3,18),(0,4,17),(0,5,16),(0,6,15),(0,7,14),(0,8,13),"
    "(0,9,12),(0,10,11),(0,11,10)",
}
"""Of l3fwd: port, queue and CPU of each."""
DESCRIPTORS = {1: 4096, 2: 2048, 5: 2048, 6: 2048}
ETH_DEST = ("00:52:11:22:33:10", "00:52:11:22:33:20")
LINK_GBPS = {1: 25, 2: 100, 5: 25, 6: 100}


def example(number: int) -> Dpdk:
    path = EXAMPLES / f"report-test-{number}.yaml"
    found = parse_spec(path.read_text(), path.name)
    assert isinstance(found, Dpdk)
    return found


def host(ports: tuple[str, ...], cpus: int = 48, more: Sequence[str] = ()) -> HostFacts:
    """RHEL 7.4, kernel 3.10; a guest has one node, a host two and its cards on the second."""
    lines = ["wirespeed-capture 1 case", "case begin ports -"]
    for number, address in enumerate(ports):
        at = f"device=/sys/devices/pci0000:00/{address}"
        lines.append(f"ens{number + 1} driver=mlx5_core physfn= port= {at}")
    lines += ["", "case end 0", "case begin cpu -", f"{CPUS}/cpu/online:0-{cpus - 1}"]
    nodes = [f"0-{cpus - 1}"] if cpus < 48 else ["0-23", "24-47"]
    lines += [f"{CPUS}/node/node{node}/cpulist:{of}" for node, of in enumerate(nodes)]
    lines += ["", "case end 0", "case begin pci-hops -"]
    lines += [f"/sys/devices/pci0000:00/{address}" for address in ports]
    lines += ["", "case end 0", "case begin pci -"]
    lines += [f"/sys/bus/pci/devices/{address}/numa_node:{len(nodes) - 1}" for address in ports]
    lines += ["", "case end 0", "case begin irqs -"]
    lines += [f"{address} {60 + number}" for number, address in enumerate(ports)]
    lines += ["", "case end 0", "case begin interrupts -", "  CPU0"]
    lines += [f" {60 + number}: 0 IR-PCI-MSI edge mlx5_comp0" for number in range(len(ports))]
    lines += ["", "case end 0", "case begin kernel -"]
    lines += ["/proc/sys/kernel/osrelease:3.10.0-693.el7.x86_64"]
    lines += ['/etc/os-release:PRETTY_NAME="Red Hat Enterprise Linux Server 7.4 (Maipo)"']
    lines += ["", "case end 0", "case begin boot-loader -", "grub", "", "case end 0", *more]
    return HostFacts("dut", parse_capture("\n".join([*lines, "case done", ""]), "dut"))


def steps(spec: Dpdk, facts: HostFacts) -> list[Step]:
    return [one.step for one in dpdk(spec, spec.host_of(Role.DUT), facts)]


@pytest.mark.parametrize("number", BOOT)
def test_the_plan_has_every_line_of_the_reports_settings(number: int):
    spec = example(number)
    dut = spec.host_of(Role.DUT)
    facts = host(spec.hosts[dut].ports, CPU_COUNT[number])
    assert " ".join(boot_parameters(spec, dut, facts)) == BOOT[number]
    planned = steps(spec, facts)
    said = {one.model_dump()["step"]: one.model_dump() for one in planned}
    assert " ".join(said["kernel_arguments"]["parameters"]) == BOOT[number]
    sysctls = {
        one.model_dump()["name"]: one.model_dump()["value"]
        for one in planned
        if one.model_dump()["step"] == "sysctl"
    }
    assert sysctls == {
        "vm.zone_reclaim_mode": "0",
        "vm.swappiness": "0",
        "kernel.sched_rt_runtime_us": "-1",
    }
    assert said["irqbalance"]["is_running"] is False
    if number in IN_A_GUEST:
        # Both are the port's own, and the guest has a VF of it.
        assert not {"pause", "read_request", "irq_affinity"} & said.keys()
    else:
        assert (said["pause"]["rx"], said["pause"]["tx"]) == (False, False)
        assert said["read_request"]["max_read_request_bytes"] == 1024
        # Their irqbalance was banned from the CPUs of the card's node.
        lists = [of for one in planned if isinstance(one, IrqAffinity) for of in one.cpus.values()]
        assert lists == ["0-23"] * len(spec.hosts[dut].ports)
    pages = int(BOOT[number].partition("hugepages=")[2].split()[0])
    assert (said["hugepages"]["page_kib"], said["hugepages"]["count"]) == (1 << 20, pages)
    assert "dpdk_port" not in said
    assert spec.dpdk.environment == {"MLX5_SHUT_UP_BF": "1"}


def side(spec: Dpdk) -> EalSide:
    cores = spec.hosts[spec.host_of(Role.DUT)].cores or ""
    return EalSide(
        devices=spec.hosts[spec.host_of(Role.DUT)].ports,
        file_prefix="dut",
        runtime_folder=Path("/run"),
        memory_mib=spec.dpdk.memory_mib,
        hugepages=True,
        control_cpu=0,
        worker_cpus=tuple(map(int, cores.split(","))),
    )


def ends(spec: Dpdk) -> TwoHosts:
    """Both hosts; the tester's ports have the addresses that the report's IXIA has."""
    shared = {"reach": "ssh://host", "control_cpu": 0, "worker_cpus": (1,), "memory_mib": 1024}
    dut = spec.hosts[spec.host_of(Role.DUT)].ports
    tester = spec.hosts[spec.host_of(Role.TESTER)].ports
    macs = ETH_DEST[: len(tester)]
    return TwoHosts(
        tester=End(devices=tester, macs=macs, **shared),
        dut=End(devices=dut, macs=macs, **shared),
        streams=streams_of(spec),
        frame_bytes_max=1518,
    )


def queues_of(config: str) -> list[tuple[str, str, str]]:
    """Port, queue and lcore of each."""
    return re.findall(r"\((\d+),(\d+),(\d+)\)", config)


@pytest.mark.parametrize("number", CONFIG)
def test_l3fwd_has_the_reports_queues_each_on_a_core_of_its_own(number: int):
    spec = example(number)
    wanted = far_dut_of(spec, ends(spec))
    options = l3fwd_options(side(spec), "lpm", wanted.ports, ["a", "b"])
    lcores = dict(pair.split("@") for pair in options[0].removeprefix("--lcores=").split(","))
    (config,) = (one for one in options if one.startswith("--config="))
    ours, report = queues_of(config), queues_of(CONFIG[number])
    assert [one[:2] for one in ours] == [one[:2] for one in report]
    assert sorted(lcores[lcore] for _, _, lcore in ours) == sorted(cpu for _, _, cpu in report)
    ports = int(report[-1][0]) + 1
    assert options[options.index("-p") + 1] == hex((1 << ports) - 1)
    addresses = [one for one in options if one.startswith("--eth-dest=")]
    assert addresses == [f"--eth-dest={port},{ETH_DEST[port]}" for port in range(ports)]
    assert wanted.burst == 64
    rings = DESCRIPTORS[number]
    assert {f"--rx-queue-size={rings}", f"--tx-queue-size={rings}", "-P"} <= set(options)
    assert (spec.dpdk.devargs, spec.dpdk.memory_mib) == ("mprq_en=1", 8192)


@pytest.mark.parametrize("number", CONFIG)
def test_l3fwd_sends_each_ports_frames_back_by_that_port(number: int):
    spec = example(number)
    wanted = far_dut_of(spec, ends(spec))
    ports = range(len(ends(spec).dut.devices))
    assert streams_of(spec) == tuple((port, port) for port in ports)
    ipv4, _ = rules_of("lpm", wanted.flows, *wanted.ways)
    out = {tuple(rule.split()) for rule in ipv4.splitlines()}
    # The first stream goes to 198.19.0.0/16, the second to 198.18.0.0/16: test_frame.c.
    networks = ("198.19", "198.18")[: len(ports)]
    due = {(f"R{networks[port]}.{n}.0/24", str(port)) for port in ports for n in range(256)}
    assert out == due


@pytest.mark.parametrize(
    ("bidirectional", "due"),
    [(True, {("198.19", "1"), ("198.18", "0")}), (False, {("198.19", "1")})],
)
def test_l3fwd_between_two_ports_sends_each_way_out_of_the_other(
    bidirectional: bool, due: set[tuple[str, str]]
):
    spec = example(3)
    changed = {"forwarder": "l3fwd-lpm", "bidirectional": bidirectional}
    spec = spec.model_copy(update={"dpdk": spec.dpdk.model_copy(update=changed)})
    Dpdk.model_validate(spec.model_dump())
    ipv4, _ = rules_of("lpm", 8192, *far_dut_of(spec, ends(spec)).ways)
    rules = [rule.removeprefix("R").split() for rule in ipv4.splitlines()]
    assert {(network[:6], port) for network, port in rules} == due


@pytest.mark.parametrize("number", CONFIG)
def test_the_searches_are_the_reports_sizes_flows_and_seconds(number: int):
    spec = example(number)
    asked = spec.measure.rfc2544
    assert asked is not None
    plan = plan_of(spec, asked)
    sizes = [mix.shares[0].frame_bytes for mix in plan.mixes]
    assert sizes == [64, 128, 256, 512, 1024, 1280, 1518]
    assert (plan.flows, plan.confirm_seconds) == (8192, 60)
    ports = len(ends(spec).dut.devices)
    assert plan.link_bps == LINK_GBPS[number] * 10**9 * ports


def test_the_esxi_host_of_test_5_gets_the_drivers_parameters_and_its_guest_cores_and_memory():
    path = EXAMPLES / "report-test-5-esxi.yaml"
    spec = parse_spec(path.read_text(), path.name)
    assert isinstance(spec, Esxi)
    ports = spec.hosts["vmhost"].ports
    (driver,) = (one.step for one in esxi(spec, "vmhost", esxi_by_shell(ports)))
    (guest,) = (one.step for one in esxi(spec, "vmhost-api", esxi_by_api(ports)))
    assert isinstance(driver, EsxiModuleParameters)
    assert driver.parameters == {"max_vfs": "1,1,1,1,1,1,1", "supported_num_ports": "8"}
    affinity = ",".join(str(cpu) for cpu in range(25, 48))
    assert guest == EsxiGuest(number="7", reserve_memory=True, affinity=affinity, numa_node=1)


def esxi_by_shell(ports: tuple[str, ...]) -> HostFacts:
    rows = [{"Name": f"vmnic{n}", "PCIDevice": p, "Driver": "x"} for n, p in enumerate(ports)]
    section = Section("esxi-ports", "", json.dumps(rows), "", 0)
    return HostFacts("vmhost", Capture([section], complete=True))


def esxi_by_api(ports: tuple[str, ...]) -> HostFacts:
    said = {
        "version": "6.5.0",
        "pnic": [{"device": f"vmnic{n}", "pci": p, "driver": "x"} for n, p in enumerate(ports)],
        "cpu": {"cores": 48, "threads": 48, "numaNodes": 2},
        "guests": {"7": {"hardware.memoryMB": 32768, "powerState": "poweredOff"}},
    }
    section = Section("vsphere", "", json.dumps(said), "", 0)
    return HostFacts("vmhost-api", Capture([section], complete=True))


def test_the_kvm_host_of_test_6_makes_the_vf_and_a_guest_that_is_pinned_as_table_18_says():
    path = EXAMPLES / "report-test-6-kvm.yaml"
    # As each run gives it the key of the user, or its own.
    text = path.read_text().replace("    image:", f'    authorized_keys: ["{KEY}"]\n    image:')
    spec = parse_spec(text, path.name)
    facts = kvm_host(spec.hosts["kvm"].ports)
    wanted = list(catalog.approaches()[spec.approach].steps(spec, "kvm", facts))
    on_host = [one.step for one in wanted if not one.guest]
    said = {step.model_dump()["step"]: step.model_dump() for step in on_host}
    assert said["vf_count"]["num_vfs"] == 1
    # `ip link set … vf 0 mac …`, and no VLAN.
    assert said["vf_settings"]["vlan"] == 0 and said["vf_settings"]["mac"]
    assert said["driver_override"]["driver"] == "vfio-pci"
    pages = said["hugepages"]
    assert (pages["page_kib"], pages["count"], pages["numa_node"]) == (1 << 20, 32, 1)
    (guest,) = (step for step in on_host if isinstance(step, GuestLibvirt))
    xml = ET.fromstring(domain_xml(guest))  # noqa: S314 it is ours
    backing = {one.tag for one in xml.find("memoryBacking") or ()}
    # Table 18's, and where the pages come from: no hugetlbfs of 1 GiB is mounted.
    assert backing == {"hugepages", "nosharepages", "locked", "source"}
    pins = [(one.get("vcpu"), one.get("cpuset")) for one in xml.iter("vcpupin")]
    assert pins == [(str(vcpu), str(24 + vcpu)) for vcpu in range(23)]
    (emulator,) = xml.iter("emulatorpin")
    off = [*range(24), 47]
    assert emulator.get("cpuset") == ",".join(map(str, off))
    # In the next spec the port is the one that the guest has by then.
    (port,) = example(6).hosts["guest"].ports
    within = [one.step for one in wanted if one.guest]
    assert port in [step.pci_address for step in within if isinstance(step, NetdevName)]


def kvm_host(ports: tuple[str, ...]) -> HostFacts:
    """Test 6's host before its guest: the same machine, whose card offers one VF."""
    (port,) = ports
    values = {"totalvfs": 1, "numvfs": 0, "drivers_autoprobe": 1, "offset": 1, "stride": 1}
    sriov = [f"/sys/bus/pci/devices/{port}/sriov_{name}:{value}" for name, value in values.items()]
    more = ["case begin sriov -", *sriov, "", "case end 0", f"case begin mstconfig {port}"]
    return host(ports, more=[*more, *MSTCONFIG, "", "case end 0"])


@pytest.mark.parametrize("number", [3, 4])
def test_testpmd_has_the_reports_options_on_one_core(number: int):
    spec = example(number)
    setup = Ports(count=2, rx_descriptors=1024, tx_descriptors=1024)
    line = argv(side(spec), "io", ports=setup, mbufs=32768, burst=spec.dpdk.burst)
    assert {"--burst=64", "--txd=1024", "--rxd=1024", "--nb-cores=1", "-i"} <= set(line)
    assert f"--lcores=0@0,1@{MASK[number][0]}" in line
    assert (spec.dpdk.rx_descriptors, spec.dpdk.tx_descriptors) == (1024, 1024)
    assert spec.dpdk.bidirectional and spec.dpdk.way_back == "other"


def test_l3fwd_is_refused_where_an_address_that_it_writes_is_unknown_and_takes_any_that_is_known():
    spec = example(1)
    both = ends(spec)
    # As the second port of a lab's host has it.
    known = tuple(f"02:00:00:00:00:0{number}" for number, _ in enumerate(both.tester.macs))
    tester = both.tester.model_copy(update={"macs": known})
    wanted = far_dut_of(spec, both.model_copy(update={"tester": tester}))
    assert wanted.ports.peer_macs == known
    tester = both.tester.model_copy(update={"macs": (None, *known[1:])})
    with pytest.raises(InputError, match=r"dut\.no_mac"):
        far_dut_of(spec, both.model_copy(update={"tester": tester}))
