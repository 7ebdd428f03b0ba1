"""Each command that changes hosts, driven to its end on a host whose every word steers a terminal.

What is looked at: standard output, standard error, and each file that is left for people.
"""

import json
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from test_link_speed_story import HOST, NETDEV, TEN, Ends, Wire, switch

from described.approach import planned_by
from wirespeed import catalog
from wirespeed.apply import control_script, gate, guard_timer, tryout_script
from wirespeed.apply.run import JOURNAL
from wirespeed.apply.run_file import RUN
from wirespeed.apply.run_place import run_folder, runs_folder
from wirespeed.approaches.traits import RequestedStep
from wirespeed.host.local import LocalRunner
from wirespeed.host.reach_destination import SwitchHost
from wirespeed.model.capture import Capture
from wirespeed.model.fact import HostFacts
from wirespeed.model.finding import Diagnosis, Remedy, StepCall
from wirespeed.model.owner import Owner
from wirespeed.model.spec.spec import Spec
from wirespeed.model.switch_kind import SwitchKind
from wirespeed.platforms.switch.cable_proof import Match, PortMatch
from wirespeed.runs import hosts_of_spec, link_run, persist_run, prove_run, remedy_run
from wirespeed.runs.compare_folder import compare_folder
from wirespeed.runs.measure_guests import GuestMeasuring

from .conftest import Call
from .diagnoses import diagnosis, finding
from .hostile_host import Hostile, Said
from .planted import PLANT, assert_harmless, harmful_capture, plant
from .proofs import proof

SPEC = {
    "hosts": {"alpha": {"reach": "here", "ports": ["0000:3b:00.0"]}},
    "approach": "legacy-vlan",
    "failover": "none",
    "underlay": {"subnet": "192.168.9.0/24", "mtu": 9080},
    "networks": {},
    "guests": {},
}
SWITCH = "switch+dell_os6://admin@sw1/Te1/0/1"
EXACT = ("facts-", "config.")
"""Captures: a program reads them."""


def unread(host: str) -> HostFacts:
    """A host of which no port, file or counter was read."""
    return HostFacts(host, Capture((), complete=True))


@dataclass
class Lab:
    """A spec of one hostile host, and what it wants there."""

    spec: Path
    host: Hostile
    steps: list[Said] = field(default_factory=list)

    def wants(self, *fails: str) -> None:
        """One step that goes well, of a file that is full of it; then one for each of `fails`."""
        folder = self.spec.parent
        (folder / "old").write_text(f"{PLANT}\n")
        self.steps[:] = [
            Said(path=str(folder / "old"), text="x"),
            *(
                Said(path=str(folder / f"{n}"), text=f"y{n}", fails=how)  # type: ignore[arg-type]
                for n, how in enumerate(fails)
            ),
        ]

    def left(self) -> list[Path]:
        """Give every file that is there for people, of runs and of pages."""
        folders = (run_folder(self.spec), self.spec.parent, compare_folder(self.spec))
        found = {path for folder in folders for path in folder.rglob("*") if path.is_file()}
        names = {"old", "spec.yaml", "rm", "new", *(str(n) for n in range(9))}
        return sorted(p for p in found if p.name not in names and not p.name.startswith(EXACT))


