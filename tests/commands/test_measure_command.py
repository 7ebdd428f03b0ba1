"""`wirespeed measure command`, called as a user does, with commands that really run."""

import json
import sys
from pathlib import Path

import click
import pytest
from click.testing import CliRunner, Result

from wirespeed.commands.measure import measure
from wirespeed.host.clock import Deadline, sleep_s
from wirespeed.model.error import InputError, MeasurementError, WirespeedError

LINES = "workload.jsonl"
IPERF3 = r"([0-9.]+) Gbits/sec +receiver"


def ran(*arguments: str | Path) -> Result:
    result = CliRunner().invoke(
        measure,
        ["command", *map(str, arguments)],
        catch_exceptions=False,
        standalone_mode=False,
    )
    assert not isinstance(result.exception, click.ClickException), result.exception
    return result


def python(out: Path, text: str, *options: str) -> Result:
    figure = () if "--figure" in options else ("--figure", r"^took (\S+) s$")
    return ran("--out", out, *figure, "--unit", "s", "--lower-is-better", *options,
               "--", sys.executable, "-c", text)  # fmt: skip


def refused(kind: type[WirespeedError], *arguments: str | Path) -> WirespeedError:
    with pytest.raises(kind) as caught:
        ran(*arguments)
    return caught.value


def records(out: Path) -> list[dict]:
    return [json.loads(line) for line in (out / LINES).read_text().splitlines()]


def trials(out: Path) -> list[dict]:
    return [record for record in records(out) if record["kind"] == "trial"]


COUNTING = (
    "import pathlib; p = pathlib.Path({path!r}); n = len(p.read_text()) if p.exists() else 0\n"
    "p.write_text('x' * (n + 1)); print('took', {figures}[n], 's')"
)
"""Prints one figure after another, of a list, by a file that grows."""


def counting(tmp_path: Path, *figures: float) -> str:
    path = tmp_path / f"counted-{len(list(tmp_path.iterdir()))}"
    return COUNTING.format(path=str(path), figures=list(figures))


def test_five_trials_are_five_lines_with_what_the_host_did(tmp_path: Path):
    result = python(tmp_path / "run", counting(tmp_path, 3, 1, 5, 2, 4))
    assert result.return_value == 0
    found = trials(tmp_path / "run")
    assert [one["figure"] for one in found] == [3, 1, 5, 2, 4]
    assert [one["number"] for one in found] == [1, 2, 3, 4, 5]
    assert all(one["hosts"][0]["host"] == "here" and one["hosts"][0]["cores"] for one in found)
    # Median, min, max, n.
    assert "before                     3           1           5    5" in result.output
    assert max(map(len, result.output.split("report: ")[0].splitlines())) <= 80


def test_after_a_change_the_pair_is_told_and_the_exit_code_says_whether_it_helped(tmp_path: Path):
    out = tmp_path / "run"
    python(out, counting(tmp_path, 10, 11, 12, 13), "-n", "4")
    after = python(out, counting(tmp_path, 5, 6, 7, 8), "-n", "4", "--label", "after")
    said = " ".join(after.output.split())
    assert after.return_value == 0
    # Medians 11.5 and 6.5.
    assert "difference -5.000 s (-43.5 %) between the medians; lower is better" in said
    assert "every trial of after is below every trial of before" in said
    assert "2 of 70 orders" in said
    assert "answer better" in said
    assert f"report: {out / 'workload.html'}" in after.output
    assert "every trial of after is below" in (out / "workload.html").read_text()
    page = (out / "workload.md").read_text()
    assert "| before | 11.5 | 10 | 13 | 4 | 0 |" in page
    assert "| after | 6.5 | 5 | 8 | 4 | 0 |" in page


def test_what_overlaps_is_not_said_to_have_helped(tmp_path: Path):
    python(tmp_path / "old", counting(tmp_path, 10, 11, 12, 13), "-n", "4")
    new = python(tmp_path / "new", counting(tmp_path, 10.5, 9, 9, 9), "-n", "4",
                 "--label", "after", "--compare", str(tmp_path / "old"))  # fmt: skip
    assert new.return_value == 1
    assert "no difference is shown" in " ".join(new.output.split())


