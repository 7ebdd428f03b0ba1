"""The answer about a fleet in 80 columns: how many are well, causes, outliers. Pure."""

from collections.abc import Iterator, Sequence
from math import ceil

from wirespeed.fleet.records import (
    Cause,
    Common,
    Fleet,
    FleetHost,
    HostState,
    LinkEvent,
    Outlier,
)
from wirespeed.model.shown import shown
from wirespeed.report.diagnosis_text import WIDTH, Line
from wirespeed.report.load_text import LoadUnit
from wirespeed.report.text_lines import wrapped, wrapped_command

MOST = 12
"""Causes, outliers and hosts without an answer that are shown without --verbose."""
NAMES = 6
SEVERAL = 5
IN = "      "
NOTHING_IN_COMMON = "nothing that the other hosts do not have"


def fleet_lines(fleet: Fleet, *, verbose: bool = False) -> Iterator[Line]:
    """Give the whole answer."""
    yield Line(headline(fleet), "heading")
    most = len(fleet.hosts) if verbose else MOST
    yield from _part("links that went down at once", fleet.link_events, most)
    for event in fleet.link_events[:most]:
        yield from _event_lines(event, fleet, verbose=verbose)
    yield from _part("causes, by number of hosts", fleet.causes, most)
    for number, cause in enumerate(fleet.causes[:most], 1):
        yield from _cause_lines(number, cause, fleet, verbose=verbose)
    yield from _part("hosts that differ from others with the same cards", fleet.outliers, most)
    for outlier in fleet.outliers[:most]:
        yield from _outlier_lines(outlier, verbose=verbose)
    for state in (HostState.CUT_OFF, HostState.NOT_READ, HostState.NOT_REACHED):
        hosts = [host for host in fleet.hosts if host.state is state]
        yield from _part(state, hosts, most)
        for host in hosts[:most]:
            yield from _silent_lines(host)


def headline(fleet: Fleet) -> str:
    """`400 hosts: 352 well, 45 with findings, 3 not reached`."""
    counts = [f"{fleet.count(state)} {state}" for state in HostState if fleet.count(state)]
    return f"{_count(len(fleet.hosts), 'host')}: {', '.join(counts) or 'none'}"


def common_text(common: Common) -> str:
    """`rack r12 (36 of its 36 hosts; 0 of 364 others)`."""
    return (
        f"{common.trait} {common.value} ({common.affected} of its {common.having} hosts; "
        f"{common.elsewhere} of {common.others} others)"
    )


def event_text(event: LinkEvent, fleet: Fleet) -> str:
    """`36 of 400 hosts lost 36 links within 1 s, 2026-01-01 12:00:07 UTC: one cause, …`.

    Seconds are rounded up, from 1 on.
    """
    links = _count(len(event.links), "link")
    when = event.at[:19].replace("T", " ")
    return (
        f"{len(event.hosts)} of {_count(len(fleet.hosts), 'host')} lost {links} within "
        f"{ceil(event.within_s) or 1} s, {when} UTC: one cause, not {len(event.links)} cables"
    )


def cost_text(cause: Cause, fleet: Fleet) -> str:
    """Say what a cause costs all its hosts together; empty: no price is known."""
    unit = LoadUnit(fleet.question.frame_bytes)
    return f"costs {unit.text(cause.cost_pps)} {unit.name}" if cause.cost_pps > 0 else ""


def names_text(names: Sequence[str], most: int = NAMES) -> str:
    """`a, b, c and 33 more`."""
    more = len(names) - most
    return ", ".join(names[:most]) + (f" and {more} more" if more > 0 else "")


def _part(title: str, items: Sequence[object], most: int) -> Iterator[Line]:
    if items:
        yield Line("")
        more = f", {len(items) - most} more with --verbose" if len(items) > most else ""
        yield Line(f"{title}: {len(items)}{more}", "heading")


def _cause_lines(number: int, cause: Cause, fleet: Fleet, *, verbose: bool) -> Iterator[Line]:
    cost = cost_text(cause, fleet)
    head = f"{_count(len(cause.hosts), 'host')}, {cause.severity}: {cause.title}"
    head += f"; {cost}" if cost else ""
    yield from _wrapped(head, f"{number:>3}.  ", tone=cause.severity.value)
    if cause.common:
        shared = "; ".join(common_text(one) for one in cause.common)
        yield from _wrapped(f"in common: {shared}", IN)
    elif len(cause.hosts) > 1:
        yield from _wrapped(f"in common: {NOTHING_IN_COMMON}", IN)
    where = "" if cause.example.where == cause.hosts[0] else f" {cause.example.where}"
    seen = "; ".join(one.found for one in cause.example.evidence)
    yield from _wrapped(f"{cause.hosts[0]}{where}: {seen}", IN)
    if cause.example.remedy:
        yield from _wrapped(f"fix: {cause.example.remedy}", IN)
    for command in cause.example.commands if verbose else ():
        for text in wrapped_command(shown(command, 4096), WIDTH, f"{IN}  ", f"{IN}    "):
            yield Line(text, "command")
    most = len(cause.hosts) if verbose else NAMES
    yield from _wrapped(f"{cause.rule} on {names_text(cause.hosts, most)}", IN, tone="source")


def _event_lines(event: LinkEvent, fleet: Fleet, *, verbose: bool) -> Iterator[Line]:
    yield from _wrapped(event_text(event, fleet), "  ", tone="warning")
    shared = "; ".join(common_text(one) for one in event.common)
    yield from _wrapped(f"in common: {shared or NOTHING_IN_COMMON}", IN)
    most = len(event.links) if verbose else NAMES
    yield from _wrapped(names_text(event.links, most), IN, tone="source")


def _outlier_lines(outlier: Outlier, *, verbose: bool) -> Iterator[Line]:
    most = len(outlier.hosts) if verbose else NAMES
    head = f"{len(outlier.hosts)} of {outlier.of} ({outlier.cohort}): "
    yield from _wrapped(head + names_text(outlier.hosts, most), "  ")
    shown_few = len(outlier.differences) if verbose else SEVERAL
    for one in outlier.differences[:shown_few]:
        yield from _wrapped(f"{one.setting}: {one.value}; the others {one.usual}", IN)
    if (more := len(outlier.differences) - shown_few) > 0:
        yield Line(f"{IN}and {more} more settings")


def _silent_lines(host: FleetHost) -> Iterator[Line]:
    said = f"{host.what}: {host.found}" if host.what else "its end is missing"
    yield from _wrapped(f"{host.name}: {said}", "  ", tone="warning")
    if host.next:
        yield from _wrapped(host.next, f"{IN}next  ")


def _wrapped(text: str, first: str, tone: str = "") -> Iterator[Line]:
    yield from (Line(line, tone) for line in wrapped(shown(text, 4096), WIDTH, first, IN))


def _count(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"
