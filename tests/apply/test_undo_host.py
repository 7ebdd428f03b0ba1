"""`undo HOST` and `status HOST`: the run folder is lost, and the host's copy brings it back."""

import json
import re
import shutil
from collections.abc import Callable
from itertools import product
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from described_host import Killed, Put
from hypothesis import given
from hypothesis import strategies as st
from rebooting_host import RebootingHost, StoredCopy, dies_at, use_hosts, write_spec
from test_stage_runs import START, WANTED

from described.approach import planned_by
from wirespeed import catalog
from wirespeed.apply.copy_folder import AS_FOUND
from wirespeed.apply.found_copy import FoundCopy, rebuilt
from wirespeed.apply.host_copy import About
from wirespeed.apply.planner import make_plan
from wirespeed.apply.run import JOURNAL, read_journal
from wirespeed.apply.run_place import run_folder, runs_folder
from wirespeed.approaches.traits import RequestedStep
from wirespeed.commands.apply import apply
from wirespeed.commands.status import status
from wirespeed.commands.undo import undo
from wirespeed.model.error import InputError, LeftChangedError, WirespeedError
from wirespeed.model.journal import Begun, Entry, Intent, outcome, whole_plan
from wirespeed.model.journal_lines import read_journal_text, sealed
from wirespeed.model.observed import Known
from wirespeed.model.plan import Plan
from wirespeed.runs.hosts_of_spec import lone_host

HOST = "ssh://root@alpha.example"
"""How the host is named that specs call `alpha`."""


@pytest.fixture
def states(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[], None]:
    """The disk of the controller; called, it is lost, and another one is there."""
    count = 0

    def lose() -> None:
        nonlocal count
        if count:
            shutil.rmtree(tmp_path / f"state-{count}")
        count += 1
        (tmp_path / f"state-{count}").mkdir()
        monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / f"state-{count}"))

    lose()
    return lose


@pytest.fixture
def host(monkeypatch: pytest.MonkeyPatch) -> RebootingHost:
    host = RebootingHost(dict(START))
    use_hosts(monkeypatch, {"alpha": host}, WANTED)
    return host


@pytest.fixture
def spec(tmp_path: Path, states: Callable[[], None]) -> Path:
    del states
    write_spec(tmp_path / "spec.yaml", "alpha")
    return tmp_path / "spec.yaml"


def call(command: object, *arguments: object) -> Result:
    done = CliRunner().invoke(command, [str(a) for a in arguments], standalone_mode=False)  # type: ignore[arg-type]
    if done.exception is not None and not isinstance(done.exception, WirespeedError | SystemExit):
        raise done.exception
    return done