def test_the_folder_is_printed_again_without_running_anything(tmp_path: Path):
    out = tmp_path / "run"
    first = python(out, counting(tmp_path, 1, 2), "-n", "2")
    lines = (out / LINES).read_text()
    again = ran("--out", out)
    assert again.return_value == 0
    assert again.output.strip() in first.output
    assert (out / LINES).read_text() == lines


def test_json_is_a_line_for_every_record(tmp_path: Path):
    out = tmp_path / "run"
    python(out, counting(tmp_path, 1, 2, 3, 4), "-n", "4", "--json")
    result = python(out, counting(tmp_path, 5, 6, 7, 8), "-n", "4", "--label", "b", "--json")
    *_, last = [json.loads(line) for line in result.output.splitlines()]
    assert (last["kind"], last["verdict"], last["difference"]) == ("pair", "worse", 4)
    assert result.return_value == 1


def test_a_command_that_fails_is_a_trial_that_failed_and_the_others_go_on(tmp_path: Path):
    text = counting(tmp_path, 1, -1, 3).replace(
        "print(", "import sys; n == 1 and sys.exit('no room on the device'); print("
    )
    result = python(tmp_path / "run", text, "-n", "3")
    assert result.return_value == 1
    found = trials(tmp_path / "run")
    assert [one["figure"] for one in found] == [1, None, 3]
    assert (found[1]["failed"], found[1]["said"]) == ("exit code 1", ["no room on the device"])
    assert "  | no room on the device" in result.output


def test_no_figure_is_an_error_that_shows_what_was_printed(tmp_path: Path):
    with pytest.raises(MeasurementError) as caught:
        python(tmp_path / "run", "print('12.1 MB/s copied')")
    assert caught.value.what == "figure.not_found"
    assert "12.1 MB/s copied" in caught.value.found
    # The other trials would print the same.
    assert len(trials(tmp_path / "run")) == 1


def test_a_trial_that_takes_too_long_is_ended_with_its_children(tmp_path: Path):
    child = tmp_path / "child"
    text = (
        "import subprocess, sys, time, pathlib\n"
        "p = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(60)'])\n"
        f"pathlib.Path({str(child)!r}).write_text(str(p.pid)); time.sleep(60)"
    )
    result = python(tmp_path / "run", text, "-n", "1", "--limit-seconds", "2")
    assert result.return_value == 1
    (trial,) = trials(tmp_path / "run")
    assert trial["failed"] == "still running after 2 s; it was killed"
    stat = Path(f"/proc/{child.read_text()}/stat")
    deadline = Deadline(5)
    while stat.exists() and stat.read_text().rpartition(")")[2].split()[0] != "Z":
        assert not deadline.expired, "its child still runs"
        sleep_s(0.05)


def test_no_shell_reads_the_command(tmp_path: Path):
    word = "$(touch x) `id` ; a'b\"c"
    result = ran("--out", tmp_path / "run", "-n", "1", "--figure", "^([0-9]+)$", "--unit", "c",
                 "--higher-is-better", "--", sys.executable, "-c",
                 "import sys; print(len(sys.argv[1])); print(sys.argv[1], file=sys.stderr)",
                 word)  # fmt: skip
    assert result.return_value == 0
    assert trials(tmp_path / "run")[0]["figure"] == len(word)


def test_a_label_is_not_mixed_with_itself_but_resumed(tmp_path: Path):
    out = tmp_path / "run"
    text = counting(tmp_path, 1, 2, 3)
    python(out, text, "-n", "2")
    with pytest.raises(InputError) as caught:
        python(out, text, "-n", "2")
    assert caught.value.what == "run.exists"
    python(out, text, "-n", "3", "--resume")
    assert [one["number"] for one in trials(out)] == [1, 2, 3]


