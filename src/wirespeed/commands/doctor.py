"""`wirespeed doctor`: what holds a card below line rate, and what each fault costs."""

import difflib
import os
import re
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from wirespeed.catalog import rules
from wirespeed.commands.described import Described
from wirespeed.commands.quantities import Address, Gigabits, Seconds
from wirespeed.commands.shared_options import (
    frame_bytes_option,
    purpose_option,
    seconds_option,
    size_asked,
    timeout_option,
)
from wirespeed.host.files import make_folder, write_result, write_whole
from wirespeed.host.recorded import read_recorded
from wirespeed.model.error import InputError
from wirespeed.model.finding import Diagnosis, Unanswered
from wirespeed.model.question import Question
from wirespeed.model.shown import shown
from wirespeed.report.diagnosis_hosts import (
    Answer,
    exit_code,
    json_line,
    ranked,
    summary_lines,
    unanswered_lines,
)
from wirespeed.report.diagnosis_text import (
    Line,
    diagnosis_lines,
    rule_lines,
    rules_lines,
)
from wirespeed.runs.examine import examine
from wirespeed.terminal import echo, echo_styled, takes_escapes

if TYPE_CHECKING:
    from wirespeed.model.pair import PairAnswer
    from wirespeed.runs.between import Between

FEW_HOSTS = 2
"""So many are shown in full; of more, one line each."""
STYLES: dict[str, dict[str, Any]] = {
    "fault": {"fg": "red", "bold": True},
    "ceiling": {"fg": "magenta", "bold": True},
    "risk": {"fg": "yellow", "bold": True},
    "note": {"bold": True},
    "warning": {"fg": "yellow"},
    "heading": {"bold": True},
    "good": {"fg": "green"},
    "price": {"bold": True},
    "command": {"fg": "cyan"},
    "source": {"dim": True},
}


