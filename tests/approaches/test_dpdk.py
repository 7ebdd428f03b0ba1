"""The steps of a tester and a device under test, and what a spec of them cannot say."""

import json
from collections.abc import Sequence
from typing import Any

import pytest

from wirespeed.apply.spec_file import parse_spec
from wirespeed.approaches.dpdk import boot_parameters, dpdk
from wirespeed.approaches.dpdk_vfs import vf_mac
from wirespeed.approaches.polling_cores import control_core, polling_cores
from wirespeed.model.capture import parse_capture
from wirespeed.model.error import InputError
from wirespeed.model.fact import HostFacts
from wirespeed.model.observed import CannotTellError
from wirespeed.model.spec.members import Dpdk
from wirespeed.runs.measure_dpdk import far_dut_of, hosts_of, plan_of, setup_of
from wirespeed.steps.irq_affinity import IrqAffinity
from wirespeed.steps.irqbalance_banned import IrqbalanceBanned
from wirespeed.steps.mtu import Mtu
from wirespeed.steps.vf_settings import VfSettings

PORTS = ["0000:01:00.0", "0000:02:00.0"]
SYSFS = "/sys/devices/system"
AUTOPROBE = "/sys/bus/pci/devices/{}/sriov_drivers_autoprobe"


def data(**changes: Any) -> dict[str, Any]:
    host = {"ports": PORTS, "cores": "2-3"}
    asked: dict[str, Any] = {
        "hosts": {
            "gen": {"reach": "ssh://gen", "role": "tester", **host},
            "fwd": {"reach": "ssh://fwd", "role": "dut", **host},
        },
        "approach": "dpdk",
        "dpdk": {"hugepages": {"count": 512}, "memory_mib": 1024},
        "measure": {"rfc2544": {"frame_bytes": [64]}},
    }
    return asked | changes


def spec(**changes: Any) -> Dpdk:
    found = parse_spec(json.dumps(data(**changes)), "spec.yaml")
    assert isinstance(found, Dpdk)
    return found


def host(
    release: str = "6.1.0-18-amd64",
    online: str = "0-3",
    driver: str = "igb",
    more: Sequence[str] = (),
    distribution: str = "Debian GNU/Linux 12 (bookworm)",
    nodes: Sequence[str] = (),
    line: str = "quiet",
) -> HostFacts:
    lines = ["wirespeed-capture 1 case", "case begin ports -"]
    for number, address in enumerate(PORTS):
        at = f"device=/sys/devices/pci0000:00/{address}"
        lines.append(f"enp{number + 1}s0 driver={driver} physfn= port= {at}")
    lines += ["", "case end 0", "case begin cpu -"]
    lines += [f"{SYSFS}/node/{cpus}" for cpus in nodes or (f"node0/cpulist:{online}",)]
    lines += [f"{SYSFS}/cpu/online:{online}", "", "case end 0"]
    lines += ["case begin kernel -", f"/proc/sys/kernel/osrelease:{release}"]
    lines += [f"/proc/cmdline:{line}"]
    lines += [f'/etc/os-release:PRETTY_NAME="{distribution}"', "", "case end 0"]
    lines += ["case begin boot-loader -", "grub", "", "case end 0"]
    lines += [*more, "case done", ""]
    return HostFacts("fwd", parse_capture("\n".join(lines), "fwd"))


def with_vfs(
    driver: str = "igb", total: str = "7", present: str = "0", mode: str = ""
) -> HostFacts:
    """Describe igb's own numbers: the first VF is 128 behind its port, and each next one 2."""
    lines = ["case begin sriov -"]
    for address in PORTS:
        told = {"totalvfs": total, "numvfs": present, "offset": "128", "stride": "2"}
        at = f"/sys/bus/pci/devices/{address}/sriov_"
        lines += [f"{at}{name}:{value}" for name, value in told.items()]
    lines += ["", "case end 0"]
    if mode:
        said = json.dumps({"dev": {f"pci/{PORTS[1]}": {"mode": mode}}})
        lines += [f"case begin devlink-eswitch {PORTS[1]}", said, "", "case end 0"]
    return host(driver=driver, more=lines)


