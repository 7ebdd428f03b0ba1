"""A colleague changes what a run left: undo leaves it alone, names it, and puts the rest back."""

from collections.abc import Sequence
from pathlib import Path
from typing import ClassVar, Literal

import pytest
from click.testing import CliRunner, Result
from described_host import DescribedHost, Killed, Put
from rebooting_host import PutAndReboot, RebootingHost, use_hosts, write_spec

from wirespeed import catalog
from wirespeed.apply.executor import Executor
from wirespeed.apply.planner import make_plan
from wirespeed.apply.run import read_journal
from wirespeed.apply.run_place import run_folder
from wirespeed.apply.theirs import foreign_keys
from wirespeed.approaches.traits import RequestedStep
from wirespeed.commands.apply import apply
from wirespeed.commands.status import status
from wirespeed.commands.undo import undo
from wirespeed.model.error import InputError, LeftChangedError
from wirespeed.model.journal import Ended, Entry, Forgotten, Intent, Stood, Undoing, outcome
from wirespeed.model.plan import Plan
from wirespeed.model.step import State, Step


class Of(Put):
    """A setting of a thing, whose name it has beside its own."""

    step: Literal["of"] = "of"  # type: ignore[assignment]
    thing: str


class Makes(Of):
    """What makes the thing."""

    makes: ClassVar[bool] = True
    step: Literal["makes"] = "makes"  # type: ignore[assignment]


class Kept(Put):
    """What a reboot leaves as it is: a file."""

    step: Literal["kept"] = "kept"  # type: ignore[assignment]

    @property
    def outlives_boot(self) -> bool:
        return True


KINDS = {"put": Put, "kept": Kept, "put_and_reboot": PutAndReboot, "of": Of, "makes": Makes}
START = {"a": 1, "b": 2, "c": 3}
STEPS = [Put(key=key, value=10 * value) for key, value in START.items()]


@pytest.fixture(autouse=True)
def _own_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(catalog, "step_types", lambda: KINDS)


@pytest.fixture
def host() -> DescribedHost:
    return DescribedHost(dict(START))


def plan_of(host: DescribedHost, steps: Sequence[Step] = STEPS, made: Sequence[int] = ()) -> Plan:
    return make_plan(
        ("alpha", step, None if n in made else host.read([step])[0]) for n, step in enumerate(steps)
    )


def executor(plan: Plan, host: DescribedHost, journal: list[Entry], **more: object) -> Executor:
    controls = {"alpha": host}
    return Executor(plan, controls, journal.append, lambda: "now", tuple(journal), **more)  # type: ignore[arg-type]


def applied(host: DescribedHost, steps: Sequence[Step] = STEPS) -> tuple[Plan, list[Entry]]:
    plan, journal = plan_of(host, steps), list[Entry]()
    executor(plan, host, journal).apply()
    return plan, journal


def left(run: Executor) -> LeftChangedError:
    with pytest.raises(LeftChangedError) as caught:
        run.undo()
    assert caught.value.exit_code == 3
    return caught.value


def test_undo_names_what_a_colleague_changed_and_puts_the_rest_back(host: DescribedHost):
    plan, journal = applied(host)
    host.values["b"] = 7
    error = left(executor(plan, host, journal))
    assert host.values == {"a": 1, "b": 7, "c": 3}
    assert error.what == "host.changed_by_others"
    assert error.where == "step 2 put b on alpha"
    assert error.found == (
        "step 2 put b on alpha: left as value 20, is now value 7, was value 2 before"
    )
    assert error.so == "what others changed was not undone; everything else is as it was"
    assert "--force" in error.next and "--forget STEP" in error.next
    assert not [e for e in journal if isinstance(e, Undoing) and e.number == 1]
    assert outcome(journal) == "left changed"


def test_a_second_undo_says_it_again_and_force_puts_back_what_a_colleague_set(host: DescribedHost):
    plan, journal = applied(host)
    host.values["b"] = 7
    left(executor(plan, host, journal))
    again = left(executor(plan, host, journal))
    assert "is now value 7" in again.found and host.values["b"] == 7
    executor(plan, host, journal).undo(force=True)
    assert host.values == START
    assert outcome(journal) == "undone"


class PutBeside(Put):
    """It names another thing too, as an address does the netdev whose MTU another step sets."""

    step: Literal["put_beside"] = "put_beside"  # type: ignore[assignment]
    beside: str


