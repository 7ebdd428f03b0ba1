"""Approaches side by side: each has its rows, and what is not shown is named with its reason."""

import csv
import io
import re
from dataclasses import replace
from pathlib import Path

import pytest

from wirespeed.apply.spec_file import parse_spec
from wirespeed.model.ceiling import Ledger
from wirespeed.model.network_trial import FailoverVerdict, HostCpu, IdleTrial
from wirespeed.model.proof import Compared
from wirespeed.model.spec.members import read_spec_data
from wirespeed.report.comparison import Comparison, NotShown, Rfc2544
from wirespeed.report.comparison_document import comparison_document
from wirespeed.report.comparison_features import FEATURES, comparable, traits_of
from wirespeed.report.comparison_paths import (
    Link,
    ceilings_grid,
    cell_limit,
    link_of,
    payload_ceiling_bps,
    rfc2544_grid,
)
from wirespeed.report.comparison_tables import (
    answers_grid,
    cells_grid,
    costs_grid,
    pair_grid,
    published_grid,
    when_grid,
)
from wirespeed.report.document_html import render_html
from wirespeed.report.document_markdown import render_markdown
from wirespeed.report.proof_answer import answers
from wirespeed.report.proof_csv import render_proof_csv
from wirespeed.report.proof_page import Proof

from .diagnoses import ceilings, diagnosis
from .pages import PageReader
from .proofs import PAIR, PORTS, SPEC, difference, failover, iperf3, proof
from .records import outcome

HOSTILE = "<script>alert(1)</script>"
UNTAGGED = Path(__file__).parent.parent.parent / "examples/report-test-6-kvm.yaml"


def by(approach: str, sent_gbps: float, **cores: float) -> Proof:
    """A proof whose one iperf3 run has these figures, and cores that were busy."""
    whole = proof()
    spec = read_spec_data({**whole.opening.spec.model_dump(), "approach": approach})
    opening = whole.opening.model_copy(update={"spec": spec})
    others = tuple(trial for trial in whole.trials if trial.kind != "iperf3")
    busy = tuple(HostCpu(host=host, busy_cores=used, cores=8) for host, used in cores.items())
    run = iperf3(1, sent_gbps, sent_gbps, host_cpu=busy)
    return replace(whole, opening=opening, trials=(run, *others))


COMPARISON = Comparison(
    "two-hosts.yaml",
    (
        by("legacy-vlan", 40.0, alpha=2.0, beta=4.0),
        NotShown("ovs-dpdk", "spec.no_dpdk", f"no {HOSTILE}", "apt install it"),
        by("ovs-tc", 10.0, alpha=4.0, beta=4.0),
    ),
    SPEC,
)


def row_of(grid_rows: tuple[tuple[object, ...], ...], start: str) -> list[str]:
    (row,) = ([cell.text for cell in row] for row in grid_rows if row[0].text.startswith(start))
    return row


def test_each_approach_has_its_row_in_the_published_table_also_the_one_that_is_not_shown():
    grid = pair_grid(COMPARISON, PAIR)
    assert row_of(grid.rows, "legacy-vlan")[2] == "40.0"
    assert row_of(grid.rows, "ovs-tc")[2] == "10.0"
    (missing,) = (row for row in grid.rows if row[0].text == "ovs-dpdk")
    notes = {grid.notes[cell.note - 1] for cell in missing[1:] if cell.note}
    assert notes == {f"not measured, because spec.no_dpdk: no {HOSTILE}"}
    assert all(cell.note for cell in missing[1:])


def test_the_published_figures_are_those_of_the_document():
    rows = [[cell.text for cell in row] for row in published_grid().rows]
    # SR-IOV with a ConnectX-5, section Results.
    assert rows == [
        ["legacy + VLAN", "70", "82", "95", "30", "7"],
        ["ovs/dpdk + VXLAN", "61", "85", "96", "32", "3"],
        ["ovs/tc + VXLAN", "83", "86", "96", "28", "5"],
    ]


