"""A host described as its files, links and answers of tools, and what the collector makes of it.

Nothing here prints a capture: `capture_of` lays the description out below a private folder and runs
the real collector over it. Its paths are led there, its PATH to tools that answer what the
description says; a command line that it does not know fails the capture, as does a word on the
standard error of the collector itself.
"""

import json
import os
import re
import shlex
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from copy import deepcopy
from dataclasses import dataclass, field, replace
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any, Self

from wirespeed.doctor.collector import collector_script

ORDINARY_TOOLS = (
    "cat", "grep", "head", "od", "sed", "sh", "sort", "tail", "timeout", "tr", "uniq", "xargs",
)  # fmt: skip
"""What every host has: the tools of this machine are used."""
HOST_PATHS = re.compile(
    r"(?<![\w}$*.%])/(?=(?:sys|proc|etc|lib|run)(?:/|\b)|\.(?:docker|container)env)"
)
SEARCH_PATH = "PATH=$PATH:/usr/local/sbin:/usr/sbin:/sbin\n"
SECOND_READING = "\n# Once more, for what is counted.\n"
IN_MEMORY = Path("/dev/shm") if os.access("/dev/shm", os.W_OK) else None  # noqa: S108
"""A tree of thousands of small files; tools are not there, as it may be mounted noexec."""
NOT_THERE = "No such file or directory"
MARK = "case"
_TAKEN: dict[str, str] = {}
"""Captures by the description that they are of."""
SHARED = "WIRESPEED_DESCRIBED"
"""The folder of captures that processes of tests share; unset: none is."""


class DescriptionError(Exception):
    """The description does not fit the collector: which command line or file."""


@dataclass(frozen=True)
class Answer:
    """What a tool prints for one command line."""

    output: str = ""
    errors: str = ""
    returncode: int = 0


@dataclass
class Host:
    """A description. Parts and steps change it; equal descriptions give equal captures."""

    files: dict[str, str | bytes] = field(default_factory=dict)
    """Content by path, without the last line end where it is text."""
    links: dict[str, str] = field(default_factory=dict)
    """Symbolic links: path to the path that they lead to."""
    answers: dict[str, Answer] = field(default_factory=dict)
    """Command line to what it prints. A tool that stands in none is not installed."""
    data: dict[str, Any] = field(default_factory=dict)
    """Command line to what it prints as JSON; a tuple: a line for each."""
    later: dict[str, str | bytes] = field(default_factory=dict)
    """Files that hold something else at the collector's second reading."""
    answers_later: dict[str, Answer] = field(default_factory=dict)
    denied: set[str] = field(default_factory=set)
    """Paths, or folders with all below them, that only root could read."""

    def copy(self) -> Self:
        """Give one that can be changed by itself."""
        return deepcopy(self)

    def put(self, folder: str, **attributes: object) -> None:
        """Write small files of one folder, as `put("/sys/…/eth0", mtu=1500)`."""
        for name, value in attributes.items():
            self.files[f"{folder}/{name}"] = str(value)

    def answer(self, line: str, output: str = "", errors: str = "", returncode: int = 0) -> None:
        """Let a tool answer one command line."""
        self.answers[line] = Answer(output, errors, returncode)

    def replace(self, path: str, old: str, new: str) -> None:
        """Change text of one file; it must stand there once."""
        self.files[path] = _replaced(str(self.files[path]), old, new, path)

    def replace_answer(self, line: str, old: str, new: str) -> None:
        """Change text of one answer; it must stand there once, in each reading."""
        for answers in (self.answers, self.answers_later):
            if line in answers:
                said = answers[line]
                output = _replaced(said.output, old, new, line)
                answers[line] = Answer(output, said.errors, said.returncode)


def _replaced(text: str, old: str, new: str, where: str) -> str:
    if text.count(old) != 1:
        raise DescriptionError(f"{old!r} stands {text.count(old)} times in {where}")
    return text.replace(old, new)


def capture_of(host: Host) -> str:
    """Run the collector over a description. Raises DescriptionError where they do not fit.

    Equal descriptions give equal captures, so the collector runs once for each: processes of
    tests, side by side and one day after another, share a folder of what was taken.
    """
    key = repr(replace(host, denied=set())) + repr(sorted(host.denied))
    if key not in _TAKEN:
        _TAKEN[key] = _shared(key) or _kept(key, _taken(host))
    return _TAKEN[key]


def _shared(key: str) -> str | None:
    file = _file_of(key)
    if not file or not file.exists():
        return None
    # What is used stays: `remove_unused` goes by this.
    os.utime(file)
    return file.read_text()


def _kept(key: str, capture: str) -> str:
    if file := _file_of(key):
        # Whole or not at all: another process may look while it is written.
        half = file.with_suffix(f".{os.getpid()}")
        half.write_text(capture)
        half.replace(file)
    return capture


