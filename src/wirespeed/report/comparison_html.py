"""Approaches side by side as one HTML file that opens offline."""

from wirespeed.report import comparison as tables
from wirespeed.report.comparison import Comparison
from wirespeed.report.environment import make_environment
from wirespeed.report.proof_answer import is_proven, verdict
from wirespeed.report.proof_tables import harmless


def render_comparison_html(comparison: Comparison) -> str:
    """`report.html`."""
    environment = make_environment()
    environment.globals.update(
        tables=tables, harmless=harmless, verdict=verdict, is_proven=is_proven
    )
    return environment.get_template("comparison.html.j2").render(comparison=comparison)