def test_no_cell_of_any_table_is_empty():
    grids = [
        pair_grid(COMPARISON, PAIR), cells_grid(COMPARISON), costs_grid(COMPARISON),
        answers_grid(COMPARISON), ceilings_grid(COMPARISON), rfc2544_grid(COMPARISON),
        when_grid(COMPARISON),
    ]  # fmt: skip
    for grid in grids:
        assert grid.rows
        for row in grid.rows:
            assert len(row) == len(grid.columns)
            assert all(cell.text for cell in row), (grid.title, row)


def test_cores_for_each_gbps_are_of_all_bits_that_went_through_a_host():
    rows = costs_grid(COMPARISON).rows
    # 40 Gb/s each way: 80 of 2 cores; 10 each way: 20 of 4.
    assert [rows[0][i].text for i in (0, 1, 3)] == ["legacy-vlan", "alpha", "0.025"]
    assert [rows[3][i].text for i in (0, 1, 3)] == ["ovs-tc", "alpha", "0.20"]


def test_a_core_that_polls_is_told_apart_by_what_is_busy_at_rest():
    polls = by("ovs-dpdk", 40.0, alpha=2.0)
    resting = tuple(
        IdleTrial(number=n, cpu=HostCpu(host="alpha", busy_cores=cores, cores=8))
        for n, cores in enumerate((1.0, 1.2, 1.04), 1)
    )
    one = replace(polls, trials=(*resting, *polls.trials))
    (row,) = costs_grid(Comparison("x", (one,), SPEC)).rows
    # 1.04 of a core over 40 Gb/s each way: 0.013 for each Gb/s.
    assert [cell.text for cell in row[:5]] == ["ovs-dpdk", "alpha", "1.0", "0.025", "0.013"]
    table = {r["figure"]: r for r in csv.DictReader(io.StringIO(render_proof_csv(one)))}
    assert (table["cores at rest, alpha"]["median"], table["cores at rest, alpha"]["n"]) == (
        "1.04",
        "3",
    )
    assert table["iperf3/9000/2 cores, alpha"]["median"] == "0.025"


def test_an_outage_stands_with_the_host_whose_port_was_lost():
    rows = costs_grid(COMPARISON).rows
    # Of the made-up proof: 312 ms, and a port that did not matter.
    own = [[cell.text for cell in row[5:]] for row in rows if row[0].text == "ovs-tc"]
    assert own == [["312", "312", "2 of 2"], ["—", "—", "—"]]


def test_a_port_that_did_not_survive_every_time_counts_as_in_its_own_proof():
    once = failover(PORTS[0], 3000, verdict=FailoverVerdict.LOST)
    whole = by("legacy-vlan", 40.0, alpha=2.0)
    one = replace(whole, trials=(*whole.trials, once))
    assert "1 of 2 ports lost and survived" in answers(one)[2].condition
    (row,) = costs_grid(Comparison("x", (one,), SPEC)).rows
    assert row[-1].text == "1 of 2"


def on_hardware(one: Proof, link_gbps: float) -> Proof:
    """The same on hosts with a link of that speed, whose CPU is a real one."""
    ledger = Ledger(
        port="enp1s0", frame_bytes=1518, ceilings=ceilings("ethernet", *[link_gbps] * 2)
    )
    return replace(one, found=(diagnosis(host="alpha", about=(), ledgers=(ledger,)),))


@pytest.mark.parametrize(
    ("gbps", "says"),
    [
        # 8948 of 9038 bytes on the wire, and 4 of the tag: 98.96 Gb/s of 100.
        (98.0, "the link: 99 % of the 99.0 Gb/s that the link leaves"),
        (50.0, "cannot tell: iperf3 used 52 % of a core; 51 % of the 99.0 Gb/s that the link"),
        (99.5, "a contradiction: 101 % of the 99.0 Gb/s that the link leaves"),
        # 8960 of 9042: guests with net.ipv4.tcp_timestamps=0.
        (99.09, "the link: 100 % of the 99.0 Gb/s that the link leaves to TCP with time stamps"),
    ],
)
def test_a_figure_is_held_against_what_the_link_leaves(gbps: float, says: str):
    one = on_hardware(by("legacy-vlan", gbps), 100)
    said = cell_limit(one, one.summary.iperf3[0], link_of((one,)))
    assert said.startswith(says)


