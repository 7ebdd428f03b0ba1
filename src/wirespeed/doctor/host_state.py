"""What stands on a host, as a flat list that two captures can be compared by. Pure.

Every fact that is set and not counted is in it: netdevs and how they stack, VFs, queues, offloads,
steering, sysctls, drivers, routes. What moves by itself (counters, clocks, free memory) is left out
by name, and nothing else is: a field that a fact gets later is compared from then on.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields, is_dataclass

from wirespeed.catalog import facts
from wirespeed.model.capture import Files
from wirespeed.model.fact import Fact, HostFacts
from wirespeed.model.observed import Absent, CannotTellError, Known, Unreadable
from wirespeed.model.proof import Difference

NOT_THERE = "not there"
COUNTED = {
    "Counters", "Cpus", "DriverLog", "Hardware", "Health", "Interrupts", "LinkEvents",
    "LinkMargins", "Mitigations",
    "ModulePowers", "Modules", "MovedCounters", "OvsPolling", "PciAer",
    "Rdma", "RealtimeThreads", "Session", "Softnet", "TcpCounts", "Virtualization", "Workload",
    "Wsl",
}  # fmt: skip
"""Facts that are counters, or are about what runs and what the machine is, and not what is set."""
MOVES = {
    "NetStack": {"index", "operstate"},
    "Sriov": {"index"},
    "Links": {"down_reason", "is_up", "link_bps", "is_full_duplex", "partner",
              "partner_autonegotiation"},
    # The kernel's watchdog takes a TSC that it finds unstable away; no step sets it.
    "Kernel": {"clocksource", "clocksources"},
    "CpuPower": {"current_hz", "idle_states"},
    "Memory": {"available_bytes", "free", "free_bytes", "node_bytes", "node_free_bytes",
               "swap_free_bytes", "swapped_in_pages", "total_bytes"},
    "Ovs": {"datapath_flows", "offloaded_flows"},
    "DriverOrigin": {"symbol_errors"},
    "Steering": {"files"},
    "WindowsSmb": {"pairs", "client_rdma", "server_rdma"},
}  # fmt: skip
"""Fields of the others that move by themselves: an index counts up, a link comes and goes."""
LIVE_FLAGS = {"LOWER_UP", "NO-CARRIER", "RUNNING", "DORMANT"}
"""Of a netdev: they say what its link is, and not what it is set to."""


Values = dict[tuple[str, str], str]
"""(subject, what) to the value, as text."""


def values_of(host: HostFacts) -> Values:
    """Give all settings of a host; one that cannot be read is given as such, with the reason."""
    found: Values = {}
    for fact in facts():
        name = fact.__name__
        if name in COUNTED:
            continue
        for subject, what, text in _of(host, fact, MOVES.get(name, set())):
            found[(subject, what)] = text
    return found


def differences(host: str, before: Values, now: Values) -> tuple[Difference, ...]:
    """Name what differs; a subject that came or went whole is one difference."""
    # Sorted: some facts are made of sets, whose order is another one in each run.
    changed = [key for key in sorted({*before, *now}) if before.get(key) != now.get(key)]
    subjects = [{subject for subject, _ in side} for side in (before, now)]
    found: dict[tuple[str, str], Difference] = {}
    for subject, what in changed:
        whole = not all(subject in side for side in subjects)
        key = (subject, "" if whole else what)
        was, is_now = before.get((subject, what)), now.get((subject, what))
        if whole:
            side = before if subject in subjects[0] else now
            was, is_now = (_all_of(subject, one) if one is side else None for one in (before, now))
        found.setdefault(
            key,
            Difference(
                host=host,
                subject=subject,
                what=key[1],
                before=NOT_THERE if was is None else was,
                now=NOT_THERE if is_now is None else is_now,
            ),
        )
    return tuple(found.values())


def _all_of(subject: str, values: Values) -> str:
    """Say in one text what a subject is like that came or went whole."""
    said = [f"{what} {value}" for (one, what), value in values.items() if one == subject and what]
    return ", ".join(said) or values.get((subject, ""), "there")


def _of(host: HostFacts, fact: type[Fact], leaves_out: set[str]) -> Iterator[tuple[str, str, str]]:
    try:
        value = host[fact]
    except CannotTellError as error:
        yield "host", fact.__name__, f"cannot tell: {error.reason}"
        return
    for subject, what, text in _flat(value, "", (), leaves_out):
        # What is about no single thing is about the host; the fact's name says which `groups`.
        yield (subject, what, text) if subject else ("host", f"{fact.__name__} {what}", text)


def _flat(
    value: object, subject: str, path: tuple[str, ...], leaves_out: set[str]
) -> Iterator[tuple[str, str, str]]:
    """Give subject, what and text of everything below `value`; a key of a mapping is a subject."""
    if isinstance(value, Known):
        yield from _flat(value.value, subject, path, leaves_out)
    elif isinstance(value, Unreadable):
        yield subject, _words(path), f"not readable: {value.reason}"
    elif isinstance(value, Absent | Files) or value is None or value == ():
        return
    elif is_dataclass(value) and not isinstance(value, type):
        for field in fields(value):
            if field.name not in leaves_out:
                part = getattr(value, field.name)
                yield from _flat(part, subject, (*path, field.name), leaves_out)
    elif isinstance(value, Mapping):
        for key, part in value.items():
            # What holds them, `links` or `netdevs`, says nothing of the one, unless it is numbered.
            name = f"{_words(path[-1:])} {key}" if isinstance(key, int) else str(key)
            yield from _flat(part, f"{subject} {name}".strip(), (), leaves_out)
    elif isinstance(value, Sequence) and any(is_dataclass(part) for part in value):
        name = _singular(path[-1] if path else "")
        for part in value:
            if (index := getattr(part, "index", None)) is not None:
                yield from _flat(part, f"{subject} {name} {index}".strip(), (), leaves_out)
            else:
                # Nothing numbers it: it is there, or another one is.
                texts = [text for *_, text in _flat(part, "", (), leaves_out) if text]
                yield f"{subject} {name} {' '.join(texts)}".strip(), "", "there"
    else:
        yield subject, _words(path), _text(value)


def _words(path: tuple[str, ...]) -> str:
    return " ".join(path).replace("_", " ")


def _singular(name: str) -> str:
    return name.removesuffix("s").replace("_", " ")


def _text(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, frozenset | set):
        return ", ".join(sorted(map(str, value))) or "none"
    if isinstance(value, tuple | list):
        return ", ".join(str(part) for part in value if str(part) not in LIVE_FLAGS)
    return str(value)
