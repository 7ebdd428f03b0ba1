"""`wirespeed doctor` as it is called: its options, exit codes, files, and what it leaves behind."""

import json
import os
import re
import signal
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest

from wirespeed import cli
from wirespeed.catalog import rules
from wirespeed.commands import doctor
from wirespeed.host.capture_request import Captured, Unreachable
from wirespeed.host.reach_destination import Destination
from wirespeed.model.capture import parse_capture
from wirespeed.model.error import HostError
from wirespeed.model.finding import Diagnosis, Unanswered
from wirespeed.report.text_lines import columns_of
from wirespeed.runs import examine as examine_module

CASES = Path(__file__).parents[1] / "rules/cases/pcie.width_below_capability"
NARROW = CASES / "present_x4_where_both_ends_can_do_x16/capture.txt"
WIDE = CASES / "absent_x16/capture.txt"
SLUG = "pcie.width_below_capability"
ANSI = "\x1b["

Run = Callable[..., tuple[int, str, str]]


@pytest.fixture(name="run")
def _run(monkeypatch: pytest.MonkeyPatch, capfdbinary: pytest.CaptureFixture[bytes]) -> Run:
    """Run the command line in this process: code, standard output, standard error."""

    def call(*arguments: str | Path) -> tuple[int, str, str]:
        capfdbinary.readouterr()
        monkeypatch.setattr(sys, "argv", ["wirespeed", "doctor", *map(str, arguments)])
        handler = signal.getsignal(signal.SIGTERM)
        try:
            with pytest.raises(SystemExit) as ended:
                cli.main()
        finally:
            signal.signal(signal.SIGTERM, handler)
        out, err = capfdbinary.readouterr()
        return int(str(ended.value.code)), out.decode(), err.decode()

    return call


