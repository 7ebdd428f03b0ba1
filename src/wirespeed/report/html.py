"""The page as one HTML file that opens offline: no font, script or image from elsewhere."""

from wirespeed.model.finding import Diagnosis
from wirespeed.report import format as fmt
from wirespeed.report import words
from wirespeed.report.charts import latency, searches, throughput
from wirespeed.report.charts.chosen import DRAWN_REPEATS
from wirespeed.report.environment import make_environment
from wirespeed.report.page import Page
from wirespeed.report.tables.comparison import comparison_grids
from wirespeed.report.tables.of_dut import account_grids, answer_grids
from wirespeed.report.tables.rows import named, unfinished_name
from wirespeed.report.tables.setup import setup_grids
from wirespeed.report.tables.trials import trials_grid

UNFOLDED_CHARTS = 14
"""Two DUTs at the seven sizes of RFC 2544. Searches that are more than this are folded away."""


def render_html(page: Page) -> str:
    """`report.html`. Reads the template that is installed beside this file."""
    environment = make_environment()
    environment.globals.update(
        words=words,
        is_answer=lambda answer: isinstance(answer, Diagnosis),
        fmt=fmt,
        draw_throughput=throughput.throughput,
        draw_comparison=throughput.compared,
        draw_latency=latency.latency,
        drawn_repeats=DRAWN_REPEATS,
        unfolded_charts=UNFOLDED_CHARTS,
        draw_searches=searches.searches,
        answer_grids=answer_grids,
        account_grids=account_grids,
        comparison_grids=comparison_grids,
        setup_grids=setup_grids,
        trials_grid=trials_grid,
        named=named,
        unfinished_name=unfinished_name,
    )
    return environment.get_template("report.html.j2").render(page=page)
