"""Who has a host: one line, in the host's lock and with what is armed there. Pure.

    run=3f…  machine=9c…  process=…  user=root  host=admin1  since=2026-01-01T…Z  folder=/srv/a.run

Each value is percent-encoded, so that no space, line end or escape is in it. A line without
`run=` is of an older wirespeed: the path of the run folder.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, fields
from urllib.parse import quote, unquote

from wirespeed.model.shown import shown

RUN_ID = re.compile(r"[0-9a-f]{32}")
MAX_VALUE = 300
MAX_LINE = 4096


@dataclass(frozen=True, slots=True)
class Owner:
    """A run, and the process that is at it."""

    run: str
    """The random id of the run, made once: `Begun.run`."""
    machine: str = ""
    """Which machine, by a hash of its machine id; empty: it has none."""
    process: str = ""
    """Which process of which boot of that machine."""
    user: str = ""
    host: str = ""
    """The machine's name, for people: two may have the same."""
    since: str = ""
    folder: str = ""
    """The run folder, on that machine."""

    def line(self) -> str:
        """Give the one line that is written to the host's lock."""
        values = ((f.name, str(getattr(self, f.name))[:MAX_VALUE]) for f in fields(self))
        return " ".join(f"{name}={quote(value, safe='/:.@-_+')}" for name, value in values)

    def said(self) -> str:
        """Say who it is, harmless on a terminal: a host's word is not to be trusted."""
        who = f"run {self.run} of {shown(self.user, 60) or 'an unknown user'}"
        who += f" on {shown(self.host, 80) or 'an unknown machine'}"
        who += f" (machine {shown(self.machine[:12], 12)})" if self.machine else ""
        who += f", in {shown(self.folder, 200)}" if self.folder else ""
        return f"{who}, since {shown(self.since, 40) or 'an unknown time'}"


def parse_owner(line: str) -> Owner | None:
    """Read such a line; None: it is none, or of an older wirespeed."""
    words = dict(w.partition("=")[::2] for w in line[:MAX_LINE].split())
    if not RUN_ID.fullmatch(words.get("run", "")):
        return None
    known = {field.name for field in fields(Owner)}
    return Owner(**{name: unquote(text) for name, text in words.items() if name in known})


def owner_said(line: str) -> str:
    """Say whose a lock is, whatever its line contains."""
    owner = parse_owner(line)
    if owner is not None:
        return owner.said()
    return shown(line.strip(), 200) or "an owner that it does not name"


def runs_said(names: Sequence[str]) -> str:
    """Say which runs have a step armed, by the names of the folders of these steps."""
    found: dict[str, int] = {}
    for name in names:
        run = name.removeprefix("wirespeed-undo-").partition("-")[0]
        whose = f"run {run}" if RUN_ID.fullmatch(run) else "a run that is not named"
        found[whose] = found.get(whose, 0) + 1
    return ", ".join(f"{count} armed step{'s' * (count > 1)} of {w}" for w, count in found.items())
