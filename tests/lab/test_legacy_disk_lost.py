"""A controller that is killed, and its disk lost: the host's own copy brings the host back."""

import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from namespace_story import (
    PORTS,
    SMALL,
    assert_as_before,
    is_killed,
    standing,
    states,
    written,
)
from program import wirespeed

from wirespeed.lab.machines import Machines
from wirespeed.model.plan import Plan
from wirespeed.runs.hosts_of_spec import controls_of, read_spec
from wirespeed.runs.plan_hosts import plan_hosts

pytestmark = [pytest.mark.machines, pytest.mark.rare, pytest.mark.timeout(900)]
SHOWN_EACH = 4
"""Of so many kills the host is asked once what stands there: a command takes seconds."""


@pytest.fixture(scope="module")
def lab() -> Iterator[Machines]:
    with Machines(name=f"test-{os.getpid()}-lost") as lab:
        yield lab


def in_the_midst(plan: Plan) -> list[tuple[int, str]]:
    """One kill, when half of the steps are done and the next one's intent is durable."""
    todo = sum(not planned.no_op for planned in plan.steps)
    return [(1 + 2 * (todo // 2), "after")]


def each_kind_of_step(plan: Plan) -> list[tuple[int, str]]:
    """A kill after the first line; and of each kind of step, when it is done and not yet written.

    At every write, with the journal kept, a lab host is killed in test_legacy_killed_writes.py.
    """
    todo = [planned for planned in plan.steps if not planned.no_op]
    first = {planned.step["step"]: number for number, planned in reversed([*enumerate(todo)])}
    return [(0, "after"), *((2 + 2 * number, "before") for number in sorted(first.values()))]


@pytest.mark.parametrize(
    "writes",
    [
        in_the_midst,
        pytest.param(each_kind_of_step, marks=pytest.mark.timeout(3600)),
    ],
    ids=lambda writes: writes.__name__,
)
def test_legacy_killed_and_its_disk_lost_the_host_s_own_copy_brings_the_host_back(
    lab: Machines, tmp_path: Path, writes: Callable[[Plan], list[tuple[int, str]]]
):
    spec = written(lab, tmp_path / "spec.yaml", SMALL, {"alpha": PORTS[:1]})
    host, before = f"ssh://{lab.hosts['alpha'].state.destination}", standing(lab)
    wanted, saved = read_spec(spec), tmp_path / "plan.json"
    with controls_of(wanted) as controls:
        plan, _ = plan_hosts(wanted, controls)
        saved.write_text(plan.model_dump_json())
        start = states(controls, plan)
        for number, (place, when) in enumerate(writes(plan)):
            folder, state = tmp_path / f"run-{number}", tmp_path / f"state-{number}"
            killed = is_killed(spec, saved, folder, place, when)
            shutil.rmtree(folder)
            if number % SHOWN_EACH == 0:
                assert_stands(host, state, place, killed=killed)
            undone = wirespeed(
                "undo", host, "--yes", "--break-lock", XDG_STATE_HOME=str(state), timeout_s=600
            )
            assert undone.returncode == 0, (place, when, undone.stdout + undone.stderr)
            assert states(controls, plan) == start, (place, when)
            if number % SHOWN_EACH == 0:
                again = wirespeed("status", host, XDG_STATE_HOME=str(state))
                assert again.returncode == 0 and "0 runs are applied" in again.stdout, again.stdout
            # Of what was killed before anything was done, the lock is still there.
            lab.hosts["alpha"].run(["rm", "-rf", "/run/wirespeed.lock"])
    assert_as_before(lab, before)


def assert_stands(host: str, state: Path, place: int, *, killed: bool) -> None:
    told = wirespeed("status", host, XDG_STATE_HOME=str(state))
    stands = "1 runs are applied" in told.stdout
    assert told.returncode == (1 if stands and killed else 0), told.stdout + told.stderr
    # The first line is written to no host: nothing was done by then.
    assert stands or place < 2, (place, told.stdout)