def killed(spec: Path, at: int, *, written: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Apply; the controller dies at its entry `at`."""
    with dies_at(monkeypatch, at, written=written) as patch:
        # SIGKILL gives no host back.
        patch.setattr(RebootingHost, "unlock", lambda *_: None)
        call(apply, spec, "--yes", "--reboot")


def only_copy(host: RebootingHost) -> StoredCopy:
    (found,) = host.disk.values()
    return found


def test_killed_at_every_journal_write_and_the_disk_lost_undo_host_brings_it_back(
    spec: Path, host: RebootingHost, states: Callable[[], None], monkeypatch: pytest.MonkeyPatch
):
    call(apply, spec, "--yes", "--reboot")
    lines = len(read_journal(run_folder(spec)))
    call(undo, spec)
    assert lines == 1 + 4 + 2 + 1 + 6 + 2
    for at, written in product(range(lines), (False, True)):
        states()
        host.values, host.owner, host.disk = dict(START), "", {}
        killed(spec, at, written=written, monkeypatch=monkeypatch)
        states()
        assert not list(Path(runs_folder().parent.parent).rglob(JOURNAL))
        done = call(undo, HOST, "--yes", "--break-lock")
        assert done.return_value == 0, (at, written, done.output, done.exception)
        assert host.values == START, (at, written)
        assert not host.disk or only_copy(host).is_undone, (at, written)
        assert "nothing to undo" in call(undo, HOST, "--yes").output


def test_an_undo_from_the_copy_that_is_killed_is_gone_on_with_after_another_loss(
    spec: Path, host: RebootingHost, states: Callable[[], None], monkeypatch: pytest.MonkeyPatch
):
    whole = RebootingHost.change
    for dies_after in range(4):
        states()
        host.values, host.owner, host.disk = dict(START), "", {}
        assert call(apply, spec, "--yes", "--reboot").return_value == 0
        states()
        left = dies_after

        def change(self: RebootingHost, *arguments: object) -> object:
            nonlocal left
            if left == 0:
                raise Killed
            left -= 1
            return whole(self, *arguments)  # type: ignore[arg-type]

        with monkeypatch.context() as patch:
            patch.setattr(RebootingHost, "change", change)
            patch.setattr(RebootingHost, "unlock", lambda *_: None)
            with pytest.raises(Killed):
                call(undo, HOST, "--yes")
        if dies_after % 2:
            states()
        done = call(undo, HOST, "--yes", "--break-lock")
        assert (done.return_value, host.values) == (0, START), (dies_after, done.output)
        assert only_copy(host).is_undone


def test_it_is_shown_and_asked_for_first(
    spec: Path, host: RebootingHost, states: Callable[[], None]
):
    call(apply, spec, "--yes", "--reboot")
    states()
    host.ran = []
    done = CliRunner().invoke(undo, [HOST], input="n\n", standalone_mode=False)
    assert done.return_value == 1 and host.ran == []
    assert "  1 done           put first on alpha-example" in done.output
    assert f"of {spec.resolve()}: applied" in done.output
    assert f"Undo this on {HOST}" in done.output
    assert not runs_folder().exists(), "nothing was made yet"


def test_status_lists_what_stands_there_and_who_did_it(
    spec: Path, host: RebootingHost, states: Callable[[], None]
):
    assert "0 runs are applied, 0 are undone" in call(status, HOST).output
    call(apply, spec, "--yes", "--reboot")
    run = next(iter(host.disk)).partition("-")[0]
    states()
    done = call(status, HOST)
    assert done.return_value == 0
    assert f"run {run} of " in done.output and ", since 2" in done.output
    assert f"of {spec.resolve()}: applied" in done.output
    assert "  6 done           put vf on alpha-example" in done.output
    assert "applied: 5 of 5 steps are in place" in done.output
    assert f"{HOST}: 1 runs are applied, 0 are undone" in done.output
    call(undo, HOST, "--yes")
    assert f"{HOST}: 0 runs are applied, 1 are undone" in call(status, HOST).output


def test_a_run_that_is_not_at_its_end_and_a_damaged_one_have_the_exit_codes_of_status(
    spec: Path, host: RebootingHost
):
    call(apply, spec, "--yes")
    assert call(status, HOST).return_value == 4, "it waits for a reboot"
    stored = only_copy(host)
    stored.text = stored.text.replace('"intent"', '"intend"', 1)
    done = call(status, HOST)
    assert done.return_value == 3
    assert "the copy is damaged: line 2: its checksum is wrong" in done.output
    assert "cannot be undone" in done.output


def applied_by(spec: Path, key: str, value: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another spec, whose run is another one on the same host."""
    wanted = [RequestedStep(Put(key=key, value=value))]
    with monkeypatch.context() as patch:
        patch.setattr(catalog, "approaches", planned_by({"legacy-vlan": lambda *_: iter(wanted)}))
        write_spec(spec, "alpha")
        done = call(apply, spec, "--yes")
        assert done.return_value == 0, done.exception


def test_of_several_runs_the_latest_is_undone_first(
    tmp_path: Path,
    host: RebootingHost,
    states: Callable[[], None],
    monkeypatch: pytest.MonkeyPatch,
):
    for number, name in enumerate(("a", "b", "c"), 1):
        applied_by(tmp_path / f"{name}.yaml", "first", 10 * number, monkeypatch)
    assert host.values["first"] == 30
    states()
    middle = next(name for name, one in host.disk.items() if one.number == 2)
    done = call(undo, HOST, "--yes")
    assert (done.return_value, host.values) == (0, START), (done.output, done.exception)
    assert done.output.index("c.yaml: applied") < done.output.index("a.yaml: applied")
    assert call(undo, HOST, "--only", middle[:6], "--yes").exception is not None


def test_one_of_several_runs_is_named_and_what_a_later_one_set_is_left_alone(
    tmp_path: Path,
    host: RebootingHost,
    states: Callable[[], None],
    monkeypatch: pytest.MonkeyPatch,
):
    applied_by(tmp_path / "a.yaml", "count", 4, monkeypatch)
    applied_by(tmp_path / "b.yaml", "first", 20, monkeypatch)
    states()
    first = next(name for name, one in host.disk.items() if one.number == 1)
    error = call(undo, HOST, "--only", "zz").exception
    assert isinstance(error, InputError) and error.what == "copies.unknown"
    error = call(undo, HOST, "--yes", "--forget", "1").exception
    assert isinstance(error, InputError) and error.what == "forget.not_one"
    done = call(undo, HOST, "--only", first[:8], "--yes")
    assert done.return_value == 0, done.exception
    assert host.values == START | {"first": 20}
    applied_by(tmp_path / "c.yaml", "first", 30, monkeypatch)
    second = next(name for name, one in host.disk.items() if one.number == 2)
    left = call(undo, HOST, "--only", second, "--yes").exception
    assert isinstance(left, LeftChangedError) and left.what == "host.changed_by_others"
    assert host.values == START | {"first": 30}
    assert call(undo, HOST, "--only", second, "--yes", "--force").return_value == 0
    assert host.values == START


def test_runs_whose_order_is_not_known_are_not_undone_together(
    tmp_path: Path, host: RebootingHost, monkeypatch: pytest.MonkeyPatch
):
    applied_by(tmp_path / "a.yaml", "count", 4, monkeypatch)
    applied_by(tmp_path / "b.yaml", "first", 20, monkeypatch)
    for stored in host.disk.values():
        stored.number = 1
    host.ran = []
    error = call(undo, HOST, "--yes").exception
    assert isinstance(error, InputError) and error.what == "copies.order_unknown"
    assert host.ran == []


def test_a_folder_that_is_here_and_whole_is_used_and_one_that_stands_elsewhere_is_named(
    spec: Path, host: RebootingHost, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    call(apply, spec, "--yes", "--reboot")
    done = call(undo, HOST, "--yes")
    assert done.return_value == 0
    assert f"its run folder is here: {run_folder(spec)}" in done.output
    assert outcome(read_journal(run_folder(spec))) == "undone"
    two = tmp_path / "two.yaml"
    write_spec(two, "alpha", "beta")
    beta = RebootingHost(dict(START))
    use_hosts(monkeypatch, {"alpha": host, "beta": beta}, WANTED[:1])
    assert call(apply, two, "--yes").return_value == 0
    error = call(undo, HOST, "--yes").exception
    assert isinstance(error, InputError) and error.what == "run.is_here"
    assert "alpha, beta" in error.found and str(run_folder(two)) in error.next


def test_after_one_host_was_undone_from_its_copy_the_old_run_folder_does_the_rest(
    tmp_path: Path,
    states: Callable[[], None],
    monkeypatch: pytest.MonkeyPatch,
):
    spec = tmp_path / "spec.yaml"
    write_spec(spec, "alpha", "beta")
    hosts = {name: RebootingHost({"first": 1, "count": 0}) for name in ("alpha", "beta")}
    use_hosts(monkeypatch, hosts, [WANTED[0], WANTED[2]])
    assert call(apply, spec, "--yes").return_value == 0
    old = run_folder(spec)
    backup = tmp_path / "backup"
    shutil.copytree(old, backup)
    states()
    assert call(undo, HOST, "--yes").return_value == 0
    alpha, beta = hosts.values()
    assert alpha.values == {"first": 1, "count": 0} and beta.values["first"] == 10
    # The disk comes back; meanwhile somebody set what the run had set, for reasons of their own.
    alpha.values["first"] = 10
    error = call(apply, spec, "--yes", "--run", backup).exception
    assert isinstance(error, InputError) and error.what == "run.applied_before"
    alpha.ran = []
    done = call(undo, backup)
    assert done.return_value == 0, (done.output, done.exception)
    assert "the run was continued from another machine" in done.stderr
    assert (alpha.values["first"], alpha.ran) == (10, []), "it is not undone twice"
    assert beta.values == {"first": 1, "count": 0}


def test_two_hosts_that_are_alike_are_each_undone_from_their_own_copy(
    tmp_path: Path, states: Callable[[], None], monkeypatch: pytest.MonkeyPatch
):
    write_spec(tmp_path / "spec.yaml", "alpha", "beta")
    hosts = {name: RebootingHost({"first": 1, "count": 0}) for name in ("alpha", "beta")}
    use_hosts(monkeypatch, hosts, [WANTED[0], WANTED[2]])
    assert call(apply, tmp_path / "spec.yaml", "--yes").return_value == 0
    states()
    for number, name in enumerate(hosts, 1):
        done = call(undo, f"ssh://{name}.example", "--yes")
        assert done.return_value == 0, (done.output, done.exception)
        undone = [host for host in hosts.values() if host.values == {"first": 1, "count": 0}]
        assert undone == list(hosts.values())[:number]


def test_a_host_that_could_not_be_told_of_the_undo_is_told_and_not_undone_twice(
    spec: Path, host: RebootingHost
):
    call(apply, spec, "--yes", "--reboot")
    kept = only_copy(host).text
    call(undo, spec)
    only_copy(host).text, only_copy(host).is_undone = kept, False
    host.values["first"], host.ran = 10, []
    done = call(undo, HOST, "--yes")
    assert done.return_value == 0, done.exception
    assert "it was undone from here" in done.output
    assert (host.values["first"], host.ran) == (10, []) and only_copy(host).is_undone


def test_a_damaged_journal_here_is_no_reason_not_to_use_the_copy(spec: Path, host: RebootingHost):
    call(apply, spec, "--yes", "--reboot")
    journal = run_folder(spec) / JOURNAL
    journal.write_bytes(b"\0" * 500)
    done = call(undo, HOST, "--yes")
    assert (done.return_value, host.values) == (0, START), (done.output, done.exception)
    assert journal.read_bytes() == b"\0" * 500


DAMAGED: dict[str, tuple[Callable[[str], str], str]] = {
    "all NUL": (lambda text: "\0" * len(text), "copy.not_a_journal"),
    "empty": (lambda _: "", "copy.not_a_journal"),
    "first line gone": (lambda text: text.partition("\n")[2], "copy.not_a_journal"),
    "first line cut": (lambda text: text[:300], "copy.not_a_journal"),
    "no seals": (lambda text: re.sub(',"seal":"[^"]*"', "", text), "copy.not_a_journal"),
    "an intent gone": (
        lambda text: "".join(
            text.splitlines(keepends=True)[:1] + text.splitlines(keepends=True)[2:]
        ),
        "run.damaged",
    ),
    "an intent flipped": (lambda text: text.replace('"intent"', '"intend"', 1), "run.damaged"),
    "its end flipped": (lambda text: text[:-60] + "0" + text[-59:], ""),
    "its end torn": (lambda text: text[:-60], ""),
}


@pytest.mark.parametrize("how", DAMAGED)
def test_a_damaged_journal_on_the_host_is_salvaged_or_refused_with_its_reason(
    spec: Path, host: RebootingHost, states: Callable[[], None], how: str
):
    call(apply, spec, "--yes", "--reboot")
    states()
    change, what = DAMAGED[how]
    stored = only_copy(host)
    stored.text = change(stored.text)
    text, host.ran = stored.text, []
    done = call(undo, HOST, "--yes")
    if not what:
        assert (done.return_value, host.values) == (0, START), (done.output, done.exception)
        return
    error = done.exception
    assert isinstance(error, LeftChangedError) and error.exit_code == 3, done.output
    assert error.what == what
    if what == "copy.not_a_journal":
        assert host.ran == [] and stored.text == text
        assert call(status, HOST).return_value == 3
    else:
        # The step whose intent is gone was done once more in the next stage, from where it stood.
        assert host.values == START | {"first": host.values["first"]}
        assert "put first" in error.so
        (as_found,) = runs_folder().rglob(AS_FOUND)
        assert as_found.read_text() == text


def with_entry(text: str, number: int, change: Callable[[dict[str, object]], None]) -> str:
    """Edit an entry of a copy, and seal it as one would who knows how."""
    lines = text.splitlines()
    fields = json.loads(lines[number])
    _, run, _ = fields.pop("seal").split()
    change(fields)
    lines[number] = sealed(json.dumps(fields, separators=(",", ":")), number + 1, run)
    return "".join(f"{line}\n" for line in lines)


def plant(fields: dict[str, object]) -> None:
    """Let every command of the plan be another one."""
    evil = {"argv": ["put", "evil", "1"], "shell": "posix", "stdin": None}
    for step in fields["plan"]["steps"]:  # type: ignore[index]
        step |= {"undo": [evil], "commands": [evil], "read": evil, "why": "evil", "no_op": ""}
        step |= {"subject": "evil\x1b[2J", "cuts": "evil"}


def test_a_planted_command_is_neither_run_nor_shown(
    spec: Path, host: RebootingHost, states: Callable[[], None]
):
    call(apply, spec, "--yes")
    states()
    stored = only_copy(host)
    stored.text = with_entry(stored.text, 0, plant)
    stored.text = with_entry(
        stored.text, 1, lambda f: f.update(undo=[{"argv": ["put", "evil", "1"]}])
    )
    shown = call(status, HOST).output
    assert "put first" in shown and "evil" not in shown and "\x1b" not in shown
    host.ran = []
    done = call(undo, HOST, "--yes")
    assert (done.return_value, host.values) == (0, START), (done.output, done.exception)
    assert {argv[1] for argv in host.ran} == {"first", "kept.cmdline"}
    (folder,) = runs_folder().iterdir()
    assert "evil" not in (folder / JOURNAL).read_text()


def of_another_run(fields: dict[str, object]) -> None:
    fields["run"] = "b" * 32


def of_two_hosts(fields: dict[str, object]) -> None:
    fields["plan"]["steps"][0]["host"] = "ssh://victim"  # type: ignore[index]


def of_an_unknown_step(fields: dict[str, object]) -> None:
    fields["plan"]["steps"][0]["step"] = {"step": "shell", "line": "reboot"}  # type: ignore[index]


def of_an_unfit_state(fields: dict[str, object]) -> None:
    fields["plan"]["steps"][0]["goal"] = {"other": 1}  # type: ignore[index]


@pytest.mark.parametrize(
    "change", [of_another_run, of_two_hosts, of_an_unknown_step, of_an_unfit_state]
)
def test_a_planted_copy_that_is_not_of_this_host_and_release_is_refused(
    spec: Path,
    host: RebootingHost,
    states: Callable[[], None],
    change: Callable[[dict[str, object]], None],
):
    call(apply, spec, "--yes")
    states()
    stored = only_copy(host)
    stored.text, host.ran = with_entry(stored.text, 0, change), []
    error = call(undo, HOST, "--yes").exception
    assert isinstance(error, LeftChangedError) and error.what == "copy.not_a_journal"
    assert host.ran == [] and not runs_folder().exists()


def test_the_reach_of_a_planted_spec_is_not_gone_to(
    spec: Path, host: RebootingHost, states: Callable[[], None]
):
    call(apply, spec, "--yes")
    states()
    stored = only_copy(host)
    evil = lone_host("ssh://victim").model_dump(mode="json")
    stored.text = with_entry(stored.text, 0, lambda fields: fields.update(spec=evil))
    assert call(undo, HOST, "--yes").return_value == 0
    (folder,) = runs_folder().iterdir()
    begun = read_journal(folder)[0]
    assert isinstance(begun, Begun) and begun.spec is not None
    assert begun.spec.hosts["alpha-example"].reach == HOST


@pytest.mark.usefixtures("states")
def test_a_spec_is_a_spec_and_a_host_a_host(tmp_path: Path):
    for name in ("spec.yaml", "./spec", str(tmp_path / "gone")):
        error = call(undo, name).exception
        assert isinstance(error, InputError), name
        assert error.what in ("run.missing", "file.unreadable"), name
    for name in ("winssh://w", "esxi://e", "vsphere://v", "switch+eos://s"):
        for command in (undo, status):
            error = call(command, name).exception
            assert isinstance(error, InputError) and error.what == "host.no_copy", name


def a_copy() -> str:
    """A whole copy, of a plan of one step."""
    plan = make_plan([("alpha", Put(key="first", value=10), Known({"value": 1}, "get"))])
    undo = plan.steps[0].undo
    entries: list[Entry] = [
        Begun(at="now", plan=plan, run="a" * 32),
        Intent(number=0, before={"value": 1}, undo=undo, goal={"value": 10}),
    ]
    first = sealed(entries[0].model_dump_json(), 1, "")
    run = json.loads(first)["seal"].split()[1]
    return f"{first}\n{sealed(entries[1].model_dump_json(), 2, run)}\n"


@given(data=st.data())
def test_whatever_stands_in_a_planted_copy_is_read_or_refused(data: st.DataObject):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(catalog, "step_types", lambda: {"put": Put})
        text = a_copy()
        lines = [json.loads(line) for line in text.splitlines()]
        at = data.draw(st.integers(0, 1))
        line, run = lines[at], lines[at].pop("seal").split()[1]
        holder, key = data.draw(st.sampled_from(list(places(line))))
        json_like = st.recursive(
            st.none() | st.booleans() | st.integers() | st.text(max_size=20),
            lambda inner: (
                st.lists(inner, max_size=3)
                | st.dictionaries(st.sampled_from(["value", "step", "key", "x"]), inner, max_size=3)
            ),
            max_leaves=5,
        )
        holder[key] = data.draw(json_like)
        text = text.splitlines()[0] + "\n" if at else ""
        text += sealed(json.dumps(line), at + 1, run) + "\n"
        told = read_journal_text(text.encode())
        about = About(owner="", of="")
        copy = FoundCopy(f"{'a' * 32}-{'0' * 8}", 1, about, told, text)
        try:
            made = rebuilt(copy, lone_host(HOST))
        except LeftChangedError as error:
            assert error.what == "copy.not_a_journal"
            return
        plan = whole_plan(read_journal_text("\n".join([*made, ""]).encode()).entries)
        assert isinstance(plan, Plan)
        for planned in plan.steps:
            step = catalog.read_step(planned.step)
            assert (planned.host, planned.subject) == ("alpha-example", step.subject)


def places(value: object) -> list[tuple[dict[str, object], str]]:
    """Every place in JSON that another value can be put at."""
    found: list[tuple[dict[str, object], str]] = []
    if isinstance(value, dict):
        for key, inner in value.items():
            found += [(value, key), *places(inner)]
    if isinstance(value, list):
        for inner in value:
            found += places(inner)
    return found