@pytest.fixture
def lab(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Lab]:
    spec = tmp_path / "spec.yaml"
    spec.write_text(json.dumps(SPEC))
    made = Lab(spec, Hostile())

    def approach(_spec: Spec, _host: str, _facts: object) -> Iterator[RequestedStep]:
        yield from (RequestedStep(step) for step in made.steps)

    monkeypatch.setattr(hosts_of_spec, "_runner", lambda *_: made.host)
    monkeypatch.setattr(prove_run, "captured", lambda _: {"alpha": harmful_capture()})
    monkeypatch.setattr(prove_run, "SETTLE_S", 0.1)
    monkeypatch.setattr(GuestMeasuring, "measure", lambda _, __, *tell: measured(*tell))
    of_all = dict.fromkeys(("legacy-vlan", "ovs-tc"), approach)
    monkeypatch.setattr(catalog, "approaches", planned_by(of_all))
    monkeypatch.setattr(catalog, "step_types", lambda: {"said": Said})
    monkeypatch.setattr(control_script, "LOCK", str(tmp_path / "host/lock"))
    monkeypatch.setattr(guard_timer, "FOLDER", str(tmp_path / "host/timers"))
    monkeypatch.setattr(tryout_script, "FOLDER", str(tmp_path / "host/try"))
    monkeypatch.setattr(tryout_script, "SYSTEMD", str(tmp_path / "no-systemd"))
    (tmp_path / "host").mkdir()
    made.wants()
    yield made
    for sleeper in tmp_path.glob("host/try/*/sleeper"):
        LocalRunner().run(["kill", "-s", "TERM", "--", f"-{sleeper.read_text().strip()}"])


def measured(write: Callable[[object], None], doing: Callable[[str], None]) -> str:
    """What is measured between guests says it too."""
    doing(PLANT)
    for trial in proof().trials:
        write(plant(trial))
    return PLANT


def assert_files(lab: Lab, *names: str) -> None:
    """None of what is left steers; those of `names` have it, made printable."""
    files = [path for path in lab.left() if "host" not in path.relative_to(path.anchor).parts]
    assert {path.name for path in files} >= set(names)
    for path in files:
        assert_harmless(path.read_bytes(), str(path), planted=path.name in names)


Drive = Callable[..., tuple[int, str]]


@pytest.fixture
def drive(call: Call, lab: Lab) -> Drive:
    """Run a command on it; give its exit code and what it said, which is harmless."""

    def run(command: str, *options: object, said: bool = True) -> tuple[int, str]:
        code, out, err = call(command, lab.spec, *options)
        assert code != 70, err
        assert_harmless(out + err, f"{command} {options}", planted=said)
        return code, out + err

    return run


def test_a_run_that_is_applied_confirmed_and_undone(lab: Lab, drive: Drive):
    code, said = drive("apply", "--yes", "--try", 600)
    assert code == 0 and "unconfirmed" not in said, said
    assert drive("confirm", said=False)[0] == 0, "nothing of the host is in it"
    assert_files(lab, JOURNAL)
    assert drive("status")[0] == 0
    assert drive("undo")[0] == 0
    assert (lab.spec.parent / "old").read_bytes() == f"{PLANT}\n".encode()


def test_a_run_whose_folder_is_lost(lab: Lab, call: Call, drive: Drive, copies: Path):
    """All that the copy on the host says of itself is the host's to choose."""
    assert drive("apply", "--yes")[0] == 0
    shutil.rmtree(run_folder(lab.spec))
    (about,) = copies.rglob("about.json")
    run = about.parent.name.partition("-")[0]
    owner = Owner(run=run, user=PLANT, host=PLANT, since=PLANT, folder=PLANT)
    about.write_text(json.dumps({"owner": owner.line(), "of": PLANT}))
    others = set(runs_folder().rglob("*"))
    for arguments in (("status", "here"), ("undo", "here", "--yes")):
        code, out, err = call(*arguments)
        assert code == 0, out + err
        assert_harmless(out, " ".join(arguments))
        assert_harmless(err, " ".join(arguments), planted=False)
    assert (lab.spec.parent / "old").read_bytes() == f"{PLANT}\n".encode()
    made = [path for path in runs_folder().rglob("*") if path.is_file() and path not in others]
    assert {path.name for path in made} >= {JOURNAL, RUN}
    for path in made:
        assert_harmless(path.read_bytes(), str(path), planted=path.name in (JOURNAL, RUN))


