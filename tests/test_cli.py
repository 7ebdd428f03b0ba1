"""The command line: what it proves, what it refuses and how it says so, and what it leaves behind.

Most tests run it over a tester that is described (tests/measure/fake_tester.py); those that need
DPDK are marked.
"""

import contextlib
import csv
import io
import os
import shutil
import signal
import stat
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from unittest.mock import Mock

import pytest

from wirespeed import cli
from wirespeed.host.clock import Deadline, sleep_s
from wirespeed.host.jsonl import JsonlWriter
from wirespeed.measure.bench.run_folder import TRIALS, read_records
from wirespeed.model.error import InputError
from wirespeed.model.trial import End, Outcome, Setup, Trial, record_adapter
from wirespeed.runs import rfc2544, run_pages

FAKE = Path(__file__).parent / "measure" / "fake_tester.py"
QUICK = ("--trial-seconds", "0.05", "--confirm-seconds", "0.1", "--flows", "8")
OVER_FAKE = ("measure", "rfc2544", "--port", "net_fake0", "--frame-bytes", "64,1518", *QUICK)
REPORTS = {"report.html", "report.md", "results.csv"}
RUN = {TRIALS, run_pages.FINDINGS, *REPORTS}
GONE_S = 15.0


class Result:
    """How a run of the command line ended."""

    def __init__(self, code: int, out: str, err: str) -> None:
        self.code, self.out, self.err = code, out, err

    @property
    def error(self) -> str:
        """From the word ERROR on: what stands before it is progress."""
        assert "ERROR " in self.err, self.err
        return self.err[self.err.index("ERROR ") :]


Run = Callable[..., Result]


