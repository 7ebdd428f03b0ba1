"""Whoever is killed, and whenever: nothing measured is lost, and nothing is left running.

    round:  --resume, kill one of DUT, tester, search at a random moment, look at what is left
    end:    --resume until the runs are complete

A process of a round is known by the temporary folder in its environment, which children inherit.
"""

import contextlib
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from wirespeed.host.clock import Deadline, monotonic_s, sleep_s
from wirespeed.measure.bench.run_folder import TRIALS, read_records
from wirespeed.measure.bench.tester import PROGRAM
from wirespeed.model.trial import End

ROUNDS = (5, pytest.param(45, marks=pytest.mark.rare))
"""Each is a kill that hits: every victim once; every victim nine times more, in minutes."""
DRAWS_PER_ROUND = 3
LEFT_S = 15.0
"""For all of a run to be gone after a kill; it takes below 1 s on a machine with nothing else."""
WHOLE_S = 240.0
VICTIMS = ("dut", "tester", "KILL", "TERM", "INT")
"""Program that gets SIGKILL, or the signal that the search gets."""
DUTS = ("testpmd-macswap", "l3fwd-lpm")
PROGRAMS = {"dut": ("dpdk-testpmd", "l3fwd"), "tester": (PROGRAM,)}
SIZES = "64,65,66,67,68,69,70,71"

Processes = dict[int, list[str]]


