"""What a capture lacks, in a few lines for the person who made it. Pure."""

from collections.abc import Iterator

from wirespeed.doctor.section_names import unknown_sections
from wirespeed.model.capture import (
    DENIED,
    MISSING_TOOL,
    NOT_FOUND_RETURNCODE,
    TIMED_OUT_RETURNCODE,
    Capture,
    Section,
)
from wirespeed.model.shown import shown

MAX_NAMED = 6
MAX_TOOLS = 10
"""Each is one to install, and the first are not those that matter most."""


def unread_lines(capture: Capture) -> tuple[str, ...]:
    """Say which tools are missing, what was denied and what did not end; nothing when all is."""
    return tuple(_lines(capture))


def unknown_lines(capture: Capture) -> Iterator[str]:
    """Say which sections an anonymous capture lacks: what is private in them is not known."""
    if names := unknown_sections(capture):
        yield f"left out, as this release does not know their sections: {_few(list(names))}"


def _lines(capture: Capture) -> Iterator[str]:
    missing: dict[str, None] = {}
    denied: list[str] = []
    late: list[str] = []
    for section in capture.all_sections():
        if section.returncode == NOT_FOUND_RETURNCODE:
            tool = MISSING_TOOL.search(section.errors[:1000])
            missing[tool[1] if tool else section.name] = None
        elif section.returncode == TIMED_OUT_RETURNCODE:
            late.append(_title(section))
        if DENIED.search(section.errors):
            denied.append(_title(section))
    if missing:
        yield f"not installed: {_few(list(missing), MAX_TOOLS)}"
    if denied:
        yield f"permission denied: {_few(denied)}; as root it would tell more"
    if late:
        yield f"did not end in time: {_few(late)}"


def _title(section: Section) -> str:
    return f"{section.name} {section.subject}".strip()


def _few(names: list[str], most: int = MAX_NAMED) -> str:
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(shown(name, 60) for name in names[:most]) + more
