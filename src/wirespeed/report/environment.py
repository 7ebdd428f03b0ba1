"""The template engine as every page uses it: escaping on, undefined names refused."""

from importlib.resources import files

from jinja2 import Environment, FunctionLoader, StrictUndefined

from wirespeed.model.shown import shown
from wirespeed.report import diagnosis_view
from wirespeed.report.charts.ledger import ledger_chart
from wirespeed.report.load_text import LoadUnit

MOST_CHARACTERS, COMMAND_CHARACTERS = 4000, 4000


def make_environment() -> Environment:
    """Make one that reads the templates installed beside this file.

    Autoescape is on for every string; charts return Markup, whose builder escapes its parts.
    """
    environment = Environment(
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        loader=FunctionLoader(_template),
    )
    environment.filters["shown"] = lambda text: shown(text, MOST_CHARACTERS)
    environment.filters["safe_text"] = shown
    environment.filters["safe_command"] = lambda line: shown(line, COMMAND_CHARACTERS)
    environment.globals.update(view=diagnosis_view, load_unit=LoadUnit, draw_ledger=ledger_chart)
    return environment


def _template(name: str) -> str:
    folder = files("wirespeed.report").joinpath("templates")
    return folder.joinpath(name).read_text(encoding="utf-8")
