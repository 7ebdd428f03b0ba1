"""The doctor: what a local run costs, and 200 recorded hosts."""

import resource
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

from bench_figures import Result, Unmeasured
from bench_pairs import DisturbedError, pairs
from wirespeed.doctor.collector import collector_script
from wirespeed.host.clock import monotonic_s
from wirespeed.host.folder import PrivateFolder
from wirespeed.host.local import LocalRunner

RECORDED_HOSTS = 200
TESTS = Path(__file__).parent.parent / "tests"
DESCRIBE_SECONDS = 300.0
WIRESPEED = str(Path(sys.executable).parent / "wirespeed")
ANSIBLE = Path(sys.executable).parent / "ansible"
GATHER = (str(ANSIBLE), "localhost", "--connection", "local", "--module-name", "setup")


STARTS = (sys.executable, "-c", "from pydantic import BaseModel")
"""Python and the library that every record is read with: no command of ours starts sooner."""


def doctor() -> Iterator[Result]:
    """A local run's CPU and wall time, 200 captures, and Ansible's facts of the same host."""
    line = [WIRESPEED, "doctor"]
    with PrivateFolder.create() as folder:
        collector = folder.path / "collector.sh"
        collector.write_text(collector_script())
        tools = ("sh", str(collector))
        yield pairs(
            "doctor_cpu",
            lambda: cpu_seconds(line),
            lambda: cpu_seconds(STARTS) + cpu_seconds(tools),
        )
        yield pairs(
            "doctor_wall",
            lambda: wall_seconds(line),
            lambda: wall_seconds(STARTS) + wall_seconds(tools),
        )
        captures = recorded(folder.path)
        judge = (WIRESPEED, "doctor", "--json")
        yield pairs(
            "doctor_200_hosts",
            lambda: wall_seconds((*judge, *captures)),
            lambda: wall_seconds((*judge, captures[0])),
        )
    yield beside_ansible(lambda: wall_seconds(line))


def beside_ansible(ours: Callable[[], float]) -> Result:
    """Seconds of a whole doctor run beside those in which Ansible gathers its facts."""
    if not ANSIBLE.exists():
        why = "ansible-core is not installed: `make test` installs it"
        return Unmeasured(name="doctor_vs_ansible", why=why, excused=True)
    return pairs("doctor_vs_ansible", ours, lambda: wall_seconds(GATHER))


def recorded(folder: Path) -> list[str]:
    """Make the captures of the described hosts (tests/described) 200: a rack of each."""
    bases = folder / "described"
    bases.mkdir()
    line = ["env", f"PYTHONPATH={TESTS}", sys.executable, "-m", "described", str(bases)]
    done = LocalRunner().run(line, timeout_s=DESCRIBE_SECONDS)
    texts = [path.read_text() for path in sorted(bases.iterdir())]
    if done.returncode or not texts:
        raise DisturbedError(f"no described hosts: {done.errors[-200:]}")
    paths = [folder / f"host-{number}.txt" for number in range(RECORDED_HOSTS)]
    for number, path in enumerate(paths):
        path.write_text(texts[number % len(texts)])
    return [str(path) for path in paths]


def wall_seconds(line: list[str] | tuple[str, ...]) -> float:
    """From start to end; a run that fails (1 is a finding) says nothing."""
    started = monotonic_s()
    done = LocalRunner().run(line)
    if done.returncode not in (0, 1):
        raise DisturbedError(f"{line[0]} ended with {done.returncode}: {done.errors[:200]}")
    return monotonic_s() - started


def cpu_seconds(line: list[str] | tuple[str, ...]) -> float:
    """User and system time of a program with all that it starts."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    wall_seconds(line)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return (after.ru_utime - before.ru_utime) + (after.ru_stime - before.ru_stime)