def shown(wanted: Dpdk, facts: HostFacts) -> list[str]:
    steps = [one.step for one in dpdk(wanted, "fwd", facts)]
    return [f"{step.model_dump()['step']} {step.subject}" for step in steps]


def test_memory_is_there_before_ports_leave_the_kernel_and_settings_before_both():
    profile = {"rt_throttling": False, "zone_reclaim": False, "swappiness": 0}
    profile |= {"irqbalance": False, "pause": False, "max_read_request_bytes": 1024}
    assert shown(spec(profile=profile), host()) == [
        "sysctl kernel.sched_rt_runtime_us",
        "sysctl vm.zone_reclaim_mode",
        "sysctl vm.swappiness",
        "irqbalance irqbalance.service",
        "pause enp1s0",
        "read_request 0000:01:00.0",
        "pause enp2s0",
        "read_request 0000:02:00.0",
        "hugepages hugepages of 2048 KiB",
        "module vfio",
        "module vfio-pci",
        "module vfio_iommu_type1",
        "dpdk_port 0000:01:00.0 (enp1s0)",
        "dpdk_port 0000:02:00.0 (enp2s0)",
    ]


def served(*cpus: int) -> list[str]:
    at = "/sys/kernel/debug/sched/fair_server/cpu"
    files = [
        f"{at}{cpu}/{name}" for cpu in cpus for name in ("runtime:50000000", "period:1000000000")
    ]
    return ["case begin fair-server -", *files, "", "case end 0"]


@pytest.mark.parametrize(("throttling", "value"), [(False, "0"), (True, "50000000")])
def test_since_6_12_the_fair_servers_of_the_cores_that_poll_are_set(throttling: bool, value: str):
    """`sched/fair: Fair server interface`: 0 turns one off, 50 ms of 1 s is its default."""
    wanted = spec(profile={"rt_throttling": throttling})
    of_old = [one.step.subject for one in dpdk(wanted, "fwd", host(more=served(2, 3)))]
    assert not [subject for subject in of_old if "fair_server" in subject]
    new = host("6.12.41+deb13-amd64", more=served(0, 1, 2, 3))
    steps = [one.step.model_dump(mode="json") for one in dpdk(wanted, "fwd", new)]
    (switch,) = [step for step in steps if step["step"] == "kernel_switch"]
    at = "/sys/kernel/debug/sched/fair_server/cpu"
    assert switch["paths"] == [f"{at}2/runtime", f"{at}3/runtime"]
    assert switch["value"] == value


def test_fair_servers_that_were_not_read_are_not_passed_over():
    wanted = spec(profile={"rt_throttling": False})
    with pytest.raises(InputError) as caught:
        list(dpdk(wanted, "fwd", host("6.12.41+deb13-amd64")))
    assert caught.value.what == "spec.fair_servers"
    assert "leave `rt_throttling` out" in caught.value.next
    # What is wanted is the kernel's default then: debugfs alone changes it.
    default = spec(profile={"rt_throttling": True})
    steps = [one.step for one in dpdk(default, "fwd", host("6.12.41+deb13-amd64"))]
    assert any("sched_rt_runtime_us" in step.subject for step in steps)
    assert not any("fair_server" in step.subject for step in steps)


@pytest.mark.parametrize(
    ("name", "path"),
    [
        ("Debian GNU/Linux 12 (bookworm)", "/etc/default/irqbalance"),
        ("Red Hat Enterprise Linux 9.4 (Plow)", "/etc/sysconfig/irqbalance"),
    ],
)
def test_irqbalance_goes_on_beside_the_cores_that_poll(name: str, path: str):
    facts = host(distribution=name)
    steps = [one.step for one in dpdk(spec(profile={"ban_cores": True}), "fwd", facts)]
    (step,) = [step for step in steps if isinstance(step, IrqbalanceBanned)]
    assert (step.cpus, step.path) == ("2-3", path)


