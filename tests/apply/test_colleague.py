"""A colleague changes a value after it was read and before it is written: it is not overwritten."""

import shutil
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Literal

import pytest
from claims import claim
from described_host import DescribedHost, Put
from described_powershell import DescribedPowerShell
from described_powershell_timer import TimedPowerShell
from described_switch import switch
from described_windows import Adapter, DescribedWindows
from note_step import Note
from test_control_switchport import DescribedSession as SwitchSession
from test_control_switchport import forced
from test_esxi_guest import REPORT, host
from test_esxi_vsphere import DescribedSession as VsphereSession

from wirespeed import catalog
from wirespeed.apply import control_script, guard_timer, guard_timer_change
from wirespeed.apply.control import HostControl
from wirespeed.apply.control_posix import PosixControl
from wirespeed.apply.control_script import change_script
from wirespeed.apply.control_still import MEMINFO, TIMERS, is_still, varying
from wirespeed.apply.executor import Executor
from wirespeed.apply.guard_timer_control import with_rollback
from wirespeed.apply.planner import make_plan
from wirespeed.host.clock import sleep_s
from wirespeed.host.local import LocalRunner
from wirespeed.host.runner import Completed
from wirespeed.model.capture import Capture, Section, parse_capture
from wirespeed.model.command import Command
from wirespeed.model.error import ApplyError, LeftChangedError
from wirespeed.model.journal import Ended, Entry, Intent, Result, Undone, Verified
from wirespeed.model.observed import Known, Observed
from wirespeed.model.plan import Plan
from wirespeed.model.step import State, Step
from wirespeed.model.switch_kind import SwitchKind
from wirespeed.platforms.esxi.control_vsphere import VsphereControl
from wirespeed.platforms.switch.control import SwitchControl
from wirespeed.platforms.windows.control import WindowsControl
from wirespeed.platforms.windows.steps.windows_property import WindowsProperty
from wirespeed.steps.bond import Bond
from wirespeed.steps.hugepages import Hugepages
from wirespeed.steps.in_namespace import InNamespace
from wirespeed.steps.mtu import Mtu

CHANGES = "# Changes one thing.\n"
CARD = "Mellanox ConnectX-5 Ex Adapter"
JUMBO = WindowsProperty(adapter=CARD, keyword="*JumboPacket", value="9014")


class Varying(Note):
    """Beside its text, its reading has a line that is never the same."""

    step: Literal["varying"] = "varying"  # type: ignore[assignment]

    def read(self) -> Command:
        return Command(argv=("cat", self.path, "/proc/sys/kernel/random/uuid"))

    def parse(self, section: Section) -> Observed[State]:
        text = section.output.removesuffix("\n").rpartition("\n")[0]
        return Known({"text": text}, self.read().line())


class Network:
    """This machine, reached by a network; `colleague` comes before the next script of a change."""

    def __init__(self) -> None:
        self.colleague: Callable[[], object] | None = None
        self.scripts: list[str] = []

    def run(
        self,
        argv: Sequence[str],
        *,
        timeout_s: float = 60.0,
        stdin: str | None = None,
        max_bytes: int = 1 << 20,
    ) -> Completed:
        self.scripts.append(stdin or "")
        if CHANGES in (stdin or "") and self.colleague is not None:
            self.colleague()
            self.colleague = None
        return LocalRunner().run(argv, timeout_s=timeout_s, stdin=stdin, max_bytes=max_bytes)

    def renew(self) -> None:
        pass


@pytest.fixture(autouse=True)
def run_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    known = catalog.step_types()
    own = {"put": Put, "note": Note, "varying": Varying}
    monkeypatch.setattr(catalog, "step_types", lambda: known | own)
    monkeypatch.setattr(guard_timer, "FOLDER", str(tmp_path / "run"))
    monkeypatch.setattr(control_script, "LOCK", str(tmp_path / "lock"))
    monkeypatch.setattr(guard_timer_change, "PAUSE_S", 0.1)
    monkeypatch.setattr(guard_timer_change, "SETTLE_S", 0.1)
    return tmp_path / "run"


def plan_of(control: HostControl, steps: Sequence[Step], cuts: str = "") -> Plan:
    rows = zip(steps, control.read(steps), strict=True)
    plan = make_plan([("alpha", step, state) for step, state in rows])
    return Plan(steps=tuple(one.model_copy(update={"cuts": cuts}) for one in plan.steps))


def executor(plan: Plan, control: HostControl, journal: list[Entry]) -> Executor:
    return Executor(plan, {"alpha": control}, journal.append, lambda: "now", tuple(journal))


def refused(run: Executor) -> ApplyError:
    with pytest.raises(ApplyError) as caught:
        run.apply()
    assert caught.value.what == "step.changed_meanwhile"
    return caught.value


