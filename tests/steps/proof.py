"""What every step proves, on a described host, with the real planner and the real executor.

A test describes the host as it is before and as it is after, both by hand:

    prove(Rings(netdev="eth0", rx=4096), start=Described(rx=512), goal=Described(rx=4096))

A described host is a dataclass that can be compared and copied; its `run` interprets strictly the
commands that the step may send, by the rules of the kernel or of the tool, and raises
UnknownCommandError for any other. What it cannot do it refuses as the tool would, with a return
code.
"""

import pickle
from collections.abc import Callable, Sequence
from copy import deepcopy
from dataclasses import dataclass
from typing import Protocol

import pytest
from host_text import as_printed, host_text

from wirespeed.apply.change_from import is_other
from wirespeed.apply.control import Changed
from wirespeed.apply.executor import Executor
from wirespeed.apply.planner import make_plan
from wirespeed.catalog import read_step
from wirespeed.model.capture import Section
from wirespeed.model.command import Command, Shell
from wirespeed.model.error import ApplyError
from wirespeed.model.journal import Ended, Entry
from wirespeed.model.observed import Known, Observed
from wirespeed.model.plan import Plan
from wirespeed.model.step import State, Step

NAME = "alpha"
MAX_COMMANDS = 5000
"""Of one change: far more than the interrupts of the largest card."""


CHANGE_NOTHING: set[int] = set()
"""Hashes of a host's state and of a command that was shown to change nothing of it."""


class UnknownCommandError(AssertionError):
    """A step sent what no described tool understands."""


@dataclass(frozen=True)
class Answer:
    """What a command printed."""

    output: str = ""
    errors: str = ""
    returncode: int = 0


class Described(Protocol):
    """A described host: compared by `==`, copied by `deepcopy`."""

    def run(self, command: Command) -> Answer: ...


class Killed(BaseException):
    """The process ends here: nothing after it runs."""


class DescribedControl:
    """The executor's hands on a described host, which can die, refuse and ignore.

    Commands of changes are counted from 0. `dies_before` n: the run is killed before command n, or
    after the last one and before the reading, where there are n. `refuses`, `ignores`: the command
    of that number fails, or is answered well and changes nothing.
    """

    def __init__(self, host: Described) -> None:
        self.host = host
        self.count = 0
        self.dies_before: int | None = None
        self.refuses: int | None = None
        self.refusal = "refused"
        self.ignores: Callable[[int], bool] = lambda _: False

    def read(self, steps: Sequence[Step]) -> list[Observed[State]]:
        return [self._state(step) for step in steps]

    def change(self, step: Step, commands: Sequence[Command], now: State | None = None) -> Changed:
        assert len(commands) <= MAX_COMMANDS
        found = self._state(step)
        if now is not None and is_other(found, now, step):
            return Changed("", found, is_stale=True)
        failed = ""
        for command in commands:
            self._die_here()
            number, self.count = self.count, self.count + 1
            if number == self.refuses:
                failed = f"{command.line()}: 1: {self.refusal}"
                break
            # What is ignored is answered as if it were not: by a copy of the host.
            ignored = self.ignores(number)
            answer = (deepcopy(self.host) if ignored else self.host).run(command)
            if answer.returncode:
                failed = f"{command.line()}: {answer.returncode}: {answer.errors}"
                break
        self._die_here()
        return Changed(failed, self._state(step))

    def _die_here(self) -> None:
        if self.count == self.dies_before:
            self.dies_before = None
            raise Killed

    def _state(self, step: Step) -> Observed[State]:
        before, read = pickle.dumps(self.host), step.read()
        answer = self.host.run(read)
        # A host that stands as it did when this was run before is not compared once more.
        shown = hash((before, read))
        if shown not in CHANGE_NOTHING:
            # What is not compared, such as a list of what was run, may differ.
            if pickle.dumps(self.host) != before:
                then = pickle.loads(before)  # noqa: S301 (written above)
                assert self.host == then, f"{read.line()} changed the host"
            CHANGE_NOTHING.add(shown)
        return step.parse(
            Section("step", step.subject, answer.output, answer.errors, answer.returncode)
        )


def prove(step: Step, start: Described, goal: Described) -> None:
    """Prove everything that a step has to; `start` and `goal` are left as they are."""
    assert start != goal
    prove_apply_and_undo(step, start, goal)
    prove_second_apply_is_no_op(step, goal)
    prove_kills(step, start, goal)
    prove_contradiction(step, start)
    prove_refusals(step, start, goal)
    prove_host_tells(step, start, goal)


def prove_host_tells(step: Step, start: Described, goal: Described) -> None:
    """A host that undoes it by itself tells the two states apart, and knows each again."""
    if step.mark is None or step.read().shell is not Shell.POSIX:
        return
    answers = [deepcopy(host).run(step.read()) for host in (start, start, goal)]
    texts = [host_text(step, as_printed(a.output), a.errors, a.returncode) for a in answers]
    assert None not in texts and texts[0] == texts[1] != texts[2], texts