def test_cpus_that_irqbalance_leaves_alone_by_itself_stay_so():
    """A list stands instead of isolated and adaptive-tick CPUs (irqbalance(1))."""
    facts = host(online=f"0-3\n{SYSFS}/cpu/isolated:1", nodes=("node0/cpulist:0-3",))
    (step,) = [
        one.step
        for one in dpdk(spec(profile={"ban_cores": True}), "fwd", facts)
        if isinstance(one.step, IrqbalanceBanned)
    ]
    assert step.cpus == "1-3"


OF_NODE_1 = [
    "case begin pci-hops -",
    *(f"/sys/devices/pci0000:00/{address}" for address in PORTS),
    "",
    "case end 0",
    "case begin pci -",
    *(f"/sys/bus/pci/devices/{address}/numa_node:1" for address in PORTS),
    "",
    "case end 0",
]
IRQS = [
    "case begin irqs -",
    f"{PORTS[0]} 61 62",
    f"{PORTS[1]} 63",
    "",
    "case end 0",
    "case begin interrupts -",
    "           CPU0       CPU1       CPU2       CPU3",
    *(f" {n}:  0  0  5  0  IR-PCI-MSI-0000:01:00.0  {n}-edge  mlx5_comp{n}" for n in (61, 62, 63)),
    "",
    "case end 0",
]
BESIDE = {"driver": "kernel", "hugepages": {"count": 512}, "memory_mib": 1024}


def moved(where: str, facts: HostFacts) -> list[tuple[str, dict[int, str]]]:
    profile = {"interrupts": where, "irqbalance": False}
    steps = [one.step for one in dpdk(spec(dpdk=BESIDE, profile=profile), "fwd", facts)]
    kinds = [step.model_dump()["step"] for step in steps]
    # irqbalance would move them back.
    assert kinds.index("irqbalance") < kinds.index("irq_affinity")
    return [(step.pci_address, step.cpus) for step in steps if isinstance(step, IrqAffinity)]


def test_interrupts_of_a_port_go_to_the_far_node_or_to_cores_that_do_not_poll():
    facts = host(driver="mlx5_core", online="0-4", more=IRQS)
    assert moved("other-cores", facts) == [
        (PORTS[0], {61: "0-1,4", 62: "0-1,4"}),
        (PORTS[1], {63: "0-1,4"}),
    ]
    with pytest.raises(InputError, match=r"spec\.no_far_node"):
        moved("far-node", facts)
    two = ("node0/cpulist:0-1", "node1/cpulist:2-4")
    two_nodes = host(driver="mlx5_core", online="0-4", nodes=two, more=[*OF_NODE_1, *IRQS])
    assert moved("far-node", two_nodes) == [
        (PORTS[0], {61: "0-1", 62: "0-1"}),
        (PORTS[1], {63: "0-1"}),
    ]


@pytest.mark.parametrize("driver", ["mlx5_core", "mlx4_core", "mana"])
def test_a_card_that_dpdk_drives_beside_the_kernel_alone_is_not_taken_from_it(driver: str):
    """DPDK's guides of mlx5, mlx4 and mana: they need the kernel's driver, for libibverbs."""
    with pytest.raises(InputError) as caught:
        list(dpdk(spec(), "fwd", host(driver=driver)))
    assert caught.value.what == "spec.port_driver"
    assert "--dut-driver kernel" in caught.value.next
    assert list(dpdk(spec(dpdk=BESIDE), "fwd", host(driver=driver)))


def without_iommu(*more: str, line: str = "quiet") -> HostFacts:
    return host(line=line, more=["case begin iommu -", "groups 0", *more, "", "case end 0"])


