"""The figure of latency by load: a mark for each percentile of each trial that counts."""

import re

from wirespeed.report.charts.percentiles import percentiles

from .records import latency, trial


def test_each_trial_that_counts_has_a_mark_for_each_percentile_it_has():
    known = latency(p50=10_000).model_copy(update={"latency_ns_p9999": 90_000})
    steps = [
        ("10 %", trial(1, delay=known)),
        ("20 %", trial(2, delay=latency(p50=20_000))),
        ("30 %", trial(3, invalid=("tester.stalled: x",), delay=known)),
        ("40 %", trial(4).model_copy(update={"latency": None})),
    ]
    drawn = str(percentiles("a: latency by load", "% of throughput", steps))
    said = re.findall(r"<title>(\d+ %: [^<]+)</title>", drawn)
    # The second was made by a release that did not tell p99.99.
    assert said == [
        "10 %: p50 10.0 µs", "10 %: p99 20.0 µs", "10 %: p99.99 90.0 µs", "10 %: most 310 µs",
        "20 %: p50 20.0 µs", "20 %: p99 40.0 µs", "20 %: most 620 µs",
    ]  # fmt: skip


def test_without_a_latency_there_is_no_figure():
    without = trial(1).model_copy(update={"latency": None})
    assert percentiles("a", "b", [("1", without)]) == ""
