"""The page of a proof: its answer, its figures by hand, and text from a host never markup."""

import csv
import io
import re
from pathlib import Path

import pytest

from wirespeed.model.finding import Diagnosis, Severity
from wirespeed.model.journal import Ended, Result, Undone, Verified
from wirespeed.model.network_trial import (
    FailoverVerdict,
    ForgedKind,
    IsolationTrial,
    IsolationVerdict,
    NetworkTrial,
    PingTrial,
)
from wirespeed.model.proof import Compared, Stage, StageEnd, When
from wirespeed.model.spec.members import read_spec_data
from wirespeed.report.proof_answer import answers, exit_code, is_proven, verdict, warnings
from wirespeed.report.proof_csv import render_proof_csv
from wirespeed.report.proof_page import Proof

from .diagnoses import HOSTILE, diagnosis, filled_with, finding
from .pages import PageReader
from .proofs import (
    PORTS,
    SPEC,
    difference,
    failover,
    forged,
    html_of,
    iperf3,
    journal,
    markdown_of,
    ping,
    proof,
    stages,
    trials,
    values,
)

SEED = """\
legacy + VLAN,70,82,95,30,7
ovs/dpdk + VXLAN,61,85,96,32,3
ovs/tc + VXLAN,83,86,96,28,5
"""
"""The results' table of the document that this project started from, typed off it."""


def arp(**differs: object) -> IsolationTrial:
    return forged(ForgedKind.ARP, "ceph-1", "tv-1", **differs)


def with_answers(received: int) -> tuple[NetworkTrial, ...]:
    """All trials, with so many of the 1000 packets of each flood ping answered."""
    return tuple(
        one.model_copy(update={"received": received}) if isinstance(one, PingTrial) else one
        for one in trials()
    )


def answer(of: Proof, question: str) -> tuple[str, bool]:
    (one,) = (a for a in answers(of) if a.question == question)
    return one.figure, one.is_proven


def test_a_whole_proof_is_proven_and_says_so_first():
    whole = proof()
    assert is_proven(whole)
    assert exit_code(whole) == 0
    html = html_of(whole)
    assert re.search(r'class="verdict">Proven<', html)
    # iperf3/9000/2, six values: 1.00 1.10 1.15 1.20 1.25 1.30, so the median is 1.175.
    assert answer(whole, "Throughput") == ("1.18 Gb/s", True)
    assert answer(whole, "Round trip") == ("300 µs", True)
    assert answer(whole, "Fail-over") == ("312 ms", True)
    assert answer(whole, "Isolation") == ("apart", True)
    assert answer(whole, "Undo") == ("as found", True)


@pytest.mark.parametrize(
    ("differs", "question", "figure", "code"),
    [
        (
            {"trials": (*trials(), arp(arrived=1, verdict=IsolationVerdict.LEAKED))},
            "Isolation", "leaked", 1,
        ),
        (
            {"trials": (*trials(), arp(verdict=IsolationVerdict.NOT_SHOWN))},
            "Isolation", "not shown", 1,
        ),
        (
            {"trials": (*trials(), failover(PORTS[0], 3000, verdict=FailoverVerdict.LOST))},
            "Fail-over", "312 ms", 1,
        ),
        (
            {"trials": (*trials(), iperf3(4, 0, 0, failed="connection refused"))},
            "Throughput", "1.18 Gb/s", 1,
        ),
        (
            {"trials": (*trials(), ping(4, 1, 1, rtt_us_mean=None, failed="no answer"))},
            "Round trip", "300 µs", 1,
        ),
        (
            {"trials": with_answers(949)},
            "Round trip", "300 µs", 1,
        ),
        ({"undone": Compared(compared=1700, differences=(difference(),))}, "Undo", "1 differs", 1),
        ({"undone": Compared(compared=0, differences=())}, "Undo", "0 differ", 1),
        ({"drift": Compared(compared=2, differences=(difference(),))}, "Set-up", "1 differs", 1),
        ({"trials": ()}, "Isolation", "not shown", 1),
        ({"undone": None}, "Undo", "not shown", 1),
    ],
)  # fmt: skip
def test_one_thing_that_is_not_shown_makes_the_whole_not_proven(
    differs: dict[str, object], question: str, figure: str, code: int
):
    one = proof(**differs)
    assert answer(one, question) == (figure, False)
    assert exit_code(one) == code
    assert verdict(one).startswith("Not proven: ")
    assert question.lower() in verdict(one)