def bonded(gbps: float, streams: int) -> Proof:
    """Two ports of 100 Gb/s on each host as one LAG, and one cell of so many streams."""
    one = on_hardware(by("ovs-tc", gbps), 100)
    spec = read_spec_data({**one.opening.spec.model_dump(), "failover": "lacp"})
    opening = one.opening.model_copy(update={"spec": spec})
    return replace(one, opening=opening, trials=(iperf3(1, gbps, gbps, streams=streams),))


@pytest.mark.parametrize(
    ("gbps", "streams", "says"),
    [
        # 8948 of 9088 bytes on the wire: 98.46 Gb/s of each 100; a flow goes over one port.
        (150.0, 2, "76 % of the 197 Gb/s that the link leaves"),
        (190.0, 6, "the link: 96 % of the 197 Gb/s that the link leaves"),
        (97.0, 1, "the link: 99 % of the 98.5 Gb/s that the link leaves"),
        (200.0, 2, "a contradiction: 102 % of the 197 Gb/s that the link leaves"),
    ],
)
def test_flows_over_all_ports_are_held_against_all_of_them(gbps: float, streams: int, says: str):
    one = bonded(gbps, streams)
    assert cell_limit(one, one.summary.iperf3[0], link_of((one,))).endswith(says)


def test_the_wire_of_two_ports_with_lacp_leaves_twice_as_much():
    one = bonded(150, 2)
    grid = ceilings_grid(Comparison("x", (one,), one.opening.spec))
    assert "At 2 x 100 Gb/s" in grid.caption
    # Twice 12.5e9 / (64 + 20 + 50).
    assert row_of(grid.rows, "ovs-tc")[4] == "186.567"


def test_the_wire_leaves_less_inside_a_tunnel_and_less_again_over_ipv6():
    whole = on_hardware(by("ovs-tc", 10.0), 100)
    of = {}
    for subnet in ("192.168.9.0/24", "fd00:9::/64"):
        dump = {**SPEC.model_dump(), "underlay": {"subnet": subnet, "mtu": 9080}}
        spec = read_spec_data({**dump, "approach": "ovs-tc"})
        (row,) = ceilings_grid(Comparison("x", (whole,), spec)).rows
        of[subnet] = [cell.text for cell in row[1:]]
    # 64-byte frames at 100 Gb/s: 12.5e9 / (64 + 20 + 50), and + 70.
    assert of["192.168.9.0/24"][0] == "VXLAN, 50 B"
    assert of["192.168.9.0/24"][3] == "93.284"
    assert of["fd00:9::/64"][0] == "VXLAN, 70 B"
    assert of["fd00:9::/64"][3] == "81.169"


def test_the_ceilings_in_the_documentation_are_these():
    page = (Path(__file__).parents[2] / "docs/compare.md").read_text()
    named = {
        "VLAN": ("legacy-vlan", "192.168.9.0/24"),
        "VXLAN or Geneve over IPv4": ("ovs-tc", "192.168.9.0/24"),
        "VXLAN or Geneve over IPv6": ("ovs-tc", "fd00:9::/64"),
    }
    found = re.findall(r"^\| (V[^|]+) \| ([\d.]+)[^|]* \| ([\d.]+)[^|]* \|$", page, re.M)
    assert [name for name, _, _ in found] == list(named)
    for name, *figures in found:
        approach, subnet = named[name]
        underlay = {"subnet": subnet, "mtu": 9080}
        spec = read_spec_data({**SPEC.model_dump(), "underlay": underlay})
        link = Link(100 * 10**9, "")
        for mtu, figure in zip((1500, 9000), figures, strict=True):
            most = payload_ceiling_bps(spec, approach, link, mtu) / 1e9
            assert float(figure) == pytest.approx(most, abs=0.05)


