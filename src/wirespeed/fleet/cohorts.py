"""Each host beside those with the same cards and role: in which settings do few differ? Pure."""

from collections import Counter
from collections.abc import Mapping, Sequence

from wirespeed.fleet.records import Difference, FleetHost, Outlier

SMALLEST = 5
"""Hosts of a cohort that know a setting: of fewer, none is usual."""
USUAL = 0.9
"""Of a cohort, so many have the usual value; in a small one, all but one."""


def cohort_of(host: FleetHost) -> str:
    """Name the cohort: cards, and the role where the inventory has one."""
    cards = ", ".join(host.traits.get("card", ("cards unknown",)))
    role = ", ".join(host.traits.get("role", ()))
    return f"{cards}; {role}" if role else cards


def find_outliers(
    hosts: Sequence[FleetHost], profiles: Mapping[str, Mapping[str, str]]
) -> tuple[Outlier, ...]:
    """Give the hosts that differ from their cohort; those that differ alike stand together."""
    cohorts: dict[str, list[FleetHost]] = {}
    for host in hosts:
        if host.is_judged and host.profile:
            cohorts.setdefault(cohort_of(host), []).append(host)
    found = [
        one
        for name, members in sorted(cohorts.items())
        if len(members) >= SMALLEST
        for one in _outliers(name, members, profiles)
    ]
    return tuple(sorted(found, key=lambda one: (len(one.hosts), one.cohort, one.hosts)))


def _outliers(
    cohort: str, members: Sequence[FleetHost], profiles: Mapping[str, Mapping[str, str]]
) -> list[Outlier]:
    held = Counter(host.profile for host in members)
    usual = _usual(held, profiles)
    by_profile = {
        profile: tuple(
            Difference(setting=name, value=value, usual=usual[name])
            for name, value in sorted(profiles[profile].items())
            if name in usual and value != usual[name]
        )
        for profile in held
    }
    alike: dict[tuple[Difference, ...], list[str]] = {}
    for host in members:
        if different := by_profile[host.profile]:
            alike.setdefault(different, []).append(host.name)
    return [
        Outlier(cohort=cohort, of=len(members), hosts=tuple(sorted(names)), differences=different)
        for different, names in alike.items()
    ]


def _usual(held: Counter[str], profiles: Mapping[str, Mapping[str, str]]) -> dict[str, str]:
    """Give the value of each setting that nearly all have."""
    values: dict[str, Counter[str]] = {}
    for profile, count in held.items():
        for name, value in profiles[profile].items():
            values.setdefault(name, Counter())[value] += count
    usual = {}
    for name, counts in values.items():
        value, count = counts.most_common(1)[0]
        total = counts.total()
        if total >= SMALLEST and (count >= USUAL * total or total - count == 1):
            usual[name] = value
    return usual
