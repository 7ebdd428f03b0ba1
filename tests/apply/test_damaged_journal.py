"""Each way in which a journal can be damaged, and what each command then says and does."""

import json
import re
from collections.abc import Callable
from copy import deepcopy
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from described_host import Put
from rebooting_host import RebootingHost, use_hosts, write_spec

from wirespeed.apply.run import JOURNAL, open_run
from wirespeed.apply.run_file import RUN
from wirespeed.apply.run_place import run_folder
from wirespeed.approaches.traits import RequestedStep
from wirespeed.commands.apply import apply
from wirespeed.commands.drift import drift
from wirespeed.commands.persist import persist
from wirespeed.commands.status import status
from wirespeed.commands.undo import undo
from wirespeed.model.error import LeftChangedError, WirespeedError
from wirespeed.model.journal_lines import read_journal_text, sealed
from wirespeed.runs import persist_run as persist_module

START = {"one": 1, "two": 2, "three": 3}
GOAL = {"one": 10, "two": 20, "three": 30}
COMMANDS = [status, apply, undo, drift, persist]

Lines = list[bytes]
"""begun, (intent, result) of steps 1 to 3, stood, ended."""


def joined(lines: Lines) -> bytes:
    return b"".join(line + b"\n" for line in lines)


def flipped(line: bytes) -> bytes:
    """One bit of a letter in the middle, so that it is JSON still."""
    at = next(i for i in range(len(line) // 2, len(line)) if line[i : i + 1].isalpha())
    return line[:at] + bytes([line[at] ^ 1]) + line[at + 1 :]


NO_BEGINNING: dict[str, Callable[[Lines], bytes]] = {
    "all NUL": lambda lines: b"\0" * len(joined(lines)),
    "empty": lambda _: b"",
    "first line cut": lambda lines: lines[0][:-40],
    "first line flipped": lambda lines: joined([flipped(lines[0]), *lines[1:]]),
    "first line gone": lambda lines: joined(lines[1:]),
    "first line NUL": lambda lines: joined([b"\0" * len(lines[0]), *lines[1:]]),
    "text of another kind": lambda _: b'{"kind":"story"}\n',
}
IN_THE_MIDDLE: dict[str, tuple[Callable[[Lines], bytes], int]] = {
    "intent flipped": (lambda lines: joined([*lines[:3], flipped(lines[3]), *lines[4:]]), 2),
    "intent gone": (lambda lines: joined([*lines[:3], *lines[4:]]), 2),
    "intent NUL": (lambda lines: joined([*lines[:3], b"\0" * 99, *lines[4:]]), 2),
    "intent and result gone": (lambda lines: joined([*lines[:3], *lines[5:]]), 2),
    "result flipped": (lambda lines: joined([*lines[:4], flipped(lines[4]), *lines[5:]]), 0),
    "result gone": (lambda lines: joined([*lines[:4], *lines[5:]]), 0),
    "a line twice": (lambda lines: joined([*lines[:4], *lines[3:]]), 0),
    "two lines swapped": (lambda lines: joined([*lines[:4], lines[5], lines[4], *lines[6:]]), 0),
    "seal gone": (lambda lines: joined([*lines[:5], unsealed(lines[5]), *lines[6:]]), 3),
}
"""With the step, from 1, that cannot be undone then; 0: all can."""


def unsealed(line: bytes) -> bytes:
    return re.sub(rb',"seal":"[^"]*"', b"", line)


@pytest.fixture
def host(monkeypatch: pytest.MonkeyPatch) -> RebootingHost:
    host = RebootingHost(dict(START))
    use_hosts(
        monkeypatch,
        {"alpha": host},
        [RequestedStep(Put(key=key, value=value)) for key, value in GOAL.items()],
    )
    monkeypatch.setattr(persist_module, "controls_of", undo.callback.__globals__["controls_of"])  # type: ignore[union-attr]
    return host


@pytest.fixture
def spec(tmp_path: Path, host: RebootingHost) -> Path:
    write_spec(tmp_path / "spec.yaml", "alpha")
    done = call(apply, tmp_path / "spec.yaml", "--yes")
    assert (done.return_value, host.values) == (0, GOAL)
    host.ran = []
    return tmp_path / "spec.yaml"


def call(command: object, *arguments: object) -> Result:
    return CliRunner().invoke(command, [str(a) for a in arguments], standalone_mode=False)  # type: ignore[arg-type]


def lines_of(spec: Path) -> Lines:
    return (run_folder(spec) / JOURNAL).read_bytes().split(b"\n")[:-1]


def damage(spec: Path, how: Callable[[Lines], bytes]) -> bytes:
    data = how(lines_of(spec))
    (run_folder(spec) / JOURNAL).write_bytes(data)
    return data


def error_of(done: Result) -> LeftChangedError:
    assert isinstance(done.exception, LeftChangedError), (done.output, done.exception)
    assert done.exception.exit_code == 3
    return done.exception


@pytest.mark.parametrize("command", COMMANDS, ids=lambda c: c.name)
@pytest.mark.parametrize("how", NO_BEGINNING)
def test_a_damaged_journal_without_a_beginning_is_an_error_that_says_what_is_known(
    spec: Path, host: RebootingHost, how: str, command: object
):
    data = damage(spec, NO_BEGINNING[how])
    error = error_of(call(command, spec))
    assert error.what == "run.not_a_journal"
    assert error.where == str(run_folder(spec) / JOURNAL)
    assert f"{len(data)} bytes, {data.count(bytes([10]))} whole lines" in error.found
    assert "a run began at" in error.found
    assert "hosts may have been changed" in error.so
    assert (host.values, host.ran) == (GOAL, [])
    assert (run_folder(spec) / JOURNAL).read_bytes() == data, "it is left as it is"


@pytest.mark.parametrize("command", COMMANDS, ids=lambda c: c.name)
def test_a_damaged_journal_that_is_gone_is_an_error_too(
    spec: Path, host: RebootingHost, command: object
):
    (run_folder(spec) / JOURNAL).unlink()
    assert error_of(call(command, spec)).what == "run.not_a_journal"
    assert host.ran == []


@pytest.mark.parametrize("how", ["all NUL", "first line cut", "text of another kind"])
def test_a_damaged_journal_of_an_older_release_is_an_error_too(spec: Path, how: str):
    damage(spec, lambda lines: NO_BEGINNING[how]([unsealed(line) for line in lines]))
    (run_folder(spec) / RUN).unlink()
    assert error_of(call(status, spec)).what == "run.not_a_journal"


@pytest.mark.parametrize("command", [apply, drift, persist], ids=lambda c: c.name)
@pytest.mark.parametrize("how", IN_THE_MIDDLE)
def test_a_damaged_journal_is_neither_continued_nor_built_upon(
    spec: Path, host: RebootingHost, how: str, command: object
):
    data = damage(spec, IN_THE_MIDDLE[how][0])
    error = error_of(call(command, spec))
    assert error.what == "run.damaged"
    assert f"wirespeed undo {run_folder(spec)}" in error.next
    assert (host.values, host.ran) == (GOAL, [])
    assert (run_folder(spec) / JOURNAL).read_bytes() == data


@pytest.mark.parametrize("how", IN_THE_MIDDLE)
def test_status_of_a_damaged_journal_says_which_steps_can_still_be_undone(spec: Path, how: str):
    damaged, lost = IN_THE_MIDDLE[how]
    damage(spec, damaged)
    done = call(status, spec)
    error = error_of(done)
    assert error.what == "run.damaged"
    for number, key in enumerate(GOAL, 1):
        (line,) = [
            line for line in done.output.splitlines() if line.endswith(f"put {key} on alpha")
        ]
        assert ("can be undone" in line) == (number != lost), line
    assert f"{3 - bool(lost)} steps can still be undone" in error.so
    assert (f"step {lost} (put" in error.so) == bool(lost)


@pytest.mark.parametrize("how", IN_THE_MIDDLE)
def test_undo_of_a_damaged_journal_without_a_copy_puts_back_what_it_can_and_names_the_rest(
    spec: Path, host: RebootingHost, how: str
):
    damaged, lost = IN_THE_MIDDLE[how]
    damage(spec, damaged)
    host.disk = {}
    done = call(undo, spec)
    left = {key: GOAL[key] for n, key in enumerate(GOAL, 1) if n == lost}
    assert host.values == START | left
    if not lost:
        assert done.return_value == 0, done.exception
        assert call(undo, spec).return_value == 0
        return
    error = error_of(done)
    (key,) = left
    assert error.what == "run.damaged"
    assert f"get {key} (on alpha)" in error.next
    assert f"put {key} {START[key]}" in error.next
    assert "no host's copy has it" in error.so or "may be written" in error.so
    host.ran = []
    assert error_of(call(undo, spec)).so == error.so, "and so does a second one"
    assert host.ran == []


EACH_LINE: dict[str, Callable[[Lines, int], Lines]] = {
    "spoilt": lambda lines, at: [*lines[:at], b"xx", *lines[at + 1 :]],
    "gone": lambda lines, at: [*lines[:at], *lines[at + 1 :]],
    "twice": lambda lines, at: [*lines[: at + 1], *lines[at:]],
    "cut": lambda lines, at: [*lines[:at], lines[at][:-9], *lines[at + 1 :]],
    "garbage behind": lambda lines, at: [*lines, *[b"garbage"] * at],
    "no lines behind": lambda lines, at: lines[: at + 1],
}


def used_again(spec: Path, host: RebootingHost) -> None:
    """The folder is as good as new: it is applied and undone once more."""
    assert call(apply, spec, "--yes").return_value == 0 and host.values == GOAL
    assert call(undo, spec).return_value == 0 and host.values == START


@pytest.mark.parametrize("how", EACH_LINE)
@pytest.mark.parametrize("copy", ["whole", "damaged"])
def test_undo_of_a_damaged_journal_takes_each_lost_line_from_the_hosts_copy(
    spec: Path, host: RebootingHost, how: str, copy: str
):
    whole, (stored,) = lines_of(spec), host.disk.values()
    said = stored.text.split("\n")[:-1]
    for at in range(1, len(whole)):
        damage(spec, lambda _: joined(EACH_LINE[how](whole, at)))  # noqa: B023
        host.values, stored.text = dict(GOAL), "".join(f"{line}\n" for line in said)
        if copy == "damaged":
            # The intent of step 2, or of step 3 where the former is lost here too.
            spoilt = 3 if at != 3 else 5
            stored.text = "".join(
                f"{line}\n" for line in [*said[:spoilt], "x", *said[spoilt + 1 :]]
            )
        done = call(undo, spec)
        if copy == "damaged" and how == "no lines behind" and at < 3:
            assert "step 2 (put two on alpha)" in error_of(done).so
            assert host.values == START | {"two": 20}
            return
        assert (host.values, done.return_value) == (START, 0), (at, done.output, done.exception)
        assert call(status, spec).return_value == 0
        used_again(spec, host)
        (stored,) = host.disk.values()


def rewritten(text: str, was: str, now: str) -> str:
    """A copy that says something else, with seals that fit."""
    assert was in text
    bodies = [re.sub(',"seal":.*', "}", line) for line in text.replace(was, now).splitlines()]
    made, name = "", ""
    for number, body in enumerate(bodies, 1):
        made += sealed(body, number, name) + "\n"
        name = name or read_journal_text(made.encode()).run
    return made


def test_no_command_of_a_copy_heals_a_damaged_journal(spec: Path, host: RebootingHost):
    (stored,) = host.disk.values()
    stored.text = rewritten(stored.text, '"argv":["put",', '"argv":["planted",')
    damage(spec, IN_THE_MIDDLE["intent gone"][0])
    assert call(undo, spec).return_value == 0 and host.values == START
    assert "planted" not in (run_folder(spec) / JOURNAL).read_text()
    assert not any("planted" in command for command in host.ran)


def test_a_damaged_journal_is_not_healed_by_the_copy_of_another_beginning(
    spec: Path, host: RebootingHost
):
    (stored,) = host.disk.values()
    stored.text = rewritten(stored.text, '"before":{"value":2}', '"before":{"value":7}')
    damage(spec, IN_THE_MIDDLE["intent gone"][0])
    assert "step 2 (put" in error_of(call(undo, spec)).so
    assert host.values == START | {"two": 20}


def test_a_damaged_journal_is_healed_by_the_copies_of_several_hosts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    hosts = {name: RebootingHost(dict(START)) for name in ("alpha", "beta")}
    wanted = [RequestedStep(Put(key=key, value=value)) for key, value in GOAL.items()]
    use_hosts(monkeypatch, hosts, wanted)
    spec = tmp_path / "spec.yaml"
    write_spec(spec, *hosts)
    for at in range(1, 15):
        assert call(apply, spec, "--yes").return_value == 0
        lines = lines_of(spec)
        assert len(lines) == 15
        damage(spec, lambda _: joined([*lines[:at], b"xx", *lines[at + 1 :]]))  # noqa: B023
        done = call(undo, spec)
        assert done.return_value == 0, (at, done.output, done.exception)
        assert all(host.values == START for host in hosts.values()), at
        assert all(stored.is_undone for host in hosts.values() for stored in host.disk.values())


@pytest.mark.parametrize("has_copy", [True, False])
@pytest.mark.parametrize("garbage", [b"garbage\n", b"\0" * 99 + b"\n", b"x\ny\nz\n"])
def test_garbage_behind_an_undone_damaged_journal_keeps_no_apply_from_its_work(
    spec: Path, host: RebootingHost, garbage: bytes, *, has_copy: bool
):
    assert call(undo, spec).return_value == 0
    journal = run_folder(spec) / JOURNAL
    for then in (apply, undo):
        journal.write_bytes(journal.read_bytes() + garbage)
        host.disk = host.disk if has_copy else {}
        done = call(then, spec, *(["--yes"] if then is apply else []))
        assert done.return_value == 0, (done.output, done.exception)
        assert host.values == (GOAL if then is apply else START)
    used_again(spec, host)
    assert garbage in b"".join(p.read_bytes() for p in journal.parent.glob(f"{JOURNAL}.torn-*"))


def test_a_damaged_journal_whose_last_line_is_torn_loses_that_line_alone(
    spec: Path, host: RebootingHost
):
    data = damage(spec, lambda lines: joined(lines)[:-30])
    torn = data.split(b"\n")[-1]
    done = call(status, spec)
    assert (done.return_value, done.exception) == (1, None)
    assert "unfinished: 3 of 3 steps are in place" in done.output
    assert call(undo, spec).return_value == 0
    assert host.values == START
    assert (run_folder(spec) / f"{JOURNAL}.torn-1").read_bytes() == torn


def test_a_damaged_journal_that_another_runs_lines_follow_is_undone_by_its_own_alone(
    spec: Path, host: RebootingHost, tmp_path: Path
):
    own = lines_of(spec)
    (tmp_path / "b").mkdir()
    write_spec(tmp_path / "b/spec.yaml", "alpha")
    host.values = {"one": 5, "two": 6, "three": 7}
    assert call(apply, tmp_path / "b/spec.yaml", "--yes").return_value == 0
    damage(spec, lambda _: joined([*own, *lines_of(tmp_path / "b/spec.yaml")]))
    error = error_of(call(status, spec))
    assert "it is of another run" in error.found
    assert call(undo, spec).return_value == 0
    assert host.values == START


@pytest.mark.parametrize("number", [-1, 3, 10**9])
@pytest.mark.parametrize("kind", ["intent", "result", "undoing", "undone", "forgotten", "stood"])
@pytest.mark.parametrize("is_older", [True, False])
def test_a_damaged_journal_with_a_step_that_the_plan_does_not_have_is_refused(
    spec: Path, kind: str, number: int, is_older: bool
):
    with open_run(run_folder(spec)) as run:
        intent = next(entry for entry in run.entries if entry.kind == "intent")
        lines = [json.loads(entry.model_dump_json()) for entry in run.entries[:3]]
    state = {"verdict": "verified", "now": {"value": 1}}
    fields = json.loads(intent.model_dump_json()) if kind == "intent" else {}
    fields |= {"kind": kind, "number": number} | (state if kind in ("result", "undone") else {})
    if kind == "stood":
        fields = {"kind": kind, "states": {str(number): {"value": 1}}}
    folder = run_folder(spec)
    if is_older:
        text = "".join(json.dumps(line) + "\n" for line in [*lines, fields])
        (folder / JOURNAL).write_text(text)
    else:
        (folder / JOURNAL).write_bytes(joined(lines_of(spec)[:3]))
        data = (folder / JOURNAL).read_bytes()
        run_name = read_journal_text(data).run
        (folder / JOURNAL).write_bytes(
            data + sealed(json.dumps(fields), 4, run_name).encode() + b"\n"
        )
    for command in (status, apply):
        error = error_of(call(command, spec))
        assert error.what == "run.damaged"
        assert f"step {number + 1}, and the plan has steps 1 to 3" in error.found


Way = tuple[str | int, ...]


def ways_into(value: object, way: Way = ()) -> list[Way]:
    """The way to each value within, whole or leaf."""
    parts: list[tuple[str | int, object]] = []
    if isinstance(value, dict):
        parts = list(value.items())
    if isinstance(value, list):
        parts = list(enumerate(value))
    return [one for key, part in parts for one in ((*way, key), *ways_into(part, (*way, key)))]


def edited(own: list[object], way: Way, run_name: str | None, *value: object) -> bytes:
    """The journal with this value there, or without any; sealed again where its run is given."""
    lines = json.loads(json.dumps(own))
    at = lines
    for key in way[:-1]:
        at = at[key]
    if value:
        (at[way[-1]],) = value
    else:
        del at[way[-1]]
    texts = [json.dumps(line) for line in lines]
    return "".join(
        (sealed(text, number, run_name) if run_name else text) + "\n"
        for number, text in enumerate(texts, 1)
    ).encode()


@pytest.mark.parametrize("is_older", [pytest.param(True, marks=pytest.mark.rare), False])
def test_a_damaged_journal_that_lacks_any_value_is_an_error_of_its_own_or_none(
    spec: Path, host: RebootingHost, is_older: bool
):
    path, data = run_folder(spec) / JOURNAL, (run_folder(spec) / JOURNAL).read_bytes()
    own = [json.loads(unsealed(line)) for line in lines_of(spec)]
    run_name = "" if is_older else read_journal_text(data).run
    disk = deepcopy(host.disk)
    for way in ways_into(own):
        for command in COMMANDS:
            path.write_bytes(edited(own, way, run_name))
            host.values, host.disk = dict(GOAL), deepcopy(disk)
            error = call(command, spec, *(["--yes"] if command is apply else [])).exception
            assert error is None or isinstance(error, WirespeedError), (command, way, repr(error))


@pytest.mark.parametrize("command", COMMANDS, ids=lambda c: c.name)
@pytest.mark.parametrize("is_older", [True, False])
@pytest.mark.parametrize(
    "way",
    [
        (0, "plan", "steps", 0, "before"), (0, "plan", "steps", 1, "goal"),
        (1, "before"), (3, "goal"), (3, "before"),
    ],
)  # fmt: skip
def test_a_damaged_journal_with_a_state_that_no_reading_gives_is_refused_by_the_steps_number(
    spec: Path, host: RebootingHost, way: Way, is_older: bool, command: object
):
    path, data = run_folder(spec) / JOURNAL, (run_folder(spec) / JOURNAL).read_bytes()
    own = [json.loads(unsealed(line)) for line in lines_of(spec)]
    run_name = "" if is_older else read_journal_text(data).run
    path.write_bytes(edited(own, way, run_name, {"another": 1}))
    error = error_of(call(command, spec))
    assert error.what == "run.not_a_journal"
    number = {1: 1, 3: 2}.get(int(way[0]), int(way[3]) + 1 if len(way) > 3 else 0)
    assert f"no reading gives the states of step {number} (put " in error.found
    assert (host.values, host.ran) == (GOAL, [])


def test_a_journal_of_an_older_release_is_gone_on_with_and_sealed_from_there(
    spec: Path, host: RebootingHost
):
    path = run_folder(spec) / JOURNAL
    older = [unsealed(line) for line in lines_of(spec)][:5]
    path.write_bytes(joined(older))
    (run_folder(spec) / RUN).unlink()
    host.disk.clear()  # No older release kept a copy there.
    host.values = GOAL | {"three": 3}
    assert call(apply, spec, "--yes").return_value == 0
    assert host.values == GOAL
    seals = [b'"seal"' in line for line in lines_of(spec)]
    assert seals == [False] * 5 + [True] * (len(seals) - 5)
    for place in range(1, len(seals)):
        whole = lines_of(spec)
        damage(spec, lambda lines: joined([*lines[:place], *lines[place + 1 :]]))  # noqa: B023
        if place < len(seals) - 1:
            assert error_of(call(status, spec)).what == "run.damaged", place
        path.write_bytes(joined(whole))
    assert call(undo, spec).return_value == 0
    assert host.values == START


def test_each_line_of_a_journal_is_one_object_of_json_and_any_flipped_bit_shows(spec: Path):
    lines = lines_of(spec)
    for line in lines:
        number, _, _ = json.loads(line)["seal"].split()
        assert lines[int(number) - 1] == line
    text = joined(lines)
    path = run_folder(spec) / JOURNAL
    for at in range(0, len(text) - 1, 7):
        path.write_bytes(text[:at] + bytes([text[at] ^ 4]) + text[at + 1 :])
        assert call(status, spec).exception is not None, (at, text[max(0, at - 9) : at + 9])


def test_a_run_that_was_declined_was_never_begun(tmp_path: Path, host: RebootingHost):
    write_spec(tmp_path / "spec.yaml", "alpha")
    assert call(apply, tmp_path / "spec.yaml").exception is not None
    done = call(status, tmp_path / "spec.yaml")
    assert (done.return_value, done.output) == (0, "nothing was started\n")
    (run_folder(tmp_path / "spec.yaml") / JOURNAL).write_bytes(b'{"kind":"beg')
    assert call(status, tmp_path / "spec.yaml").return_value == 0, "its first line was cut short"
    assert call(apply, tmp_path / "spec.yaml", "--yes").return_value == 0
    assert host.values == GOAL
