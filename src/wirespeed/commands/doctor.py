"""`wirespeed doctor`: what holds a card below line rate, and what each fault costs."""

import difflib
import os
import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import click

from wirespeed.commands.quantities import Address, Gigabits, Seconds
from wirespeed.doctor.collector import collector_script
from wirespeed.doctor.diagnose import diagnose
from wirespeed.doctor.discover import rules
from wirespeed.host.files import make_folder, write_text
from wirespeed.host.local import LocalRunner
from wirespeed.host.reach_destination import Here, Recorded, parse_destination
from wirespeed.host.recorded import read_recorded
from wirespeed.model.capture import parse_capture
from wirespeed.model.error import InputError, WirespeedError
from wirespeed.model.fact import HostFacts
from wirespeed.model.finding import Unanswered
from wirespeed.model.question import Purpose, Question
from wirespeed.model.units import MIN_FRAME_BYTES
from wirespeed.report.diagnosis_hosts import (
    Answer,
    exit_code,
    json_line,
    summary_lines,
    unanswered_lines,
)
from wirespeed.report.diagnosis_text import Line, diagnosis_lines
from wirespeed.report.ledger_bars import ASCII
from wirespeed.report.rule_text import rule_lines, rules_lines

FEW_HOSTS = 2
"""So many are shown in full; of more, one line each."""
MAX_FRAME_BYTES = 16384
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


@click.command()
@click.argument("hosts", nargs=-1, metavar="[HOST|FILE]...")
@click.option(
    "--for",
    "purpose",
    type=click.Choice([p.value for p in Purpose]),
    help="What the ports are for.",
)
@click.option("--port", "ports", multiple=True, help="Only this netdev or PCI address.")
@click.option(
    "--frame-bytes",
    default=1518,
    show_default=True,
    help="With FCS.",
    type=click.IntRange(MIN_FRAME_BYTES, MAX_FRAME_BYTES),
)
@click.option("--rtt", "rtt_s", type=Seconds(), help="Round-trip time to the peer: 0.2ms.")
@click.option("--peer", type=Address(), help="IP address that the traffic goes to.")
@click.option(
    "--measured",
    "measured_bps",
    type=Gigabits(),
    metavar="GB/S",
    help="What you measured in one direction, Gb/s.",
)
@click.option("--workload", help="Process whose threads do the work, as in `ps -o comm`.")
@click.option("--json", "as_json", is_flag=True, help="One line of JSON for each host.")
@click.option("--html", type=click.Path(path_type=Path), help="Write the answer as a page.")
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    help="Folder for capture.txt, findings.json and report.html.",
)
@click.option("--verbose", is_flag=True, help="All that was checked, and every host in full.")
@click.option("--explain", metavar="RULE", help="Say what a rule is about, and its source.")
@click.option("--rules", "list_rules", is_flag=True, help="List every rule.")
def doctor(
    hosts: tuple[str, ...],
    as_json: bool,
    html: Path | None,
    out: Path | None,
    verbose: bool,
    explain: str | None,
    list_rules: bool,
    **asked: Any,
) -> int:
    """Find what holds a card below line rate, and what each fault costs.

    It reads this host, or files that `wirespeed capture` wrote. It changes nothing.

    Exit codes: 0 nothing above a note, 1 findings or a host without an answer, 2 bad input.
    """
    if explain is not None or list_rules:
        _print(rules_lines(rules()) if explain is None else _explained(explain))
        return 0
    question = Question(**asked)
    answers: list[Answer] = []
    for name, text in _captures(hosts):
        answers.append(_answer(name, text, question, alone=len(hosts) < FEW_HOSTS))
        if out is not None and isinstance(text, str):
            folder = out if len(hosts) < FEW_HOSTS else out / _folder_name(len(answers), name)
            _keep(folder, text, answers[-1])
    if html is not None:
        _write_page(html, answers)
    if as_json:
        for answer in answers:
            click.echo(json_line(answer))
    else:
        _print(_lines(answers, verbose=verbose))
    return exit_code(answers)


def _captures(hosts: Sequence[str]) -> Iterator[tuple[str, str | WirespeedError]]:
    """Give what each host printed, or why there is nothing."""
    for host in hosts or ["here"]:
        try:
            destination = parse_destination(host)
            if isinstance(destination, Here):
                yield host, LocalRunner().run(["sh", "-c", collector_script()]).output
            elif isinstance(destination, Recorded):
                yield host, read_recorded(destination.path)
            else:
                raise InputError("ssh.not_yet", where=host, found="only files for now")
        except WirespeedError as error:
            yield host, error


def _answer(name: str, text: str | WirespeedError, question: Question, *, alone: bool) -> Answer:
    """Diagnose one host. What goes wrong with one of many must not take the others with it."""
    try:
        if isinstance(text, WirespeedError):
            raise text
        return diagnose(HostFacts(name, parse_capture(text, name)), question)
    except WirespeedError as error:
        if alone:
            raise
        return Unanswered(
            host=name,
            what=error.what,
            found=error.found,
            so=error.so,
            next=error.next,
            bad_input=isinstance(error, InputError),
        )


def _lines(answers: Sequence[Answer], *, verbose: bool) -> Iterator[Line]:
    if len(answers) > 1:
        yield from summary_lines(answers)
    if len(answers) > FEW_HOSTS and not verbose:
        yield Line("--verbose shows each of them", "source")
        return
    for answer in answers:
        if len(answers) > 1:
            yield Line("")
        if isinstance(answer, Unanswered):
            yield from unanswered_lines(answer)
        else:
            yield from diagnosis_lines(answer, verbose=verbose)


def _explained(slug: str) -> Iterator[Line]:
    by_slug = {rule.slug: rule for rule in rules()}
    if slug not in by_slug:
        near = difflib.get_close_matches(slug, by_slug, cutoff=0.4)
        raise InputError(
            "rule.unknown",
            where=slug,
            found="no rule of that name" + (f"; near it: {', '.join(near)}" if near else ""),
            next="wirespeed doctor --rules lists them",
        )
    return rule_lines(by_slug[slug])


def _print(lines: Iterable[Line]) -> None:
    """Print to standard output: colours only on a terminal that wants them."""
    coloured = sys.stdout.isatty() and not os.environ.get("NO_COLOR")
    encoding = sys.stdout.encoding or "ascii"
    texts = [
        click.style(line.text, **STYLES[line.tone]) if coloured and line.tone else line.text
        for line in lines
    ]
    text = "\n".join(texts)
    if not encoding.lower().startswith("utf"):
        text = text.translate(ASCII)
    # Names in another script must not end in a traceback where the terminal has no such letters.
    click.echo(text.encode(encoding, "backslashreplace"))


def _keep(folder: Path, text: str, answer: Answer) -> None:
    """Leave the capture and the answer of one host in its folder."""
    make_folder(folder)
    write_text(folder / "capture.txt", text)
    write_text(folder / "findings.json", json_line(answer) + "\n")
    _write_page(folder / "report.html", [answer])


def _folder_name(number: int, host: str) -> str:
    """A name that is no path: `003-alpha`."""
    return f"{number:03}-{re.sub(r'[^A-Za-z0-9._-]+', '_', host)[-60:]}"


def _write_page(path: Path, answers: Sequence[Answer]) -> None:
    # Only here: the template engine takes a third of the time of a local run to import.
    from wirespeed.report.diagnosis_html import render_answers

    write_text(path, render_answers(answers))