def test_what_a_colleague_changed_before_the_write_stops_the_run_and_stays():
    here = DescribedHost({"a": 1, "c": 3})
    plan = plan_of(here, [Put(key="a", value=10), Put(key="c", value=30)])
    journal: list[Entry] = []

    def write(entry: Entry) -> None:
        journal.append(entry)
        if isinstance(entry, Intent) and entry.number == 1:
            here.meanwhile = {"c": 4}

    error = refused(Executor(plan, {"alpha": here}, write, lambda: "now"))
    assert (error.where, here.values) == ("c on alpha", {"a": 1, "c": 4})
    assert error.found == "it was value 3 in the plan, and value 4 just before the change"
    assert error.so == "it was not changed; all earlier steps were undone"
    assert {argv[1] for argv in here.ran} == {"a"}, "of the step itself nothing was run"
    results = [entry for entry in journal if isinstance(entry, Result)]
    assert [one.verdict for one in results][-1] is Verified.CHANGED_MEANWHILE
    assert not [entry for entry in journal if isinstance(entry, Undone) and entry.number == 1]
    assert [entry.outcome for entry in journal if isinstance(entry, Ended)] == ["undone"]


@pytest.mark.parametrize(("changes", "ends"), [(1, "applied"), (4, "undone")])
def test_what_the_run_itself_made_may_change_by_itself_and_is_no_colleague(changes: int, ends: str):
    """As a VF's address, which its driver sets a moment after the VF is there."""
    here = DescribedHost({"count": 0})
    count, vf = Put(key="count", value=2), Put(key="vf", value=70)
    rows = [("alpha", count, here.read([count])[0]), ("alpha", vf, None)]
    plan, journal = make_plan(rows), list[Entry]()
    left = iter(range(changes))

    def write(entry: Entry) -> None:
        journal.append(entry)
        if isinstance(entry, Intent) and entry.number == 1 and (n := next(left, None)) is not None:
            here.meanwhile = {"vf": 500 + n}

    run = Executor(plan, {"alpha": here}, write, lambda: "now")
    if ends == "undone":
        refused(run)
    else:
        run.apply()
        assert here.values == {"count": 2, "vf": 70}
        Executor(plan, {"alpha": here}, journal.append, lambda: "now", tuple(journal)).undo()
    assert here.values == {"count": 0}
    outcomes = [entry.outcome for entry in journal if isinstance(entry, Ended)]
    assert outcomes == list(dict.fromkeys((ends, "undone")))


@pytest.mark.parametrize("is_after_another", [True, False])
def test_what_an_earlier_step_led_to_as_well_is_no_colleague(is_after_another: bool):
    """As a module that is loaded because another one needs it."""
    here = DescribedHost({"a": 1, "c": 3})
    steps = [Put(key="a", value=10), Put(key="c", value=30)]
    journal = list[Entry]()
    plan = plan_of(here, steps if is_after_another else steps[1:])

    def write(entry: Entry) -> None:
        journal.append(entry)
        if isinstance(entry, Intent) and entry.number == len(plan.steps) - 1:
            here.meanwhile = {"c": 30}

    run = Executor(plan, {"alpha": here}, write, lambda: "now")
    if not is_after_another:
        refused(run)
        assert here.values == {"a": 1, "c": 30}
        return
    run.apply()
    assert here.values == {"a": 10, "c": 30}
    assert {argv[1] for argv in here.ran} == {"a"}
    executor(plan, here, journal).undo()
    assert here.values == {"a": 1, "c": 3}


@pytest.fixture
def note(tmp_path: Path) -> Path:
    path = tmp_path / "it's a note"
    path.write_text("before\n")
    return path


@pytest.mark.parametrize("kind", [Note, Varying])
def test_the_script_that_writes_reads_first_and_leaves_what_a_colleague_wrote(
    note: Path, kind: type[Note]
):
    network = Network()
    control, journal = PosixControl("alpha", network), list[Entry]()
    plan = plan_of(control, [kind(path=str(note), text="ours")])
    network.colleague = lambda: note.write_text("theirs\n")
    refused(executor(plan, control, journal))
    assert note.read_text() == "theirs\n"


def test_undo_too_leaves_what_a_colleague_wrote_just_before_it(note: Path):
    network = Network()
    control, journal = PosixControl("alpha", network), list[Entry]()
    plan = plan_of(control, [Note(path=str(note), text="ours")])
    executor(plan, control, journal).apply()
    network.colleague = lambda: note.write_text("theirs\n")
    with pytest.raises(LeftChangedError):
        executor(plan, control, journal).undo()
    assert note.read_text() == "theirs\n"


