"""The folder of a fleet's answer: `fleet.json`, `fleet.html`, captures of those that gave one."""

import re
from collections.abc import Iterable
from pathlib import Path

from wirespeed.fleet.records import Fleet
from wirespeed.host.clock import utc_now
from wirespeed.host.files import make_run_folder, write_whole
from wirespeed.host.state import state_folder

FILE = "fleet.json"
PAGE = "fleet.html"
CAPTURES = "captures"


def new_folder(out: Path | None) -> Path:
    """Make the folder: `out`, or one of its own in ~/.local/state/wirespeed/fleet."""
    if out is None:
        out = state_folder() / "fleet" / re.sub(r"[^0-9TZ]", "-", utc_now()[:23])
    make_run_folder(out)
    make_run_folder(out / CAPTURES)
    return out


def write_fleet(folder: Path, fleet: Fleet) -> None:
    """Write the answer, whole or not at all."""
    write_whole(folder / FILE, fleet.model_dump_json() + "\n")


def file_names(names: Iterable[str]) -> dict[str, str]:
    """Give a file's name for each host, no two alike: `alpha.txt`."""
    found: dict[str, str] = {}
    taken: set[str] = set()
    for name in names:
        stem = re.sub(r"[^A-Za-z0-9._-]+", "-", name).strip(".-")[:100] or "host"
        plain, number = f"{stem}.txt", 1
        while plain.lower() in taken:
            number += 1
            plain = f"{stem}-{number}.txt"
        taken.add(plain.lower())
        found[name] = plain
    return found
