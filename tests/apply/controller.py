"""A controller in a process of its own: it takes a host, writes files there, and may be killed.

    controller.py FOLDER HOST LOCK TIMERS WORD...

FOLDER is the run folder, HOST `here` or a `Host` of ~/.ssh/config, LOCK and TIMERS where the host
has them. Each WORD is done in turn, and answered with one line of JSON: `PATH=TEXT` writes a file
by a run, `armed:PATH=TEXT` with a timer whose confirmation is never asked for: the process stands
still there, `undo` undoes the run, `hold` takes the host and stands still, `break` sets
--break-lock.
"""

import json
import signal
import sys
from contextlib import ExitStack
from pathlib import Path

from note_step import Note

from wirespeed import catalog
from wirespeed.apply import control_script, guard_timer, guard_timer_change, host_copy_script
from wirespeed.apply.control_posix import PosixControl
from wirespeed.apply.planner import make_plan
from wirespeed.apply.run import Run, open_run
from wirespeed.host.local import LocalRunner
from wirespeed.host.reach_destination import parse_destination
from wirespeed.host.runner import Runner
from wirespeed.host.ssh_session import SshSession
from wirespeed.model.error import WirespeedError
from wirespeed.model.plan import Plan
from wirespeed.runs.run_hosts import apply_plan, lock_hosts, undo_plan

LONG_S = 60


def main(folder: str, host: str, lock: str, timers: str, *words: str) -> None:
    catalog.step_types = lambda: {"note": Note}  # type: ignore[assignment]
    control_script.LOCK, guard_timer.FOLDER = lock, timers
    host_copy_script.FOLDER = f"{lock}-copies"
    with ExitStack() as stack:
        runner: Runner = LocalRunner()
        if host != "here":
            runner = stack.enter_context(SshSession(parse_destination(host)))  # type: ignore[arg-type]
        control = PosixControl("alpha", runner)
        for word in words:
            try:
                with open_run(Path(folder), breaks="break" in words) as run:
                    do(word, run, control)
                answer: dict[str, str | bool] = {"run": run.id}
            except WirespeedError as error:
                answer = {"error": error.what, "found": error.found, "next": error.next}
            say(answer)


def do(word: str, run: Run, control: PosixControl) -> None:
    if word == "undo":
        assert run.plan is not None
        undo_plan(run, run.plan, {"alpha": control}, "spec")
    elif word == "hold":
        with lock_hosts(run, {"alpha": control}):
            stand_still(run)
    elif "=" in word:
        path, _, text = word.partition("=")
        step = Note(path=path.removeprefix("armed:"), text=text)
        plan = make_plan([("alpha", step, control.read([step])[0])])
        if word.startswith("armed:"):
            guard_timer_change.sleep_s = lambda _: stand_still(run)  # type: ignore[assignment]
            steps = tuple(s.model_copy(update={"cuts": "it is the way"}) for s in plan.steps)
            plan = Plan(steps=steps)
        apply_plan(run, plan, {"alpha": control}, LONG_S)


def stand_still(run: Run) -> None:
    say({"run": run.id, "holds": True})
    signal.pause()


def say(answer: dict[str, str | bool]) -> None:
    sys.stdout.write(f"{json.dumps(answer)}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main(*sys.argv[1:])
