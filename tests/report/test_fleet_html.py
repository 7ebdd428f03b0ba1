"""The page of a fleet in a real browser: search, filter, one host, print; 10,000 hosts."""

import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from fleets import TITLES, finding, host, rack_of
from playwright.sync_api import Browser, Page, expect, sync_playwright

from wirespeed.fleet.causes import find_causes
from wirespeed.fleet.cohorts import find_outliers
from wirespeed.fleet.records import Fleet, FleetHost, HostState
from wirespeed.model.question import Question
from wirespeed.report.fleet_html import fleet_page

HOSTILE = "<img src=x onerror=alert(1)></script><script>document.title='owned'</script>"
MOST_BYTES = 20_000_000


def fleet(count: int) -> Fleet:
    hosts = [
        host(
            f"n{i:05}",
            [finding(cost_pps=1e6)] if rack_of(i) == "r01" else [],
            {"rack": rack_of(i), "card": "2 x ConnectX-5", "kernel": f"6.{i % 3}.0"},
            "odd" if i == 7 else "usual",
        )
        for i in range(count)
    ]
    bad = finding(rule="link.down", found=HOSTILE, cost_pps=1e12)
    bad = bad.model_copy(update={"where": HOSTILE})
    hosts.append(host(HOSTILE, [bad], {"rack": HOSTILE}))
    hosts.append(
        FleetHost(
            name="gone", reach="ssh://gone", state=HostState.NOT_REACHED, what="ssh.refused",
            found="no one listens", next="start sshd there",
        )
    )  # fmt: skip
    profiles = {"usual": {"port 0 mtu": "9000"}, "odd": {"port 0 mtu": "1500"}}
    return Fleet(
        at="2026-01-01T00:00:00.000+00:00",
        source="hosts.ini",
        question=Question(),
        hosts=tuple(hosts),
        profiles=profiles,
        causes=find_causes(hosts, TITLES),
        outliers=find_outliers(hosts, profiles),
    )


@pytest.fixture(name="browser", scope="module")
def _browser() -> Iterator[Browser]:
    program = shutil.which("chromium")
    assert program, "no Chromium: scripts/install-system.sh test installs it"
    with sync_playwright() as playwright:
        # As root it has no sandbox; the page is one of ours, and loads nothing.
        browser = playwright.chromium.launch(executable_path=program, args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture(name="page")
def _page(browser: Browser, tmp_path: Path) -> Iterator[Page]:
    (tmp_path / "fleet.html").write_text(fleet_page(fleet(100), TITLES))
    page = browser.new_page()
    page.set_default_timeout(20_000)
    said: list[str] = []
    page.on("console", lambda message: said.append(message.text))
    page.on("pageerror", lambda error: said.append(str(error)))
    page.on("dialog", lambda dialog: (said.append("dialog"), dialog.dismiss()))
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.goto((tmp_path / "fleet.html").as_uri())
    page.wait_for_selector("html[data-ready=yes]", state="attached")
    yield page
    page.close()
    assert said == []
    assert len(asked) == 1


def names(page: Page) -> list[str]:
    return page.locator("#list tbody th").all_inner_texts()


def test_a_search_finds_hosts_by_name_rack_and_rule(page: Page):
    assert page.locator("#count").inner_text() == "102 of 102 hosts"
    page.fill("#search", "n0004")
    expect(page.locator("#list tbody tr")).to_have_count(10)
    assert names(page) == [f"n{i:05}" for i in range(40, 50)]
    page.fill("#search", "R03 6.1.0")
    expect(page.locator("#count")).to_have_text("7 of 102 hosts")
    assert names(page) == [f"n{i:05}" for i in range(60, 80) if i % 3 == 1]
    page.fill("#search", "link.down")
    expect(page.locator("#list tbody tr")).to_have_count(1)
    assert names(page) == [HOSTILE]


def test_filters_by_state_cause_and_place(page: Page):
    page.select_option("#state", label="not reached")
    assert names(page) == ["gone"]
    page.select_option("#state", label="every state")
    page.select_option("#cause", label="1. FEC off (20)")
    assert names(page) == [f"n{i:05}" for i in range(20, 40)]
    page.select_option("#cause", label="every cause")
    page.select_option("#place", label="r02")
    assert names(page) == [f"n{i:05}" for i in range(40, 60)]
    assert page.locator("#map a:not(.off)").count() == 20


def test_causes_are_by_hosts_or_by_price(page: Page):
    heads = page.locator("#causes h3")
    by_hosts = heads.all_inner_texts()
    assert [head.partition(":")[0] for head in by_hosts] == ["1. FEC off", "2. Link down"]
    page.select_option("#order", label="highest price first")
    assert heads.all_inner_texts() == by_hosts[::-1]
    page.select_option("#order", label="most hosts first")
    assert heads.all_inner_texts() == by_hosts


def test_a_host_opens_with_its_own_answer(page: Page):
    page.click("#list a:text-is('n00021')")
    card = page.locator("#host")
    # The page hears of its new address a moment after the click.
    expect(card).to_be_visible()
    text = card.inner_text()
    assert "n00021: with findings" in text
    assert "FEC off: eth0" in text
    assert "ethtool --set-fec eth0 encoding rs" in text
    assert "rack: r01" in text
    page.goto(page.url.partition("#")[0] + "#host=n00007")
    expect(card).to_contain_text("n00007: well")
    assert "port 0 mtu: 1500; the others 9000" in card.inner_text()
    page.click("#host button:text-is('Close')")
    expect(card).to_be_hidden()


def test_what_a_host_printed_stays_text(page: Page):
    page.fill("#search", "onerror")
    expect(page.locator("#list tbody tr")).to_have_count(1)
    page.click("#list a")
    assert HOSTILE in page.locator("#host h3").inner_text()
    assert page.locator("img").count() == 0
    assert "102 hosts" in page.title()


def test_print_shows_the_open_host_alone(page: Page):
    page.emulate_media(media="print")
    assert page.locator("#causes").is_visible()
    assert page.locator("#filters").is_hidden()
    page.goto(page.url + "#host=n00021")
    expect(page.locator("#host")).to_be_visible()
    for hidden in ("header", "#causes", "#list", "#map", "footer"):
        assert page.locator(hidden).is_hidden(), hidden
    assert page.pdf().startswith(b"%PDF")


def test_without_its_script_causes_and_outliers_can_be_read(browser: Browser, tmp_path: Path):
    (tmp_path / "fleet.html").write_text(fleet_page(fleet(100), TITLES))
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto((tmp_path / "fleet.html").as_uri())
    text = page.locator("main").inner_text()
    assert "1. FEC off: 20 hosts" in text
    assert "rack r01 (20 of its 20 hosts" in text
    assert "port 0 mtu" in text
    context.close()


def test_ten_thousand_hosts_are_below_20_mb_and_open(browser: Browser, tmp_path: Path):
    text = fleet_page(fleet(10_000), TITLES)
    assert len(text.encode()) < MOST_BYTES
    assert not re.search(r"(?:src|href)=\"(?!#)", text)
    (tmp_path / "fleet.html").write_text(text)
    page = browser.new_page()
    page.goto((tmp_path / "fleet.html").as_uri())
    page.wait_for_selector("html[data-ready=yes]", state="attached", timeout=60_000)
    page.fill("#search", "n09999")
    expect(page.locator("#list tbody tr")).to_have_count(1)
    assert names(page) == ["n09999"]
    page.close()