@pytest.mark.parametrize("text", [PLANT, f'{{"kind":"{PLANT}"}}\n', f'{{"kind":"begun"}}{PLANT}\n'])
def test_a_copy_that_is_none(lab: Lab, call: Call, drive: Drive, copies: Path, text: str):
    assert drive("apply", "--yes")[0] == 0
    shutil.rmtree(run_folder(lab.spec))
    (journal,) = copies.rglob(JOURNAL)
    journal.write_text(text)
    for arguments in (("status", "here"), ("undo", "here", "--yes")):
        code, out, err = call(*arguments)
        assert code == 3, out + err
        assert_harmless(out + err, " ".join(arguments), planted=False)


def test_a_step_that_is_refused_and_put_back(lab: Lab, drive: Drive):
    lab.wants("change")
    code, said = drive("apply", "--yes")
    assert code == 1 and "ERROR step.failed" in said
    assert said.partition("ERROR")[2].count("Pwned") > 1, "what its program said"
    assert_files(lab, JOURNAL)
    assert drive("status")[0] == 0


def test_a_step_that_cannot_be_put_back(lab: Lab, drive: Drive):
    lab.wants("undo", "change")
    code, said = drive("apply", "--yes")
    assert code == 3 and "ERROR host.left_changed" in said
    assert drive("status")[0] == 3
    code, said = drive("undo")
    assert code == 3 and "ERROR host.left_changed" in said
    assert_files(lab, JOURNAL)


def test_what_a_colleague_changed(lab: Lab, drive: Drive):
    assert drive("apply", "--yes")[0] == 0
    (lab.spec.parent / "old").write_text(f"theirs {PLANT}\n")
    code, said = drive("undo")
    assert code == 3 and "ERROR host.changed_by_others" in said
    code, said = drive("drift")
    assert code == 1
    code, said = drive("apply", "--yes")
    assert code == 2 and "ERROR run." in said
    assert_files(lab, JOURNAL)
    assert drive("undo", "--force")[0] == 0


def test_what_cannot_be_read(lab: Lab, drive: Drive):
    lab.wants("read")
    (lab.spec.parent / "0").write_text(PLANT)
    code, said = drive("apply", "--yes")
    assert code == 2 and "ERROR plan.cannot_tell" in said
    assert drive("plan")[0] == 2


def test_a_host_that_somebody_else_has_or_that_runs_no_script(lab: Lab, drive: Drive):
    lab.host.is_taken = True
    code, said = drive("apply", "--yes")
    assert code == 2 and "ERROR host.in_use" in said
    lab.host.is_taken, lab.host.is_dumb = False, True
    code, said = drive("apply", "--yes")
    assert code == 2 and "ERROR host.no_answer" in said


def test_a_run_that_was_tried_and_went_back(lab: Lab, drive: Drive):
    assert drive("apply", "--yes", "--try", 600)[0] == 0
    (undo,) = lab.spec.parent.glob("host/try/*/undo")
    LocalRunner().run(["sh", str(undo)])
    (result,) = lab.spec.parent.glob("host/try/*/result")
    result.write_text(f"undone 000001 {PLANT}\n")
    code, said = drive("confirm")
    assert code == 1 and "ERROR try.went_back" in said
    assert_files(lab, JOURNAL)


def test_what_is_to_last(lab: Lab, drive: Drive, monkeypatch: pytest.MonkeyPatch):
    assert drive("apply", "--yes")[0] == 0
    path = lab.spec.parent / "new"
    path.write_text(PLANT)
    steps = [Said(path=str(path), text="lasts")]
    monkeypatch.setattr(persist_run, "persist_steps", lambda *_: steps)
    assert drive("persist", "--yes")[0] == 0
    assert drive("persist", "--remove")[0] == 0
    steps.append(Said(path=f"{path}-2", text="y", fails="change"))
    code, said = drive("persist", "--yes")
    assert code == 1 and "ERROR step.failed" in said
    assert_files(lab, JOURNAL)


