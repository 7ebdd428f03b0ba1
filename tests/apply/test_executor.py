"""Apply and undo on described hosts, and from every moment at which they can be killed."""

from collections.abc import Iterator, Sequence
from itertools import product
from typing import ClassVar, Literal

import pytest
from described_host import MADE, DescribedHost, Killed, Put

from wirespeed import catalog
from wirespeed.apply.control import Changed
from wirespeed.apply.executor import SETTLING_TRIES, Executor
from wirespeed.apply.planner import make_plan
from wirespeed.model.command import Command
from wirespeed.model.error import ApplyError, HostError, LeftChangedError
from wirespeed.model.journal import (
    Begun,
    Ended,
    Entry,
    Intent,
    Result,
    Stood,
    Undoing,
    Undone,
    Verified,
)
from wirespeed.model.observed import CannotTellError, Observed
from wirespeed.model.plan import Plan
from wirespeed.model.step import State, Step

START = {"a": 1, "b": 2, "c": 3}
GOAL = {"a": 10, "b": 2, "c": 30}
STEPS = [Put(key=key, value=value) for key, value in GOAL.items()]


@pytest.fixture(autouse=True)
def _only_put(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(catalog, "step_types", lambda: {"put": Put})


@pytest.fixture
def host() -> DescribedHost:
    return DescribedHost(dict(START))


def plan_of(host: DescribedHost) -> Plan:
    states = host.read(STEPS)
    return make_plan(("alpha", step, s) for step, s in zip(STEPS, states, strict=True))


def executor(plan: Plan, host: DescribedHost, journal: list[Entry]) -> Executor:
    return Executor(plan, {"alpha": host}, journal.append, lambda: "now", tuple(journal))


class TestApply:
    def test_it_leads_to_the_goal_and_undo_back(self, host: DescribedHost):
        journal: list[Entry] = []
        executor(plan := plan_of(host), host, journal).apply()
        assert host.values == GOAL
        executor(plan, host, journal).undo()
        assert host.values == START
        assert [e.outcome for e in journal if isinstance(e, Ended)] == ["applied", "undone"]

    def test_a_step_that_is_so_already_is_not_written_and_says_why(self, host: DescribedHost):
        plan = plan_of(host)
        executor(plan, host, []).apply()
        assert plan.steps[1].no_op == "it is so already: value 2"
        assert {argv[1] for argv in host.ran} == {"a", "c"}

    def test_a_second_apply_is_one_round_trip_and_no_command(self, host: DescribedHost):
        executor(plan_of(host), host, []).apply()
        again = plan_of(host)
        host.trips, host.ran = 0, []
        executor(again, host, []).apply()
        assert (host.trips, host.ran) == (1, [])

    def test_intent_with_what_stood_there_is_written_before_the_command(self, host: DescribedHost):
        journal: list[Entry] = []

        def write(entry: Entry) -> None:
            if isinstance(entry, Intent):
                assert not any(argv[1] == STEPS[entry.number].key for argv in host.ran)
                assert entry.before == {"value": START[STEPS[entry.number].key]}
            journal.append(entry)

        Executor(plan_of(host), {"alpha": host}, write, lambda: "now").apply()
        assert sum(isinstance(entry, Intent) for entry in journal) == 2

    def test_a_plan_that_is_stale_changes_nothing(self, host: DescribedHost):
        plan = plan_of(host)
        host.values["c"] = 4
        with pytest.raises(ApplyError) as caught:
            executor(plan, host, []).apply()
        assert caught.value.what == "plan.stale"
        assert host.ran == []

    @pytest.mark.parametrize("how", ["fails", "ignores"])
    def test_a_step_that_does_not_lead_there_puts_all_back(self, host: DescribedHost, how: str):
        plan = plan_of(host)
        getattr(host, how).add("c")
        with pytest.raises(ApplyError) as caught:
            executor(plan, host, []).apply()
        what = {"fails": "step.failed", "ignores": "step.contradicted"}[how]
        assert caught.value.what == what
        assert host.values == START

    def test_a_state_that_cannot_be_read_is_never_called_done(self, host: DescribedHost):
        journal: list[Entry] = []

        def write(entry: Entry) -> None:
            journal.append(entry)
            if isinstance(entry, Intent) and entry.number == 2:
                host.hides.add("c")

        with pytest.raises(LeftChangedError):
            Executor(plan_of(host), {"alpha": host}, write, lambda: "now").apply()
        assert [e.verdict.value for e in journal if isinstance(e, Result)][-1] == "cannot verify"

    def test_a_failed_undo_outranks_the_error_that_led_to_it(self, host: DescribedHost):
        journal: list[Entry] = []

        def write(entry: Entry) -> None:
            journal.append(entry)
            if isinstance(entry, Intent) and entry.number == 2:
                host.fails |= {"a", "c"}

        with pytest.raises(LeftChangedError) as caught:
            Executor(plan_of(host), {"alpha": host}, write, lambda: "now").apply()
        assert caught.value.exit_code == 3
        assert caught.value.where == "a on alpha"
        assert "put a 1" in caught.value.next

    def test_nothing_is_planned_on_a_state_that_nobody_knows(self, host: DescribedHost):
        host.unreadable.add("b")
        with pytest.raises(CannotTellError):
            plan_of(host)


class TornJournal:
    """Kills the run at entry number `at`: before it is written, or just after."""

    def __init__(self, entries: list[Entry], at: int, *, written: bool) -> None:
        self.entries, self._at, self._written = entries, at, written

    def __call__(self, entry: Entry) -> None:
        if len(self.entries) == self._at and not self._written:
            raise Killed
        self.entries.append(entry)
        if len(self.entries) == self._at + 1 and self._written:
            raise Killed


class TestAfterAKill:
    """Killed at every entry of the journal, just before and just after it, and at every command."""

    @staticmethod
    def killed_runs(host: DescribedHost, plan: Plan) -> Iterator[list[Entry]]:
        """Give the journal of each run that was killed; the host is as the kill left it."""
        whole: list[Entry] = []
        executor(plan, host, whole).apply()
        for at, written in product(range(len(whole)), (False, True)):
            host.values = dict(START)
            torn = TornJournal([], at, written=written)
            with pytest.raises(Killed):
                Executor(plan, {"alpha": host}, torn, lambda: "now").apply()
            yield torn.entries
        for at in range(4):
            host.values, host.dies_before = dict(START), at
            journal: list[Entry] = []
            with pytest.raises(Killed):
                executor(plan, host, journal).apply()
            host.dies_before = None
            yield journal

    def test_the_next_undo_ends_in_the_start(self, host: DescribedHost):
        plan, runs = plan_of(host), 0
        for journal in self.killed_runs(host, plan):
            executor(plan, host, journal).undo()
            assert host.values == START
            runs += 1
        # begun, two intents with their results, stood, ended: before and after each; four commands
        assert runs == 2 * 7 + 4

    def test_the_next_apply_ends_in_the_goal(self, host: DescribedHost):
        plan = plan_of(host)
        for journal in self.killed_runs(host, plan):
            executor(plan, host, journal).apply()
            assert host.values == GOAL

    def test_an_undo_that_was_killed_is_finished_by_the_next(self, host: DescribedHost):
        plan = plan_of(host)
        journal: list[Entry] = []
        executor(plan, host, journal).apply()
        applied = len(journal)
        for at in range(5):
            host.values = dict(GOAL)
            torn = TornJournal(journal[:applied], applied + at, written=False)
            with pytest.raises(Killed):
                Executor(plan, {"alpha": host}, torn, lambda: "now", torn.entries).undo()
            assert all(isinstance(e, Undoing | Undone) for e in torn.entries[applied:])
            executor(plan, host, torn.entries).undo()
            assert host.values == START


class TestAThingThatAnEarlierStepMakes:
    STEPS = (Put(key="count", value=2), Put(key="vf", value=42))

    @pytest.fixture
    def host(self) -> DescribedHost:
        return DescribedHost({"count": 0})

    def plan_of(self, host: DescribedHost) -> Plan:
        count, vf = self.STEPS
        return make_plan([("alpha", count, host.read([count])[0]), ("alpha", vf, None)])

    def test_what_it_was_is_read_when_its_turn_comes(self, host: DescribedHost):
        journal: list[Entry] = []
        executor(self.plan_of(host), host, journal).apply()
        assert host.values == {"count": 2, "vf": 42}
        intents = {e.number: e.before for e in journal if isinstance(e, Intent)}
        assert intents == {0: {"value": 0}, 1: {"value": MADE}}

    def test_undo_gives_it_back_and_takes_it_away(self, host: DescribedHost):
        journal: list[Entry] = []
        executor(plan := self.plan_of(host), host, journal).apply()
        host.ran = []
        executor(plan, host, journal).undo()
        assert host.ran[1] == ("put", "vf", str(MADE))
        assert host.values == {"count": 0}

    def test_one_that_did_not_come_is_not_called_done(self, host: DescribedHost):
        plan = self.plan_of(host)
        host.unreadable.add("vf")
        with pytest.raises(ApplyError) as caught:
            executor(plan, host, []).apply()
        assert caught.value.what == "step.cannot_verify"
        assert host.values == {"count": 0}

    @pytest.mark.parametrize("at", range(4))
    def test_killed_at_any_command_it_is_undone_or_finished(self, host: DescribedHost, at: int):
        plan = self.plan_of(host)
        for finish in (False, True):
            host.values, host.dies_before = {"count": 0}, at
            journal: list[Entry] = []
            with pytest.raises(Killed):
                executor(plan, host, journal).apply()
            host.dies_before = None
            if finish:
                executor(plan, host, journal).apply()
                assert host.values == {"count": 2, "vf": 42}
            else:
                executor(plan, host, journal).undo()
                assert host.values == {"count": 0}


def test_a_run_begins_with_its_whole_plan(host: DescribedHost):
    journal: list[Entry] = []
    executor(plan := plan_of(host), host, journal).apply()
    assert isinstance(journal[0], Begun)
    assert Plan.model_validate_json(journal[0].plan.model_dump_json()) == plan


class Spread(Put):
    """Key `rss` has a value; it begins anew from the count of `queues`, as the driver does it."""

    step: Literal["spread"] = "spread"  # type: ignore[assignment]
    netdev: str = "eth0"


class Queues(Put):
    """Key `queues` has a value; with it the driver gives `rss` another one."""

    step: Literal["queues"] = "queues"  # type: ignore[assignment]
    netdev: str = "eth0"


class Card(DescribedHost):
    """Whoever changes `queues` finds `rss` a hundred times that, whatever it was."""

    def change(self, step: Step, commands: Sequence[Command], now: State | None = None) -> Changed:
        changed = super().change(step, commands, now)
        if commands and step.subject == "queues":
            self.values["rss"] = 100 * self.values["queues"]
        return changed


class TestAThingThatAnEarlierStepAlters:
    STEPS = (Queues(key="queues", value=8), Spread(key="rss", value=5))
    CUSTOM: ClassVar = {"queues": 4, "rss": 77}

    @pytest.fixture(autouse=True)
    def _kinds(self, monkeypatch: pytest.MonkeyPatch) -> None:
        kinds = {"queues": Queues, "spread": Spread}
        monkeypatch.setattr(catalog, "step_types", lambda: kinds)

    @pytest.fixture
    def host(self) -> Card:
        return Card(dict(self.CUSTOM))

    def plan_of(self, host: Card) -> Plan:
        states = host.read(self.STEPS)
        return make_plan(("alpha", s, state) for s, state in zip(self.STEPS, states, strict=True))

    def test_it_is_read_in_its_turn_and_not_called_stale(self, host: Card):
        journal: list[Entry] = []
        executor(self.plan_of(host), host, journal).apply()
        assert host.values == {"queues": 8, "rss": 5}
        befores = [entry.before for entry in journal if isinstance(entry, Intent)]
        assert befores == [{"value": 4}, {"value": 800}], "what the first step left"

    def test_undo_brings_back_what_stood_there_first(self, host: Card):
        journal: list[Entry] = []
        plan = self.plan_of(host)
        executor(plan, host, journal).apply()
        executor(plan, host, journal).undo()
        assert host.values == self.CUSTOM

    def test_one_that_was_so_already_is_done_when_it_is_so_no_more(self, host: Card):
        host.values["rss"] = 5
        journal: list[Entry] = []
        plan = self.plan_of(host)
        assert plan.steps[1].no_op
        executor(plan, host, journal).apply()
        assert host.values == {"queues": 8, "rss": 5}
        executor(plan, host, journal).undo()
        assert host.values == {"queues": 4, "rss": 5}

    def test_what_the_first_step_brought_about_itself_is_not_written(self, host: Card):
        queues, spread = self.STEPS[0], Spread(key="rss", value=800)
        rows = zip((queues, spread), host.read((queues, spread)), strict=True)
        plan, journal = make_plan(("alpha", step, state) for step, state in rows), []
        executor(plan, host, journal).apply()
        assert host.values == {"queues": 8, "rss": 800}
        assert [entry.number for entry in journal if isinstance(entry, Intent)] == [0]
        executor(plan, host, journal).undo()
        assert host.values == self.CUSTOM

    def test_killed_at_any_entry_it_ends_in_the_start_or_in_the_goal(self, host: Card):
        plan, whole = self.plan_of(host), []
        executor(plan, host, whole).apply()
        for at, written, finish in product(range(len(whole)), (False, True), ("undo", "apply")):
            host.values = dict(self.CUSTOM)
            torn = TornJournal([], at, written=written)
            with pytest.raises(Killed):
                Executor(plan, {"alpha": host}, torn, lambda: "now").apply()
            getattr(executor(plan, host, torn.entries), finish)()
            goal = {"queues": 8, "rss": 5}
            assert host.values == (goal if finish == "apply" else self.CUSTOM), (at, written)


def test_what_was_so_without_a_write_and_went_with_a_reboot_is_done_then():
    host = DescribedHost({"count": 0})
    count, vf = Put(key="count", value=2), Put(key="vf", value=MADE)
    plan = make_plan([("alpha", count, host.read([count])[0]), ("alpha", vf, None)])
    journal: list[Entry] = []

    def write(entry: Entry) -> None:
        if isinstance(entry, Stood):
            raise Killed
        journal.append(entry)

    with pytest.raises(Killed):
        Executor(plan, {"alpha": host}, write, lambda: "now").apply()
    assert [entry.number for entry in journal if isinstance(entry, Intent)] == [0]
    host.values = {"count": 2, "vf": 9}
    rebooted = {"alpha"}
    Executor(
        plan, {"alpha": host}, journal.append, lambda: "now", tuple(journal), rebooted=rebooted
    ).apply()
    assert host.values == {"count": 2, "vf": MADE}


def test_what_went_with_a_reboot_is_done_again_though_a_step_changed_by_itself_meanwhile():
    steps = [Put(key=key, value=10) for key in "abc"]
    host, journal = DescribedHost(dict.fromkeys("abc", 1)), list[Entry]()
    plan = make_plan(("alpha", s, state) for s, state in zip(steps, host.read(steps), strict=True))
    executor(plan, host, journal).apply()
    # All went with the reboot, and a driver gives `a` another value of its own in mid apply.
    host.values = dict.fromkeys("abc", 1)
    again: list[Entry] = []

    def write(entry: Entry) -> None:
        again.append(entry)
        if isinstance(entry, Intent) and entry.number == 0 and len(again) == 1:
            host.meanwhile = {"a": 2}

    del journal[-1]  # killed before it was at its end
    controls, rebooted = {"alpha": host}, {"alpha"}
    Executor(plan, controls, write, lambda: "now", tuple(journal), rebooted=rebooted).apply()
    assert host.values == dict.fromkeys("abc", 10)
    verdicts = [(one.number, one.verdict) for one in again if isinstance(one, Result)]
    assert verdicts[:2] == [(0, Verified.CHANGED_MEANWHILE), (0, Verified.VERIFIED)]


class Overwrites(DescribedHost):
    """A driver that sets `a` of its own once more, so often, after it was set."""

    def __init__(self, times: int) -> None:
        super().__init__(dict(START))
        self.times = times

    def change(self, step: Step, commands: Sequence[Command], now: State | None = None) -> Changed:
        changed = super().change(step, commands, now)
        if self.times and commands and commands[0].argv[1] == "a":
            self.times -= 1
            self.values["a"] = 7
            return Changed("", self.read([step])[0])
        return changed


@pytest.mark.parametrize(("again_s", "times"), [(0.01, 1), (0.01, 3), (0.01, 4), (0, 1)])
def test_what_a_driver_overwrites_is_set_again_a_few_times_where_the_step_says_so(
    again_s: float, times: int, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(Put, "again_s", again_s)
    host, journal = Overwrites(times), list[Entry]()
    plan = plan_of(host)
    if again_s and times <= SETTLING_TRIES:
        executor(plan, host, journal).apply()
        assert host.values == GOAL
        executor(plan, host, journal).undo()
    else:
        with pytest.raises(ApplyError, match=r"step\.contradicted"):
            executor(plan, host, journal).apply()
    assert host.values == START


class TestUndoOfWhatCannotBeRead:
    def test_a_thing_that_was_made_and_is_gone_is_as_before(self):
        host = DescribedHost({"count": 0})
        made = TestAThingThatAnEarlierStepMakes()
        plan, journal = made.plan_of(host), []
        executor(plan, host, journal).apply()
        # The host was rebooted: the number of VFs is 0 again, and there is no VF.
        host.values, host.ran = {"count": 0}, []
        executor(plan, host, journal).undo()
        assert (host.values, host.ran) == ({"count": 0}, [])
        last = [entry for entry in journal if isinstance(entry, Undone)][-1]
        assert (last.number, last.verdict.value) == (1, "verified")
        assert last.said == "it is not there, as before"

    def test_one_that_could_not_be_put_back_and_went_with_what_made_it_is_as_before(self):
        host = DescribedHost({"count": 0})
        plan, journal = TestAThingThatAnEarlierStepMakes().plan_of(host), []
        executor(plan, host, journal).apply()
        host.fails = {"vf"}
        executor(plan, host, journal).undo()
        assert host.values == {"count": 0}
        host = DescribedHost({"count": 0})
        executor(plan, host, journal := []).apply()
        # The VFs stay, and with them the one that is not as it was.
        host.fails = {"vf", "count"}
        with pytest.raises(LeftChangedError) as caught:
            executor(plan, host, journal).undo()
        assert "vf" in str(caught.value) and "count" in str(caught.value)

    def test_one_that_is_there_and_was_not_read_at_first_is_put_back(self):
        host = DescribedHost({"count": 0})
        plan, journal = TestAThingThatAnEarlierStepMakes().plan_of(host), []
        executor(plan, host, journal).apply()
        host.fails.add("count")
        host.unreadable.add("vf")
        run = executor(plan, host, journal)
        with pytest.raises(LeftChangedError) as caught:
            run.undo()
        assert "count on alpha" in caught.value.where

    def test_a_guest_that_is_gone_is_asked_once(self):
        host, asked = DescribedHost({"count": 0}), []

        class Gone(DescribedHost):
            def read(self, steps: Sequence[Step]) -> list[Observed[State]]:
                asked.append(len(steps))
                raise HostError("ssh.refused", where="gpu-1", found="no answer")

        count = Put(key="count", value=2)
        inside = [Put(key="vf", value=42), Put(key="vf", value=43)]
        rows = [("alpha", count, host.read([count])[0]), *[("gpu-1", s, None) for s in inside]]
        plan, journal = make_plan(rows), []
        guest = DescribedHost({"vf": 7})
        controls = {"alpha": host, "gpu-1": guest}
        Executor(plan, controls, journal.append, lambda: "now").apply()
        controls = {"alpha": host, "gpu-1": Gone({})}
        Executor(plan, controls, journal.append, lambda: "now", tuple(journal)).undo()
        assert host.values == {"count": 0}
        assert len(asked) == 1
