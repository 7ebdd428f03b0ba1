"""Hosts with a modelled ConnectX: built, up, and what their kernels must not have said."""

import subprocess
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from wirespeed.apply.control_posix import PosixControl
from wirespeed.apply.executor import Executor
from wirespeed.apply.planner import make_plan
from wirespeed.doctor.collector import collector_script
from wirespeed.host.clock import Deadline, sleep_s
from wirespeed.lab.machine_spec import LabSpec, MachineSpec, Wiring
from wirespeed.lab.machines import Machine, Machines
from wirespeed.model.capture import parse_capture
from wirespeed.model.fact import HostFacts
from wirespeed.model.journal import Entry
from wirespeed.model.step import Step

BUILDER = Path(__file__).parents[2] / "scripts" / "build-mlx5-model.sh"
PATIENCE_S = 60.0
CAPTURE_S = 240.0
PORTS = ("0000:01:00.0", "0000:01:00.1")
BAD_WORDS = "WARNING|BUG:|Call Trace|DMAR:.*fault|DMAR: .*not set|mlx5.*(refcount|syndrome|hung)"
"""Of a kernel: its own complaints, accesses that the IOMMU stopped, commands that failed."""


def spec_of(*names: str, wiring: Wiring, kernel: str = "", **options: bool) -> LabSpec:
    hosts = tuple(
        MachineSpec(name=name, card="mlx5", cpus=2, memory_mib=768, **options) for name in names
    )
    return LabSpec(hosts=hosts, wiring=wiring, kernel=kernel)


@contextmanager
def mlx5_lab(
    name: str, *hosts: str, wiring: Wiring = "crossed", kernel: str = "", **options: bool
) -> Iterator[Machines]:
    """Bring them up; at the end, no kernel and no card may have complained.

    `options` are those of each host: mstflint, systemd, disk.
    """
    subprocess.run([BUILDER], check=True, capture_output=True, timeout=540)
    spec = spec_of(*hosts, wiring=wiring, kernel=kernel, **options)
    with Machines(spec, name=name) as lab:
        yield lab
        for host in hosts:
            said = complaints(lab.hosts[host])
            assert said == "", f"{host}: {said}"


def complaints(host: Machine) -> str:
    return sh(host, f"dmesg | grep -E '{BAD_WORDS}' || :")


def sh(host: Machine, script: str) -> str:
    done = host.run(["sh", "-ec", script])
    assert done.returncode == 0, f"{script}\n{done.output}\n{done.errors}"
    return done.output.strip()


def facts_of(host: Machine) -> HostFacts:
    name = host.state.name
    capture = parse_capture(capture_of(host), name)
    assert capture.complete
    return HostFacts(name, capture)


def capture_of(host: Machine) -> str:
    """What the doctor's script prints there; mst tools take 30 s on a busy machine's host."""
    return host.run(["sh", "-s"], stdin=collector_script(), timeout_s=CAPTURE_S).output


def counters(host: Machine, netdev: str) -> dict[str, int]:
    """All counters of the driver's, by its own names."""
    lines = sh(host, f"ethtool -S {netdev}").splitlines()[1:]
    return {name.strip(): int(value) for name, _, value in (line.rpartition(":") for line in lines)}


def refused(lab: Machines, host: str) -> str:
    """What a host's card was asked and does not know."""
    report = lab.report(host)
    return report.read_text() if report.exists() else ""


class Run:
    """Steps on a host by the real planner and executor, with their journal."""

    def __init__(self, host: Machine, steps: Sequence[Step]) -> None:
        self.control = PosixControl(host.state.name, host)
        self.name = host.state.name
        self.steps = list(steps)
        self.journal: list[Entry] = []
        states = self.control.read(self.steps)
        self.plan = make_plan(
            [(self.name, step, state) for step, state in zip(self.steps, states, strict=True)]
        )

    def executor(self) -> Executor:
        return Executor(
            self.plan,
            {self.name: self.control},
            self.journal.append,
            lambda: "now",
            tuple(self.journal),
        )


def until(is_so: Callable[[], bool]) -> None:
    """Wait, as long as a busy machine may take."""
    deadline = Deadline(PATIENCE_S)
    while not is_so():
        assert not deadline.expired
        sleep_s(0.5)
