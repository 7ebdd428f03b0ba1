"""A document as one HTML file that opens offline: no font, script or image from elsewhere."""

from importlib.resources import files

from jinja2 import Environment, FunctionLoader, StrictUndefined

from wirespeed.model.shown import shown
from wirespeed.report.document import MOST_CHARACTERS, Document


def render_html(document: Document) -> str:
    """Render it by the one template of all pages, which is installed beside this file.

    Autoescape is on for every string; charts are Markup, whose builder escapes its parts.
    """
    environment = Environment(
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        loader=FunctionLoader(_template),
    )
    environment.filters["shown"] = lambda text: shown(text, MOST_CHARACTERS)
    environment.globals["kind_of"] = lambda block: type(block).__name__
    return environment.get_template("page.html.j2").render(page=document)


def _template(name: str) -> str:
    folder = files("wirespeed.report").joinpath("templates")
    return folder.joinpath(name).read_text(encoding="utf-8")
