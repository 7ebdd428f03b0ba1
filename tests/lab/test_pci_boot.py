"""A host booted with the kernel's command line that a plan wants has what the line is there for.

The report's test 1 as in `examples/`, cut to a host of two CPUs and one page of 1 GB.
"""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from program import wirespeed

from wirespeed.apply.spec_file import parse_spec
from wirespeed.approaches.dpdk import boot_parameters
from wirespeed.approaches.polling_cores import polling_cores
from wirespeed.lab.machine_spec import LabSpec, MachineSpec
from wirespeed.lab.machines import Machine, Machines
from wirespeed.model.capture import parse_capture
from wirespeed.model.fact import HostFacts
from wirespeed.model.spec.members import Dpdk

pytestmark = [pytest.mark.machines, pytest.mark.rare, pytest.mark.timeout(400)]
EXAMPLE = Path(__file__).parent.parent.parent / "examples/report-test-1.yaml"
OURS = {
    "24-47": "1",
    "40-47": "1",
    "0000:d8:00.0": "0000:01:00.0",
    "0000:d8:00.1": "0000:02:00.0",
    "hugepages=64": "hugepages=1",
}
DUT = "dut"
WANTED = (
    "isolcpus=1 intel_idle.max_cstate=0 processor.max_cstate=0 intel_pstate=disable nohz_full=1 "
    "rcu_nocbs=1 rcu_nocb_poll default_hugepagesz=1G hugepagesz=1G hugepages=1 audit=0 nosoftlockup"
)
"""The report's table 3, BOOT Settings, with the numbers of OURS."""


def spec_of_example() -> Dpdk:
    text = EXAMPLE.read_text()
    for theirs, ours in OURS.items():
        text = text.replace(theirs, ours)
    found = parse_spec(text, EXAMPLE.name)
    assert isinstance(found, Dpdk)
    return found


def wanted_of(facts: HostFacts) -> tuple[str, ...]:
    return boot_parameters(spec_of_example(), DUT, facts)


@pytest.fixture(scope="module")
def host() -> Iterator[Machine]:
    planned = wanted_of(HostFacts(DUT, parse_capture("wirespeed-capture 1 case\ncase done\n", DUT)))
    assert " ".join(planned) == WANTED
    alone = MachineSpec(
        name="alpha", memory_mib=4096, cpus=2, systemd=True, kernel_parameters=planned
    )
    lab = LabSpec(hosts=(alone,), wiring="switch")
    with Machines(lab, name=f"test-{os.getpid()}-pci-boot") as up:
        yield up.hosts["alpha"]


def test_pci_a_host_booted_with_the_plans_command_line_shows_it(host: Machine, tmp_path: Path):
    def read(path: str) -> str:
        return host.run(["cat", path]).output.strip()

    line = read("/proc/cmdline").split()
    assert [word for word in line if word in WANTED.split()] == WANTED.split()
    assert read("/sys/devices/system/cpu/isolated") == "1"
    assert read("/sys/devices/system/cpu/nohz_full") == "1"
    assert read("/sys/kernel/mm/hugepages/hugepages-1048576kB/nr_hugepages") == "1"
    assert "Hugepagesize:    1048576 kB" in read("/proc/meminfo")
    # What systemd starts is kept off it.
    assert "Cpus_allowed_list:\t0" in read("/proc/1/status").splitlines()

    capture = tmp_path / "alpha.txt"
    done = wirespeed("capture", host.state.destination, "--seconds", "0", "--out", str(capture))
    assert done.returncode == 0, done.stderr
    facts = HostFacts(DUT, parse_capture(capture.read_text(), DUT))
    assert " ".join(wanted_of(facts)) == WANTED, "the same as was planned before"
    spec = spec_of_example()
    bare = {name: one.model_copy(update={"cores": None}) for name, one in spec.hosts.items()}
    # Where none are named, those that were isolated poll.
    assert polling_cores(spec.model_copy(update={"hosts": bare}), DUT, facts) == (1,)
