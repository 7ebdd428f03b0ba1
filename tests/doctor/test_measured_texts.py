"""What people paste of a run: iperf3's and iperf 2's text as these printed it, perftest's JSON and
nccl-tests' table as their sources print them."""

from pathlib import Path

import pytest

from wirespeed.doctor.measured_file import parse_measured
from wirespeed.model.error import InputError

PRINTED = Path(__file__).parent / "printed"
"""iperf 3.12 and iperf 2.1.8 between two network namespaces, as they printed it."""
ENDS = ("192.0.2.1", "192.0.2.2")
IPERF3_NO_VERSION = (
    "one stream, and how busy its thread was is not in its text (`iperf3 -V` shows it)"
)
SHORT = "it ran for {} s: slow start and cold caches are in the figure"


def printed(name: str) -> str:
    return (PRINTED / f"{name}.txt").read_text()


@pytest.mark.parametrize(
    ("name", "bps", "conditions", "limits"),
    [
        # Read off the file by eye: the receiver's sum, and the sender's retransmits.
        ("iperf3-tcp2", 18.1e9, ("TCP", "2 s", "2 streams", "18056 segments sent again"),
         ("all 2 streams share one thread before iperf3 3.16",
          "the sender's one thread took 96 % of a core", SHORT.format(2))),
        ("iperf3-udp", 50.0e6, ("UDP", "2 s", "1 stream"), (IPERF3_NO_VERSION, SHORT.format(2))),
        ("iperf3-bidir", 11.6e9,
         ("TCP", "2 s", "1 stream", "both directions at once, the client's sending given",
          "42568 segments sent again"), (IPERF3_NO_VERSION, SHORT.format(2))),
        ("iperf2", 26.3e9, ("TCP", "2.001 s", "2 streams", "of the rows that are there"),
         (SHORT.format(2.001),)),
    ],
)  # fmt: skip
def test_the_text_of_iperf_has_the_figure_of_the_receiver(
    name: str, bps: float, conditions: tuple[str, ...], limits: tuple[str, ...]
):
    run = parse_measured(printed(name), "f")
    assert run.measured_bps == pytest.approx(bps)
    assert run.conditions == conditions
    assert run.limits == limits
    assert run.addresses == ENDS


def test_the_text_of_iperf3_says_that_the_far_end_sent():
    assert "the far end sent" in parse_measured(printed("iperf3-rev"), "f").conditions


def test_the_text_of_iperf3_in_bytes_is_the_same_rate_as_its_bytes_in_its_time():
    text = printed("iperf3-bytes")
    summary = next(line for line in text.splitlines() if line.endswith("receiver"))
    gbytes = float(summary.split("sec")[1].split("GBytes")[0])
    run = parse_measured(text, "f")
    assert run.measured_bps == pytest.approx(gbytes * 1024**3 * 8 / 2, rel=0.01)


def test_a_pasted_text_without_its_end_has_the_mean_of_its_seconds():
    text = printed("iperf3-tcp2").partition("Test Complete")[0]
    run = parse_measured(text, "f")
    assert run.measured_bps == pytest.approx((17.9e9 + 18.4e9) / 2)
    assert run.conditions[-1] == "of the rows that are there"


def test_of_loss_the_share_of_datagrams_is_said():
    text = printed("iperf3-udp").replace("0.003 ms  0/8629 (0%)", "0.003 ms  863/8629 (10%)")
    assert "10 % of the datagrams lost" in parse_measured(text, "f").conditions


PERFTEST = """{{
"test_info": {{
"test": "{test}",
"Dual_port": "OFF",
"Device": "mlx5_0",
"Number_of_qps": 4
}},
"results": {{
"MsgSize": 65536,
"n_iterations": 5000,
"BW_peak": 0.00,
"BW_average": {figure},
"MsgRate": 0.186300
}}
}}
"""
"""By the formats of perftest_parameters.h; 0.1863 million messages of 64 KiB are 97.68 Gb/s."""


@pytest.mark.parametrize(
    ("test", "figure", "gbps"),
    [("RDMA_Write_BW_Test", "97.68", 97.67), ("RDMA_Write_BW_Test", "11643.75", 97.67),
     ("Send_Bidirectional_BW_Test", "97.68", 48.84)],
)  # fmt: skip
def test_perftest_s_json_has_its_unit_by_its_messages(test: str, figure: str, gbps: float):
    run = parse_measured(PERFTEST.format(test=test, figure=figure), "f")
    assert run.measured_bps / 1e9 == pytest.approx(gbps, abs=0.01)
    assert "4 queue pairs" in run.conditions
    assert ("half of the sum of both directions, which is what it prints" in run.conditions) == (
        "Bidirectional" in test
    )


def test_perftest_s_json_that_contradicts_itself_is_refused():
    with pytest.raises(InputError) as refused:
        parse_measured(PERFTEST.format(test="RDMA_Write_BW_Test", figure="12.2"), "f")
    assert "neither in Gb/s nor in MiB/s" in refused.value.found


RANK = "#  Rank {:2} Group  0 Pid  13919 on {:>10} device  0 [0000:04:00] NVIDIA H100 80GB HBM3\n"
NEW, OLD = "described-nccl-tests", "described-nccl-tests-before-2022"


def test_nccl_tests_have_the_best_bus_bandwidth_of_a_rank():
    text = RANK.format(0, "node-1") + RANK.format(1, "node-2") + printed(NEW)
    run = parse_measured(text, "f")
    assert run.measured_bps == pytest.approx(46.81 * 8e9)
    assert run.conditions == ("bus bandwidth of messages of 536870912 bytes, 2 ranks on 2 hosts",)
    (limit,) = run.limits
    assert "each GPU has one of its own" in limit


def test_nccl_tests_before_they_had_a_root_are_read_by_the_names_of_their_columns():
    assert parse_measured(printed(OLD), "f").measured_bps == pytest.approx(1.18 * 8e9)


def test_nccl_tests_on_one_host_measured_no_port():
    text = RANK.format(0, "node-1") + RANK.format(1, "node-1") + printed(NEW)
    with pytest.raises(InputError) as refused:
        parse_measured(text, "f")
    assert "nothing went through a port" in refused.value.found


PKTGEN = (
    "Result: OK: {us}(c{us}+d0) usec, 1000 (60byte,0frags)\n  {pps}pps 1Mb/sec (1bps) errors: 0\n"
)
"""net/core/pktgen.c, show_results(): pps * 8 * cur_pkt_size, in which the FCS is not."""


@pytest.mark.parametrize(
    ("pps", "gbps", "threads"),
    [([1_231_000], 0.788, "from one thread"), ([1_231_000, 1_000_000], 1.428, "at most 2 threads")],
)
def test_pktgen_is_limited_by_its_threads(pps: list[int], gbps: float, threads: str):
    text = "".join(PKTGEN.format(us=10_000_000, pps=one) for one in pps)
    run = parse_measured(text, "f")
    assert run.measured_bps / 1e9 == pytest.approx(gbps, abs=0.001)
    assert run.streams == len(pps)
    (limit,) = run.limits
    assert threads in limit
    assert f"{sum(pps)} frames/s of 60 bytes" in run.conditions


def test_pktgen_at_line_rate_is_not_above_the_wire():
    (run, short) = (
        parse_measured(PKTGEN.format(us=us, pps=14_880_952), "f") for us in (5_000_000, 4_999_999)
    )
    assert 0.9e10 < run.measured_bps < 1e10
    assert len(short.limits) == len(run.limits) + 1