def test_a_host_without_an_iommu_gives_vfio_no_port():
    for more in ((), ("noiommu N",)):
        with pytest.raises(InputError) as caught:
            list(dpdk(spec(), "fwd", without_iommu(*more)))
        assert caught.value.what == "spec.no_iommu"
        assert "enable_unsafe_noiommu_mode=1" in caught.value.next
    assert list(dpdk(spec(), "fwd", without_iommu("noiommu Y")))
    beside = [one.step for one in dpdk(spec(dpdk=BESIDE), "fwd", without_iommu())]
    assert beside


@pytest.mark.parametrize("parameter", ["intel_iommu=on", "vfio.enable_unsafe_noiommu_mode=1"])
def test_an_iommu_that_the_plan_boots_with_is_waited_for(parameter: str):
    wanted = spec(profile={"kernel_parameters": [parameter, "iommu=pt"]})
    kinds = [one.step.model_dump()["step"] for one in dpdk(wanted, "fwd", without_iommu())]
    assert kinds.index("kernel_command_line") < kinds.index("dpdk_port")
    # A kernel that has it already has nothing to wait for.
    off = spec(profile={"kernel_parameters": [f"{parameter.partition('=')[0]}=off"]})
    for asked, line in ((wanted, f"quiet {parameter}"), (off, "quiet")):
        with pytest.raises(InputError) as caught:
            list(dpdk(asked, "fwd", without_iommu("noiommu N", line=line)))
        assert caught.value.what == "spec.no_iommu"


def test_vfio_that_is_told_to_go_without_when_it_is_loaded_is_no_obstacle():
    assert list(dpdk(spec(), "fwd", without_iommu(line="vfio.enable_unsafe_noiommu_mode=1")))
    assert list(dpdk(spec(), "fwd", without_iommu("option 1")))


def test_interrupts_that_are_not_known_are_not_moved():
    with pytest.raises(CannotTellError, match=r"interrupts of 0000:01:00\.0"):
        moved("other-cores", host(driver="mlx5_core"))


def test_a_port_that_dpdk_drives_beside_the_kernel_stays_with_its_driver():
    steps = shown(spec(dpdk=BESIDE), host())
    assert steps == ["hugepages hugepages of 2048 KiB", "mtu enp1s0", "mtu enp2s0"]


@pytest.mark.parametrize(("longest", "mtu"), [(1518, 1500), (9018, 9000)])
def test_undo_gives_back_the_mtu_that_dpdk_sets_on_the_kernels_port(longest: int, mtu: int):
    """mlx5_dev_configure: since DPDK 22.11.6 it writes it, and does not write the former again."""
    wanted = spec(dpdk=BESIDE, measure={"rfc2544": {"frame_bytes": [64, longest]}})
    steps = [one.step for one in dpdk(wanted, "fwd", host())]
    assert [step.mtu for step in steps if isinstance(step, Mtu)] == [mtu, mtu]


def test_a_vf_of_each_port_goes_to_dpdk_with_an_address_and_the_port_stays_up():
    wanted = spec(**vfs("fwd"))
    assert shown(wanted, with_vfs()) == [
        "link_up enp1s0",
        f"kernel_switch {AUTOPROBE.format('0000:01:00.0')}",
        "vf_count 0000:01:00.0",
        "vf_settings VF 0 of enp1s0",
        "link_up enp2s0",
        f"kernel_switch {AUTOPROBE.format('0000:02:00.0')}",
        "vf_count 0000:02:00.0",
        "vf_settings VF 0 of enp2s0",
        "hugepages hugepages of 2048 KiB",
        "module vfio",
        "module vfio-pci",
        "module vfio_iommu_type1",
        # Routing id 0x0180 is bus 1, device 16 (SR-IOV 1.1, 2.1.2).
        "driver_override 0000:01:10.0",
        "driver_override 0000:02:10.0",
    ]
    macs = [s.step.mac for s in dpdk(wanted, "fwd", with_vfs()) if isinstance(s.step, VfSettings)]
    assert macs == [vf_mac("fwd", port) for port in PORTS]
    assert len({*macs, vf_mac("gen", PORTS[0])}) == 3


