"""A real Chromium opens a page of every family: its policy stops none of its styles and charts."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, sync_playwright

from wirespeed.report.document_html import render_html

from .test_document import FAMILIES, of_every_family

PLANTED = "<img src=x onerror='document.title = \"run\"'>"
"""What the builder of pages escapes; here it stands in one all the same."""


@pytest.fixture(name="browser", scope="module")
def _browser() -> Iterator[Browser]:
    program = shutil.which("chromium")
    assert program, "no Chromium: scripts/install-system.sh test installs it"
    with sync_playwright() as playwright:
        # As root it has no sandbox; the page is one of ours, and loads nothing.
        browser = playwright.chromium.launch(executable_path=program, args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.mark.parametrize("family", FAMILIES)
def test_no_policy_stops_what_a_page_has_of_its_own(browser: Browser, tmp_path: Path, family: str):
    html = render_html(of_every_family()[family])
    (tmp_path / "page.html").write_text(html)
    page = browser.new_page()
    said: list[str] = []
    page.on("console", lambda message: said.append(message.text))
    page.goto((tmp_path / "page.html").as_uri())
    assert said == []
    # A style of the page's own, which no browser has by default.
    assert page.evaluate("getComputedStyle(document.querySelector('main')).maxWidth") != "none"
    charts = page.locator("svg")
    assert charts.count() == html.count("<svg")
    for chart in charts.all():
        box = chart.bounding_box() if chart.is_visible() else {"width": 1}
        assert box and box["width"] > 0
    page.close()


def test_a_page_runs_and_loads_nothing_that_was_planted_in_it(browser: Browser, tmp_path: Path):
    html = render_html(of_every_family()["diagnosis"]).replace("<footer>", f"<footer>{PLANTED}")
    (tmp_path / "page.html").write_text(html)
    (tmp_path / "x").write_text("no picture")
    page = browser.new_page()
    said: list[str] = []
    page.on("console", lambda message: said.append(message.text))
    page.goto((tmp_path / "page.html").as_uri())
    page.wait_for_timeout(200)
    assert page.title() != "run"
    assert len([line for line in said if "Content Security Policy" in line]) >= 1
    page.close()