@pytest.fixture
def folder(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A short temporary folder, which all children know by their environment."""
    with tempfile.TemporaryDirectory(prefix="ws-cli-", dir="/tmp") as path:
        monkeypatch.setenv("TMPDIR", path)
        monkeypatch.setattr(tempfile, "tempdir", None)
        yield Path(path)


def children(folder: Path) -> list[str]:
    """Command lines of all processes that have `folder` in their environment."""
    found, mark = [], f"TMPDIR={folder}".encode()
    for entry in Path("/proc").iterdir():
        with contextlib.suppress(OSError):
            if entry.name.isdigit() and mark in (entry / "environ").read_bytes().split(b"\0"):
                found.append((entry / "cmdline").read_bytes().decode(errors="replace"))
    return found


def assert_nothing_left(folder: Path) -> None:
    deadline = Deadline(GONE_S)
    while children(folder):
        assert not deadline.expired, children(folder)
        sleep_s(0.01)
    assert list(folder.glob("*wirespeed-*")) == []


@pytest.fixture
def run(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> Iterator[Run]:
    """Run the command line in this process; afterwards no child and no private folder is left."""
    monkeypatch.setattr(rfc2544, "examine", Mock(side_effect=InputError("not.asked")))

    def call(*arguments: str | Path) -> Result:
        capfd.readouterr()
        monkeypatch.setattr(sys, "argv", ["wirespeed", *map(str, arguments)])
        handler = signal.getsignal(signal.SIGTERM)
        try:
            with pytest.raises(SystemExit) as ended:
                cli.main()
        finally:
            signal.signal(signal.SIGTERM, handler)
        out, err = capfd.readouterr()
        code = ended.value.code
        return Result(code if isinstance(code, int) else 0, out, err)

    yield call
    assert_nothing_left(folder)


@pytest.fixture
def fake(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """Put the described tester in the real one's place; say how it is to fail."""
    program = folder / "tester"
    program.write_text(f'#!/bin/sh\nexec {sys.executable} {FAKE} "$@"\n')
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("WIRESPEED_TESTER", str(program))

    def behave(how: str) -> None:
        monkeypatch.setenv("FAKE_TESTER", how)

    behave("")
    return behave


def trials(out: Path) -> list[Trial]:
    return [record for record in read_records(out) if isinstance(record, Trial)]


def outcomes(out: Path) -> list[dict[str, object]]:
    records = [record for record in read_records(out) if isinstance(record, Outcome)]
    return [record.model_dump(exclude={"seconds"}) for record in records]


def names(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir() if not path.name.startswith(".")}


def last(out: Path) -> End:
    record = read_records(out)[-1]
    assert isinstance(record, End)
    return record


def assert_is_an_error(result: Result, what: str, where: str = "", *, code: int) -> None:
    """What, where, found and next; nothing beyond 80 columns but what cannot be broken."""
    assert result.code == code, result.err
    lines = result.error.splitlines()
    assert lines[0].startswith(f"ERROR {what} {where}".rstrip())
    labels = [line[2:9].strip() for line in lines[1:] if line[2:9].strip()]
    assert labels in (["found", "next"], ["found", "so", "next"]), result.error
    assert all(len(line) <= 80 or " " not in line[10:] for line in lines[1:]), result.error
    assert "Traceback" not in result.err


@pytest.mark.usefixtures("fake")
class TestARun:
    def test_ends_in_proven_lines_and_reports(self, run: Run, folder: Path):
        result = run(*OVER_FAKE, "--out", folder / "run")
        assert result.code == 0
        assert result.out == f"report: {folder}/run/report.html\n"
        lines = result.err.splitlines()
        assert lines[0] == "[1/2] external 64 B"
        proven = [line for line in lines if "Mpps, 0 lost in 0.1 s; limit: cannot tell" in line]
        assert len(proven) == 2
        assert names(folder / "run") == RUN
        rows = list(csv.DictReader(io.StringIO((folder / "run/results.csv").read_text())))
        assert [row["frame_bytes"] for row in rows] == ["64", "1518"]
        assert {row["dut"] for row in rows} == {"external"}
        for row in rows:
            assert 0.995 <= float(row["throughput_mpps"]) <= 1.0
            assert (row["confirmed_seconds"], row["lost"]) == ("0.1", "0")
            assert row["limited_by"] == "cannot tell"
        assert last(folder / "run").completed

    def test_prints_plain_lines_of_80_columns_where_there_is_no_terminal(
        self, run: Run, folder: Path
    ):
        result = run(*OVER_FAKE, "--out", folder / "run")
        assert "\x1b" not in result.err
        assert max(len(line) for line in result.err.splitlines()) <= 80

    def test_with_json_prints_each_record_on_a_line_and_nothing_else(self, run: Run, folder: Path):
        result = run(*OVER_FAKE, "--json", "--out", folder / "run")
        assert result.code == 0
        assert result.out == (folder / "run" / TRIALS).read_text()
        kinds = [record_adapter.validate_json(line).kind for line in result.out.splitlines()]
        assert kinds[:3] == ["setup", "started", "trial"]
        assert kinds[-1] == "end"

    def test_of_a_single_core_ends_in_a_table(self, run: Run, folder: Path):
        options = ("--port", "net_fake0", "--frame-bytes", "64", *QUICK)
        result = run("measure", "single-core", *options, "--out", folder / "run")
        assert result.code == 0
        head, row, of_line, average, _ = result.out.splitlines()
        assert head.split() == ["DUT", "frames", "Mpps", "Gb/s", "L2", "GHz", "cycles/pkt"]
        # 2 GHz over 1 Mpps; nobody knows what frequency the core ran at
        assert row.split()[0] == "external"
        assert row.split()[-3:] == ["-", "2000", "TSC"]
        assert of_line.split() == ["at", "line", "rate", "frames", "offered", "average", "lost"]
        assert average.split()[:3] == ["external", "64", "B"]

    def test_below_the_line_rate_is_given_as_a_share_of_it(self, run: Run, folder: Path):
        # 64 B at 0.5 Gb/s: 744,048 pps, below the DUT's capacity; 1518 B: 40,638.
        assert run(*OVER_FAKE, "--link-gbps", "0.5", "--out", folder / "run").code == 0
        rows = list(csv.DictReader(io.StringIO((folder / "run/results.csv").read_text())))
        assert {row["limited_by"] for row in rows} == {"line rate"}
        assert {round(float(row["pct_line_rate"]), 1) for row in rows} == {100.0}

    def test_both_ways_at_once_has_a_stream_each_way(self, run: Run, folder: Path):
        two = ("--port", "net_fake0", "--port", "net_fake1", "--bidirectional")
        arguments = ("measure", "rfc2544", *two, "--frame-bytes", "64", *QUICK)
        assert run(*arguments, "--out", folder / "run").code == 0
        ways = [(s.tx_port, s.rx_port) for s in trials(folder / "run")[0].streams]
        assert ways == [(0, 1), (1, 0)]

    def test_can_have_a_mix_of_sizes(self, run: Run, folder: Path):
        arguments = ("measure", "rfc2544", "--port", "net_fake0", "--frame-bytes", "imix", *QUICK)
        assert run(*arguments, "--out", folder / "run").code == 0
        assert trials(folder / "run")[0].mix.label == "64x7+594x4+1518x1"

    @pytest.mark.parametrize("method", ["informed", "rfc2544", "mlrsearch"])
    def test_can_be_searched_by_each_method(self, run: Run, folder: Path, method: str):
        result = run(*OVER_FAKE, "--search", method, "--width", "0.02", "--out", folder / "run")
        assert result.code == 0
        assert [o["method"] for o in outcomes(folder / "run")] == [method, method]

    def test_that_is_not_proven_exits_1(self, run: Run, folder: Path, fake: Callable[[str], None]):
        fake("voids:2")
        result = run(*OVER_FAKE, "--out", folder / "run")
        assert result.code == 1
        assert "external          64 B not proven: no valid trial; tester" in result.err
        assert last(folder / "run").completed
        assert names(folder / "run") == RUN

    def test_whose_reader_leaves_says_nothing_of_it(self, folder: Path):
        reader, writer = os.pipe()
        os.close(reader)
        out = folder / "run"
        process = start(*OVER_FAKE, "--json", "--out", out, stdout=writer)
        os.close(writer)
        assert process.wait(30) == 1
        assert "BrokenPipe" not in said(process)
        assert last(out).completed is False
        assert_nothing_left(folder)


@pytest.mark.usefixtures("fake")
class TestBadOptions:
    @pytest.mark.parametrize(
        ("options", "where", "found"),
        [
            (["--frame-bytes", "63"], "--frame-bytes", "'63'"),
            (["--frame-bytes", "64,9601"], "--frame-bytes", "'9601'"),
            (["--frame-bytes", "64xx"], "--frame-bytes", "'64xx'"),
            (["--frame-bytes", "64x0"], "--frame-bytes", "'64x0'"),
            (["--flows", "0"], "--flows", "0:"),
            (["--flows", "16777217"], "--flows", "16777217:"),
            (["--max-load", "0"], "--max-load", "0.0:"),
            (["--max-load", "nan"], "--max-load", "nan:"),
            (["--width", "1"], "--width", "1.0:"),
            (["--trial-seconds", "0"], "--trial-seconds", "0.0:"),
            (["--confirm-seconds", "inf"], "--confirm-seconds", "inf:"),
            (["--confirm-seconds", "0.01"], "command line", "0.01 s is shorter"),
            (["--burst", "0"], "--burst", "0:"),
            (["--burst", "129"], "--burst", "129:"),
            (["--link-gbps", "0"], "--link-gbps", "0:"),
            (["--link-gbps", "inf"], "--link-gbps", "inf"),
            (["--link-gbps", "1", "--max-load", "1488096"], "command line", "1488095 pps"),
            (["--bidirectional"], "--bidirectional", "one --port"),
            (["--port", "net_a", "--port", "net_b"], "--port", "3 ports"),
            (["--peer-mac", "02:00:00:00:00"], "--peer-mac", "'02:00:00:00:00'"),
        ],
        ids=str,
    )
    def test_are_named_before_anything_starts(
        self, run: Run, folder: Path, options: list[str], where: str, found: str
    ):
        result = run(*OVER_FAKE, *options, "--out", folder / "run")
        assert_is_an_error(result, "options.invalid", where, code=2)
        assert found in " ".join(result.error.split())
        assert not (folder / "run").exists()

    def test_a_load_above_all_that_can_be_offered_is_bad_input(self, run: Run, folder: Path):
        result = run(*OVER_FAKE, "--max-load", "4000001", "--out", folder / "run")
        assert_is_an_error(result, "load.too_high", "external", code=2)
        assert "4000000 pps at most" in " ".join(result.error.split())

    def test_an_unknown_dut_is_named_with_those_that_are_known(self, run: Run, folder: Path):
        result = run("measure", "rfc2544", "--dut", "testpmd-warp", "--out", folder / "run")
        assert_is_an_error(result, "dut.unknown", "testpmd-warp", code=2)
        assert "l3fwd-lpm" in result.error
        assert not (folder / "run").exists()

    @pytest.mark.parametrize(
        "arguments",
        [
            ["measure", "rfc2544"],
            ["measure", "rfc2544", "--out", "x", "--wire", "string"],
            ["measure", "rfc2544", "--out", "x", "--flows", "many"],
            ["levitate"],
        ],
        ids=str,
    )
    def test_what_click_refuses_exits_2_as_well(self, run: Run, arguments: list[str]):
        result = run(*arguments)
        assert result.code == 2
        assert "Error: " in result.err
        assert not Path("x").exists()

    def test_a_file_in_the_place_of_the_folder_is_said(self, run: Run, folder: Path):
        (folder / "file").write_text("")
        result = run(*OVER_FAKE, "--out", folder / "file")
        assert result.code == 2
        assert result.error.startswith(f"ERROR file.unwritable {folder}/file\n  found ")


class TestATesterThatFails:
    @pytest.mark.parametrize("where", ["missing", "a folder"])
    def test_by_not_being_there_is_named(
        self, run: Run, folder: Path, monkeypatch: pytest.MonkeyPatch, where: str
    ):
        program = folder if where == "a folder" else folder / "nothing"
        monkeypatch.setenv("WIRESPEED_TESTER", str(program))
        result = run(*OVER_FAKE, "--out", folder / "run")
        assert_is_an_error(result, "tester.not_installed", str(program), code=2)
        assert "make setup" in result.error

    def test_by_not_being_a_program_is_named(
        self, run: Run, folder: Path, monkeypatch: pytest.MonkeyPatch
    ):
        (folder / "tester").write_text("not a program")
        monkeypatch.setenv("WIRESPEED_TESTER", str(folder / "tester"))
        result = run(*OVER_FAKE, "--out", folder / "run")
        assert_is_an_error(result, "command.missing", str(folder / "tester"), code=2)

    @pytest.mark.parametrize(
        ("how", "what", "found", "made"),
        [
            ("dies", "tester.died", "exit code 3; it last said: out of cheese", 0),
            ("rubbish", "tester.rubbish", "Detected 2 lcores", 0),
            ("old", "tester.rubbish", "", 0),
            ("dies:3", "tester.died", "exit code 3; it last said: out of cheese", 2),
            ("rubbish:3", "tester.rubbish", "Detected 2 lcores", 2),
            ("mixed-up:3", "tester.rubbish", "result to request 12 instead of an answer to 5", 2),
            ("refuses:3", "trial.no_memory", "none", 2),
        ],
    )
    def test_keeps_what_was_measured_and_says_how_to_go_on(
        self,
        run: Run,
        fake: Callable[[str], None],
        folder: Path,
        how: str,
        what: str,
        found: str,
        made: int,
    ):
        out = folder / "run"
        fake(how)
        result = run(*OVER_FAKE, "--out", out)
        assert_is_an_error(result, what, code=1)
        assert found in " ".join(result.error.split())
        assert len(trials(out)) == made
        assert names(out) == RUN
        assert last(out).reason.startswith(what)
        kept = (out / TRIALS).read_text()

        fake("")
        assert run(*OVER_FAKE, *(["--resume"] if made else []), "--out", out).code == 0
        assert run(*OVER_FAKE, "--out", folder / "whole").code == 0
        assert outcomes(out) == outcomes(folder / "whole")
        assert [t.number for t in trials(out)] == [t.number for t in trials(folder / "whole")]
        assert [record.kind for record in read_records(out)].count("setup") == 1
        if made:
            assert (out / TRIALS).read_text().startswith(kept)


@pytest.mark.usefixtures("fake")
class TestARunFolderThatIsThere:
    def test_is_refused_without_resume(self, run: Run, folder: Path):
        assert run(*OVER_FAKE, "--out", folder / "run").code == 0
        before = (folder / "run" / TRIALS).read_text()
        result = run(*OVER_FAKE, "--out", folder / "run")
        assert_is_an_error(result, "run.exists", str(folder / "run"), code=2)
        assert "--resume" in result.error
        assert (folder / "run" / TRIALS).read_text() == before

    @pytest.mark.parametrize(
        ("option", "found"),
        [
            (["--flows", "9"], "flows: 8 then, 9 now"),
            (["--expect", "routed"], "wire: net_fake0"),
            (["--max-load", "123456.5"], "123456.5 pps now"),
        ],
        ids=str,
    )
    def test_is_refused_with_other_options(
        self, run: Run, folder: Path, option: list[str], found: str
    ):
        assert run(*OVER_FAKE, "--out", folder / "run").code == 0
        before = (folder / "run" / TRIALS).read_text()
        result = run(*OVER_FAKE, *option, "--out", folder / "run", "--resume")
        assert_is_an_error(result, "run.differs", str(folder / "run"), code=2)
        assert found in " ".join(result.error.split())
        assert (folder / "run" / TRIALS).read_text() == before

    def test_and_is_complete_is_not_measured_again(
        self, run: Run, folder: Path, fake: Callable[[str], None]
    ):
        assert run(*OVER_FAKE, "--out", folder / "run").code == 0
        before = outcomes(folder / "run"), trials(folder / "run")
        fake("dies")
        assert run(*OVER_FAKE, "--out", folder / "run", "--resume").code == 0
        assert (outcomes(folder / "run"), trials(folder / "run")) == before

    def test_of_a_run_that_is_going_on_is_refused(self, run: Run, folder: Path):
        writer = JsonlWriter(folder / "run" / TRIALS)
        result = run(*OVER_FAKE, "--out", folder / "run", "--resume")
        writer.close()
        assert_is_an_error(result, "run.in_use", str(folder / "run" / TRIALS), code=2)

    def test_and_cannot_be_read_is_refused_by_the_line(self, run: Run, folder: Path):
        (folder / "run").mkdir()
        (folder / "run" / TRIALS).write_text('{"kind":"verdict"}\n')
        result = run(*OVER_FAKE, "--out", folder / "run", "--resume")
        assert_is_an_error(result, "run.not_readable", str(folder / "run" / TRIALS), code=2)

    def test_is_begun_anew_when_nothing_was_measured_in_it(
        self, run: Run, folder: Path, fake: Callable[[str], None]
    ):
        fake("dies")
        assert run(*OVER_FAKE, "--out", folder / "run").code == 1
        fake("")
        assert run(*OVER_FAKE, "--width", "0.01", "--out", folder / "run").code == 0
        setups = [r for r in read_records(folder / "run") if isinstance(r, Setup)]
        assert [setup.settings["width"] for setup in setups] == ["0.01 of the upper bound"]


def start(*arguments: str | Path, stdout: int = subprocess.DEVNULL) -> subprocess.Popen[str]:
    """Run the command line in a process of its own."""
    command = "from wirespeed.cli import main; main()"
    return subprocess.Popen(
        [sys.executable, "-c", command, *map(str, arguments)],
        stdout=stdout,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )


def said(process: subprocess.Popen[str]) -> str:
    """Its standard error, once it has ended."""
    assert process.stderr
    with process.stderr:
        return process.stderr.read()


def await_trials(out: Path, number: int) -> None:
    deadline = Deadline(30)
    while not (out / TRIALS).exists() or len(trials(out)) < number:
        assert not deadline.expired
        sleep_s(0.01)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_run_that_is_stopped_in_mid_trial_keeps_what_it_has_and_leaves_nothing(
    folder: Path, fake: Callable[[str], None], run: Run, number: signal.Signals
):
    out = folder / "run"
    fake("hangs:3")
    process = start(*OVER_FAKE, "--out", out)
    await_trials(out, 2)
    sleep_s(0.1)
    process.send_signal(number)
    assert process.wait(GONE_S) == 130
    assert said(process).endswith("stopped; the trials are kept, and --resume continues\n")
    assert_nothing_left(folder)
    assert len(trials(out)) == 2
    assert (last(out).completed, last(out).reason) == (False, "interrupted")
    assert names(out) == RUN
    fake("")
    assert run(*OVER_FAKE, "--out", out, "--resume").code == 0
    assert last(out).completed


@pytest.mark.usefixtures("fake")
class TestTheReport:
    @pytest.fixture
    def out(self, run: Run, folder: Path) -> Path:
        assert run(*OVER_FAKE, "--out", folder / "run").code == 0
        return folder / "run"

    def test_is_made_again_from_trials_and_findings(self, run: Run, folder: Path, out: Path):
        before = {name: (out / name).read_text() for name in REPORTS}
        shutil.copytree(out, folder / "copy", ignore=shutil.ignore_patterns(*REPORTS))
        result = run("report", folder / "copy")
        assert (result.code, result.out) == (0, f"report: {folder}/copy/report.html\n")
        assert {name: (folder / "copy" / name).read_text() for name in REPORTS} == before

    def test_goes_where_it_is_wanted(self, run: Run, folder: Path, out: Path):
        assert run("report", out, "--out", folder / "a" / "b").code == 0
        assert names(folder / "a" / "b") == REPORTS

    def test_lays_two_runs_side_by_side(self, run: Run, folder: Path, out: Path):
        assert run(*OVER_FAKE, "--width", "0.01", "--out", folder / "second").code == 0
        result = run("report", out, "--against", folder / "second", "--out", folder / "both")
        assert result.code == 0
        assert result.out == f"report: {folder}/both/comparison.html\n"
        assert names(folder / "both") == {"comparison.html", "comparison.md"}
        page = (folder / "both" / "comparison.md").read_text()
        assert "0.005 of the upper bound" in page
        assert "0.01 of the upper bound" in page

    @pytest.mark.parametrize("option", [[], ["--against"]])
    def test_of_a_folder_without_a_run_is_bad_input(
        self, run: Run, folder: Path, out: Path, option: Sequence[str]
    ):
        folders = [out, *option, folder / "none"] if option else [folder / "none"]
        result = run("report", *folders)
        assert_is_an_error(result, "run.missing", str(folder / "none"), code=2)

    def test_of_a_run_that_was_killed_is_made_of_what_there_is(
        self, run: Run, folder: Path, out: Path
    ):
        whole = (out / TRIALS).read_bytes()
        (folder / "cut").mkdir()
        # The setup alone must do; what is cut within a line is left out.
        for share in (0.1, 0.4, 0.7, 0.95):
            setup = whole.index(b"\n") + 1
            cut = setup + int((len(whole) - setup) * share)
            (folder / "cut" / TRIALS).write_bytes(whole[:cut])
            assert run("report", folder / "cut").code == 0
            assert (folder / "cut" / TRIALS).read_bytes() == whole[:cut]


def test_the_version_says_what_was_never_tried_on_hardware(run: Run):
    assert run("--version").out == f"wirespeed {cli.__version__}\n"
    verbose = run("--version", "--verbose").out
    assert "not proven on hardware" in verbose
    assert "PCI" in verbose


def test_without_a_command_it_says_what_there_is(run: Run):
    result = run()
    assert result.code == 0
    assert "measure" in result.out
    assert "report" in result.out


def test_an_error_keeps_to_80_columns_and_leaves_paths_whole():
    path = "/" + "long/" * 20 + "name"
    error = InputError("a.slug", where="here", found=f"see {path} {'word ' * 20}", next="one\ntwo")
    lines = cli.format_error(error).splitlines()
    assert lines[0] == "ERROR a.slug here"
    assert lines[-2:] == ["  next    one", "          two"]
    assert f"          {path}" in lines
    assert all(len(line) <= 80 for line in lines if path not in line)


@pytest.mark.dpdk
class TestWithDpdk:
    @pytest.mark.parametrize("device", ["net_nonexistent0", "0000:ff:1f.7", "no_such_device"])
    def test_a_device_that_does_not_exist_is_bad_input(self, run: Run, folder: Path, device: str):
        arguments = ("measure", "rfc2544", "--port", device, "--frame-bytes", "64", *QUICK)
        result = run(*arguments, "--out", folder / "run")
        assert result.code == 2
        assert "found " in result.error
        assert "next " in result.error

    def test_a_dut_that_is_not_installed_is_named_with_its_package(
        self, run: Run, folder: Path, monkeypatch: pytest.MonkeyPatch
    ):
        bin_folder = folder / "bin"
        bin_folder.mkdir()
        for program in ("setpriv", "stdbuf", "sh"):
            (bin_folder / program).symlink_to(f"/usr/bin/{program}")
        monkeypatch.setenv("PATH", str(bin_folder))
        result = run("measure", "rfc2544", *QUICK, "--out", folder / "run")
        assert_is_an_error(result, "dut.not_installed", "dpdk-testpmd", code=2)
        assert "apt-get install" in result.error

    def test_a_port_that_loops_back_is_measured_as_somebody_elses_dut(self, run: Run, folder: Path):
        arguments = ("measure", "rfc2544", "--port", "net_ring0", "--frame-bytes", "64", *QUICK)
        result = run(*arguments, "--max-load", "20000", "--out", folder / "run")
        (outcome,) = outcomes(folder / "run")
        if result.code == 1:
            # The machine may be too busy for any trial; that is then what must be said.
            assert outcome["verdict"] == "no valid trial"
            return
        assert result.code == 0
        # Less than was asked by the time for which the machine stood still, 5 % at most.
        assert outcome["throughput_pps"] == pytest.approx(19_500, abs=600)
        assert "external          64 B   0.0" in result.err
        assert " Mpps, 0 lost in 0.1 s; limit: " in result.err
        assert max(len(line) for line in result.err.splitlines()) <= 80

    @pytest.mark.parametrize("wire", ["vhost", "memif", "memif-direct"])
    def test_a_run_over_any_wire_fits_80_columns(self, run: Run, folder: Path, wire: str):
        sizes = ("--frame-bytes", "64,9600,imix", "--max-load", "20000")
        result = run("measure", "rfc2544", "--wire", wire, *sizes, *QUICK, "--out", folder / "run")
        assert result.code in (0, 1)
        assert len(outcomes(folder / "run")) == 3
        assert max(len(line) for line in result.err.splitlines()) <= 80
        assert last(folder / "run").completed
