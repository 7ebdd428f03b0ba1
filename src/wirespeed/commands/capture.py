"""`wirespeed capture`: what hosts say of themselves, one file for each."""

import re
import secrets
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path

import click

from wirespeed.commands.described import Described
from wirespeed.commands.shared_options import seconds_option, timeout_option
from wirespeed.doctor.anonymous import anonymous
from wirespeed.doctor.capture_differences import capture_differences
from wirespeed.doctor.collector import collector_script
from wirespeed.host.capture_request import Captured, Unreachable
from wirespeed.host.files import is_folder, make_folder, read_text, write_whole
from wirespeed.host.reach_destination import (
    Destination,
    Here,
    parse_destination,
)
from wirespeed.model.capture import parse_capture
from wirespeed.model.error import InputError, WirespeedError
from wirespeed.model.shown import shown
from wirespeed.model.switch_kind import SwitchKind
from wirespeed.platforms.esxi.collector import esxi_collector_script
from wirespeed.platforms.switch.collector import switch_form
from wirespeed.platforms.windows.collector import windows_collector_script
from wirespeed.runs.captures import collect
from wirespeed.runs.unread_sections import unknown_lines, unread_lines
from wirespeed.terminal import echo, echo_capture

MAX_NAME_CHARACTERS = 80
MAX_LINE_CHARACTERS = 400
SCRIPTS = ("linux", "windows", "esxi", *SwitchKind)
COUNT_SECONDS = 5
"""Between the two readings of what is counted; a few drops a second show in it."""


@click.command(
    cls=Described,
    reads="the hosts; `wirespeed capture --script` shows every command",
    changes="nothing on the hosts; the files that --out names",
    codes={0: "everything was read", 2: "bad input, or a host that was not read, or only in part"},
)
@click.argument("hosts", nargs=-1, metavar="[HOST|FILE]...")
@click.option(
    "--script",
    "bare",
    is_flag=False,
    flag_value="linux",
    metavar="[windows|esxi|KIND]",
    help="Print the collector script, to run it on a host; `--script windows` or `esxi` for "
    "those. With a kind of switch, as `--script dell_os6`: print a form to paste its "
    "outputs into.",
)
@click.option("--anonymous", "hidden", is_flag=True, help="Replace addresses, serials and names.")
@click.option(
    "--differences", is_flag=True, help="List the differences of two captures: FILE FILE."
)
@click.option(
    "--sudo", is_flag=True, help="Read as root, with `sudo -n`, which asks for no password."
)
@seconds_option(COUNT_SECONDS)
@timeout_option
@click.option("--out", type=click.Path(path_type=Path), help="File, or folder for several hosts.")
def capture(
    hosts: tuple[str, ...],
    bare: str | None,
    hidden: bool,
    differences: bool,
    sudo: bool,
    seconds: int,
    timeout_s: float,
    out: Path | None,
) -> int:
    """Read hosts (without HOST, this one) and write a capture of each to a file.

    HOST is a name that `ssh HOST` reaches. FILE is an existing capture, for --anonymous and
    --differences.
    """
    if differences:
        if len(hosts) != 2 or bare is not None or hidden or out or sudo:
            raise InputError(
                "options.invalid",
                where="--differences",
                found=f"{len(hosts)} captures" if len(hosts) != 2 else "another option",
                so="it compares two captures, and reads no host",
                next="wirespeed capture --differences before.txt after.txt",
            )
        lines = list(capture_differences(*(read_text(Path(name)) for name in hosts)))
        for line in lines or ["no difference"]:
            echo(shown(line, MAX_LINE_CHARACTERS))
        return 0
    if bare is not None:
        if hosts or hidden or out or sudo or bare not in SCRIPTS:
            raise InputError(
                "options.invalid",
                where="--script",
                found=f"it prints a collector script and takes only one of {', '.join(SCRIPTS)}",
                next="wirespeed capture --script >collector.sh",
            )
        if bare in set(SwitchKind):
            echo(switch_form(SwitchKind(bare), secrets.token_hex(8)), nl=False)
            return 0
        others = {"windows": windows_collector_script, "esxi": esxi_collector_script}
        echo(others[bare]() if bare in others else collector_script(seconds), nl=False)
        return 0
    places = [parse_destination(text) for text in dict.fromkeys(hosts)] or [Here()]
    paths = _paths(places, out, hidden)
    results = collect(places, interval_s=seconds, sudo=sudo, timeout_s=timeout_s)
    is_whole = True
    with closing(results):
        for result in results:
            try:
                if isinstance(result, Unreachable):
                    raise result.error
                is_whole &= _keep(result, paths.get(result.destination), hidden)
            except WirespeedError as error:
                if len(places) == 1:
                    raise
                is_whole = False
                _report_error(shown(result.destination.text, 60), error)
    return 0 if is_whole else 2


def _keep(captured: Captured, path: Path | None, hidden: bool) -> bool:
    """Write one capture, and say what it lacks. False: it was cut off."""
    where = captured.destination.text
    parsed = parse_capture(captured.text, where)
    if not parsed.complete:
        said = f"INCOMPLETE: {shown(where, 60)}: the reading was cut off, its end is missing"
        echo(said, err=True)
    text = anonymous(captured.text, where, secrets.token_bytes(32)) if hidden else captured.text
    if path is None:
        echo_capture(text)
    else:
        write_whole(path, text)
        echo(f"{shown(where, 60)}: {path}")
    unknown = unknown_lines(parsed) if hidden else ()
    for line in (*captured.warnings, *unknown, *unread_lines(parsed)):
        echo(f"  {line}", err=True)
    return parsed.complete


def _paths(
    places: Sequence[Destination], out: Path | None, hidden: bool
) -> dict[Destination, Path]:
    """Where each capture goes; none for standard output. Makes the folder."""
    if out is None:
        if len(places) > 1:
            raise InputError(
                "options.invalid",
                where="--out",
                found=f"{len(places)} hosts need a folder for their captures",
                next="--out FOLDER",
            )
        return {}
    if len(places) == 1 and not is_folder(out) and out.name:
        return {places[0]: out}
    make_folder(out)
    names = file_names(places) if not hidden else (f"{n}.txt" for n in range(1, len(places) + 1))
    return dict(zip(places, (out / name for name in names), strict=True))


def file_names(places: Sequence[Destination]) -> Iterator[str]:
    """Give a name for each that is a file's name anywhere, and no two alike."""
    taken: set[str] = set()
    for place in places:
        text = (
            Path(place.text).stem if "/" in place.text and "://" not in place.text else place.text
        )
        plain = re.sub(r"[^A-Za-z0-9._-]+", "-", text.removeprefix("ssh://").rpartition("@")[2])
        stem = plain.strip(".-")[:MAX_NAME_CHARACTERS] or "host"
        name, number = f"{stem}.txt", 1
        while name.lower() in taken:
            number += 1
            name = f"{stem}-{number}.txt"
        taken.add(name.lower())
        yield name


def _report_error(name: str, error: WirespeedError) -> None:
    echo(f"{name}: not read: {error.what}: {shown(error.found)}", err=True)
    if error.next:
        echo(f"  {error.next}", err=True)
