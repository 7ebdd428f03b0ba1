"""Reads a rendered page back: its tables, links and text, by the standard library's parser."""

from html.parser import HTMLParser

from wirespeed.report.document_html import render_html
from wirespeed.report.document_markdown import render_markdown
from wirespeed.report.page import Page
from wirespeed.report.page_document import page_document


def html_of(page: Page) -> str:
    """A measurement's page."""
    return render_html(page_document(page))


def markdown_of(page: Page) -> str:
    """The same as Markdown."""
    return render_markdown(page_document(page))


class PageReader(HTMLParser):
    """What a browser would load from elsewhere, and what a reader would see in the tables."""

    def __init__(self, html: str) -> None:
        super().__init__(convert_charrefs=True)
        self.links: list[tuple[str, str, str]] = []
        self.tags: list[str] = []
        self.ids: list[str] = []
        self.tables: list[list[list[str]]] = []
        self.titles: list[str] = []
        self.text = ""
        self._open: list[str] = []
        self.feed(html)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self._open.append(tag)
        for key, value in attrs:
            if key in ("src", "href", "xlink:href", "srcset", "data", "action", "poster"):
                self.links.append((tag, key, value or ""))
            if key == "id":
                self.ids.append(value or "")
        if tag == "table":
            self.tables.append([])
        elif tag == "tr":
            self.tables[-1].append([])
        elif tag in ("td", "th"):
            self.tables[-1][-1].append("")
        elif tag == "title":
            self.titles.append("")

    def handle_endtag(self, tag: str) -> None:
        if tag in self._open:
            while self._open.pop() != tag:
                pass

    def handle_data(self, data: str) -> None:
        if "style" in self._open or "script" in self._open:
            return
        self.text += data
        # A note's number is no part of the figure that it explains.
        if ("td" in self._open or "th" in self._open) and "sup" not in self._open:
            self.tables[-1][-1][-1] += data
        elif "title" in self._open:
            self.titles[-1] += data

    def table(self, *headings: str) -> list[dict[str, str]]:
        """Rows of every table that has all these headings."""
        return [
            dict(zip(table[0], row, strict=True))
            for table in self.tables
            if set(headings) <= set(table[0])
            for row in table[1:]
        ]
