"""Findings of many hosts grouped to causes: same rule, same evidence, and what they share. Pure.

Findings of one rule whose evidence reads alike but for numbers and names are one group. Of a group,
those hosts are a cause of their own that share something which few hosts without the finding have:
a rack, a switch, a firmware, a cable. What is left of the group is a cause without anything shared.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from math import exp, lgamma

from wirespeed.fleet.records import Cause, Common, FleetFinding, FleetHost
from wirespeed.model.finding import Severity

NUMBERS = re.compile(r"\S*\d\S*(?:[\s,;]+\S*\d\S*)*")
"""Numbers, and names that have one: counts, addresses, netdevs; several in a row are as one."""
FEW = 3
"""So many hosts at least may share something by more than chance."""
SHARE = 0.8
"""Of the hosts that have what is shared, so many have the finding."""
MOST_P = 1e-3
TERMS = 200
"""Of the sum of a tail: later ones are far below what is compared."""

Trait = tuple[str, str]


def evidence_class(finding: FleetFinding) -> str:
    """Give the finding's evidence without its numbers and names."""
    texts = [NUMBERS.sub("#", one.found.replace(finding.where, "#")) for one in finding.evidence]
    return "; ".join(dict.fromkeys(texts))


def find_causes(hosts: Sequence[FleetHost], titles: Mapping[str, str]) -> tuple[Cause, ...]:
    """Give the causes, those of most hosts first, then the most expensive.

    `titles`: of each rule. Hosts without an answer count neither as affected nor as well. What
    ends with another finding on each of its hosts is no cause of its own.
    """
    judged = [host for host in hosts if host.is_judged]
    having = traits_of(judged)
    groups: dict[tuple[str, str], dict[str, list[FleetFinding]]] = {}
    for host in judged:
        for finding in host.findings:
            key = (finding.rule, evidence_class(finding))
            groups.setdefault(key, {}).setdefault(host.name, []).append(finding)
    causes = [
        _cause(names, common, found, titles)
        for found in groups.values()
        if not all(one.ends_with for some in found.values() for one in some)
        for names, common in split_by_trait(set(found), having, len(judged))
    ]
    return tuple(sorted(causes, key=_rank))


def traits_of(hosts: Iterable[FleetHost]) -> dict[Trait, set[str]]:
    """Give the names of the hosts that have each trait."""
    having: dict[Trait, set[str]] = {}
    for host in hosts:
        for trait, values in host.traits.items():
            for value in values:
                having.setdefault((trait, value), set()).add(host.name)
    return having


def _rank(cause: Cause) -> tuple[int, float, int, str, tuple[str, ...]]:
    severity = list(Severity).index(cause.severity)
    return -len(cause.hosts), -cause.cost_pps, severity, cause.rule, cause.hosts


def in_common(affected: set[str], having: Mapping[Trait, set[str]], of: int) -> tuple[Common, ...]:
    """Give what most of these hosts share by more than chance, and what the same ones share too."""
    return next(common for _, common in split_by_trait(affected, having, of))


def split_by_trait(
    affected: set[str], having: Mapping[Trait, set[str]], of: int
) -> Iterator[tuple[set[str], tuple[Common, ...]]]:
    """Cut a group of findings by what its hosts share, the largest part first."""
    shared = {
        trait: common
        for trait, names in having.items()
        if (common := _common(trait, names, affected, of, len(having))) is not None
    }
    left = set(affected)
    while left:
        parts = {trait: having[trait] & left for trait in shared}
        parts = {trait: names for trait, names in parts.items() if len(names) >= FEW}
        if not parts:
            yield left, ()
            return
        best = max(parts, key=lambda t: (len(parts[t]), -shared[t].having, -shared[t].p, t))
        # What the same hosts share besides says as much: the rack's switch.
        alike = [trait for trait in parts if parts[trait] == parts[best]]
        ranked = sorted(alike, key=lambda t: (shared[t].having, shared[t].p, t))
        yield parts[best], tuple(shared[trait] for trait in ranked)
        left -= parts[best]


def _common(
    trait: Trait, names: set[str], affected: set[str], of: int, compared: int
) -> Common | None:
    """Give what is shared, where it is by more than chance; None: it is not."""
    hit, size = len(names & affected), len(names)
    if hit < FEW or size == of or hit < SHARE * size:
        return None
    p = min(1.0, compared * tail(of, len(affected), size, hit))
    if p > MOST_P:
        return None
    return Common(
        trait=trait[0],
        value=trait[1],
        affected=hit,
        having=size,
        elsewhere=len(affected) - hit,
        others=of - size,
        p=p,
    )


def tail(of: int, affected: int, drawn: int, hit: int) -> float:
    """Give the chance of `hit` or more affected among `drawn` of `of` hosts, if drawn by chance.

    The upper tail of the hypergeometric distribution (Fisher's exact test, one-sided).
    """
    whole = _choose(of, drawn)
    last = min(affected, drawn, hit + TERMS)
    return min(
        1.0,
        sum(
            exp(_choose(affected, k) + _choose(of - affected, drawn - k) - whole)
            for k in range(hit, last + 1)
            if drawn - k <= of - affected
        ),
    )


def _choose(n: int, k: int) -> float:
    """Give the logarithm of the number of ways."""
    return lgamma(n + 1) - lgamma(k + 1) - lgamma(n - k + 1)


def _cause(
    names: Iterable[str],
    common: tuple[Common, ...],
    found: Mapping[str, list[FleetFinding]],
    titles: Mapping[str, str],
) -> Cause:
    hosts = tuple(sorted(names))
    first = found[hosts[0]][0]
    worst = min((one.severity for name in hosts for one in found[name]), key=list(Severity).index)
    return Cause(
        rule=first.rule,
        title=titles.get(first.rule, first.rule),
        severity=worst,
        hosts=hosts,
        example=first,
        common=common,
        cost_pps=sum(max(one.cost_pps for one in found[name]) for name in hosts),
    )