@pytest.mark.parametrize("fails", ["", "change", "undo"])
def test_a_remedy(lab: Lab, call: Call, monkeypatch: pytest.MonkeyPatch, fails: str):
    path = lab.spec.parent / "new"
    path.write_text(PLANT)
    steps = [{"path": str(path), "text": "y"}]
    steps += [{"path": f"{path}-{how}", "text": "y", "fails": how} for how in [fails] if how]
    steps += [{"path": f"{path}-last", "text": "y", "fails": "change"}] if fails == "undo" else []
    mends = finding(
        so=PLANT,
        remedies=(
            Remedy(text=PLANT, steps=tuple(StepCall.of("said", **one) for one in steps)),
            Remedy(text=PLANT, steps=(StepCall.of("said", path="x", text="y", fails=PLANT),)),
        ),
    )
    answer: Diagnosis = diagnosis(mends)
    monkeypatch.setattr(remedy_run, "examine", lambda *_, **__: [(answer, harmful_capture())])
    code, out, err = call("remedy", "here", "--apply", "--yes", "--run", lab.spec.parent / "r")
    assert code == {"": 0, "change": 1, "undo": 3}[fails], out + err
    assert_harmless(out, "remedy")
    assert_harmless(err, "remedy", planted=bool(fails))
    assert_files(lab, JOURNAL)
    code, out, err = call("remedy", "here", "--of", f"none{PLANT}")
    assert code == 2
    assert_harmless(err, "remedy --of")


def test_a_link_whose_switch_refuses_in_such_words(
    lab: Lab, call: Call, monkeypatch: pytest.MonkeyPatch
):
    wire = Wire(switch(SwitchKind.DELL_OS6))
    proof = PortMatch(Match.UNKNOWN, PLANT)

    @contextmanager
    def ends(host: str, place: SwitchHost) -> Iterator[dict[str, object]]:
        made = Ends(wire, TEN, at=4, fault="refused")
        made.session.count = 0
        type_lines = made.session.type
        made.session.type = lambda lines: [  # type: ignore[method-assign]
            a.replace("refused", f"refused {PLANT}") for a in type_lines(lines)
        ]
        (card, at_switch) = (
            made.controls[HOST],
            *[h for p, h in made.controls.items() if p != HOST],
        )
        yield {host: card, place.text: at_switch}

    monkeypatch.setattr(catalog, "step_types", REAL_STEPS)
    monkeypatch.setattr(link_run, "ends", ends)
    monkeypatch.setattr(gate, "refuse_cutoff", lambda *_: None)
    monkeypatch.setattr(link_run, "facts_at", unread)
    monkeypatch.setattr(link_run, "port_proof", lambda *_: proof)
    folder = lab.spec.parent / "link"
    arguments = (HOST, NETDEV, SWITCH, "--speed", "10G", "--apply", "--yes", "--run", folder)
    code, out, err = call("link", *arguments)
    assert code == 2 and "ERROR link.port_not_proven" in err
    assert_harmless(out + err, "link")
    code, out, err = call("link", *arguments, "--port-is-right")
    assert code == 1 and "ERROR step.failed" in err, out + err
    assert_harmless(err, "link")
    assert_harmless((folder / JOURNAL).read_bytes(), JOURNAL)


REAL_STEPS = catalog.step_types


@pytest.mark.parametrize(("fails", "code"), [((), 0), (("change",), 1), (("undo",), 3)])
def test_a_proof(lab: Lab, drive: Drive, fails: tuple[str, ...], code: int):
    lab.wants(*fails)
    ended, said = drive("prove", "--yes")
    assert ended == code, said
    of_trials = () if "change" in fails else ("results.csv",)
    assert_files(lab, JOURNAL, "report.html", "report.md", "plan.json", *of_trials)


def test_a_comparison(lab: Lab, drive: Drive):
    lab.wants("change")
    code, said = drive("compare", "--yes", "--approaches", "legacy-vlan,ovs-tc")
    assert code == 1 and said.count("step.failed") >= 2, said
    assert_files(lab, JOURNAL, "report.html", "report.md", "plan.json")