@click.command(
    cls=Described,
    reads="the hosts or files; `wirespeed capture --script` shows every command",
    changes="nothing on the hosts; the files that --html and --out name",
    codes={
        0: "no finding above a note",
        1: "findings, or a host without an answer",
        2: "bad input, or a reading that was cut off",
    },
)
@click.argument("hosts", nargs=-1, metavar="[HOST|FILE]...")
@purpose_option
@click.option(
    "--port",
    "ports",
    multiple=True,
    help="Netdev or PCI address of the only port to examine; may be repeated.",
)
@frame_bytes_option(None)
@click.option(
    "--bidirectional", is_flag=True, help="Assume the same traffic in both directions at once."
)
@click.option(
    "--rtt", "rtt_s", type=Seconds(), help="Round-trip time to the peer, with its unit: 0.2ms."
)
@click.option("--peer", type=Address(), help="IP address of the peer.")
@click.option(
    "--measured",
    "measured_bps",
    type=Gigabits(),
    metavar="GB/S",
    help="Rate that you measured in one direction, in Gb/s.",
)
@click.option(
    "--measured-by",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Output of iperf3, perftest, nccl-tests, netperf, qperf, sockperf or pktgen, for "
    "--measured.",
)
@click.option("--workload", help="Process whose threads handle the traffic, as in `ps -o comm`.")
@seconds_option(0)
@timeout_option
@click.option(
    "--wanted",
    multiple=True,
    metavar="KEYWORD=VALUE",
    help="Advanced property that you set on a Windows card; may be repeated.",
)
@click.option(
    "--crash-analysis",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="File with the output of a debugger's `!analyze -v` for a crash.",
)
@click.option("--json", "as_json", is_flag=True, help="Print one line of JSON for each host.")
@click.option(
    "--html", type=click.Path(path_type=Path), help="File for the answer as an HTML page."
)
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    help="Folder for capture.txt, findings.json and report.html.",
)
@click.option(
    "--far-end",
    "far_ends",
    multiple=True,
    metavar="[NETDEV=]SWITCH",
    help="Switch at the far end: eth0=switch+dell_os6://sw1/Te1/0/1",
)
@click.option(
    "--between",
    metavar="HOST:PORT,HOST:PORT",
    help="Two ends of one cable to compare: alpha:p0,beta:p0.",
)
@click.option("--sudo", is_flag=True, help="Read as root, with `sudo -n` on each host.")
@click.option("--verbose", is_flag=True, help="Show every check, and every host in full.")
@click.option("--explain", metavar="RULE", help="Explain a rule, with its source, and exit.")
@click.option("--rules", "list_rules", is_flag=True, help="List all rules and exit.")
def doctor(
    hosts: tuple[str, ...],
    as_json: bool,
    html: Path | None,
    out: Path | None,
    verbose: bool,
    explain: str | None,
    list_rules: bool,
    far_ends: tuple[str, ...],
    between: str | None,
    sudo: bool,
    seconds: int,
    timeout_s: float,
    crash_analysis: Path | None,
    measured_by: Path | None,
    **asked: Any,
) -> int:
    """Find what holds a card below line rate, and what each fault costs.

    HOST is here, ssh://, winssh://, winrm://, esxi://, vsphere:// or a switch; FILE is what
    `wirespeed capture` wrote, a sosreport or a sysinfo-snapshot. Nothing is installed.
    """
    if explain is not None or list_rules:
        print_lines(_all_rules() if explain is None else _explained(explain))
        return 0
    check_wanted(asked["wanted"])
    asked |= size_asked(asked["frame_bytes"])
    if measured_by is not None:
        asked |= _measured(measured_by, asked["measured_bps"])
    question = Question(**asked)
    answers: list[Answer] = []
    ends = None if between is None else _ends(between, hosts)
    captures: dict[str, str] = {}
    crash = None if crash_analysis is None else _crash(crash_analysis, hosts)
    read = examine(
        hosts, question,
        sudo=sudo, seconds=seconds, timeout_s=timeout_s, crash=crash, far_ends=far_ends,
    )  # fmt: skip
    for number, (answer, text) in enumerate(read, 1):
        answers.append(answer)
        if ends is not None:
            captures[list(dict.fromkeys(hosts))[number - 1]] = text
        if out is not None:
            _keep(out / _folder_name(number, answer) if len(hosts) > 1 else out, text, answer)
    pair = None if ends is None else _pair(ends, captures, question)
    if html is not None:
        write_result(html, _page(answers, pair))
    if pair is not None and out is not None:
        write_result(out / "between.json", pair.model_dump_json() + "\n")
    if as_json:
        for answer in (*answers, *(() if pair is None else (pair,))):
            echo(answer.model_dump_json())
    else:
        print_lines(_lines(answers, verbose=verbose))
        if pair is not None:
            print_lines(_pair_lines(pair))
    return exit_code(answers) or int(pair is not None and _is_held(pair))


# What is about two ends is loaded where two ends are asked about: 10 ms of every run otherwise.
def _ends(between: str, hosts: Sequence[str]) -> "Between":
    from wirespeed.runs.between import parse_between

    return parse_between(between, hosts)


def _pair(ends: "Between", captures: Mapping[str, str], question: Question) -> "PairAnswer":
    from wirespeed.runs.between import answer_between

    return answer_between(ends, captures, question)


def _pair_lines(pair: "PairAnswer") -> Iterator[Line]:
    from wirespeed.report.pair_text import pair_lines

    yield Line("")
    yield from pair_lines(pair)


def _is_held(pair: "PairAnswer") -> bool:
    from wirespeed.report.pair_text import is_held

    return is_held(pair)


def check_wanted(wanted: Sequence[str]) -> None:
    """Raise InputError `options.invalid` for what is no KEYWORD=VALUE."""
    for text in wanted:
        keyword, equals, _ = text.partition("=")
        if not equals or not keyword:
            raise InputError(
                "options.invalid",
                where="--wanted",
                found=f"{shown(text, 60)!r} is not a KEYWORD=VALUE",
                next="write it as in --wanted '*LsoV2IPv4=1'; Get-NetAdapterAdvancedProperty "
                "lists the keywords",
            )


