"""What a host printed reaches no terminal and no page as it came: every channel is fed with it.

A command that is in no list here, and a file that is written by a function that is in none, fail.
"""

import ast
import json
from collections.abc import Sequence
from contextlib import nullcontext
from pathlib import Path
from types import SimpleNamespace

import pytest

from wirespeed import cli
from wirespeed.apply.control_posix import PosixControl
from wirespeed.apply.run import JOURNAL
from wirespeed.commands import doctor, drift, plan
from wirespeed.doctor.port_watch import Standing
from wirespeed.host.runner import Completed
from wirespeed.measure.bench.run_folder import TRIALS
from wirespeed.model import error as errors
from wirespeed.model.capture import Capture, Section
from wirespeed.model.fact import HostFacts
from wirespeed.model.journal import Begun, Ended, Intent, Result, Verified
from wirespeed.model.observed import Unreadable
from wirespeed.model.proof import Compared, Difference, When
from wirespeed.runs import firmware_run, watch_run
from wirespeed.runs.compare_report import RECORD, ComparisonRecord, Failed, write_record
from wirespeed.runs.prove_folder import PLAN, UNDONE, ProofFolder

from .conftest import Call
from .diagnoses import filled_with
from .planted import PLANT, STEERS, WORD, assert_harmless, harmful_capture, plant
from .proofs import SPEC, proof
from .records import whole_run

SOURCES = Path(cli.__file__).parent
NO_HOST = {
    "advise": "only figures of its own tables; its error is fed below",
    "lab": "names of its own; what QEMU said comes as an error, fed below",
}
AS_ERRORS = {
    "measure": "the page, which `report` makes again, and display.py, fed below",
}
DRIVEN = Path(__file__).with_name("test_hostile_host.py")
"""What changes hosts, to its end on one that says it."""


@pytest.mark.parametrize("kind", [e for e in vars(errors).values() if isinstance(e, type)])
def test_an_error_shows_nothing_as_it_came(
    kind: type[errors.WirespeedError], call: Call, monkeypatch: pytest.MonkeyPatch
):
    def fail(**_: object) -> None:
        raise kind(PLANT, where=PLANT, found=f"{PLANT}\n{PLANT}", so=PLANT, next=PLANT)

    monkeypatch.setattr(cli.cli, "main", fail)
    code, out, err = call("doctor")
    assert code == kind.exit_code and out == ""
    assert_harmless(err, kind.__name__)


@pytest.mark.parametrize("command", cli.COMMANDS)
def test_what_a_command_says_of_its_arguments_is_harmless(command: str, call: Call):
    for arguments in ([f"./{PLANT}"], [f"--{PLANT}"], ["--speed", PLANT], ["up", PLANT]):
        if command == "capture" and arguments[0] == "up":
            continue  # It would be a host of that name, to be looked up.
        if command == "doctor" and arguments[0] == "up":
            continue
        _, out, err = call(command, *arguments)
        assert_harmless(out + err, f"{command} {arguments[0]}", planted=False)


def test_the_doctor_of_a_capture_shows_nothing_as_it_came(call: Call, tmp_path: Path):
    path = tmp_path / "capture.txt"
    path.write_text(harmful_capture())
    for options in ((), ("--verbose",), ("--json",)):
        _, out, err = call("doctor", path, *options)
        assert_harmless(out, f"doctor {options}")
        assert_harmless(err, f"doctor {options}", planted=False)
    _, out, err = call("ceiling", path)
    assert_harmless(out + err, "ceiling", planted=False)
    _, out, err = call("ceiling", path, "--json")
    assert_harmless(out + err, "ceiling --json", planted=False)


