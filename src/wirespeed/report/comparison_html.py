"""Approaches side by side as one HTML file that opens offline."""

from wirespeed.report import comparison_paths as paths
from wirespeed.report import comparison_tables as tables
from wirespeed.report.comparison import EMULATED_SAYS, Comparison
from wirespeed.report.comparison_choice import choose
from wirespeed.report.environment import make_environment
from wirespeed.report.proof_answer import is_proven, verdict
from wirespeed.report.proof_tables import harmless


def render_comparison_html(comparison: Comparison) -> str:
    """`report.html`."""
    environment = make_environment()
    environment.globals.update(
        tables=tables,
        paths=paths,
        harmless=harmless,
        verdict=verdict,
        is_proven=is_proven,
        emulated_says=EMULATED_SAYS,
    )
    template = environment.get_template("comparison.html.j2")
    return template.render(comparison=comparison, choice=choose(comparison))