def test_a_card_in_switchdev_mode_gives_a_program_no_vf():
    """ice_set_vf_mac: it takes no address of a VF then, and the VF reaches its representor."""
    with pytest.raises(InputError) as caught:
        shown(spec(**vfs("fwd")), with_vfs(driver="ice", mode="switchdev"))
    assert (caught.value.what, caught.value.where) == ("spec.switchdev_mode", f"fwd {PORTS[1]}")
    assert f"devlink dev eswitch set pci/{PORTS[1]} mode legacy" in caught.value.next
    assert shown(spec(**vfs("fwd")), with_vfs(driver="ice", mode="legacy"))


def test_the_programs_drive_the_vfs_and_know_each_other_by_their_addresses():
    wanted = spec(**vfs("fwd", "gen"), dpdk={**MAC, "devargs": "a=1"}, measure=RESETS)
    hosts = hosts_of(wanted, {name: with_vfs() for name in ("fwd", "gen")})
    assert hosts.dut.devices == ("0000:01:10.0,a=1", "0000:02:10.0,a=1")
    assert hosts.tester.devices == ("0000:01:10.0", "0000:02:10.0")
    # The tester sends to the DUT's VFs, and the DUT to the tester's: nothing else comes through.
    assert hosts.dut.macs == tuple(vf_mac("fwd", port) for port in PORTS)
    assert far_dut_of(wanted, hosts).ports.peer_macs == tuple(vf_mac("gen", p) for p in PORTS)
    assert wanted.measure.rfc2544 is not None
    plan = plan_of(wanted, wanted.measure.rfc2544)
    assert plan.further.resets == 3
    wire = setup_of(wanted, plan).settings["wire"]
    assert wire.startswith("gen VF of 0000:01:00.0 to fwd VF of 0000:01:00.0, ")


def test_the_forwarder_is_told_of_the_longest_frame():
    wanted = spec(**vfs("fwd", "gen"), dpdk=MAC, measure={"rfc2544": {"frame_bytes": [64, 9018]}})
    hosts = hosts_of(wanted, {name: with_vfs() for name in ("fwd", "gen")})
    assert far_dut_of(wanted, hosts).ports.frame_bytes_max == 9018


def test_frames_above_the_usual_size_need_the_ports_own_mtu_before_its_vf_is_made():
    wanted = spec(**vfs("fwd"), measure={"rfc2544": {"frame_bytes": [64, 9018]}})
    assert shown(wanted, with_vfs())[:3] == [
        "mtu enp1s0",
        "link_up enp1s0",
        f"kernel_switch {AUTOPROBE.format('0000:01:00.0')}",
    ]
    (step, *_) = dpdk(wanted, "fwd", with_vfs())
    assert step.step.model_dump()["mtu"] == 9000


@pytest.mark.parametrize(
    ("facts", "what"),
    [
        (with_vfs(driver="mlx5_core"), "spec.vf_driver"),
        (with_vfs(total="0"), "spec.too_many_vfs"),
        (with_vfs(present="2"), "spec.vfs_in_use"),
    ],
    ids=("driver", "total", "present"),
)
def test_a_port_that_has_no_vf_to_give_is_refused(facts: HostFacts, what: str):
    with pytest.raises(InputError) as caught:
        list(dpdk(spec(**vfs("fwd")), "fwd", facts))
    assert caught.value.what == what