def _measured(path: Path, measured_bps: float | None) -> dict[str, object]:
    """Read what a tool printed. Raises InputError as `parse_measured` does."""
    if measured_bps is not None:
        raise InputError(
            "options.invalid",
            where="--measured-by",
            found="--measured is given too: two figures",
            next="give one of them",
        )
    # Only here: few ask for it.
    from wirespeed.doctor.measured_file import parse_measured

    run = parse_measured(read_recorded(path), str(path))
    return {"measured_by": run, "measured_bps": run.measured_bps}


def _crash(path: Path, hosts: Sequence[str]) -> str:
    """Read a debugger's analysis: of one host, so that nobody takes it for another's."""
    if len(hosts) > 1:
        raise InputError(
            "options.invalid",
            where="--crash-analysis",
            found=f"{len(hosts)} hosts are given; a crash analysis belongs to one",
            next="give only the host that crashed",
        )
    return read_recorded(path)


def _lines(answers: Sequence[Answer], *, verbose: bool) -> Iterator[Line]:
    if len(answers) > 1:
        yield from summary_lines(answers)
    if len(answers) > FEW_HOSTS and not verbose:
        yield Line("--verbose shows each of them", "source")
        return
    for answer in ranked(answers):
        if len(answers) > 1:
            yield Line("")
        if isinstance(answer, Unanswered):
            yield from unanswered_lines(answer)
        else:
            yield from diagnosis_lines(answer, verbose=verbose)


def _all_rules() -> Iterator[Line]:
    """Give every rule, and after them the conditions that --between asks of two ends."""
    from wirespeed.doctor.pair import RULES

    columns = 2 + max(len(rule.slug) for rule in RULES)
    yield from rules_lines(rules())
    yield Line("")
    yield Line("Of two ends of a cable, by --between:")
    for rule in RULES:
        yield Line(f"{rule.slug:<{columns}}{rule.title}")


def _explained(slug: str) -> Iterator[Line]:
    from wirespeed.doctor.pair import RULES
    from wirespeed.report.pair_text import pair_rule_lines

    of_pair = {rule.slug: rule for rule in RULES}
    if slug in of_pair:
        yield from pair_rule_lines(of_pair[slug])
        return
    by_slug = {rule.slug: rule for rule in rules()}
    if slug not in by_slug:
        near = difflib.get_close_matches(slug, by_slug)
        raise InputError(
            "rule.unknown",
            where=slug,
            found="no rule of that name" + (f"; near it: {', '.join(near)}" if near else ""),
            next="wirespeed doctor --rules lists them",
        )
    yield from rule_lines(by_slug[slug])


def print_lines(lines: Iterable[Line]) -> None:
    """Print to standard output: colours only on a terminal that wants them."""
    coloured = takes_escapes(sys.stdout) and not os.environ.get("NO_COLOR")
    echo_styled(
        [(line.text, STYLES[line.tone] if coloured and line.tone else {}) for line in lines]
    )


def _keep(folder: Path, text: str, answer: Answer) -> None:
    """Leave the capture and the answer of one host in its folder."""
    make_folder(folder)
    if isinstance(answer, Diagnosis):
        write_whole(folder / "capture.txt", text)
    write_result(folder / "findings.json", json_line(answer) + "\n")
    write_result(folder / "report.html", _page([answer]))


def _folder_name(number: int, answer: Answer) -> str:
    """A name that is no path: `003-alpha`."""
    return f"{number:03}-{re.sub(r'[^A-Za-z0-9._-]+', '_', answer.host)[-60:]}"


def _page(answers: Sequence[Answer], pair: "PairAnswer | None" = None) -> str:
    # Only here: the template engine takes a third of the time of a local run to import.
    from wirespeed.report.diagnosis_document import diagnosis_document
    from wirespeed.report.document_html import render_html

    return render_html(diagnosis_document(answers, pair))