def plan_on(step: Step, host: Described) -> Plan:
    """Plan the step on a described host; the plan and the step survive being written down."""
    plan = make_plan([(NAME, step, DescribedControl(deepcopy(host)).read([step])[0])])
    assert Plan.model_validate_json(plan.model_dump_json()) == plan
    assert read_step(plan.steps[0].step) == step
    assert step.subject and step.why.strip()
    return plan


def prove_apply_and_undo(step: Step, start: Described, goal: Described) -> None:
    """Apply reaches the goal, undo restores exactly; an equal state needs no command."""
    plan, run = plan_on(step, start), _Run(start)
    planned = plan.steps[0]
    assert planned.commands, "nothing is done"
    run.apply(plan)
    assert run.control.host == goal
    assert run.control.read([step])[0] == Known(planned.goal, step.read().line())
    run.undo(plan)
    assert run.control.host == start
    assert [e.outcome for e in run.journal if isinstance(e, Ended)] == ["applied", "undone"]
    assert step.change(planned.before, planned.before) == ()
    assert step.change(planned.goal, planned.goal) == ()
    assert step.wanted(planned.goal) == planned.goal


def prove_second_apply_is_no_op(step: Step, goal: Described) -> None:
    """Where it is so already, nothing is run, and the plan says why."""
    plan, run = plan_on(step, goal), _Run(goal)
    assert plan.steps[0].no_op.startswith("it is so already: ")
    assert (plan.steps[0].commands, plan.steps[0].undo) == ((), ())
    run.apply(plan)
    assert (run.control.count, run.control.host) == (0, goal)


def prove_kills(step: Step, start: Described, goal: Described) -> None:
    """Kill apply and undo before and after every entry and command; the next run ends well."""
    plan = plan_on(step, start)
    whole = _Run(start)
    whole.apply(plan)
    applied, commands = len(whole.journal), whole.control.count
    whole.undo(plan)
    undone, undo_commands = len(whole.journal), whole.control.count - commands
    for kill in _kills(0, applied, commands):
        for finish, end in ((_Run.undo, start), (_Run.apply, goal)):
            run = _Run(start)
            run.is_killed(kill, lambda run=run: run.apply(plan))
            finish(run, plan)
            assert run.control.host == end, (kill, finish.__name__)
    for kill in _kills(applied, undone, undo_commands):
        run = _Run(start)
        run.apply(plan)
        run.control.count = 0
        run.is_killed(kill, lambda run=run: run.undo(plan))
        run.undo(plan)
        assert run.control.host == start, (kill, "undo of an undo")


def prove_contradiction(step: Step, start: Described) -> None:
    """A host that takes the writes and does not do them is not believed, and is put back."""
    plan, run = plan_on(step, start), _Run(start)
    run.control.ignores = lambda _: True
    with pytest.raises(ApplyError) as caught:
        run.apply(plan)
    assert caught.value.what in ("step.contradicted", "step.failed")
    assert run.control.host == start
    if len(plan.steps[0].commands) == 1:
        assert caught.value.what == "step.contradicted"


def prove_refusals(step: Step, start: Described, goal: Described) -> None:
    """Each command in turn is refused, or ignored alone: it ends in the start, or in the goal."""
    plan = plan_on(step, start)
    for number in range(len(plan.steps[0].commands)):
        run = _Run(start)
        run.control.refuses = number
        with pytest.raises(ApplyError) as caught:
            run.apply(plan)
        assert caught.value.what == "step.failed"
        assert run.control.host == start, f"command {number} refused"
        run = _Run(start)
        run.control.ignores = lambda n, number=number: n == number
        try:
            run.apply(plan)
        except ApplyError:
            assert run.control.host == start, f"command {number} ignored"
        else:
            assert run.control.host == goal, f"command {number} ignored"


@dataclass(frozen=True)
class _Kill:
    """Before or after journal entry `entry`, or before command `command`."""

    entry: int | None = None
    written: bool = False
    command: int | None = None


def _kills(first: int, end: int, commands: int) -> list[_Kill]:
    entries = [_Kill(entry=at, written=w) for at in range(first, end) for w in (False, True)]
    return entries + [_Kill(command=at) for at in range(commands + 1)]


class _Run:
    """A host of its own, with the journal of what is done to it."""

    def __init__(self, host: Described) -> None:
        self.control = DescribedControl(deepcopy(host))
        self.journal: list[Entry] = []
        self._kill = _Kill()

    def apply(self, plan: Plan) -> None:
        self._executor(plan).apply()

    def undo(self, plan: Plan) -> None:
        self._executor(plan).undo()

    def is_killed(self, kill: _Kill, work: Callable[[], None]) -> None:
        self._kill, self.control.dies_before = kill, kill.command
        with pytest.raises(Killed):
            work()
        self._kill = _Kill()

    def _executor(self, plan: Plan) -> Executor:
        controls = {NAME: self.control}
        return Executor(plan, controls, self._write, lambda: "now", tuple(self.journal))

    def _write(self, entry: Entry) -> None:
        at = len(self.journal)
        if at == self._kill.entry and not self._kill.written:
            raise Killed
        self.journal.append(entry)
        if at == self._kill.entry:
            raise Killed
