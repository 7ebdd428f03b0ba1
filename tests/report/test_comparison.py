"""Approaches side by side: each has its rows, and what is not shown is named with its reason."""

import csv
import io
from dataclasses import replace

import pytest

from wirespeed.model.network_trial import HostCpu
from wirespeed.model.proof import Compared
from wirespeed.model.spec import Approach, Spec
from wirespeed.report.comparison import (
    COMPARABLE,
    FEATURES,
    Comparison,
    NotShown,
    answers_grid,
    costs_grid,
    side_by_side_grid,
)
from wirespeed.report.comparison_html import render_comparison_html
from wirespeed.report.comparison_markdown import render_comparison_markdown
from wirespeed.report.proof_csv import render_proof_csv
from wirespeed.report.proof_page import Proof

from .pages import PageReader
from .proofs import PAIR, difference, iperf3, proof

HOSTILE = "<script>alert(1)</script>"


def by(approach: Approach, sent_gbps: float, **cores: float) -> Proof:
    """A proof whose one iperf3 run has these figures, and cores that were busy."""
    whole = proof()
    spec = Spec.model_validate({**whole.opening.spec.model_dump(), "approach": approach})
    opening = whole.opening.model_copy(update={"spec": spec})
    others = tuple(trial for trial in whole.trials if trial.kind != "iperf3")
    busy = tuple(HostCpu(host=host, busy_cores=used, cores=8) for host, used in cores.items())
    run = iperf3(1, sent_gbps, sent_gbps, host_cpu=busy)
    return replace(whole, opening=opening, trials=(run, *others))


COMPARISON = Comparison(
    "two-hosts.yaml",
    (
        by(Approach.LEGACY_VLAN, 40.0, alpha=2.0, beta=4.0),
        NotShown(Approach.OVS_DPDK, "spec.no_dpdk", f"no {HOSTILE}", "apt install it"),
        by(Approach.OVS_TC, 10.0, alpha=4.0, beta=4.0),
    ),
)


def row_of(grid_rows: tuple[tuple[object, ...], ...], start: str) -> list[str]:
    (row,) = ([cell.text for cell in row] for row in grid_rows if row[0].text.startswith(start))
    return row


def test_each_approach_has_its_row_in_the_published_table_and_the_published_ones_stand_below():
    rows = side_by_side_grid(COMPARISON).rows
    pair = f"{PAIR.client} and {PAIR.server} in {PAIR.network}"
    assert row_of(rows, f"legacy-vlan: {pair}")[2] == "40.0"
    assert row_of(rows, f"ovs-tc: {pair}")[2] == "10.0"
    assert [row[0].text for row in rows[-3:]] == [
        "published: legacy + VLAN", "published: ovs/dpdk + VXLAN", "published: ovs/tc + VXLAN",
    ]  # fmt: skip


def test_cores_for_each_gbps_are_of_all_bits_that_went_through_a_host():
    rows = costs_grid(COMPARISON).rows
    # 40 Gb/s each way: 80 of 2 cores; 10 each way: 20 of 4.
    assert [cell.text for cell in rows[0][:4]] == ["legacy-vlan", "alpha", "0.025", "0.025"]
    assert [cell.text for cell in rows[2][:4]] == ["ovs-tc", "alpha", "0.20", "0.20"]


def test_questions_stand_side_by_side_and_what_is_not_proven_is_marked():
    changed = replace(
        COMPARISON.proofs[1], undone=Compared(compared=9, differences=(difference(),))
    )
    grid = answers_grid(Comparison("x", (COMPARISON.proofs[0], changed)))
    assert [column.heading for column in grid.columns] == ["", "legacy-vlan", "ovs-tc"]
    (undo,) = (row for row in grid.rows if row[0].text == "Undo")
    assert [cell.tone for cell in undo[1:]] == ["plain", "alarm"]
    assert grid.rows[0][1].text == "Proven"
    assert grid.rows[0][2].text == "Not proven: undo"


def test_the_page_names_what_is_not_shown_and_no_text_of_a_host_is_markup():
    page = render_comparison_html(COMPARISON)
    assert "script" not in PageReader(page).tags
    assert HOSTILE not in page
    assert "spec.no_dpdk" in page
    assert "not shown" in page
    markdown = render_comparison_markdown(COMPARISON)
    assert "**ovs-dpdk: not shown**" in markdown
    assert HOSTILE not in markdown


def test_the_csv_has_every_approach_and_the_published_rows_once():
    rows = list(csv.DictReader(io.StringIO(render_proof_csv(*COMPARISON.proofs))))
    own = {row["approach"] for row in rows if row["source"] == "this run"}
    assert own == {"legacy-vlan", "ovs-tc"}
    published = [row for row in rows if row["source"].startswith("published")]
    assert len(published) == 3 * 5


@pytest.mark.parametrize("feature", [name for name, _ in FEATURES])
def test_every_approach_has_a_word_on_every_feature(feature: str):
    assert set(dict(FEATURES)[feature]) == set(COMPARABLE)


def test_nothing_that_was_shown_is_a_page_too():
    nothing = Comparison("x", (COMPARISON.not_shown[0],))
    assert "Nothing was measured" in render_comparison_html(nothing)
    assert answers_grid(nothing).rows == ()
