"""Tests 2, 3 and 4 of the published report as specs, planned line by line on a described host.

What is expected stands in the report's tables 6, 9 and 12, word for word.
"""

from pathlib import Path

import pytest

from wirespeed.apply.spec_file import parse_spec
from wirespeed.approaches.dpdk import boot_parameters, dpdk
from wirespeed.measure.bench.eal_side import EalSide
from wirespeed.measure.bench.far_dut import l3fwd_options
from wirespeed.measure.bench.testpmd import Ports, argv
from wirespeed.model.capture import parse_capture
from wirespeed.model.fact import HostFacts
from wirespeed.model.spec.dpdk import Role
from wirespeed.model.spec.members import Dpdk
from wirespeed.model.step import Step

EXAMPLES = Path(__file__).parent.parent.parent / "examples"
CPUS = "/sys/devices/system"
BOOT = {
    2: "isolcpus=0-23 intel_idle.max_cstate=0 processor.max_cstate=0 intel_pstate=disable "
    "nohz_full=0-23 rcu_nocbs=0-23 rcu_nocb_poll default_hugepagesz=1G hugepagesz=1G hugepages=64 "
    "audit=0 nosoftlockup",
    3: "isolcpus=24-47 intel_idle.max_cstate=0 processor.max_cstate=0 intel_pstate=disable "
    "nohz_full=24-47 rcu_nocbs=24-47 rcu_nocb_poll default_hugepagesz=1G hugepagesz=1G "
    "hugepages=64 audit=0",
    4: "isolcpus=24-47 intel_idle.max_cstate=0 processor.max_cstate=0 intel_pstate=disable "
    "nohz_full=24-47 rcu_nocbs=24-47 rcu_nocb_poll default_hugepagesz=1G hugepagesz=1G "
    "hugepages=64 audit=0 nosoftlockup",
}
MASK = {2: range(36, 48), 3: [44], 4: [37]}
"""CPUs that forward. Of test 2, those of --config; of 3 and 4, the mask without its first CPU
or its last, which is testpmd's own: 0x110000000000 and 0x3000000000."""


def example(number: int) -> Dpdk:
    path = EXAMPLES / f"report-test-{number}.yaml"
    found = parse_spec(path.read_text(), path.name)
    assert isinstance(found, Dpdk)
    return found


def host(ports: tuple[str, ...]) -> HostFacts:
    """RHEL 7.4, kernel 3.10, 48 CPUs on two nodes."""
    lines = ["wirespeed-capture 1 case", "case begin ports -"]
    for number, address in enumerate(ports):
        at = f"device=/sys/devices/pci0000:00/{address}"
        lines.append(f"ens{number + 1} driver=mlx5_core physfn= port= {at}")
    lines += ["", "case end 0", "case begin cpu -", f"{CPUS}/cpu/online:0-47"]
    lines += [f"{CPUS}/node/node0/cpulist:0-47", "", "case end 0", "case begin kernel -"]
    lines += ["/proc/sys/kernel/osrelease:3.10.0-693.el7.x86_64"]
    lines += ['/etc/os-release:PRETTY_NAME="Red Hat Enterprise Linux Server 7.4 (Maipo)"']
    lines += ["", "case end 0", "case begin boot-loader -", "grub", "", "case end 0"]
    return HostFacts("dut", parse_capture("\n".join([*lines, "case done", ""]), "dut"))


def steps(spec: Dpdk) -> list[Step]:
    return [one.step for one in dpdk(spec, "dut", host(spec.hosts["dut"].ports))]


@pytest.mark.parametrize("number", BOOT)
def test_the_plan_has_every_line_of_the_reports_settings(number: int):
    spec = example(number)
    facts = host(spec.hosts["dut"].ports)
    assert " ".join(boot_parameters(spec, "dut", facts)) == BOOT[number]
    said = {one.model_dump()["step"]: one.model_dump() for one in steps(spec)}
    assert " ".join(said["kernel_arguments"]["parameters"]) == BOOT[number]
    sysctls = {
        one.model_dump()["name"]: one.model_dump()["value"]
        for one in steps(spec)
        if one.model_dump()["step"] == "sysctl"
    }
    assert sysctls == {
        "vm.zone_reclaim_mode": "0",
        "vm.swappiness": "0",
        "kernel.sched_rt_runtime_us": "-1",
    }
    assert (said["pause"]["rx"], said["pause"]["tx"]) == (False, False)
    assert said["irqbalance"]["is_running"] is False
    assert said["read_request"]["max_read_request_bytes"] == 1024
    assert (said["hugepages"]["page_kib"], said["hugepages"]["count"]) == (1 << 20, 64)
    assert "dpdk_port" not in said
    assert spec.dpdk.environment == {"MLX5_SHUT_UP_BF": "1"}


def side(spec: Dpdk) -> EalSide:
    cores = spec.hosts[spec.host_of(Role.DUT)].cores or ""
    return EalSide(
        devices=spec.hosts["dut"].ports,
        file_prefix="dut",
        runtime_folder=Path("/run"),
        memory_mib=spec.dpdk.memory_mib,
        hugepages=True,
        control_cpu=0,
        worker_cpus=tuple(map(int, cores.split(","))),
    )


def test_l3fwd_has_the_reports_queues_each_on_a_core_of_its_own():
    spec = example(2)
    setup = Ports(count=1, queues=spec.dpdk.queues, same=True, rx_descriptors=2048)
    options = l3fwd_options(side(spec), "lpm", setup, ["a", "b"])
    lcores = dict(pair.split("@") for pair in options[0].removeprefix("--lcores=").split(","))
    (config,) = (one for one in options if one.startswith("--config="))
    queues = [one.split(",") for one in config.removeprefix("--config=(")[:-1].split("),(")]
    assert [(port, queue) for port, queue, _ in queues] == [("0", str(n)) for n in range(12)]
    assert {int(lcores[lcore]) for _, _, lcore in queues} == set(MASK[2])
    assert (spec.dpdk.rx_descriptors, spec.dpdk.tx_descriptors) == (2048, 2048)
    assert spec.dpdk.devargs == "mprq_en=1"


@pytest.mark.parametrize("number", [3, 4])
def test_testpmd_has_the_reports_options_on_one_core(number: int):
    spec = example(number)
    setup = Ports(count=2, rx_descriptors=1024, tx_descriptors=1024)
    line = argv(side(spec), "io", ports=setup, mbufs=32768, burst=spec.dpdk.burst)
    assert {"--burst=64", "--txd=1024", "--rxd=1024", "--nb-cores=1", "-i"} <= set(line)
    assert f"--lcores=0@0,1@{MASK[number][0]}" in line
    assert (spec.dpdk.rx_descriptors, spec.dpdk.tx_descriptors) == (1024, 1024)
    assert spec.dpdk.bidirectional and spec.dpdk.way_back == "other"