def test_it_costs_no_trip_where_no_colleague_comes(note: Path):
    network = Network()
    control = PosixControl("alpha", network)
    plan = plan_of(control, [Note(path=str(note), text="ours")])
    network.scripts.clear()
    executor(plan, control, []).apply()
    assert [CHANGES in one for one in network.scripts] == [False, True, False]
    assert note.read_text() == "ours\n"


def test_a_reading_that_a_colleague_altered_without_the_state_is_taken_once_more(note: Path):
    class FirstLine(Note):
        def parse(self, section: Section) -> Observed[State]:
            return Known({"text": section.output.partition("\n")[0]}, self.read().line())

    network = Network()
    control = PosixControl("alpha", network)
    step = FirstLine(path=str(note), text="ours")
    assert control.read([step])
    network.colleague = lambda: note.write_text("before\nand more\n")
    changed = control.change(
        step, step.change({"text": "before"}, {"text": "ours"}), {"text": "before"}
    )
    assert changed == type(changed)("", Known({"text": "ours"}, step.read().line()))
    assert [CHANGES in one for one in network.scripts] == [False, True, True]


def test_a_reading_that_is_never_twice_the_same_is_changed_all_the_same(note: Path):
    network = Network()
    control = PosixControl("alpha", network)
    executor(plan_of(control, [Varying(path=str(note), text="ours")]), control, []).apply()
    assert note.read_text() == "ours\n"
    assert sum(CHANGES in one for one in network.scripts) == 4, "tried thrice, then done"


def test_under_the_timer_nothing_of_a_colleague_is_overwritten_now_or_later(
    note: Path, run_folder: Path
):
    network, journal = Network(), list[Entry]()
    shell = PosixControl("alpha", network)
    shell.lock(claim())
    plan = plan_of(shell, [Note(path=str(note), text="ours")], cuts="it is the way")
    network.colleague = lambda: note.write_text("theirs\n")
    refused(executor(plan, with_rollback(plan, {"alpha": shell}, 2)["alpha"], journal))
    assert note.read_text() == "theirs\n"
    sleep_s(3)
    assert note.read_text() == "theirs\n", "its timer wrote nothing either"
    shell.unlock(claim())
    assert not run_folder.exists()


def test_a_timer_whose_controller_is_killed_writes_nothing_over_a_colleague(note: Path):
    control, step = PosixControl("alpha", LocalRunner()), Note(path=str(note), text="ours")
    (section,) = control._ask(control_script.read_script([step]), 10).all_sections()
    undo = step.change({"text": "ours"}, {"text": "before"})
    control._ask(guard_timer.arm_script("t", undo, 1), 10)
    note.write_text("theirs\n")
    script = guard_timer_change.POSIX.change("t", step, step.change({}, {"text": "ours"}), section)
    control._ask(script, 10)
    sleep_s(2)
    assert note.read_text() == "theirs\n"


def windows() -> DescribedWindows:
    adapters = {CARD: Adapter("x")}
    adapters[CARD].properties["*JumboPacket"] = ["1514"]
    return DescribedWindows(adapters)


def sets_jumbo(described: DescribedWindows) -> None:
    described.adapters[CARD].properties["*JumboPacket"] = ["4088"]


