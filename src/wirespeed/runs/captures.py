"""From destinations to the facts of hosts: the collector on each of them, in one round trip."""

from collections.abc import Generator, Sequence
from contextlib import closing
from dataclasses import dataclass

from wirespeed.doctor.collector import collector_script
from wirespeed.host.capture_request import (
    LIMIT,
    TIMEOUT_S,
    Captured,
    CaptureRequest,
    Progress,
    Unreachable,
)
from wirespeed.host.reach_destination import Destination
from wirespeed.model.capture import MAGIC, MAX_CAPTURE_BYTES, parse_capture
from wirespeed.model.error import InputError
from wirespeed.model.fact import HostFacts
from wirespeed.platforms.esxi.collector import esxi_collector_script
from wirespeed.platforms.switch.facts.switchport import COMMANDS, COUNTED
from wirespeed.platforms.windows.collector import windows_collector_script
from wirespeed.runs.reach import reach


@dataclass(frozen=True, slots=True)
class Gathered:
    """The facts of one host; each is parsed when it is asked for."""

    destination: Destination
    facts: HostFacts
    duration_s: float
    warnings: tuple[str, ...]


def collect(
    destinations: Sequence[Destination],
    *,
    interval_s: int = 0,
    sudo: bool = False,
    limit: int = LIMIT,
    timeout_s: float = TIMEOUT_S,
    progress: Progress = lambda _destination, _doing: None,
) -> Generator[Captured | Unreachable, None, None]:
    """Give the text of a capture for each destination, as they come; see `closing` in `reach`.

    Counters are read again after `interval_s`; `timeout_s` is for the rest.
    """
    request = CaptureRequest(
        script=collector_script(interval_s),
        powershell=windows_collector_script(),
        esxi=esxi_collector_script(),
        switch=COMMANDS,
        switch_again=COUNTED,
        again_s=interval_s,
        begins=MAGIC,
        sudo=sudo,
        timeout_s=timeout_s + interval_s,
        max_bytes=MAX_CAPTURE_BYTES,
    )
    return reach(destinations, request, limit=limit, progress=progress)


def gather(
    destinations: Sequence[Destination],
    *,
    interval_s: int = 0,
    sudo: bool = False,
    limit: int = LIMIT,
    timeout_s: float = TIMEOUT_S,
    progress: Progress = lambda _destination, _doing: None,
) -> Generator[Gathered | Unreachable, None, None]:
    """Give the facts of each destination, as they come; see `collect`."""
    collected = collect(
        destinations,
        interval_s=interval_s,
        sudo=sudo,
        limit=limit,
        timeout_s=timeout_s,
        progress=progress,
    )
    with closing(collected):
        for captured in collected:
            yield captured if isinstance(captured, Unreachable) else _gathered(captured)


def _gathered(captured: Captured) -> Gathered | Unreachable:
    name = captured.destination.text
    try:
        facts = HostFacts(name, parse_capture(captured.text, name))
    except InputError as error:
        return Unreachable(captured.destination, error)
    return Gathered(captured.destination, facts, captured.duration_s, captured.warnings)


def with_far_ends(text: str, far_ends: Sequence[str], seconds: int = 0) -> str:
    """Add to a host's capture what its switches say; what is counted twice, `seconds` apart.

    Raises InputError `far_end.invalid`, and what a switch cannot be reached for.
    """
    if not far_ends:
        return text
    # Only here: few ask for it.
    from wirespeed.platforms.switch.far_end import far_end_place, with_far_end

    for far_end in far_ends:
        (captured,) = collect([far_end_place(far_end)], interval_s=seconds)
        if not isinstance(captured, Captured):
            raise captured.error
        text = with_far_end(text, captured.text)
    return text
