"""An undo reads all of a host at once, and each step again in the script that puts it back."""

from collections.abc import Sequence

import pytest
from described_host import DescribedHost, Put

from wirespeed import catalog
from wirespeed.apply.control import Changed
from wirespeed.apply.executor import Executor
from wirespeed.apply.planner import make_plan
from wirespeed.model.command import Command
from wirespeed.model.error import LeftChangedError
from wirespeed.model.journal import Entry, Undone, Verified
from wirespeed.model.step import State, Step

START = {"a": 1, "b": 2, "c": 3}
STEPS = [Put(key=key, value=10 * value) for key, value in START.items()]


class Host(DescribedHost):
    """One on which the undo of `c` has an effect on `a`, which no step says."""

    brings: int | None = None
    """The value of `a` then."""
    hides_a = False

    def change(self, step: Step, commands: Sequence[Command], now: State | None = None) -> Changed:
        changed = super().change(step, commands, now)
        if step.subject == "c":
            if self.brings is not None:
                self.values["a"] = self.brings
            self.unreadable |= {"a"} if self.hides_a else set()
        return changed


@pytest.fixture
def host(monkeypatch: pytest.MonkeyPatch) -> Host:
    monkeypatch.setattr(catalog, "step_types", lambda: {"put": Put})
    return Host(dict(START))


class OfPort(Put):
    """What names the same port as the others, as most steps of a plan do."""

    port: str = "p0"


def applied(host: Host, steps: Sequence[Put] = STEPS) -> tuple[Executor, list[Entry]]:
    """Apply, and give what undoes it."""
    journal: list[Entry] = []
    states = host.read(steps)
    plan = make_plan(("alpha", step, s) for step, s in zip(steps, states, strict=True))
    Executor(plan, {"alpha": host}, journal.append, lambda: "now").apply()
    host.trips, host.ran = 0, []
    return Executor(plan, {"alpha": host}, journal.append, lambda: "now", tuple(journal)), journal


def undone(journal: list[Entry], key: str) -> list[Verified]:
    number = list(START).index(key)
    return [one.verdict for one in journal if isinstance(one, Undone) and one.number == number]


def test_each_step_takes_one_round_trip_after_one_for_all(host: Host):
    executor, _ = applied(host)
    executor.undo()
    assert host.values == START
    assert host.trips == 1 + len(STEPS)


def test_so_do_steps_of_one_port_though_each_may_alter_the_others(
    host: Host, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(catalog, "step_types", lambda: {"put": OfPort})
    executor, _ = applied(host, [OfPort(key=step.key, value=step.value) for step in STEPS])
    executor.undo()
    assert host.values == START
    assert host.trips == 1 + len(STEPS)


def test_what_an_undo_before_it_brought_back_is_not_written(host: Host):
    executor, journal = applied(host)
    host.brings = START["a"]
    executor.undo()
    assert host.values == START
    assert undone(journal, "a") == [Verified.VERIFIED]
    assert {argv[1] for argv in host.ran} == {"b", "c"}


def test_what_an_undo_before_it_made_unreadable_is_put_back_unseen(host: Host):
    executor, journal = applied(host)
    host.hides_a = True
    with pytest.raises(LeftChangedError):
        executor.undo()
    assert host.values == START
    assert undone(journal, "a") == [Verified.CANNOT_VERIFY]


def test_what_others_change_after_the_first_reading_is_left_alone(host: Host):
    executor, journal = applied(host)
    host.brings = 77
    with pytest.raises(LeftChangedError):
        executor.undo()
    assert host.values == START | {"a": 77}
    assert undone(journal, "a") == [Verified.CHANGED_MEANWHILE]


def test_what_was_back_at_first_is_read_again_before_it_is_called_so(host: Host):
    executor, journal = applied(host)
    host.values["a"], host.brings = START["a"], 77
    with pytest.raises(LeftChangedError):
        executor.undo()
    assert host.values == START | {"a": 77}
    assert Verified.VERIFIED not in undone(journal, "a")