def test_a_second_undo_knows_it_too_where_what_is_beside_it_was_undone(
    host: DescribedHost, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(catalog, "step_types", lambda: {"put": Put, "put_beside": PutBeside})
    steps = [Put(key="b", value=20), PutBeside(key="c", value=30, beside="b")]
    plan = make_plan(("alpha", one, host.read([one])[0]) for one in steps)
    journal: list[Entry] = []
    executor(plan, host, journal).apply()
    host.values["b"] = 7
    for _ in range(3):
        assert "is now value 7" in left(executor(plan, host, journal)).found
        assert host.values == START | {"b": 7}
    executor(plan, host, journal).undo(force=True)
    assert host.values == START


def test_a_colleague_who_put_it_back_himself_stops_nothing(host: DescribedHost):
    plan, journal = applied(host)
    host.values["b"] = 2
    executor(plan, host, journal).undo()
    assert (host.values, outcome(journal)) == (START, "undone")


@pytest.mark.parametrize(
    ("now", "keys"),
    [
        ({"x": 1, "y": 2}, []),
        ({"x": 10, "y": 2}, []),
        ({"x": 1, "y": 20}, []),
        ({"x": 5, "y": 20}, ["x"]),
        ({"x": 10, "z": 0}, ["z"]),
    ],
)
def test_only_a_field_that_is_neither_is_a_colleague_s(now: State, keys: list[str]):
    assert foreign_keys(now, {"x": 10, "y": 20}, {"x": 1, "y": 2}) == keys


def test_a_colleague_who_comes_in_the_midst_of_the_undo_is_seen(host: DescribedHost):
    plan, journal = applied(host)

    def write(entry: Entry) -> None:
        journal.append(entry)
        if isinstance(entry, Undoing) and entry.number == 2:
            host.values["a"] = 7
        if isinstance(entry, Undoing) and entry.number == 1:
            host.meanwhile = {"b": 8}

    run = Executor(plan, {"alpha": host}, write, lambda: "now", tuple(journal))
    assert left(run).where == "step 1 put a on alpha, step 2 put b on alpha"
    assert host.values == {"a": 7, "b": 8, "c": 3}


def test_the_way_back_of_a_failed_apply_leaves_a_colleague_s_value_too(host: DescribedHost):
    plan, journal = plan_of(host), list[Entry]()
    host.fails.add("c")

    def write(entry: Entry) -> None:
        journal.append(entry)
        if isinstance(entry, Intent) and entry.number == 2:
            host.values["a"] = 7

    with pytest.raises(LeftChangedError) as caught:
        Executor(plan, {"alpha": host}, write, lambda: "now").apply()
    assert caught.value.what == "host.changed_by_others"
    assert host.values == {"a": 7, "b": 2, "c": 3}


@pytest.mark.parametrize("at", range(3))
def test_what_a_kill_left_half_done_is_no_colleague_s(host: DescribedHost, at: int):
    plan, journal = plan_of(host), list[Entry]()
    host.dies_before = 2 * at + 1
    with pytest.raises(Killed):
        executor(plan, host, journal).apply()
    host.dies_before = None
    assert -1 in host.values.values(), "neither before nor after"
    executor(plan, host, journal).undo()
    assert host.values == START


def test_a_journal_of_before_that_says_nothing_new_is_read(host: DescribedHost):
    plan, journal = applied(host)
    older = [entry for entry in journal if not isinstance(entry, Stood)]
    executor(plan, host, older).undo()
    assert host.values == START


def test_what_was_so_already_and_a_colleague_changed_since_stays(host: DescribedHost):
    steps = [Of(key="a", value=1, thing="x"), Of(key="b", value=20, thing="x")]
    plan, journal = applied(host, steps)
    assert plan.steps[0].no_op
    host.values["a"] = 7
    assert left(executor(plan, host, journal)).where == "step 1 of a on alpha"
    assert host.values == {"a": 7, "b": 2, "c": 3}


def test_a_value_that_fell_back_with_a_reboot_is_put_back(host: DescribedHost):
    plan, journal = applied(host)
    host.values["b"] = 0
    executor(plan, host, journal, rebooted={"alpha"}).undo()
    assert host.values == START


def test_a_file_that_a_colleague_changed_stays_also_after_a_reboot(host: DescribedHost):
    steps = [Kept(key="a", value=10), Kept(key="b", value=20), Put(key="c", value=30)]
    plan, journal = applied(host, steps)
    host.values |= {"a": 7, "b": 2, "c": 0}
    error = left(executor(plan, host, journal, rebooted={"alpha"}))
    assert error.where == "step 1 kept a on alpha"
    assert host.values == {"a": 7, "b": 2, "c": 3}


class TestWhatHangsTogether:
    """`count` makes vf, below `mtu` of the port, which nobody makes."""

    STEPS: ClassVar = [
        Of(key="mtu", value=9000, thing="eth0"),
        Makes(key="count", value=2, thing="eth0"),
        Of(key="vf", value=42, thing="eth0"),
        Put(key="a", value=10),
    ]

    @pytest.fixture
    def host(self) -> DescribedHost:
        return DescribedHost({"mtu": 1500, "count": 0, "a": 1})

    def applied(self, host: DescribedHost) -> tuple[Plan, list[Entry]]:
        plan, journal = plan_of(host, self.STEPS, made=[2]), list[Entry]()
        executor(plan, host, journal).apply()
        assert host.values == {"mtu": 9000, "count": 2, "vf": 42, "a": 10}
        return plan, journal

    def test_its_maker_stays_where_a_colleague_changed_a_thing(self, host: DescribedHost):
        plan, journal = self.applied(host)
        host.values["vf"] = 5
        error = left(executor(plan, host, journal))
        assert host.values == {"mtu": 1500, "count": 2, "vf": 5, "a": 1}
        assert error.where == "step 3 of vf on alpha"
        assert "step 2 makes count on alpha (with step 3)" in error.so

    def test_what_was_made_stays_where_a_colleague_changed_its_maker(self, host: DescribedHost):
        plan, journal = self.applied(host)
        host.values["count"] = 8
        error = left(executor(plan, host, journal))
        assert host.values == {"mtu": 1500, "count": 8, "vf": 42, "a": 1}
        assert error.where == "step 2 makes count on alpha"
        assert "step 3 of vf on alpha (with step 2)" in error.so

    def test_settings_of_one_port_do_not_hang_together_for_a_colleague(self, host: DescribedHost):
        plan, journal = self.applied(host)
        host.values["mtu"] = 4000
        assert left(executor(plan, host, journal)).where == "step 1 of mtu on alpha"
        assert host.values == {"mtu": 4000, "count": 0, "a": 1}


class TestByCommands:
    @pytest.fixture
    def spec(self, tmp_path: Path) -> Path:
        write_spec(tmp_path / "spec.yaml", "alpha")
        return tmp_path / "spec.yaml"

    @pytest.fixture
    def host(self, spec: Path, monkeypatch: pytest.MonkeyPatch) -> RebootingHost:
        host = RebootingHost(dict(START))
        use_hosts(monkeypatch, {"alpha": host}, [RequestedStep(step) for step in STEPS])
        monkeypatch.setattr(catalog, "step_types", lambda: KINDS)
        assert call(apply, spec, "--yes").return_value == 0
        return host

    def test_undo_ends_with_3_and_then_force_takes_a_colleague_s_value(
        self, spec: Path, host: RebootingHost
    ):
        host.values["b"] = 7
        assert isinstance(call(undo, spec).exception, LeftChangedError)
        assert call(status, spec).return_value == 3
        assert call(undo, spec, "--force").return_value == 0
        assert host.values == START
        assert call(status, spec).return_value == 0

    @pytest.mark.parametrize("name", ["2", "put b", "put b on alpha"])
    def test_a_step_that_is_let_go_stays_as_a_colleague_left_it(
        self, spec: Path, host: RebootingHost, name: str
    ):
        host.values["b"] = 7
        done = call(undo, spec, "--forget", name)
        assert done.return_value == 0, done.output
        assert "forgotten     put b on alpha" in done.output
        assert host.values == START | {"b": 7}
        entries = read_journal(run_folder(spec))
        assert [e.number for e in entries if isinstance(e, Forgotten)] == [1]
        assert [e.outcome for e in entries if isinstance(e, Ended)][-1] == "undone"
        said = call(status, spec)
        assert said.return_value == 0 and "forgotten" in said.output

    def test_a_device_that_is_gone_for_good_is_let_go(self, spec: Path, host: RebootingHost):
        host.unreadable.add("b")
        host.fails.add("b")
        error = call(undo, spec).exception
        assert isinstance(error, LeftChangedError)
        assert error.what == "host.left_changed" and "--forget STEP" in error.next
        assert call(undo, spec, "--forget", "put b").return_value == 0
        assert host.values == START | {"b": 20}
        assert outcome(read_journal(run_folder(spec))) == "undone"

    @pytest.mark.parametrize("name", ["9", "put x", "0"])
    def test_only_a_step_of_the_run_is_let_go(self, spec: Path, host: RebootingHost, name: str):
        error = call(undo, spec, "--forget", name).exception
        assert isinstance(error, InputError) and error.what == "forget.unknown"
        assert host.values["a"] == 10, "nothing was undone"
        assert call(undo, spec).return_value == 0

    def test_only_a_step_that_stands_is_let_go(self, spec: Path, host: RebootingHost):
        host.values["b"] = 7
        call(undo, spec)
        error = call(undo, spec, "--forget", "1").exception
        assert isinstance(error, InputError) and error.what == "forget.nothing_stands"
        assert error.found == "step 1 is undone"

    def test_a_reboot_by_itself_is_no_colleague(self, spec: Path, host: RebootingHost):
        host.at_boot = {"a": 1, "b": 5, "c": 3}
        host.reboot_now()
        assert call(undo, spec).return_value == 0
        assert host.values == START


def call(command: object, *arguments: object) -> Result:
    done = CliRunner().invoke(command, [str(a) for a in arguments], standalone_mode=False)  # type: ignore[arg-type]
    if isinstance(done.exception, Killed):
        raise done.exception
    return done