def test_a_round_trip_is_proven_where_up_to_one_packet_of_20_was_not_answered():
    some = proof(trials=with_answers(950))
    assert answer(some, "Round trip") == ("300 µs", True)
    more = proof(trials=with_answers(949))
    said = {a.question: a.more for a in answers(more)}["Round trip"]
    assert said.endswith(" not answered; proven with at most 5% of each pair")


def test_a_port_that_carried_nothing_at_first_counts_when_it_is_tried_again():
    untouched = failover(PORTS[1], 0, verdict=FailoverVerdict.NOT_TOUCHED)
    once = proof(trials=(untouched, failover(PORTS[0], 90)))
    assert answer(once, "Fail-over") == ("90 ms", False)
    again = proof(trials=(untouched, failover(PORTS[0], 90), failover(PORTS[1], 110)))
    assert answer(again, "Fail-over") == ("110 ms", True)


def test_a_trial_that_told_nothing_of_a_port_is_not_held_against_it():
    void = failover(PORTS[1], 2000, verdict=FailoverVerdict.INVALID)
    alone = proof(trials=(failover(PORTS[0], 90), void))
    assert answer(alone, "Fail-over") == ("90 ms", False)
    again = proof(trials=(failover(PORTS[0], 90), void, failover(PORTS[1], 110)))
    assert answer(again, "Fail-over") == ("110 ms", True)


def test_steps_that_stand_though_they_were_to_be_undone_are_a_host_left_changed():
    left = proof(entries=journal(undone=False), undone=None, stages=stages(keeps=True))
    assert exit_code(left) == 3
    assert any("wirespeed undo lab.yaml.run" in text for text in warnings(left))


def test_an_undo_that_did_not_lead_back_is_a_host_left_changed():
    *good, _ = journal()
    bad = Undone(number=0, verdict=Verified.FAILED, now={"mtu": 9080}, said="refused")
    ended = Ended(at="2026-01-01T00:02:00Z", outcome="left changed")
    assert exit_code(proof(entries=(*good[:-1], bad, ended))) == 3


def test_a_step_that_was_so_when_its_turn_came_is_nothing_that_stands():
    # Verified without an intent: nothing was written, so nothing is put back.
    lazy = Result(number=1, verdict=Verified.VERIFIED, now={"num_vfs": 2})
    entries = tuple(e for e in journal() if getattr(e, "number", 0) != 1)
    assert exit_code(proof(entries=(*entries[:3], lazy, *entries[3:]))) == 0


def test_what_is_kept_by_wish_is_no_host_left_changed():
    whole = proof()
    kept = proof(
        opening=whole.opening.model_copy(update={"keeps": True}),
        entries=journal(undone=False),
        undone=None,
        stages=stages(keeps=True),
    )
    assert exit_code(kept) == 0
    assert answer(kept, "Undo") == ("kept", False)


def test_a_stage_that_failed_is_named_with_what_to_do():
    failed = StageEnd(
        stage=Stage.MEASURE,
        seconds=1,
        outcome="failed",
        said="gone",
        error="host.gone",
        next="ping\nthen undo",
    )
    one = proof(trials=(), stages=(*stages()[:4], failed))
    assert verdict(one) == "Not proven: measure failed"
    assert "measure failed: host.gone: gone Next: ping; then undo" in PageReader(html_of(one)).text
    assert answer(one, "Throughput") == ("not shown", False)


def test_packets_of_a_void_trial_of_failover_are_not_among_the_lost():
    void = failover(PORTS[1], 2000, verdict=FailoverVerdict.INVALID)
    (one,) = (
        a
        for a in answers(proof(trials=(failover(PORTS[0], 90), void)))
        if a.question == "Fail-over"
    )
    assert one.more == "90 of 8,000 packets lost"


def test_the_results_have_the_published_columns_and_the_published_figures_as_a_reference():
    rows = PageReader(html_of(proof())).table("Approach", "ping mdev (us)")
    assert list(rows[0]) == [
        "Approach", "iperf3/1500/2 (Gb/s)", "iperf3/9000/2 (Gb/s)", "iperf3/9000/6 (Gb/s)",
        "ping mean (us)", "ping mdev (us)",
    ]  # fmt: skip
    # 1500/2 has two values, 0.90 and 1.00; 9000/6 was not measured; of the pings the medians.
    assert list(rows[0].values()) == [
        "legacy-vlan: ceph-1 and gpu-1 in storage", "0.950", "1.18", "—", "300", "70.0",
    ]  # fmt: skip
    published = [",".join(row.values()).removeprefix("published: ") for row in rows[1:]]
    assert "\n".join(published) + "\n" == SEED
    assert all(row["Approach"].startswith("published: ") for row in rows[1:])