def test_a_label_goes_on_with_the_command_that_it_began_with(tmp_path: Path):
    python(tmp_path / "run", counting(tmp_path, 1), "-n", "1")
    with pytest.raises(InputError) as caught:
        python(tmp_path / "run", "print('took 9 s')", "-n", "2", "--resume")
    assert caught.value.what == "run.differs"


def test_seconds_are_not_compared_with_tokens(tmp_path: Path):
    python(tmp_path / "run", counting(tmp_path, 1), "-n", "1")
    error = refused(InputError, "--out", tmp_path / "run", "--label", "after", "--figure", "(1)",
                    "--unit", "tok/s", "--higher-is-better", "--", "echo", "1")  # fmt: skip
    assert (error.what, error.where) == ("run.differs", "label before")
    ran("--out", tmp_path / "other", "-n", "1", "--figure", "(1)", "--unit", "tok/s",
        "--higher-is-better", "--", "echo", "1")  # fmt: skip
    error = refused(InputError, "--out", tmp_path / "other", "--compare", tmp_path / "run")
    assert error.what == "run.differs"


def test_a_command_that_is_not_there_is_no_trial(tmp_path: Path):
    out = tmp_path / "run"
    error = refused(InputError, "--out", out, "--figure", "(x)", "--unit", "s",
                    "--lower-is-better", "--", "no-such-program-here")  # fmt: skip
    assert error.what == "command.missing"
    assert trials(out) == []
    assert refused(InputError, "--out", out).what == "run.missing"


@pytest.mark.parametrize(
    ("options", "where"),
    [
        (["--unit", "s", "--lower-is-better"], "--figure"),
        (["--figure", "(x)", "--lower-is-better"], "--unit"),
        (["--figure", "(x)", "--unit", "s"], "--higher-is-better or --lower-is-better"),
        (["--figure", "x", "--unit", "s", "--lower-is-better"], "--figure"),
        (["--figure", "(x)", "--unit", "s", "--lower-is-better", "--label", "../x"], "--label"),
        (["--figure", "(x)", "--unit", "s", "--lower-is-better", "--on", "./capture"], "--on"),
    ],
)
def test_what_cannot_be_measured_is_refused_before_anything_runs(
    tmp_path: Path, options: list[str], where: str
):
    error = refused(InputError, "--out", tmp_path / "run", *options,
                    "--", "touch", str(tmp_path / "ran"))  # fmt: skip
    assert error.where == where
    assert not (tmp_path / "ran").exists()


# The summary of iperf3's text mode, with figures of our own: iperf3 is not where tests run.
DESCRIBED_IPERF3 = """\
[ ID] Interval           Transfer     Bitrate         Retr
[  5]   0.00-10.00  sec  28.1 GBytes  24.1 Gbits/sec    3             sender
[  5]   0.00-10.00  sec  28.0 GBytes  24.0 Gbits/sec                  receiver
"""


def test_the_figure_of_iperf3_is_what_the_receiver_had(tmp_path: Path):
    python(tmp_path / "run", f"print({DESCRIBED_IPERF3!r})", "-n", "1", "--figure", IPERF3)
    assert trials(tmp_path / "run")[0]["figure"] == 24.0


@pytest.mark.timeout(30)
def test_a_pattern_that_has_no_end_in_a_hostile_file_is_stopped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("wirespeed.measure.workload.run.FIND_S", 1.0, raising=False)
    error = refused(
        MeasurementError, "--out", tmp_path, "--figure", "(a+)+$", "--unit", "s",
        "--lower-is-better", "--", sys.executable, "-c", "print('a' * 40 + 'b')",
    )  # fmt: skip
    assert (error.what, error.where) == ("figure.too_slow", "--figure")


def test_a_hostile_file_of_matches_leaves_none_of_them_in_memory(tmp_path: Path):
    python(tmp_path, "print('1\\n' * 2_000_000)", "-n", "1", "--figure", r"^(\d)$")
    (trial,) = trials(tmp_path)
    assert trial["figure"] == 1
