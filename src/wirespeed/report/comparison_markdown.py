"""Approaches side by side as Markdown, to be read in a terminal of 80 columns."""

from wirespeed.model.shown import shown
from wirespeed.report import comparison as tables
from wirespeed.report.comparison import Comparison
from wirespeed.report.grid import Grid
from wirespeed.report.markdown import escape, grid_markdown
from wirespeed.report.proof_answer import verdict
from wirespeed.report.proof_tables import harmless, turned


def render_comparison_markdown(comparison: Comparison) -> str:
    """`report.md`."""
    blocks = [f"# {escape(shown(comparison.spec_name))}: approaches side by side"]
    lines = [f"- **{p.opening.spec.approach}: {escape(verdict(p))}**" for p in comparison.proofs]
    lines += [
        f"- **{one.approach}: not shown**, {escape(shown(f'{one.what}: {one.found}', 400))}"
        for one in comparison.not_shown
    ]
    blocks.append("\n".join(lines))
    if comparison.emulated:
        hosts = ", ".join(comparison.emulated)
        blocks.append(f"> Emulated hosts ({escape(hosts)}): {tables.EMULATED_SAYS}")
    blocks += [_table(turned(tables.side_by_side_grid(comparison)))]
    blocks += [_table(tables.answers_grid(comparison)), _table(tables.costs_grid(comparison))]
    blocks += [_table(tables.features_grid(comparison))]
    return "\n\n".join(blocks) + "\n"


def _table(grid: Grid) -> str:
    return grid_markdown(harmless(grid)) if grid.rows else f"**{escape(grid.title)}**: nothing."
