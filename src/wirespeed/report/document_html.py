"""A document as one HTML file that opens offline: no font, script or image from elsewhere."""

from wirespeed.report.document import Document
from wirespeed.report.environment import make_environment


def render_html(document: Document) -> str:
    """Render it by the one template of all pages, which is installed beside this file."""
    environment = make_environment()
    environment.globals["kind_of"] = lambda block: type(block).__name__
    return environment.get_template("page.html.j2").render(page=document)