@pytest.mark.parametrize(
    ("release", "flags"),
    # admin-guide/kernel-parameters.txt: flags since 4.15, managed_irq since 5.6.
    [
        ("3.10.0-1160.el7", ""),
        ("4.14.0", ""),
        ("4.15.0-20-generic", "domain,"),
        ("5.5.0", "domain,"),
        ("5.6.0", "managed_irq,domain,"),
        ("6.1.0-18-amd64", "managed_irq,domain,"),
    ],
)
def test_isolation_is_written_as_the_kernel_reads_it(release: str, flags: str):
    wanted = spec(profile={"isolate": True, "kernel_parameters": ["iommu=pt"]})
    assert boot_parameters(wanted, "fwd", host(release)) == (
        "iommu=pt",
        f"isolcpus={flags}2-3",
        "nohz_full=2-3",
        "rcu_nocbs=2-3",
    )


def test_a_core_that_is_not_online_is_refused():
    with pytest.raises(InputError) as caught:
        list(dpdk(spec(), "fwd", host(online="0-2")))
    assert caught.value.what == "spec.cores"
    assert "0-2 are online" in caught.value.found


def two_nodes(isolated: str) -> HostFacts:
    """Eight CPUs, threads in pairs (0 and 4, …); the ports are on node 1: CPUs 2, 3, 6, 7."""
    lines = ["wirespeed-capture 1 case", "case begin ports -"]
    for number, address in enumerate(PORTS):
        at = f"device=/sys/devices/pci0000:80/{address}"
        lines.append(f"enp{number + 1}s0 driver=igb physfn= port= {at}")
    lines += ["", "case end 0", "case begin cpu -", f"{SYSFS}/cpu/online:0-7"]
    lines += [f"{SYSFS}/cpu/isolated:{isolated}"]
    lines += [f"{SYSFS}/node/node0/cpulist:0-1,4-5", f"{SYSFS}/node/node1/cpulist:2-3,6-7"]
    for cpu in range(8):
        at = f"{SYSFS}/cpu/cpu{cpu}/topology"
        lines += [f"{at}/core_id:{cpu % 4}", f"{at}/physical_package_id:0"]
        lines += [f"{at}/thread_siblings_list:{cpu % 4},{cpu % 4 + 4}"]
    lines += ["", "case end 0", "case begin pci-hops -"]
    lines += [f"/sys/devices/pci0000:80/{address}" for address in PORTS]
    lines += ["", "case end 0", "case begin pci -"]
    lines += [f"/sys/bus/pci/devices/{address}/numa_node:1" for address in PORTS]
    lines += ["", "case end 0", "case done", ""]
    return HostFacts("gen", parse_capture("\n".join(lines), "gen"))


@pytest.mark.parametrize(
    ("isolated", "queues", "polls"),
    [
        ("1-3,5-7", 1, (2, 3)),
        ("1,3", 1, (3,)),
        ("2-3,6-7", 4, (2, 3)),
    ],
)
def test_without_cores_those_isolated_on_the_cards_node_poll_one_thread_of_each(
    isolated: str, queues: int, polls: tuple[int, ...]
):
    wanted = spec(**without("cores"), dpdk={**PAGES, "tester": {"queues": queues}})
    assert polling_cores(wanted, "gen", two_nodes(isolated)) == polls


@pytest.mark.parametrize(
    ("named", "control"),
    # CPUs 2, 3, 6 and 7 are of the node that the ports and the hugepages are on.
    [("3", 2), ("2-3", 6), ("2-3,6-7", 0)],
)
def test_what_a_program_does_beside_its_traffic_runs_on_the_cards_node(named: str, control: int):
    assert control_core(spec(**cores(named)), "gen", two_nodes("")) == control


def test_without_cores_and_with_none_isolated_there_nothing_is_started():
    with pytest.raises(InputError) as caught:
        polling_cores(spec(**without("cores")), "gen", two_nodes("0-1"))
    assert caught.value.what == "spec.cores"
    assert "lists no cores" in caught.value.found


def without(name: str) -> dict[str, Any]:
    hosts = data()["hosts"]
    for one in hosts.values():
        one.pop(name, None)
    return {"hosts": hosts}


def ports(tester: list[str], dut: list[str]) -> dict[str, Any]:
    hosts = data()["hosts"]
    hosts["gen"]["ports"], hosts["fwd"]["ports"] = tester, dut
    return {"hosts": hosts}


