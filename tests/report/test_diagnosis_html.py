"""The answer as a page: the same content, offline, and text from a host never markup."""

import re

import pytest

from wirespeed.model.finding import Unanswered
from wirespeed.report.diagnosis_document import diagnosis_document
from wirespeed.report.document_html import render_html

from .diagnoses import HOSTILE, ceilings, diagnosis, filled_with, finding, ledger, verdict
from .pages import PageReader


def page() -> str:
    answer = diagnosis(
        finding(),
        verdicts=(
            verdict(),
            verdict(rule="irq.one_cpu", outcome="absent", reason=""),
            verdict(rule="wsl.nat", outcome="does not apply", reason="no WSL"),
        ),
        warnings=("the capture was cut off",),
        about=(("kernel", "Linux 6.1"),),
    )
    silent = Unanswered(host="beta", what="ssh.unreachable", found="no route", next="try a ping")
    return render_html(diagnosis_document([answer, silent]))


def test_the_page_says_what_the_terminal_says():
    text = " ".join(PageReader(page()).text.split())
    for words in (
        "alpha: enp59s0 reaches at most 52.0 of 98.1 Gb/s", "Linux 6.1",
        "1518-byte frames, for dpdk",
        "enp59s0 carries at most 52.0 to 58.0 Gb/s, bound by pcie 0000:3b:00.0",
        "pcie.width_below_capability", "x4 now; the slot can do x16",
        "cat /sys/bus/pci/devices/0000:3b:00.0/current_link_width",
        "the link moves 4/16 of what the card could",
        "costs 46.1 Gb/s (52.0 -> 98.1, then bound by ethernet)",
        "train the link anew", "drops the link", "echo 1 | tee /sys/bus/pci/rescan",
        "1 condition could not be determined", "ethtool -g enp59s0", "irq.one_cpu", "wsl.nat",
        "no WSL", "the capture was cut off", "lanes x speed", "52.0 to 58.0",
        "beta: no answer", "ssh.unreachable: no route", "try a ping",
    ):  # fmt: skip
        assert words in text, words


def test_hosts_stand_by_their_rank():
    html = render_html(
        diagnosis_document([diagnosis(host="good"), diagnosis(finding(), host="dear")])
    )
    assert html.index("<h2>dear: enp59s0 reaches") < html.index("<h2>good: nothing wrong")


def test_the_bar_of_what_bounds_stands_out_and_one_far_above_is_cut():
    ceilings_now = (*ledger().ceilings, *ceilings("cores", 900, 900))
    answer = diagnosis(ledgers=(ledger().model_copy(update={"ceilings": ceilings_now}),))
    html = render_html(diagnosis_document([answer]))
    rows = re.findall(r"<g><title>(.*?)</title>(.*?)</g>", html)
    assert [(title, "bound" in row, "▶" in row) for title, row in rows] == [
        ("ethernet: 100.0 Gb/s", False, False),
        ("pcie 0000:3b:00.0: 52.0 to 58.0 Gb/s, bounds the path", True, False),
        ("cores: 900.0 Gb/s", False, True),
    ]


def test_the_page_loads_nothing_and_runs_nothing():
    html = page()
    reader = PageReader(html)
    assert {href[1:] for _, _, href in reader.links} <= set(reader.ids)
    assert not {"script", "link", "img", "iframe", "object", "embed", "base"} & set(reader.tags)
    assert not re.search(r"url\(|@import|https?:", html)


@pytest.mark.parametrize("hostile", HOSTILE, ids=range(len(HOSTILE)))
def test_whatever_a_host_printed_is_text(hostile: str):
    html = render_html(diagnosis_document([filled_with(hostile)]))
    reader = PageReader(html)
    assert not {"script", "img"} & set(reader.tags)
    assert all(c.isprintable() or c == "\n" for c in html)
    assert "49" not in reader.text.partition("of wire time")[0] or "7 * 7" not in hostile
    assert len(html) < 200_000