def _file_of(key: str) -> Path | None:
    folder = os.environ.get(SHARED)
    return Path(folder) / sha256((_way() + key).encode()).hexdigest() if folder else None


@cache
def _way() -> str:
    """What a capture depends on beside its description: the collector, this file, the tools."""
    tools = [
        Path(shutil.which(tool) or f"/bin/{tool}").resolve() for tool in (*ORDINARY_TOOLS, "cp")
    ]
    stats = [(str(tool), tool.stat().st_size, tool.stat().st_mtime_ns) for tool in tools]
    return repr((collector_script(), Path(__file__).read_text(), stats))


def remove_unused(folder: Path, days: float) -> None:
    """Remove the captures that no process of tests took from a shared folder for so many days."""
    oldest = time.time() - days * 86_400
    for file in folder.iterdir():
        # Another process may remove it as well.
        with suppress(FileNotFoundError):
            if file.stat().st_mtime < oldest:
                file.unlink()


def _taken(host: Host) -> str:
    with _folder(IN_MEMORY) as root, _folder(None) as tools:
        answers = {**host.answers, **{line: _json(data) for line, data in host.data.items()}}
        _lay_out(root, host.files)
        _lay_out(root / "later", host.later)
        for path, destination in host.links.items():
            link = root / path[1:]
            link.parent.mkdir(parents=True, exist_ok=True)
            link.symlink_to(f"{root}{destination}")
        _make_tools(tools / "now", answers)
        _make_tools(tools / "later", {**answers, **host.answers_later} if host.later else {})
        for tool in ORDINARY_TOOLS:
            (tools / "now" / tool).symlink_to(shutil.which(tool) or f"/bin/{tool}")
        unknown = tools / "unknown"
        script = _led_to(root, tools, collector_script())
        done = subprocess.run(
            ["/bin/sh"], input=script, text=True, capture_output=True, timeout=60, check=False,
            env={"PATH": f"{tools}/now", "UNKNOWN": str(unknown)},
        )  # fmt: skip
        if unknown.exists():
            raise DescriptionError(f"no answer to: {unknown.read_text().strip()}")
        if done.stderr or done.returncode:
            raise DescriptionError(f"the collector said {done.stderr!r}, {done.returncode}")
        return _denied(done.stdout.replace(str(root), ""), host.denied)


@contextmanager
def _folder(parent: Path | None) -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="described-", dir=parent) as name:
        yield Path(name).resolve()


def _lay_out(root: Path, files: dict[str, str | bytes]) -> None:
    root.mkdir(exist_ok=True)
    made = set()
    for path, content in files.items():
        file = f"{root}{path}"
        folder = file.rpartition("/")[0]
        if folder not in made:
            made.add(folder)
            Path(folder).mkdir(parents=True, exist_ok=True)
        if isinstance(content, str):
            content = f"{content}\n".encode() if content else b""
        Path(file).write_bytes(content)


def _make_tools(folder: Path, answers: dict[str, Answer]) -> None:
    folder.mkdir()
    for tool in {line.split()[0] for line in answers}:
        script = folder / tool
        script.write_text(_tool(tool, answers))
        script.chmod(0o755)


def _json(data: Any) -> Answer:
    tables = data if isinstance(data, tuple) else (data,)
    return Answer("".join(json.dumps(table, separators=(",", ":")) + "\n" for table in tables))


def _tool(tool: str, answers: dict[str, Answer]) -> str:
    """A tool in shell: no process beside its own is started."""
    cases = "".join(
        f"{shlex.quote(line.partition(' ')[2])}) printf %s {shlex.quote(said.output)}\n"
        f"printf %s {shlex.quote(said.errors)} >&2; exit {said.returncode} ;;\n"
        for line, said in answers.items()
        if line.split()[0] == tool
    )
    unknown = f'*) printf \'%s\\n\' "{tool} $*" >>"$UNKNOWN"; exit 99 ;;\n'
    return f'#!/bin/sh\ncase "$*" in\n{cases}{unknown}esac\n'


def _led_to(root: Path, tools: Path, script: str) -> str:
    for line in (SEARCH_PATH, SECOND_READING):
        if script.count(line) != 1:
            raise DescriptionError(f"the collector has no line {line.strip()!r}")
    script = HOST_PATHS.sub(lambda match: f"{root}{match[0]}", script)
    copy = shutil.which("cp")
    time_passes = f"{copy} -R {root}/later/. {root}\n{copy} -R {tools}/later/. {tools}/now\n"
    return script.replace(SEARCH_PATH, "").replace(SECOND_READING, SECOND_READING + time_passes)


def _denied(capture: str, denied: set[str]) -> str:
    """Let a file that was not laid out be one that may not be read."""
    for path in denied:
        line = re.compile(rf"({re.escape(path)}(?:/[^\n:]*)?): {NOT_THERE}")
        capture = line.sub(r"\1: Permission denied", capture)
    return capture
