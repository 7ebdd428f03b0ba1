"""Which results of a DUT are drawn: all, or the median one where there would be too many."""

from wirespeed.report.headline import median_search
from wirespeed.report.page import DutSection, Result
from wirespeed.report.tables.rows import key, named

DRAWN_REPEATS = 3
"""A size that was searched more often than this is drawn once, by its median search."""


def chosen(dut: DutSection) -> list[tuple[str, Result]]:
    """Each result to draw with its name."""
    groups: dict[tuple[str, str], list[tuple[str, Result]]] = {}
    for name, result in named(dut):
        groups.setdefault(key(result.outcome), []).append((name, result))
    made = []
    for group in groups.values():
        if len(group) <= DRAWN_REPEATS:
            made += group
            continue
        median = median_search([r.outcome for _, r in group])
        which = "the last" if median.throughput_pps is None else "the median"
        made += [(f"{name}: {which}", r) for name, r in group if r.outcome is median]
    return made
