"""The page as one HTML file that opens offline: no font, script or image from elsewhere."""

from importlib.resources import files

from jinja2 import Environment, StrictUndefined

from wirespeed.report import charts, tables, words
from wirespeed.report import format as fmt
from wirespeed.report.page import Page
from wirespeed.report.run_tables import comparison_grids, setup_grids


def render_html(page: Page) -> str:
    """`report.html`. Reads the template that is installed beside this file."""
    # Autoescape is on for every string; charts return Markup, whose builder escapes its parts.
    environment = Environment(
        autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    environment.globals.update(
        charts=charts,
        words=words,
        fmt=fmt,
        tables=tables,
        setup_grids=setup_grids,
        comparison_grids=comparison_grids,
    )
    source = files("wirespeed.report").joinpath("templates").joinpath("report.html.j2")
    template = environment.from_string(source.read_text(encoding="utf-8"))
    return template.render(page=page)