def test_frames_through_a_path_stand_beside_the_ceiling_of_their_wire():
    found = Rfc2544((outcome(dut="ovs-dpdk-vxlan"), outcome(dut="ovs-dpdk")))
    grid = rfc2544_grid(replace(COMPARISON, rfc2544=found))
    rows = {row[1].text: [cell.text for cell in row] for row in grid.rows}
    label = outcome().mix.label
    assert label == "64"
    # The doctor knows a link of 100 Gb/s of them.
    assert rows["ovs-dpdk-vxlan"][5] == "93.284"
    assert rows["ovs-dpdk"][5] == "148.810"
    why = [row[-1].text for row in grid.rows if row[1].text == "—"]
    assert len(why) == 2
    assert all(text.startswith("not measured: ") for text in why)


def test_paths_that_were_not_asked_for_say_how_to_ask():
    why = {"ovs-dpdk": "not asked for"}
    grid = rfc2544_grid(replace(COMPARISON, rfc2544=Rfc2544(why_not=why)))
    assert {row[0].text: row[-1].text.split(",")[0] for row in grid.rows} == {
        "ovs-dpdk": "not measured: not asked for",
        "ovs-tc": "not measured: it was not come to",
        "legacy-vlan": "not measured: the card moves the frames and no core has a part in it",
    }


def test_a_path_that_failed_half_way_has_its_figures_and_the_reason():
    found = Rfc2544((outcome(dut="kernel-vxlan"),), {"ovs-tc": "dut.died: killed"})
    grid = rfc2544_grid(replace(COMPARISON, rfc2544=found))
    own = [row for row in grid.rows if row[0].text == "ovs-tc"]
    assert [row[1].text for row in own] == ["kernel-vxlan", "—"]
    assert own[1][-1].text == "not measured: dut.died: killed"


def test_a_spec_s_own_numbers_are_in_the_advice():
    assert "VLAN 42, 40" in traits_of("legacy-vlan").take_it_when(SPEC)


def test_a_network_without_a_tag_is_no_vlan_0():
    untagged = parse_spec(UNTAGGED.read_text(), UNTAGGED.name)
    said = traits_of("legacy-vlan").take_it_when(untagged)
    assert "frames without a tag" in said and "VLAN 0" not in said


def test_questions_stand_side_by_side_and_what_is_not_proven_is_marked():
    changed = replace(
        COMPARISON.proofs[1], undone=Compared(compared=9, differences=(difference(),))
    )
    grid = answers_grid(Comparison("x", (COMPARISON.proofs[0], changed), SPEC))
    assert [column.heading for column in grid.columns] == ["", "legacy-vlan", "ovs-tc"]
    (undo,) = (row for row in grid.rows if row[0].text == "Undo")
    assert [cell.tone for cell in undo[1:]] == ["plain", "alarm"]
    assert grid.rows[0][1].text == "Proven"
    assert grid.rows[0][2].text == "Not proven: undo"


def test_the_page_names_what_is_not_shown_and_no_text_of_a_host_is_markup():
    page = render_html(comparison_document(COMPARISON))
    assert "script" not in PageReader(page).tags
    assert HOSTILE not in page
    assert "spec.no_dpdk" in page
    assert "not shown" in page
    markdown = render_markdown(comparison_document(COMPARISON))
    assert "* **ovs-dpdk: not shown**, spec.no\\_dpdk" in markdown
    assert HOSTILE not in markdown


def test_the_csv_has_every_approach_and_the_published_rows_once():
    rows = list(csv.DictReader(io.StringIO(render_proof_csv(*COMPARISON.proofs))))
    own = {row["approach"] for row in rows if row["source"] == "this run"}
    assert own == {"legacy-vlan", "ovs-tc"}
    published = [row for row in rows if row["source"].startswith("published")]
    assert len(published) == 3 * 5


@pytest.mark.parametrize("feature", FEATURES)
def test_every_approach_has_a_word_on_every_feature(feature: str):
    assert all(traits_of(name).features[feature] for name in comparable())


def test_nothing_that_was_shown_is_a_page_too():
    nothing = Comparison("x", (COMPARISON.not_shown[0],), SPEC)
    assert "Nothing was measured" in render_html(comparison_document(nothing))
    assert answers_grid(nothing).rows == ()
