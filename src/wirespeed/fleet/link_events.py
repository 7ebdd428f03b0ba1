"""Links of many hosts that went down in the same second: one cause, not as many cables. Pure.

A window begins at each link that went down, and is a second long, or longer by what the times may
be off. A host counts once in it. Whether as many hosts as this come together by chance is held
against how often each of them loses a link at all: a host whose cable flaps every minute is in
every window, and says nothing.
"""

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from math import exp, lgamma, log

from wirespeed.fleet.causes import FEW, MOST_P, TERMS, in_common, traits_of
from wirespeed.fleet.records import FleetHost, HostLinkDown, LinkEvent

TOGETHER_S = 1.0
Down = tuple[HostLinkDown, str]
"""With the host's name."""


def find_link_events(hosts: Sequence[FleetHost]) -> tuple[LinkEvent, ...]:
    """Give the times at which links of several hosts went down at once, the latest first."""
    judged = [host for host in hosts if host.is_judged]
    readable = [host for host in judged if host.log_s > 0]
    downs = sorted(
        ((one, host.name) for host in readable for one in host.link_downs),
        key=lambda down: (down[0].at, down[1]),
    )
    found: list[LinkEvent] = []
    having = traits_of(judged)
    for group in _groups(downs):
        names = {name for _, name in group}
        first, last = group[0][0].at, group[-1][0].at
        width = max(TOGETHER_S, last - first)
        p = _chance(readable, len(names), width)
        if p > MOST_P:
            continue
        found.append(
            LinkEvent(
                at=datetime.fromtimestamp(first, UTC).isoformat(timespec="seconds"),
                within_s=last - first,
                hosts=tuple(sorted(names)),
                links=tuple(sorted({f"{name} {one.netdev}" for one, name in group})),
                common=in_common(names, having, len(judged)),
                p=p,
            )
        )
    return tuple(sorted(found, key=lambda event: event.at, reverse=True))


def _groups(downs: Sequence[Down]) -> Iterator[list[Down]]:
    """Cut what happened into windows, each from its first on; those of one host are left out."""
    begin = 0
    while begin < len(downs):
        first = downs[begin][0]
        end = begin + 1
        while end < len(downs) and (
            downs[end][0].at - first.at <= TOGETHER_S + first.within_s + downs[end][0].within_s
        ):
            end += 1
        group = list(downs[begin:end])
        if len({name for _, name in group}) >= FEW:
            yield group
            begin = end
        else:
            begin += 1


def _chance(hosts: Sequence[FleetHost], together: int, width: float) -> float:
    """Give the chance of `together` hosts in one of all windows, if each goes by itself.

    Each host is in a window by its own rate. Of a sum of such chances, what lies above the mean by
    more than one is at most Poisson's (Hoeffding 1956; Anderson and Samuels 1967).
    """
    mean = sum(min(1.0, len(host.link_downs) * 2 * width / host.log_s) for host in hosts)
    windows = max((host.log_s for host in hosts), default=0.0) / width
    if mean <= 0:
        return 1.0
    tail = sum(exp(k * log(mean) - mean - lgamma(k + 1)) for k in range(together, together + TERMS))
    return min(1.0, windows * tail)