@pytest.fixture(name="only_width", autouse=True)
def _only_width(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ask one rule: these captures hold nothing for the others."""
    one = tuple(rule for rule in rules() if rule.slug == SLUG)
    real = examine_module.diagnose
    monkeypatch.setattr(
        examine_module, "diagnose", lambda host, question: real(host, question, one)
    )


def test_a_finding_is_exit_code_1_and_none_is_0(run: Run):
    code, out, err = run(NARROW)
    assert (code, err) == (1, "")
    assert f"1 FAULT {SLUG} enp59s0" in out
    code, out, _ = run(WIDE)
    assert code == 0
    assert "nothing wrong was found" in out


def test_without_a_host_it_reads_this_one(run: Run, monkeypatch: pytest.MonkeyPatch):
    def collect(places: list[Destination], **_: object) -> Iterator[Captured]:
        yield from (Captured(place, NARROW.read_text(), 0.1, ("it was cut",)) for place in places)

    monkeypatch.setattr(examine_module, "collect", collect)
    code, out, _ = run()
    assert code == 1
    assert out.startswith("here: enp59s0 receives at most 47.0 of 187.8 Gb/s: PCIe link narrower")
    assert "! it was cut" in out


def test_no_colour_reaches_a_file_or_a_pipe(run: Run):
    assert ANSI not in run(NARROW)[1]


@pytest.mark.parametrize(("no_colour", "coloured"), [(None, True), ("1", False), ("", True)])
def test_colours_are_for_a_terminal_that_wants_them(
    run: Run, monkeypatch: pytest.MonkeyPatch, no_colour: str | None, coloured: bool
):
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    monkeypatch.delenv("NO_COLOR", raising=False)
    if no_colour is not None:
        monkeypatch.setenv("NO_COLOR", no_colour)
    out = run(NARROW)[1]
    assert (ANSI in out) is coloured
    assert SLUG in re.sub(r"\x1b\[[\d;]*m", "", out)


def test_many_hosts_have_one_line_each_and_one_bad_file_does_not_hide_the_others(
    run: Run, tmp_path: Path
):
    empty = tmp_path / "empty.txt"
    empty.write_text("")
    code, out, _ = run(WIDE, NARROW, empty)
    assert code == 2
    lines = out.splitlines()
    assert "FAULT" in lines[0]
    assert "NO ANSWER capture.not_one: it is empty" in lines[1]
    assert "no finding; enp59s0 carries at most" in lines[2]  # a capture of PCI Express alone
    assert lines[3:] == [
        "3 hosts: 1 with findings, 1 without an answer", "--verbose shows each of them",
    ]  # fmt: skip
    assert "most that each element carries" in run(WIDE, NARROW, empty, "--verbose")[1]


@pytest.mark.parametrize("others", [(), (WIDE,)])
def test_a_host_that_cannot_be_reached_is_said_so_with_the_reason(
    run: Run, monkeypatch: pytest.MonkeyPatch, others: tuple[Path, ...]
):
    real = examine_module.collect

    def collect(places: list[Destination], **how: object) -> Iterator[Captured | Unreachable]:
        assert (how["sudo"], how["interval_s"]) == (True, 3)
        yield from real([place for place in places if place.text != "alpha"])
        refused = HostError("ssh.refused", where="alpha", found="refused\x1b[2J", next="start sshd")
        yield from (Unreachable(place, refused) for place in places if place.text == "alpha")

    monkeypatch.setattr(examine_module, "collect", collect)
    code, out, _ = run("alpha", *others, "--sudo", "--seconds", "3")
    assert code == 1
    assert "alpha: no answer, ssh.refused" in out
    assert r"found   refused\x1b[2J" in out
    assert "next    start sshd" in out
    line = run("alpha", *others, "--sudo", "--seconds", "3", "--json")[1].splitlines()[0]
    assert Unanswered.model_validate_json(line).what == "ssh.refused"


def test_a_name_that_no_host_can_have_is_bad_input(run: Run):
    assert run("--", "-oProxyCommand=x")[0] == 2
    code, out, _ = run(WIDE, "--", "-oProxyCommand=x")
    assert code == 2
    assert "enp59s0 carries at most" in out


def test_progress_is_for_a_terminal_that_waits_for_others_and_leaves_no_trace(
    run: Run, monkeypatch: pytest.MonkeyPatch
):
    def collect(places: list[Destination], **how: Any) -> Iterator[Captured]:
        for place in places:
            how["progress"](place, "reading")
            yield Captured(place, WIDE.read_text(), 0.1)

    monkeypatch.setattr(examine_module, "collect", collect)
    assert run("alpha", "beta")[2] == ""
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    assert run()[2] == ""
    assert run("alpha")[2] == "\r\x1b[K0 of 1 read; reading alpha\r\x1b[K"
    assert run("alpha", "beta")[2] == (
        "\r\x1b[K0 of 2 read; reading alpha\r\x1b[K1 of 2 read; reading beta\r\x1b[K"
    )


def test_ctrl_c_speaks_of_no_measurement(run: Run, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(examine_module, "collect", Mock(side_effect=KeyboardInterrupt))
    assert run("alpha") == (130, "", "\nstopped\n")


@pytest.mark.parametrize(
    "netdev", ["\x1b[31mred", "\u202eevil\u200b", "<img/src=x>", "이더넷" * 30, "x" * 10**6]
)
def test_whatever_a_host_calls_its_ports_the_answer_is_harmless(
    run: Run, tmp_path: Path, netdev: str
):
    capture, page = tmp_path / "c.txt", tmp_path / "c.html"
    capture.write_text(NARROW.read_text().replace("enp59s0", netdev))
    for option in ("", "--verbose", "--json"):
        code, out, _ = run(capture, "--html", page, *filter(None, [option]))
        assert code == 1
        assert all(map(str.isprintable, out.splitlines()))
        assert all(map(str.isprintable, page.read_text().splitlines()))
        assert "<img" not in page.read_text()
        if option != "--json":
            assert max(map(columns_of, out.splitlines())) <= 80


def test_two_hosts_are_few_enough_to_be_shown_in_full(run: Run):
    assert run(WIDE, NARROW)[1].count("most that each element carries") == 2


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (("--port", "eth7"), "no port eth7; it has enp59s0 (0000:3b:00.0)"),
        (("--rtt", "fast"), "'fast' is not a time"),
        (("--rtt", "0ms"), "'0ms' is not a time"),
        (("--measured", "nan"), "'nan' is not a figure in Gb/s"),
        (("--measured", "-1"), "'-1' is not a figure in Gb/s"),
        (("--peer", "somewhere"), "'somewhere' is not an IP address"),
        (("--frame-bytes", "63"), "63 is not in the range"),
        (("--for", "fun"), "'fun' is not one of"),
        (("--explain", "pcie.width_below_capabilty"), f"no rule of that name; near it: {SLUG}"),
        (("--explain", "zzz"), "no rule of that name\n"),
    ],
)
def test_bad_input_is_refused_with_what_would_be_right(
    run: Run, arguments: tuple[str, ...], expected: str
):
    code, out, err = run(NARROW, *arguments)
    assert (code, out) == (2, "")
    assert expected in err


@pytest.mark.parametrize("wish", ["*LsoV2IPv4", "=1", ""])
def test_a_wish_without_its_value_is_refused(run: Run, wish: str):
    code, _, err = run(NARROW, "--wanted", wish)
    assert code == 2
    assert "is not a KEYWORD=VALUE" in err


def test_a_file_that_is_no_capture_is_refused(run: Run, tmp_path: Path):
    other = tmp_path / "other.txt"
    other.write_text("Linux version 6.1\n")
    code, _, err = run(other)
    assert code == 2
    assert "ERROR capture.not_one" in err


def test_a_crash_s_analysis_is_of_one_host_and_stays_in_the_capture(run: Run, tmp_path: Path):
    analysis = tmp_path / "analysis.txt"
    analysis.write_bytes("IMAGE_NAME:  rtf64x64.sys\r\n".encode("utf-16"))
    kept = tmp_path / "kept"
    assert run(NARROW, "--crash-analysis", analysis, "--out", kept)[0] == 1
    section = parse_capture((kept / "capture.txt").read_text(), "kept").section("crash-analysis")
    assert section is not None
    assert section.output == "IMAGE_NAME:  rtf64x64.sys\n"
    code, _, err = run(NARROW, NARROW, "--crash-analysis", analysis)
    assert code == 2
    assert "2 hosts are given; a crash analysis belongs to one" in err


def test_the_question_is_what_the_options_say(run: Run):
    line = run(
        NARROW, "--json", "--for", "tcp", "--port", "0000:3b:00.0", "--frame-bytes", "9000",
        "--rtt", "0.2ms", "--peer", "192.0.2.7", "--measured", "53.6", "--workload", "iperf3",
        "--bidirectional",
    )[1]  # fmt: skip
    question = {
        "purpose": "tcp", "frame_bytes": 9000, "rtt_s": pytest.approx(0.0002),
        "peer": "192.0.2.7", "ports": ["0000:3b:00.0"], "measured_bps": pytest.approx(53.6e9),
        "workload": "iperf3", "bidirectional": True,
    }  # fmt: skip
    asked = json.loads(line)["question"]
    assert {key: asked[key] for key in question} == question


def test_json_is_one_line_for_each_host_in_the_order_they_were_asked(run: Run, tmp_path: Path):
    missing = tmp_path / "missing.txt"
    code, out, _ = run(WIDE, missing, NARROW, "--json")
    lines = out.splitlines()
    assert code == 2
    assert Diagnosis.model_validate_json(lines[0]).findings == ()
    assert Unanswered.model_validate_json(lines[1]).what == "file.unreadable"
    assert [f.rule for f in Diagnosis.model_validate_json(lines[2]).findings] == [SLUG]


def test_the_page_says_the_same(run: Run, tmp_path: Path):
    page = tmp_path / "answer.html"
    code, out, _ = run(NARROW, WIDE, "--html", page)
    assert code == 1
    assert out
    html = page.read_text()
    assert SLUG in html
    assert "enp59s0 carries at most" in html


@pytest.mark.timeout(30)
def test_hostile_file_a_page_goes_to_no_link_and_waits_for_no_fifo(run: Run, tmp_path: Path):
    precious, link, pipe = (tmp_path / name for name in ("passwd", "link.html", "pipe.html"))
    precious.write_text("root:x:0:0\n")
    link.symlink_to(precious)
    os.mkfifo(pipe)
    assert run(NARROW, "--html", link)[0] == 1
    assert SLUG in link.read_text() and precious.read_text() == "root:x:0:0\n"
    code, _, errors = run(NARROW, "--html", pipe)
    assert code == 2 and "file.untrusted" in errors and "FIFO" in errors


def test_a_folder_keeps_what_the_answer_rests_on(run: Run, tmp_path: Path):
    run(NARROW, "--out", tmp_path / "one")
    assert {p.name for p in (tmp_path / "one").iterdir()} == {
        "capture.txt", "findings.json", "report.html",
    }  # fmt: skip
    kept = (tmp_path / "one/capture.txt").read_text()
    assert parse_capture(kept, "kept").complete
    assert run(tmp_path / "one/capture.txt")[0] == 1
    answer = Diagnosis.model_validate_json((tmp_path / "one/findings.json").read_text())
    assert [f.rule for f in answer.findings] == [SLUG]


def test_of_many_hosts_each_has_a_folder_whose_name_is_no_path(run: Run, tmp_path: Path):
    run(NARROW, WIDE, "--out", tmp_path / "two")
    names = sorted(path.name for path in (tmp_path / "two").iterdir())
    assert [name[:4] for name in names] == ["001-", "002-"]
    assert all(re.fullmatch(r"[A-Za-z0-9._-]+", name) for name in names)


def test_a_rule_explains_itself(run: Run):
    code, out, _ = run("--explain", SLUG)
    assert code == 0
    assert all(len(line) <= 80 for line in out.splitlines() if "http" not in line)
    for words in (
        SLUG,
        "why",
        "Each missing lane",
        "about",
        "each port",
        "any purpose",
        "https://",
    ):
        assert words in out


def test_the_formula_of_a_price_stands_under_explain(run: Run):
    _, out, _ = run("--explain", SLUG)
    (rule,) = [rule for rule in rules() if rule.slug == SLUG]
    assert rule.price
    assert f"  price   {rule.price}" in re.sub(r"\n {10}", " ", out)


def test_every_rule_is_listed_within_80_columns(run: Run):
    code, out, _ = run("--rules")
    assert code == 0
    assert all(rule.slug in out for rule in rules())
    assert max(map(len, out.splitlines())) <= 80


def test_letters_that_a_terminal_does_not_have_do_not_end_the_answer(
    run: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
):
    korean = tmp_path / "이더넷.txt"
    korean.write_text(NARROW.read_text())
    monkeypatch.setattr(sys.stdout, "reconfigure", None, raising=False)

    class Narrow:
        encoding = "ascii"

        def __getattr__(self, name: str) -> object:
            return getattr(sys.__stdout__, name)

    monkeypatch.setattr(doctor.sys, "stdout", Narrow())
    code, out, _ = run(korean)
    assert code == 1
    assert out.isascii()
    assert "####" in out