def test_a_fleet_shows_nothing_as_it_came(call: Call, tmp_path: Path):
    captures, out_folder = tmp_path / "captures", tmp_path / "out"
    captures.mkdir()
    for name in ("one", "two"):
        (captures / f"{name}.txt").write_text(harmful_capture())
    options = ("--captures", captures, "--out", out_folder, "--database", "sqlite://")
    _, out, err = call("fleet", "doctor", *options)
    assert_harmless(out + err, "fleet doctor", planted=False)
    for path in (out_folder / "fleet.html", out_folder / "fleet.json"):
        assert_harmless(path.read_bytes(), path.name, planted=False)


def test_what_prometheus_gets_shows_nothing_as_it_came(call: Call, tmp_path: Path):
    path, textfile = tmp_path / "capture.txt", tmp_path / "wirespeed.prom"
    path.write_text(harmful_capture())
    _, out, err = call("export", path, "--textfile", textfile)
    assert_harmless(out + err, "export", planted=False)
    assert_harmless(textfile.read_bytes(), "textfile", planted=False)


def test_watched_ports_show_nothing_as_it_came(call: Call, monkeypatch: pytest.MonkeyPatch):
    counts = {"rx_bytes": 1, "rx_packets": 1, "tx_bytes": 1, "tx_packets": 1}
    times = iter(range(9))

    def read(*_: object) -> dict[str, Standing]:
        time_s = float(next(times))
        return {PLANT: Standing(time_s, counts, {"mtu": f"{time_s}{PLANT}"})}

    monkeypatch.setattr(watch_run, "_read", read)
    monkeypatch.setattr(watch_run, "diagnosed", lambda *_: filled_with(PLANT))
    _, out, err = call("watch", "--count", "2", "--every", "0.2")
    assert out.count("MTU") == 2
    assert_harmless(out + err, "watch", planted=False)


@pytest.mark.parametrize("format_", ["netplan", "networkd", "nmstate", "sriov-operator"])
def test_a_spec_in_another_format_shows_nothing_as_it_came(
    format_: str, call: Call, tmp_path: Path
):
    capture, spec = tmp_path / "alpha.txt", tmp_path / "spec.yaml"
    capture.write_text(harmful_capture())
    hosts = {"alpha": {"reach": str(capture), "ports": ["0000:03:00.0"]}}
    underlay = {"subnet": "192.168.9.0/24", "mtu": 9000}
    spec.write_text(json.dumps({"hosts": hosts, "approach": "none", "underlay": underlay}))
    _, out, err = call("export-spec", spec, "--as", format_)
    assert_harmless(out + err, f"export-spec {format_}", planted=False)


@pytest.mark.parametrize("format_", ["netplan", "nmstate"])
def test_a_spec_from_another_format_shows_nothing_as_it_came(
    format_: str, call: Call, tmp_path: Path
):
    capture, file = tmp_path / "alpha.txt", tmp_path / f"{WORD}.yaml"
    capture.write_text(harmful_capture())
    netplan = {"network": {"version": 2, "bonds": {PLANT: {PLANT: PLANT}}}}
    state = {"interfaces": [{"name": PLANT, "type": PLANT, PLANT: PLANT}]}
    file.write_text(json.dumps(netplan if format_ == "netplan" else state))
    _, out, err = call("import-spec", file, "--as", format_, "--host", f"alpha={capture}")
    assert_harmless(out + err, f"import-spec {format_}")