def test_an_outage_below_a_millisecond_is_shown_to_the_resolution_of_its_flow():
    whole = proof(trials=(failover(PORTS[0], 0.44, load_pps=100_000, return_outage_ms=0.02),))
    page = html_of(whole)
    (row,) = PageReader(page).table("Port lost", "Outage (ms)")
    assert (row["Outage (ms)"], row["On return (ms)"]) == ("0.44", "0.02")
    assert answer(whole, "Fail-over")[0] == "0.44 ms"
    assert "lost: 0.44 ms out" in page
    assert "back: 0.02 ms out" in page


def test_the_published_figures_are_in_the_csv_too_and_marked():
    rows = list(csv.DictReader(io.StringIO(render_proof_csv(proof()))))
    published = [row for row in rows if row["source"] == "published, another machine"]
    figures = [row["median"] for row in published]
    assert figures == [f for line in SEED.splitlines() for f in line.split(",")[1:]]
    own = {row["figure"]: row for row in rows if row["source"] == "this run"}
    assert (own["iperf3/9000/2"]["n"], own["iperf3/9000/2"]["median"]) == ("6", "1.175")
    assert own["ping mean"]["median"] == "300"
    assert own["fail-over outage, alpha 0000:01:00.0"]["median"] == "312"


def test_every_figure_has_its_n_and_its_spread():
    rows = PageReader(html_of(proof())).table("Figure", "n", "Least", "Most")
    assert [row["Figure"] for row in rows][:2] == ["iperf3/1500/2 (Gb/s)", "iperf3/9000/2 (Gb/s)"]
    one = rows[1]
    assert (one["n"], one["Median"], one["Least"], one["Most"]) == ("6", "1.18", "1.00", "1.30")
    assert "says nothing about hardware" in one["Limited by"]


def on_real_hosts(*trials: NetworkTrial) -> Proof:
    real = [
        a.model_copy(update={"about": (("CPU", "AMD EPYC 4545P"),)})
        for a in proof().found
        if isinstance(a, Diagnosis)
    ]
    return proof(found=tuple(real), trials=trials)


def limited_by(one: Proof) -> str:
    return PageReader(html_of(one)).table("Figure", "Limited by")[0]["Limited by"]


def test_what_limited_it_is_said_only_where_it_can_be_told():
    busy = on_real_hosts(iperf3(1, 80, 82, server_cpu_percent=99.6, version="iperf 3.12"))
    idle = on_real_hosts(iperf3(1, 80, 82))
    limits = [limited_by(one) for one in (busy, idle)]
    assert limits == ["a core: iperf3 used 100 % of one", "cannot tell: iperf3 used 52 % of a core"]
    assert not any("Emulated" in text for text in warnings(busy))


@pytest.mark.parametrize(
    ("streams", "bidirectional", "versions", "says"),
    [
        # RELNOTES of iperf3 3.16: each stream is served by a thread of its own.
        (6, True, ("iperf 3.15",), "a core: iperf3 used"),
        (6, False, ("iperf 3.16",), "cannot tell: all threads of iperf3 used"),
        (1, True, ("iperf 3.16",), "cannot tell: all threads of iperf3 used"),
        (1, False, ("iperf 3.16",), "a core: iperf3 used"),
        (2, False, ("iperf 3.12", "iperf 3.16"), "cannot tell: all threads of iperf3 used"),
        (2, False, ("",), "cannot tell: all threads of iperf3 used"),
    ],
)
def test_a_core_is_named_only_where_iperf3_has_one_thread(
    streams: int, bidirectional: bool, versions: tuple[str, ...], says: str
):
    differs = {"streams": streams, "bidirectional": bidirectional, "server_cpu_percent": 96.0}
    runs = [iperf3(n, 80, 80, **differs, version=v) for n, v in enumerate(versions, 1)]
    assert limited_by(on_real_hosts(*runs)).startswith(f"{says} 96 %")


def test_what_is_more_than_a_core_is_not_one_whatever_the_client_s_version():
    one = iperf3(1, 80, 82, streams=6, server_cpu_percent=250, version="iperf 3.12")
    assert limited_by(on_real_hosts(one)) == (
        "cannot tell: all threads of iperf3 used 250 % of a core"
    )