@pytest.mark.parametrize("is_timed", [False, True])
def test_windows_leaves_what_a_colleague_set(is_timed: bool, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(WindowsProperty, "settle_s", 0.0)
    shell = TimedPowerShell(windows()) if is_timed else DescribedPowerShell(windows())
    control = WindowsControl("desk", shell, back_s=5.0)
    plan = plan_of(control, [JUMBO], cuts="it is the way" if is_timed else "")
    shell.colleague = sets_jumbo
    refused(executor(plan, with_rollback(plan, {"alpha": control})["alpha"], []))
    assert shell.host.adapters[CARD].properties["*JumboPacket"] == ["4088"]
    assert shell.ran == []
    if isinstance(shell, TimedPowerShell):
        assert [one.untouched for one in shell.folders.values()] == [True]


def test_windows_is_changed_in_one_trip_where_no_colleague_comes():
    shell = DescribedPowerShell(windows())
    control = WindowsControl("desk", shell, back_s=5.0)
    plan = plan_of(control, [JUMBO])
    shell.scripts.clear()
    executor(plan, control, []).apply()
    assert shell.host.adapters[CARD].properties["*JumboPacket"] == ["9014"]
    assert len(shell.scripts) == 3, "all is read, the change, all is read"


@pytest.mark.parametrize("kind", SwitchKind)
def test_a_switch_leaves_what_a_colleague_typed(kind: SwitchKind):
    session = SwitchSession(switch(kind))
    control = SwitchControl(session)
    step = forced(kind)
    (found,) = control.read([step])
    assert isinstance(found, Known)
    goal = step.wanted(found.value)
    other = {key: f"{value}0" for key, value in found.value.items()}
    changed = control.change(step, step.change(found.value, goal), other)
    assert changed.is_stale and changed.now == found
    assert session.switch == switch(kind)


def test_an_esxi_guest_stays_as_a_colleague_set_it():
    session = VsphereSession(host())
    control = VsphereControl("vmhost", session)
    plan = plan_of(control, [REPORT])
    described = session.described.guests[REPORT.number]

    def write(entry: Entry) -> None:
        if isinstance(entry, Intent):
            described.reservation_mb = 512

    error = refused(Executor(plan, {"alpha": control}, write, lambda: "now"))
    assert "512" in error.found
    assert described.reservation_mb == 512


@pytest.mark.parametrize(
    ("step", "pattern"),
    [
        (Bond(netdev="bond0", members=("a", "b"), mode="802.3ad", miimon_ms=100), TIMERS),
        (
            InNamespace.of("n", Bond(netdev="b0", members=("a",), mode="802.3ad", miimon_ms=1)),
            TIMERS,
        ),
        (Hugepages(page_kib=2048, numa_node=None, count=8), MEMINFO),
        (Hugepages(page_kib=2048, numa_node=1, count=8), MEMINFO),
        (Mtu(netdev="eth0", mtu=9000), ""),
    ],
)
def test_what_varies_by_itself_is_no_colleague(step: Step, pattern: str):
    assert varying(step.read()) == pattern


PRINTED = {
    "ip": (
        '[{"ifname":"br0","linkinfo":{"info_data":{"gc_timer":  %s,"mtu":1500}}},'
        '{"addr_info":[{"local":"192.0.2.2","valid_life_time":%s,"preferred_life_time":7}]}]\n'
    ),
    "grep": "/sys/nr_hugepages:8\n/proc/meminfo:MemTotal: 9 kB\n/proc/meminfo:MemFree: %s %s kB\n",
}


@pytest.mark.parametrize("tool", PRINTED)
@pytest.mark.parametrize("is_same", [True, False])
def test_a_timer_that_runs_is_told_from_a_colleague_by_the_host_itself(
    tool: str, is_same: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    step = {
        "ip": Bond(netdev="bond0", members=("a",), mode="802.3ad", miimon_ms=1),
        "grep": Hugepages(page_kib=2048, numa_node=None, count=8),
    }[tool]
    before, now = PRINTED[tool] % ("283.45", "42"), PRINTED[tool] % ("1.02", "41")
    if not is_same:
        now = now.replace("1500", "9000").replace("hugepages:8", "hugepages:9")
    (tmp_path / tool).write_text(f"#!/bin/sh\ncat <<'E'\n{now}E\n")
    (tmp_path / tool).chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/sbin:/usr/bin:/sbin:/bin")
    script = change_script(step, (), expected=Section("step-0", "", before, "", 0))
    done = parse_capture(LocalRunner().run(["sh", "-s"], stdin=script).output, "here")
    section = done.section("still")
    assert section is not None and section.returncode == int(not is_same)


NASTY = "it's $HOME `id` \\n \\ %s\n\n  \tü\n\n"
SAYS = {
    "with an input": Command(argv=("cat", "-"), stdin=NASTY),
    "with errors": Command(argv=("sh", "-c", "echo one; echo it fails >&2; echo two; exit 3")),
    "errors alone": Command(argv=("cat", "/nowhere/at all")),
    "nothing": Command(argv=("true",)),
    "not installed": Command(argv=("no-such-tool-at-all",)),
    "no line end": Command(argv=("printf", "%s", NASTY.strip())),
    "a NUL": Command(argv=("printf", "a\\0b")),
}


@pytest.mark.parametrize("shell", [("dash",), ("bash",), ("busybox", "sh")], ids=" ".join)
@pytest.mark.parametrize("what", SAYS)
def test_every_shell_knows_a_reading_again_and_a_colleague_s(
    what: str, shell: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
):
    if shutil.which(shell[0]) is None:
        pytest.skip(f"{shell[0]} is not installed")
    monkeypatch.setattr(Note, "read", lambda _: SAYS[what])
    step = Note(path="x", text="x")
    ran = [Command(argv=("echo", "done"))]

    def said(script: str) -> Capture:
        return parse_capture(LocalRunner().run([*shell, "-s"], stdin=script).output, "here")

    read = said(control_script.read_script([step])).section("step-0")
    assert read is not None
    again = said(change_script(step, ran, expected=read))
    assert is_still(again) and again.section("change-0") is not None
    for other in (
        replace(read, output=f"{read.output}x"),
        replace(read, errors=f"{read.errors}x"),
        replace(read, returncode=7),
    ):
        changed = said(change_script(step, ran, expected=other))
        assert not is_still(changed) and changed.section("change-0") is None