def cores(tester: str) -> dict[str, Any]:
    hosts = data()["hosts"]
    hosts["gen"]["cores"] = tester
    return {"hosts": hosts}


PAGES = {"hugepages": {"count": 512}}
MAC = {**PAGES, "forwarder": "testpmd-mac"}
SAME = {**PAGES, "way_back": "same"}
RESETS = {"rfc2544": {"frame_bytes": [64], "resets": 3}}


def vfs(*names: str) -> dict[str, Any]:
    hosts = data()["hosts"]
    for name in names:
        hosts[name]["use_vfs"] = True
    return {"hosts": hosts}


THREE = [*PORTS, "0000:03:00.0"]


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        (without("role"), "one with `role: tester` and one with `role: dut`"),
        ({**without("cores"), "profile": {"isolate": True}}, "name the `cores` of each host"),
        ({**without("cores"), "profile": {"ban_cores": True}}, "name the `cores` of each host"),
        ({"profile": {"ban_cores": True, "irqbalance": False}}, "nothing moves interrupts"),
        ({"dpdk": BESIDE, "profile": {"interrupts": "far-node"}}, "irqbalance moves them"),
        (
            {"profile": {"interrupts": "far-node", "irqbalance": False}},
            "leave the kernel for vfio-pci",
        ),
        ({"dpdk": {**PAGES, "tester": {"queues": 17}}}, "less than or equal to 16"),
        (
            {"dpdk": {**PAGES, "tester": {"peer_macs": ["02:00:00:00:00:01"]}}},
            "2 ports, an address for each",
        ),
        (cores("0-4"), "work for 4 `cores`"),
        (ports(PORTS, PORTS[:1]), "each port of the tester is cabled to one of the DUT"),
        (ports(PORTS[:1], PORTS[:1]), "needs two ports on each host, there is 1"),
        ({"measure": {}}, "no `rfc2544`"),
        ({"dpdk": {**PAGES, "memory_mib": 1025}}, "1025 of 1024 MiB of hugepages"),
        ({"dpdk": {**PAGES, "forwarder": "command"}}, "belong to `forwarder: command`"),
        (
            {"dpdk": {**PAGES, "forwarder": "command", "command": "vpp", "expect": "mac"}},
            "no word of it is {eal}",
        ),
        (
            {"dpdk": {**PAGES, "forwarder": "l3fwd-em", "bidirectional": True}},
            "its rules are of one stream",
        ),
        (
            {"dpdk": {**PAGES, "forwarder": "l3fwd-em", "way_back": "same"}},
            "its rules are of one stream",
        ),
        (
            {
                **ports(THREE, THREE),
                "dpdk": {**PAGES, "forwarder": "l3fwd-lpm", "way_back": "same"},
            },
            "its routes tell two ports apart, there are 3",
        ),
        ({**vfs("fwd"), "dpdk": {**PAGES, "driver": "kernel"}}, "gives VFs to vfio-pci"),
        (vfs("gen"), "testpmd-macswap does not write it; testpmd-mac"),
        ({**vfs("gen"), "dpdk": {**SAME, "forwarder": "testpmd-io"}}, "testpmd-io does not"),
        ({"networks": {"a": {"segment": 1, "subnet": "10.0.0.0/24", "mtu": 1500}}}, "networks"),
    ],
)
def test_what_cannot_be_is_refused_before_any_host_is_asked(changes: dict[str, Any], said: str):
    with pytest.raises(InputError) as caught:
        spec(**changes)
    assert said in f"{caught.value.found} {caught.value.so}"


def test_another_approach_has_neither_roles_nor_cores():
    hosts = {"gen": {"reach": "ssh://gen", "ports": PORTS, "role": "tester"}}
    with pytest.raises(InputError, match="has no role"):
        parse_spec(json.dumps({"hosts": hosts, "approach": "none"}), "spec.yaml")
