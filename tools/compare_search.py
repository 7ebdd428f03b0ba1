"""Print the comparison of the searches on simulated DUTs as Markdown, and whether the goal is met.

.venv/bin/python tools/compare_search.py [--all]

Without `--all`: the searches as `wirespeed measure` has them, and rfc2544 at informed's width.
"""

import sys

from wirespeed.measure.search.compare import CONTENDERS, INFORMED, compare, goal_checks, rows


def percent(ratio: float | None) -> str:
    """Per cent with three decimals; a dash where there is no figure."""
    return "-" if ratio is None else f"{100 * ratio:.3f}"


ALL = "--all" in sys.argv[1:]
MAIN = ("rfc2544, 0.1 %", "mlrsearch", "informed")
contenders = [c for c in CONTENDERS if ALL or c.name in MAIN]
attempts = compare(contenders=contenders)
print(
    "| DUT | search | width % | proven | floor seen | trials, median (min to max) | seconds "
    "| error %, median | worst | spread |"
)
print("|---|---|---|---|---|---|---|---|---|---|")
for row in rows(attempts):
    print(
        f"| {row.dut} | {row.contender} | {100 * row.relative_width:g} "
        f"| {row.proven}/{row.searches} | {row.floors} "
        f"| {row.trials_median:g} ({row.trials_min} to {row.trials_max}) "
        f"| {row.seconds_median:.0f} | {percent(row.error_median)} | {percent(row.error_worst)} "
        f"| {percent(row.error_spread)} |"
    )
print()
print("| DUT | informed against | trial ratio, median (min to max) | error no larger | goal met |")
print("|---|---|---|---|---|")
for check in goal_checks(attempts, [c.name for c in contenders if c != INFORMED]):
    print(
        f"| {check.dut} | {check.against} | {check.ratio_median:.2f} "
        f"({check.ratio_min:.2f} to {check.ratio_max:.2f}) "
        f"| {'yes' if check.error_no_larger else 'no'} | {'yes' if check.met else 'no'} |"
    )