def test_findings_stand_once_with_their_hosts_and_what_became_of_them():
    rows = PageReader(html_of(proof())).table("Finding", "With the plan")
    assert [(r["Finding"], r["Where"], r["With the plan"]) for r in rows] == [
        ("tcp.autotuning_off", "alpha, beta", "still there"),
        ("sriov.no_vfs", "alpha enp1s0, beta enp1s0", "gone"),
    ]


def test_findings_stand_in_the_order_of_the_doctor():
    """A slot that costs much and that no step changes comes after a fault that one does."""
    slot = finding(severity=Severity.CEILING, remedies=finding().remedies[:1])
    tuning = finding(rule="tcp.autotuning_off", prices=(), unpriced="it depends")
    one = proof(found=(diagnosis(slot, tuning),), found_after=())
    rows = PageReader(html_of(one)).table("Finding", "With the plan")
    assert [row["Finding"] for row in rows] == ["tcp.autotuning_off", "pcie.width_below_capability"]


def test_the_plan_has_every_step_from_what_to_what_and_how_it_went():
    rows = PageReader(html_of(proof())).table("Step", "Danger")
    assert [tuple(r.values()) for r in rows] == [
        ("1", "alpha", "mtu", "enp2s0", "mtu 1400 → mtu 9080", "drops the link",
         "verified, restored"),
        ("2", "alpha", "vf_count", "0000:02:00.0", "num_vfs 0 → num_vfs 2", "drops the link",
         "verified, restored"),
    ]  # fmt: skip
    assert "ip link set dev enp2s0 mtu 9080" in html_of(proof())


def test_before_and_after_show_what_changed_and_what_it_is_after_undo():
    main, folded = html_of(proof()).split("What else changed with it", 1)
    rows = PageReader(main).table("As found", "After undo")
    assert [tuple(r.values()) for r in rows] == [
        ("alpha", "0000:02:00.0 num vfs", "0", "2", "0"),
        ("alpha", "enp2s0 mtu", "1400", "9080", "1400"),
        ("alpha", "enp2s0 vf 0", "not there", "vlan 42, is trusted no", "not there"),
    ]
    (other,) = PageReader(folded).table("As found", "After undo")
    assert tuple(other.values()) == ("alpha", "enp2s0 rss entries 0", "128", "64", "128")


def test_what_undo_did_not_bring_back_stands_with_its_value_now():
    stuck = {**proof().values, When.UNDONE: {"alpha": values(9080, 2)}}
    rows = PageReader(html_of(proof(values=stuck))).table("As found", "After undo")
    now = {row["What"]: row["After undo"] for row in rows}
    assert now == {
        "enp2s0 mtu": "9080",
        "0000:02:00.0 num vfs": "2",
        "enp2s0 vf 0": "there",
        "enp2s0 rss entries 0": "64",
    }


def test_what_did_not_come_back_is_named():
    html = html_of(proof(undone=Compared(compared=9, differences=(difference(),))))
    rows = PageReader(html).table("What", "As found", "Now")
    assert [tuple(row.values()) for row in rows] == [("alpha", "enp2s0 mtu", "1400", "9080")]


def test_a_forged_source_that_the_card_lets_through_is_explained_and_is_no_leak():
    html = html_of(proof())
    text = " ".join(PageReader(html).text.split())
    assert "Not enforced by this card: it accepts `spoofchk on` but still forwards frames" in text
    rows = PageReader(html).table("From → to", "ARP request for its address")
    assert [row["ARP request for its address"] for row in rows] == ["0 / 200"] * 4
    (spoofed,) = PageReader(html).table("From → to", "Verdict")
    assert tuple(spoofed.values()) == (
        "ceph-1 → gpu-1 in storage", "200 / 200", "not enforced by this card",
    )  # fmt: skip


def test_outages_are_drawn_to_scale():
    html = html_of(proof())
    # 8 s over 744 points: 312 ms are 29.02 of them, from second 2 on; an outage of 0 is a hair.
    boxes = re.findall(r'<rect x="([\d.]+)" y="[\d.]+" width="([\d.]+)" [^>]*class="outage"', html)
    assert boxes[0] == ("194", "29.02")
    assert boxes[2] == ("194", "2")