class Scene:
    """One temporary folder, the runs in it, and the processes that know it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.environment = {
            **os.environ,
            "PYTHONPATH": os.pathsep.join(sys.path),
            "TMPDIR": str(folder),
        }

    def run_folder(self, dut: str, number: int) -> Path:
        return self.folder / f"{dut}-{number}"

    def start(self, dut: str, out: Path) -> subprocess.Popen[bytes]:
        command = "from wirespeed.cli import main; main()"
        options = f"--frame-bytes {SIZES} --trial-seconds 0.05 --confirm-seconds 0.05 --flows 64"
        with (self.folder / "stderr").open("wb") as errors:
            return subprocess.Popen(
                [
                    *(sys.executable, "-c", command, "measure", "rfc2544", *options.split()),
                    *("--max-load", "20000", "--dut", dut, "--out", str(out), "--resume"),
                ],
                env=self.environment,
                stdout=subprocess.DEVNULL,
                stderr=errors,
            )

    def errors(self) -> str:
        return (self.folder / "stderr").read_text(errors="replace")

    def processes(self) -> Processes:
        """Process id to arguments of all that live; the dead have no environment any more."""
        found, mark = {}, f"TMPDIR={self.folder}".encode()
        for entry in Path("/proc").iterdir():
            with contextlib.suppress(OSError):
                if entry.name.isdigit() and mark in (entry / "environ").read_bytes().split(b"\0"):
                    line = (entry / "cmdline").read_bytes().decode(errors="replace")
                    found[int(entry.name)] = line.split("\0")
        return found

    def find(self, role: str) -> int | None:
        for pid, argv in self.processes().items():
            if any(Path(argument).name in PROGRAMS[role] for argument in argv):
                return pid
        return None

    def private_folders(self) -> set[Path]:
        return set(self.folder.glob("wirespeed-*"))

    def end_all(self) -> None:
        for pid in self.processes():
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)


@pytest.fixture
def scene() -> Iterator[Scene]:
    # Not pytest's own folder: the path of a Unix socket holds 107 bytes.
    with tempfile.TemporaryDirectory(prefix="ws-kill-", dir="/tmp") as folder:
        made = Scene(Path(folder))
        try:
            yield made
        finally:
            made.end_all()


def trials_on_disk(out: Path) -> list[str]:
    """Whole lines of trials, as they are on disk."""
    path = out / TRIALS
    lines = path.read_text().split("\n")[:-1] if path.exists() else []
    return [line for line in lines if '"kind":"trial"' in line]


def strike(
    scene: Scene,
    search: subprocess.Popen[bytes],
    victim: str,
    moment: tuple[bool, float],
    out: Path,
) -> bool:
    """Kill `victim` at that moment of its life; say whether it was there to be hit."""
    while_measuring, seconds = moment
    deadline, before = Deadline(WHOLE_S), len(trials_on_disk(out))
    while search.poll() is None and not deadline.expired:
        begun = victim not in PROGRAMS or scene.find(victim) is not None
        if len(trials_on_disk(out)) > before if while_measuring else begun:
            break
        sleep_s(0.01)
    with contextlib.suppress(subprocess.TimeoutExpired):
        search.wait(seconds)
        return False
    pid = scene.find(victim) if victim in PROGRAMS else search.pid
    if pid is None:
        return False
    number = signal.SIGKILL if victim in PROGRAMS else signal.Signals[f"SIG{victim}"]
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, number)
        return True
    return False


def await_nobody(scene: Scene, search: subprocess.Popen[bytes]) -> float:
    """Wait until all of the run has ended; give the seconds that it took."""
    started = monotonic_s()
    while search.poll() is None or scene.processes():
        waited = monotonic_s() - started
        assert waited < LEFT_S, f"still there: {scene.processes()}\n{scene.errors()}"
        sleep_s(0.01)
    return monotonic_s() - started


def was_hit(victim: str, returncode: int) -> bool:
    """Whether the run ended of the kill: it may have been complete a moment before."""
    match victim:
        case "KILL":
            return returncode == -signal.SIGKILL
        case "TERM" | "INT":
            # The signal's default action, if it came before ours was set up.
            return returncode in (130, -signal.SIGTERM, -signal.SIGINT)
        case _:
            return returncode in (1, 2)


@pytest.mark.dpdk
@pytest.mark.timeout(600)
@pytest.mark.parametrize("rounds", ROUNDS)
def test_kills_lose_no_trial_and_leave_no_process(scene: Scene, rounds: int):
    seed = int(os.environ.get("WIRESPEED_SEED") or random.SystemRandom().randrange(10**6))
    draw = random.Random(seed)
    sys.stdout.write(f"WIRESPEED_SEED={seed}\n")
    numbers = dict.fromkeys(DUTS, 1)
    hits: list[str] = []
    for _ in range(DRAWS_PER_ROUND * rounds):
        if len(hits) == rounds:
            break
        dut = draw.choice(DUTS)
        victim = VICTIMS[len(hits) % len(VICTIMS)]
        while_measuring = draw.random() < 0.6
        seconds = draw.uniform(0, 0.6) if while_measuring else draw.uniform(0.1, 1.5)
        out = scene.run_folder(dut, numbers[dut])
        before, orphans = trials_on_disk(out), scene.private_folders()
        search = scene.start(dut, out)
        struck = strike(scene, search, victim, (while_measuring, seconds), out)
        if not struck:
            search.wait(WHOLE_S)
        took = await_nobody(scene, search)
        after = trials_on_disk(out)
        when = f"{seconds:.2f} s into {'measuring' if while_measuring else 'its life'}"
        said = f"{victim} {when}, {out.name}: rc {search.returncode}, {took:.1f} s, "
        sys.stdout.write(said + f"{len(before)} -> {len(after)} trials\n")
        assert after[: len(before)] == before
        numbered = [json.loads(line)["number"] for line in after]
        assert numbered == list(range(1, len(after) + 1))
        if scene.private_folders() - orphans:
            assert not scene.private_folders() & orphans
        if not struck or not was_hit(victim, search.returncode):
            assert search.returncode in (0, 1), scene.errors()
            numbers[dut] += 1
            continue
        hits.append(victim)
        if victim in PROGRAMS:
            assert f"ERROR {victim}." in scene.errors()
            assert not scene.private_folders()
        if search.returncode in (1, 130):
            assert "Traceback" not in scene.errors()
    assert len(hits) == rounds, f"only {len(hits)} of {DRAWS_PER_ROUND * rounds} draws hit"
    for dut in DUTS:
        assert_completes(scene, dut, scene.run_folder(dut, numbers[dut]))
    assert not scene.private_folders()


def assert_completes(scene: Scene, dut: str, out: Path) -> None:
    before = trials_on_disk(out)
    search = scene.start(dut, out)
    search.wait(WHOLE_S)
    await_nobody(scene, search)
    assert search.returncode in (0, 1), scene.errors()
    assert trials_on_disk(out)[: len(before)] == before
    last = read_records(out)[-1]
    assert isinstance(last, End)
    assert last.completed
    assert all((out / name).exists() for name in ("report.html", "report.md", "results.csv"))
