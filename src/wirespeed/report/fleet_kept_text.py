"""Runs of a fleet, what changed between two, and whether a figure is worse, in 80 columns. Pure."""

from collections.abc import Iterator, Sequence

from wirespeed.fleet.changes import Changed
from wirespeed.fleet.gate import Gate
from wirespeed.model.shown import shown
from wirespeed.report.fleet_text import NAMES, names_text
from wirespeed.report.text_lines import clip, wrapped

WIDTH = 80
MOST = 20


def change_lines(rows: Sequence[Changed], *, verbose: bool = False) -> Iterator[str]:
    """Give a line for each change, with its hosts."""
    most = len(rows) if verbose else MOST
    for row in rows[:most]:
        names = names_text(row.hosts, len(row.hosts) if verbose else NAMES)
        yield from wrapped(shown(row.what, 400), WIDTH, f"{len(row.hosts):>6}  ", " " * 8)
        yield from wrapped(shown(names, 4096), WIDTH, " " * 10)
    if len(rows) > most:
        yield f"{len(rows) - most} more changes with --verbose"
    if not rows:
        yield "nothing changed"


def gate_lines(name: str, unit: str, gate: Gate, alpha: float) -> Iterator[str]:
    """Say whether the figure is worse, with n, p and the change point."""
    unit = f" {unit}" if unit else ""
    yield clip(f"{gate.verdict.upper()}: {shown(name, 60)}", WIDTH)
    if gate.before_n:
        yield f"  before  n={gate.before_n}, median {gate.before_median:.6g}{unit}"
    yield f"  new     n={gate.new_n}, median {gate.new_median:.6g}{unit}"
    yield f"  p       {gate.p:.3g} (one-sided, by ranks); worse at {alpha:g} or below"
    if gate.verdict == "cannot tell":
        yield f"  so few values reach p = {gate.least_p:.3g} at best: measure more"
    if gate.change is not None:
        one = gate.change
        yield (
            f"  change  most at value {one.after + 1}, kept {one.at[:19]} "
            f"(p about {one.p:.2g}, Pettitt)"
        )
