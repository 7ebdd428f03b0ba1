"""Approaches side by side as Markdown, to be read in a terminal of 80 columns.

Tables that would be wider are turned, or become lists: one item for each approach.
"""

from wirespeed.model.shown import shown
from wirespeed.report import comparison_paths as paths
from wirespeed.report import comparison_tables as tables
from wirespeed.report.comparison import EMULATED_SAYS, Comparison
from wirespeed.report.comparison_choice import choose
from wirespeed.report.grid import Grid
from wirespeed.report.markdown import escape, grid_markdown
from wirespeed.report.proof_answer import verdict
from wirespeed.report.proof_tables import harmless, turned

NOTHING = "—"


def render_comparison_markdown(comparison: Comparison) -> str:
    """`report.md`."""
    choice = choose(comparison)
    blocks = [f"# {escape(shown(comparison.spec_name))}: approaches side by side"]
    blocks.append(f"**{escape(choice.headline)}**")
    if choice.reasons:
        blocks.append("\n".join(f"- {escape(shown(reason, 400))}" for reason in choice.reasons))
    lines = [f"- {p.opening.spec.approach}: **{escape(verdict(p))}**" for p in comparison.proofs]
    lines += [
        f"- {one.approach}: **not shown**, {escape(shown(f'{one.what}: {one.found}', 400))}"
        for one in comparison.not_shown
    ]
    blocks.append("\n".join(lines))
    if comparison.emulated:
        hosts = ", ".join(comparison.emulated)
        blocks.append(f"> Emulated hosts ({escape(hosts)}): {EMULATED_SAYS}")
    blocks.append("## Throughput and round trip")
    pairs = tables.pairs_of(comparison)
    blocks += [_table(turned(tables.pair_grid(comparison, pair))) for pair in pairs]
    blocks.append(_table(turned(tables.published_grid())))
    blocks.append(_list(tables.cells_grid(comparison)))
    blocks += ["## What it costs", _list(tables.costs_grid(comparison))]
    blocks += ["## What is proven", _list(tables.answers_grid(comparison))]
    blocks.append("## RFC 2544")
    blocks.append(_table(turned(paths.ceilings_grid(comparison))))
    blocks.append(_list(paths.rfc2544_grid(comparison)))
    blocks.append("## Which one to take")
    blocks += [_list(turned(tables.when_grid(comparison))), _list(tables.features_grid(comparison))]
    return "\n\n".join(blocks) + "\n"


def _table(grid: Grid) -> str:
    return grid_markdown(harmless(grid)) if grid.rows else f"**{escape(grid.title)}**: nothing."


def _list(grid: Grid) -> str:
    """Give each row as a paragraph with an item for each column."""
    if not grid.rows:
        return _table(grid)
    safe = harmless(grid)
    caption = f": {escape(safe.caption)}" if safe.caption else ""
    blocks = [f"**{escape(safe.title)}**{caption}"]
    for row in safe.rows:
        items = zip(safe.columns[1:], row[1:], strict=True)
        lines = [
            f"- {escape(column.heading)}: {escape(cell.text)}"
            for column, cell in items
            if cell.text != NOTHING
        ]
        blocks.append("\n".join([f"{escape(row[0].text)}:", "", *lines]))
    return "\n\n".join(blocks)