def test_the_page_loads_nothing_and_runs_nothing():
    html = html_of(proof())
    reader = PageReader(html)
    assert {href[1:] for _, _, href in reader.links} <= set(reader.ids)
    assert not {"script", "link", "img", "iframe", "object", "embed", "base"} & set(reader.tags)
    assert not re.search(r"url\(|@import|https?:", html)


@pytest.mark.parametrize("hostile", HOSTILE, ids=range(len(HOSTILE)))
def test_whatever_a_host_printed_is_text(hostile: str):
    moved = difference().model_copy(update={"subject": hostile, "before": hostile, "now": hostile})
    one = proof(
        found=(filled_with(hostile),),
        found_after=(),
        trials=(
            failover(PORTS[0], 1, carried_before=hostile, said=hostile),
            forged(ForgedKind.ARP, "a", "b", said=hostile, verdict=IsolationVerdict.LEAKED),
            iperf3(1, 0, 0, failed=hostile),
        ),
        undone=Compared(compared=1, differences=(moved,)),
        stages=(StageEnd(stage=Stage.UNDO, seconds=1, outcome="failed", said=hostile),),
    )
    html = html_of(one)
    assert not {"script", "img"} & set(PageReader(html).tags)
    assert all(c.isprintable() or c == "\n" for c in html)
    markdown = markdown_of(one)
    assert all(c.isprintable() or c == "\n" for c in markdown)
    assert "<script" not in markdown


def test_the_markdown_says_the_same_and_fits_a_terminal():
    text = markdown_of(proof())
    head = (
        "# Proof of lab.yaml on alpha and beta\n\napproach: legacy-vlan · 2026-01-01T00:00:00Z · "
    )
    assert text.startswith(f"{head}wirespeed 0.1.0\n\n**Proven**\n\n* **Throughput")
    assert "**Throughput: 1.18 Gb/s**" in text
    assert "| iperf3/9000/2 (Gb/s) | 1.18 | 82 | 85 | 86 |" in text
    assert "Nothing differs: 1700 values" in text
    tables = [line for line in text.splitlines() if line.startswith("| iperf3")]
    assert all(len(line) <= 80 for line in tables if line.count("|") == 6)


def test_hosts_without_guests_have_no_section_of_what_is_not_asked_of_them():
    spec = read_spec_data({"hosts": SPEC.model_dump()["hosts"], "approach": "none"})
    whole = proof()
    one = proof(
        opening=whole.opening.model_copy(update={"spec": spec}),
        trials=tuple(t for t in whole.trials if t.kind in ("iperf3", "ping")),
    )
    assert verdict(one) == "Proven"
    assert {"isolation", "failover", "offload"}.isdisjoint(PageReader(html_of(one)).ids)
    assert "## Isolation" not in markdown_of(one)
    assert "the spec has no guests" in markdown_of(one)
    # Asked and not shown is another matter: the section says so.
    assert "isolation" in PageReader(html_of(proof(trials=()))).ids
    assert "## Isolation\n\nNo frames were forged." in markdown_of(proof(trials=()))


def test_a_leak_is_marked_in_the_sum_with_its_way_and_what_arrived():
    leak = arp(arrived=1, verdict=IsolationVerdict.LEAKED, said="802.1Q vlan 40")
    html = html_of(proof(trials=(*trials(), leak)))
    rows = PageReader(html).table("Kind", "Pairs")
    (row,) = (r for r in rows if r["Verdict"].startswith("leaked"))
    said = "leaked: ceph-1 → tv-1; 802.1Q vlan 40"
    assert tuple(row.values()) == ("ARP request for its address", "1", "1 / 200", said)
    assert f'<td class=" long alarm">{said}</td>' in html


def test_what_arrived_is_summed_by_kind_and_stands_pair_by_pair_beneath():
    summed, folded = html_of(proof()).split("From each guest to each", 1)
    rows = {r["Kind"]: r for r in PageReader(summed).table("Kind", "Pairs")}
    arp = rows["ARP request for its address"]
    assert tuple(arp.values())[1:] == ("4", "0 / 800", "apart")
    assert len(PageReader(folded).table("From → to", "802.1Q tag 0")) == 4


def test_the_table_in_the_package_is_the_one_that_was_published():
    path = Path("src/wirespeed/report/published/connectx5-sriov.csv")
    rows = path.read_text().splitlines()[1:]
    assert [row.split(",")[1:] for row in rows] == [
        line.split(",")[1:] for line in SEED.splitlines()
    ]