@pytest.mark.parametrize("options", [(), ("--verbose",), ("--json",), ("two",)])
def test_an_answer_full_of_it_shows_nothing_as_it_came(
    options: tuple[str, ...], call: Call, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    answer = filled_with(PLANT)
    count = 2 if "two" in options else 1
    answers = [(answer, "")] * count
    monkeypatch.setattr(doctor, "examine", lambda *_, **__: iter(answers))
    page, folder = tmp_path / "page.html", tmp_path / "out"
    given = tuple(o for o in options if o != "two")
    _, out, err = call("doctor", *["a", "b"][:count], *given, "--html", page, "--out", folder)
    assert_harmless(out, f"doctor {options}")
    assert_harmless(err, f"doctor {options}", planted=False)
    written = [path for path in (page, *folder.rglob("*")) if path.is_file()]
    assert {path.name for path in written} >= {"page.html", "findings.json", "report.html"}
    for path in written:
        if path.name != "capture.txt":
            assert_harmless(path.read_bytes(), path.name)
    if "--json" in options:
        assert json.loads(out)["host"] == PLANT


def test_a_capture_goes_to_a_program_as_it_came_and_to_a_terminal_made_printable(
    call: Call, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    path = tmp_path / "capture.txt"
    path.write_text(harmful_capture())
    _, out, err = call("capture", path)
    assert "\x1b[31m" in out
    assert_harmless(err, "capture", planted=False)
    monkeypatch.setattr("wirespeed.terminal.sys.stdout", Terminal())
    _, _, err = call("capture", path)
    assert_harmless(Terminal.said, "capture on a terminal")


class Terminal:
    """Standard output that says that it is one."""

    encoding = "utf-8"
    said = ""

    def isatty(self) -> bool:
        return True

    def write(self, text: str) -> int:
        Terminal.said += text
        return len(text)

    def flush(self) -> None: ...


class TellsPlant:
    """A host whose tools all print what is harmful."""

    def run(self, argv: Sequence[str], **_: object) -> Completed:
        return Completed(argv=tuple(argv), output="", errors=PLANT, returncode=1, duration_s=0.0)


def test_the_firmware_of_a_card_shows_nothing_as_it_came(
    call: Call, monkeypatch: pytest.MonkeyPatch
):
    at = "/sys/devices/pci0000:00/0000:03:00.0"
    section = Section("ports", "", f"eth0 driver=mlx5_core physfn= port=p0 device={at}\n", "", 0)
    facts = HostFacts(PLANT, Capture([section], complete=True))
    monkeypatch.setattr(firmware_run, "facts_at", lambda _: facts)
    monkeypatch.setattr(firmware_run, "runner_at", lambda *_: TellsPlant())
    _, out, err = call("firmware", "here", "--image", "/srv/new.bin")
    assert_harmless(out + err, "firmware --image")
    monkeypatch.setattr(firmware_run, "control_by", lambda *_: PosixControl("here", TellsPlant()))
    _, out, err = call("firmware", "here", "--set", "NUM_OF_VFS=8")
    assert_harmless(out + err, "firmware --set", planted=False)
    _, out, err = call("firmware", "here", "--port", "0000:99:00.0", "--set", "NUM_OF_VFS=8")
    assert_harmless(out + err, "firmware --port")


@pytest.mark.parametrize("options", [(), ("--json",), ("--diff",), ("--shell", "alpha")])
def test_a_plan_shows_nothing_as_it_came(
    options: tuple[str, ...], call: Call, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    made = proof().plan
    assert made is not None
    done = made.steps[0].model_copy(update={"no_op": f"as it is\nrm -rf /{PLANT}"})
    planted = plant(made.model_copy(update={"steps": (*made.steps, done)}))
    # To be found: hosts keep their names.
    monkeypatch.setattr(plan, "read_spec", lambda _: SPEC)
    monkeypatch.setattr(plan, "readers_of", lambda _: nullcontext(({}, {})))
    monkeypatch.setattr(plan, "plan_spec", lambda *_: planted)
    _, out, err = call("plan", tmp_path / "spec.yaml", *options)
    assert_harmless(out, f"plan {options}")
    assert_harmless(err, f"plan {options}", planted=False)
    assert "\nrm -rf" not in out
    if options == ("--json",):
        assert json.loads(out) == planted.model_dump(mode="json")


def run_of(folder: Path) -> Path:
    """A run folder whose journal is planted."""
    made = plant(proof().plan)
    entries = [
        Begun(at="2026-01-01T00:00:00Z", plan=made, spec=SPEC),
        Intent(number=0, before={"mtu": 1400}, undo=made.steps[0].undo),
        Result(number=0, verdict=Verified.VERIFIED, now={"mtu": 9080}, said=PLANT),
        Intent(number=1, before={"num_vfs": 0}, undo=made.steps[1].undo),
        Result(number=1, verdict=Verified.FAILED, now=None, said=PLANT),
        Ended(at="2026-01-01T00:00:00Z", outcome="left changed"),
    ]
    folder.mkdir(mode=0o700)
    journal = folder / JOURNAL
    journal.write_text("".join(f"{entry.model_dump_json()}\n" for entry in entries))
    journal.chmod(0o600)
    return folder


def test_a_run_shows_nothing_as_it_came(
    call: Call, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    folder = run_of(tmp_path / "lab.run")
    assert_harmless((folder / JOURNAL).read_bytes(), "journal")
    _, out, err = call("status", folder)
    assert_harmless(out, "status")
    assert_harmless(err, "status", planted=False)
    unread = Unreadable(PLANT, PLANT)
    monkeypatch.setattr(drift, "controls_of", lambda _: nullcontext({}))
    monkeypatch.setattr(drift, "refuse_missing_hosts", lambda *_: None)
    monkeypatch.setattr(drift, "read_states", lambda _, numbers, __: dict.fromkeys(numbers, unread))
    _, out, err = call("drift", folder)
    assert_harmless(out, "drift")
    assert_harmless(err, "drift", planted=False)


def write_proof(folder: Path) -> None:
    """A folder of a proof whose every text is planted."""
    whole = proof()
    writer = ProofFolder(folder, whole.opening)
    for stage in whole.stages:
        writer.line(plant(stage))
    for trial in whole.trials:
        writer.trial(plant(trial))
    for when, answers in ((When.BEFORE, whole.found), (When.APPLIED, whole.found_after)):
        writer.findings(when, [plant(answer) for answer in answers])
        writer.captures(when, {"alpha": harmful_capture()})
    assert whole.plan is not None
    writer.write(PLAN, plant(whole.plan))
    differs = Difference(host="alpha", subject=PLANT, what=PLANT, before=PLANT, now=PLANT)
    writer.write(UNDONE, Compared(compared=9, differences=(differs,)))
    writer.close()


def assert_reports(folder: Path) -> None:
    for name in ("report.html", "report.md", "results.csv"):
        assert_harmless((folder / name).read_bytes(), name)


def test_the_page_of_a_proof_shows_nothing_as_it_came(call: Call, tmp_path: Path):
    write_proof(tmp_path)
    code, out, err = call("report", tmp_path)
    assert code == 0, err
    assert_harmless(out + err, "report", planted=False)
    assert_reports(tmp_path)
    for path in (*tmp_path.glob("*.json"), *tmp_path.glob("*.jsonl")):
        assert_harmless(path.read_bytes(), path.name)


def test_the_page_of_a_comparison_shows_nothing_as_it_came(call: Call, tmp_path: Path):
    record = ComparisonRecord(
        spec_name=f"x{PLANT}",
        spec=SPEC,
        approaches=("legacy-vlan", "ovs-tc"),
        failed={"ovs-tc": Failed(what=PLANT, found=PLANT, next=PLANT)},
        paths_why_not={"legacy-vlan": PLANT},
    )
    write_record(tmp_path, record)
    write_proof(tmp_path / "legacy-vlan")
    code, _, err = call("report", tmp_path)
    assert code == 0, err
    assert_reports(tmp_path)
    assert_harmless((tmp_path / RECORD).read_bytes(), RECORD)


def test_the_page_of_a_measurement_shows_nothing_as_it_came(call: Call, tmp_path: Path):
    one, two = tmp_path / "one", tmp_path / "two"
    for folder in (one, two):
        folder.mkdir()
        records = [plant(record) for record in whole_run()]
        (folder / TRIALS).write_text("".join(f"{r.model_dump_json()}\n" for r in records))
        (folder / "findings.json").write_text(filled_with(PLANT).model_dump_json())
    code, _, err = call("report", one)
    assert code == 0, err
    assert_reports(one)
    assert_harmless((one / TRIALS).read_bytes(), TRIALS)
    code, _, err = call("report", one, "--against", two)
    assert code == 0, err
    for name in ("comparison.html", "comparison.md"):
        assert_harmless((one / name).read_bytes(), name)


def test_a_workload_shows_nothing_as_it_came(call: Call, tmp_path: Path):
    said = f"printf '%b' '12 Gb/s \\033[31m{WORD}\\0302\\0233\\0342\\0200\\0256\\n'"
    for options in ((), ("--json",)):
        code, out, err = call(
            "measure", "command", "--label", "a", "--figure", r"(\d+) Gb/s.*", "--unit", "Gb/s",
            "--higher-is-better", "-n", "1",
            "--out", tmp_path / f"w{len(options)}", *options, "--", "sh", "-c", said,
        )  # fmt: skip
        assert code == 0, err
        assert_harmless(out + err, f"measure command {options}", planted=False)
        for path in (tmp_path / f"w{len(options)}").rglob("*"):
            if path.is_file() and not path.name.startswith("."):
                assert_harmless(path.read_bytes(), path.name, planted=False)


def test_the_display_shows_nothing_as_it_came(capfd: pytest.CaptureFixture[str]):
    from wirespeed.display import Display

    with Display(1) as display:
        display.search_started(1, PLANT, SimpleNamespace(label="64", shares=[1]))  # type: ignore[arg-type]
    assert_harmless(capfd.readouterr().err, "display")


def test_every_command_is_fed_or_says_why_not():
    text = Path(__file__).read_text() + DRIVEN.read_text()
    for command in cli.COMMANDS:
        is_fed = f'call("{command}"' in text or f'drive("{command}"' in text
        assert is_fed or command in NO_HOST or command in AS_ERRORS, command


WRITES = {"write_exact", "write_whole", "write_bytes", "open"}
"""`write_text`, `write_result` and `Frozen` make it printable."""
EXACT = {
    ("apply/copy_folder.py", "write_whole"): "a journal: JSON of Frozens, and what stood on a host",
    ("apply/run_file.py", "write_whole"): "JSON of a Frozen",
    ("commands/capture.py", "write_whole"): "a capture: a program reads it",
    ("runs/compare_report.py", "write_whole"): "JSON of a Frozen",
    ("commands/doctor.py", "write_whole"): "a capture",
    ("runs/prove_folder.py", "write_whole"): "captures",
    ("runs/fleet_doctor.py", "write_whole"): "a capture",
    ("runs/fleet_folder.py", "write_whole"): "JSON of a Frozen",
    ("runs/fleet_record.py", "write_whole"): "JSON of a Frozen, and a host's spec, which we read",
    ("runs/store/parquet.py", "write_bytes"): "Parquet: a program reads it",
}


def test_every_file_that_people_read_is_written_by_the_function_that_makes_it_printable():
    found: dict[tuple[str, str], int] = {}
    for package in ("commands", "runs", "report", "apply", "doctor"):
        for path in sorted((SOURCES / package).rglob("*.py")):
            for node in ast.walk(ast.parse(path.read_text())):
                if isinstance(node, ast.Call):
                    function = node.func
                    name = getattr(function, "attr", getattr(function, "id", ""))
                    if name in WRITES:
                        found[(path.relative_to(SOURCES).as_posix(), name)] = node.lineno
                    is_path = isinstance(function, ast.Attribute) and name == "write_text"
                    assert not is_path, f"{path}:{node.lineno}: host.files.write_text"
    assert set(found) == set(EXACT), "what else is written, and not made printable?"


def test_the_plant_has_all_that_steers():
    assert set(STEERS) <= set(PLANT)
    assert all(not character.isprintable() for character in STEERS)
