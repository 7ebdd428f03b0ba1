"""What tools print becomes the figure that they measured, with what of the tool may bound it.

Texts: https://github.com/linux-rdma/perftest/issues/273 and /65, https://github.com/tohojo/flent/
issues/13 (netperf), https://github.com/Mellanox/sockperf/issues/140, iperf3's iperf_api.c.
"""

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from wirespeed.cli import cli
from wirespeed.doctor.diagnose import diagnose
from wirespeed.doctor.measured_file import parse_measured
from wirespeed.model.capture import parse_capture
from wirespeed.model.error import InputError
from wirespeed.model.fact import HostFacts
from wirespeed.model.finding import Finding
from wirespeed.model.question import MeasuredBy, Question

CASES = Path(__file__).parents[1] / "rules/cases"
X4 = CASES / "measured.far_below_ceiling/present_one_stream_of_iperf3/capture.txt"
"""A 100 Gb/s port in a slot of x4 at 16 GT/s: about 51 Gb/s."""
PERFTEST = """\
                    RDMA_Write BW Test
 Number of qps   : 1\t\tTransport type : IB
 #bytes     #iterations    BW peak[{unit}]    BW average[{unit}]   MsgRate[Mpps]
 {row}
"""
NETPERF = """\
MIGRATED TCP STREAM TEST from ::0 (::) port 0 AF_INET6 to ranger () port 0 AF_INET6
Recv   Send    Send
Socket Socket  Message  Elapsed
Size   Size    Size     Time     Throughput
bytes  bytes   bytes    secs.    10^6bits/sec

 87380  16384  16384    10.04     294.61
"""
NETPERF_UDP = """\
MIGRATED UDP STREAM TEST from 0.0.0.0 (0.0.0.0) port 0 AF_INET to 10.0.0.2 () port 0 AF_INET
Socket  Message  Elapsed      Messages{cpu[0]}
Size    Size     Time         Okay Errors   Throughput{cpu[1]}
bytes   bytes    secs            #      #   10^6bits/sec{cpu[2]}

{sent}
{received}

"""
UDP_CPU = ("                   CPU      Service", "   Util     Demand", " % SS     us/KB")
SOCKPERF = "sockperf: Summary: BandWidth is 4873.781 MBps (38990.250 Mbps)\n"


def iperf3(bps: float, **changes: Any) -> str:
    seconds = changes.get("seconds", 30.0)
    start = {"protocol": "TCP", "num_streams": changes.get("streams", 8), "target_bitrate": 0}
    start |= changes.get("start", {})
    total = {"bits_per_second": bps, "seconds": seconds, "bytes": bps * seconds / 8}
    end = {
        "sum_sent": {**total, "retransmits": changes.get("resent", 0)}, "sum_received": total,
        "cpu_utilization_percent": {"host_total": changes.get("cpu", 40), "remote_total": 20},
    }  # fmt: skip
    version = changes.get("version", "iperf 3.12")
    return json.dumps({"start": {"version": version, "test_start": start}, "end": end})


def test_streams_share_one_thread_before_3_16_and_not_since():
    old, new = (
        parse_measured(iperf3(23.4e9, version=v), "f") for v in ("iperf 3.12", "iperf 3.16")
    )
    assert old.measured_bps == new.measured_bps == 23.4e9
    assert old.limits == ("all 8 streams share one thread before iperf3 3.16",)
    assert new.limits == () and new.tool == "iperf 3.16"


@pytest.mark.parametrize(
    ("version", "sent", "seconds"),
    # As the files say; the other way it was 760,610,816 and 15,402,388 bytes.
    [("3.9", 201_850_880, 1.03877), ("3.12", 97_386_496, 1.020545)],
)
def test_of_both_directions_the_client_s_sending_is_given_and_it_is_said(
    version: str, sent: int, seconds: float
):
    data = Path(__file__).parents[1] / f"measure/data/iperf3-{version}-bidir-2.json"
    found = parse_measured(data.read_text(), "f")
    assert found.measured_bps == pytest.approx(sent * 8 / seconds)
    assert "both directions at once, the client's sending given" in found.conditions


def stream(text: str, **more: Any) -> str:
    """As --json-stream prints it since iperf3 3.17."""
    parts = {"start": {}, "interval": {"streams": [], "sum": {}}, **more, **json.loads(text)}
    return "".join(
        json.dumps({"event": event, "data": data}) + "\n" for event, data in parts.items()
    )


def test_a_stream_of_events_is_one_run():
    whole = iperf3(23.4e9, version="iperf 3.21")
    expected = parse_measured(whole, "f")
    assert parse_measured(stream(whole), "f") == expected
    # --json-stream-full-output
    assert (
        parse_measured(stream(whole) + json.dumps(json.loads(whole), indent="\t"), "f") == expected
    )


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (iperf3(1e9) + "\n" + iperf3(2e9), "it holds 2 runs"),
        (stream(iperf3(1e9)) + stream(iperf3(2e9)), "it holds 2 runs"),
        (
            stream(iperf3(1e9), error="the server has terminated"),
            "iperf3 ended with an error: the server has terminated",
        ),
    ],
)
def test_neither_two_runs_nor_a_stream_with_an_error_have_a_figure(text: str, found: str):
    with pytest.raises(InputError) as caught:
        parse_measured(text, "f")
    assert caught.value.found == found


def test_a_full_thread_a_target_and_a_short_run_are_limits_of_the_tool():
    found = parse_measured(
        iperf3(23.4e9, streams=1, cpu=99.6, seconds=2.0, start={"target_bitrate": 25e9}), "f"
    )
    assert [limit.split(" (")[0] for limit in found.limits] == [
        "the client's one thread took 100 % of a core",
        "it was told to send at most 25 Gb/s for each stream",
        "it ran for 2 s: slow start and cold caches are in the figure",
    ]


@pytest.mark.parametrize(
    ("version", "bidir", "has_one_thread"),
    [("iperf 3.15", 1, True), ("iperf 3.16", 0, True), ("iperf 3.16", 1, False)],
)
def test_a_stream_each_way_has_two_threads_since_3_16(
    version: str, bidir: int, has_one_thread: bool
):
    text = iperf3(23.4e9, version=version, streams=1, cpu=140, start={"bidir": bidir})
    limits = ("the client's one thread took 140 % of a core",) if has_one_thread else ()
    assert parse_measured(text, "f").limits == limits


def test_a_figure_that_its_own_bytes_contradict_is_doubted():
    told = json.loads(iperf3(23.4e9))
    told["end"]["sum_received"]["bits_per_second"] /= 8
    (doubt,) = parse_measured(json.dumps(told), "f").doubts
    assert doubt == "its bytes in its time are 23.4 Gb/s, and it says 2.92"


def test_iperf3_of_udp_before_3_11_says_what_was_sent_and_how_much_of_it_was_lost():
    """As iperf 3.1.3 prints it: 69 of 9996 datagrams are lost."""
    start = {"protocol": "UDP", "num_streams": 1, "blksize": 8192, "duration": 0, "reverse": 0}
    total = {
        "start": 0, "end": 0.785134, "seconds": 0.785134, "bytes": 81920000,
        "bits_per_second": 834711189.017002, "jitter_ms": 0.092, "lost_packets": 69,
        "packets": 9996, "lost_percent": 0.690276,
    }  # fmt: skip
    told = {"start": {"version": "iperf 3.1.3", "test_start": start}, "end": {"sum": total}}
    found = parse_measured(json.dumps(told), "f")
    assert found.measured_bps == pytest.approx(834711189 * (9996 - 69) / 9996)
    assert "0.69 % of the datagrams lost" in found.conditions and found.doubts == ()


@pytest.mark.parametrize(
    ("text", "bps"),
    [
        # 7.498617 million messages of 8 bytes a second: 64 bits each.
        (PERFTEST.format(unit="Gb/sec", row="8 224958464  0.00  0.48  \t\t 7.498617"), 0.48e9),
        # 5.677340 million messages of 1024 bytes a second are 46.51 Gb/s: MB is 2^20.
        (PERFTEST.format(unit="MB/sec", row="1024  1000  0.00  5544.28\t\t 5.677340"), 46.508e9),
        # Since 24.07: 0.176487 million messages of 65536 bytes a second.
        (PERFTEST.format(unit="MiB/sec", row="65536  5000  0.00  11030.45\t\t 0.176487"), 92.53e9),
        (NETPERF, 294.61e6),
        ("THROUGHPUT=9414.06\nTHROUGHPUT_UNITS=10^6bits/s\n", 9414.06e6),
        ("tcp_bw:\n    bw  =  1.18 GB/sec\n", 9.44e9),
        # 155961 messages of 32768 bytes a second: MBps is 2^20 there.
        (SOCKPERF, 155961 * 32768 * 8),
    ],
)  # fmt: skip
def test_each_tool_has_its_own_unit(text: str, bps: float):
    found = parse_measured(text, "f")
    assert found.measured_bps == pytest.approx(bps, rel=1e-3)
    assert found.doubts == ()


BOTH = "half of the sum of both directions, which is what it prints"


@pytest.mark.parametrize(
    ("text", "bps", "conditions"),
    [
        ("rc_bi_bw:\n    bw  =  5.09 GB/sec\n", 20.36e9, (BOTH,)),
        ("ud_bi_bw:\n    send_bw  =  6 GB/sec\n    recv_bw  =  5 GB/sec\n", 20e9, (BOTH,)),
        (
            "udp_bw:\n    send_bw         =   118 MB/sec\n    recv_bw         =   140 KB/sec\n"
            "    msg_rate        =  4.27 /sec\n",
            1.12e6,
            (),
        ),
        # -oo msg_size:1:256K:*64 -vu tcp_bw
        (
            "tcp_bw:\n    bw        =  1.13 MB/sec\n    msg_size  =     1 bytes\n"
            "tcp_bw:\n    bw        =  3.48 GB/sec\n    msg_size  =     4 KiB (4,096)\n"
            "tcp_bw:\n    bw        =  1.71 GB/sec\n    msg_size  =   256 KiB (262,144)\n",
            27.84e9,
            ("the highest of its 3 figures",),
        ),
        (
            "rc_bw:\n    bw  =  24 Gb/sec\nrc_bi_bw:\n    bw  =  46 Gb/sec\n",
            24e9,
            ("the highest of its 2 figures",),
        ),
    ],
)
def test_qperf_gives_the_highest_of_what_one_direction_received(
    text: str, bps: float, conditions: tuple[str, ...]
):
    found = parse_measured(text, "f")
    assert found.measured_bps == pytest.approx(bps)
    assert found.conditions == ("1 stream", *conditions)


def test_netperf_of_udp_gives_what_was_received_and_no_count_of_errors():
    rows = {
        "sent": "212992   65507   10.00      947000     12    49626.00",
        "received": "212992           10.00      940000           49260.10",
    }
    found = parse_measured(NETPERF_UDP.format(cpu=("", "", ""), **rows), "f")
    assert (found.measured_bps, found.conditions) == (49260.10e6, ("10 s",))
    # With -c -C (cpu_fmt_1), where nearly all was lost.
    rows = {
        "sent": "212992   65507   600.00    26022634      0    22728.8     0.92     0.240 ",
        "received": "212992           600.00        128               0.1     0.00     0.001 ",
    }
    found = parse_measured(NETPERF_UDP.format(cpu=UDP_CPU, **rows), "f")
    assert (found.measured_bps, found.conditions) == (0.1e6, ("600 s",))


def test_perftest_adds_both_directions_and_contradicts_itself_where_a_row_does():
    both = PERFTEST.replace("BW Test", "Bidirectional BW Test")
    row = "65536  664644  0.00  180.00  0.343323"
    assert parse_measured(both.format(unit="Gb/sec", row=row), "f").measured_bps == 90e9
    wrong = PERFTEST.format(unit="Gb/sec", row="65536  664644  0.00  90.00  0.343323")
    (doubt,) = parse_measured(wrong, "f").doubts
    assert doubt == "its messages times their size are 180 Gb/s, and it says 90"


@pytest.mark.parametrize(
    ("text", "slug"),
    [
        ("Connecting to host", "measured_by.unknown"),
        ("", "measured_by.unknown"),
        ('{"error": "unable to connect"}', "measured_by.no_figure"),
        ('{"start": {}}', "measured_by.no_figure"),
        ("{", "measured_by.no_figure"),
        (PERFTEST.format(unit="Gb/sec", row=""), "measured_by.no_figure"),
        (iperf3(0), "measured_by.no_figure"),
        (NETPERF_UDP.format(cpu=UDP_CPU, sent="", received=""), "measured_by.no_figure"),
        ("THROUGHPUT=9\nTHROUGHPUT_UNITS=KBytes/s\n", "measured_by.no_figure"),
    ],
)
def test_what_has_no_figure_is_refused(text: str, slug: str):
    with pytest.raises(InputError) as error:
        parse_measured(text, "f")
    assert error.value.what == slug


def finding(measured_bps: float, run: MeasuredBy | None = None) -> Finding:
    capture = parse_capture(X4.read_text(), "x")
    question = Question(measured_bps=measured_bps, measured_by=run)
    found = diagnose(HostFacts("x", capture), question).findings
    return next(f for f in found if f.rule.startswith("measured."))


def test_what_the_tool_limits_stands_where_the_path_is_not_the_bound():
    run = parse_measured(iperf3(22.7e9), "f")
    found = finding(run.measured_bps, run)
    assert "the tool itself may be the limit: all 8 streams share one thread" in found.so
    assert found.evidence[0].found == (
        "22.7 Gb/s of goodput were measured by iperf 3.12, TCP, 30 s, 8 streams"
    )


def test_bits_that_were_bytes_and_bytes_that_were_bits_are_named():
    """47 Gb/s are 5.9 GB/s, and 376 where bytes are taken for bits twice."""
    assert "as bytes a second it would be what the path carries" in finding(47e9 / 8).so
    assert "an eighth of it is what the path carries" in finding(47e9 * 8).so
    assert "bytes" not in finding(22.7e9).so
    run = parse_measured(iperf3(47e9 / 8), "f")
    assert "bytes" not in finding(run.measured_bps, run).so
    assert "eighth" not in finding(150e9).so


def test_the_command_takes_a_file_and_no_second_figure(tmp_path: Path):
    run = tmp_path / "run.json"
    run.write_text(iperf3(22.7e9))
    asked = ["doctor", "--json", "--measured-by", str(run), str(X4)]
    answer = json.loads(CliRunner().invoke(cli, asked).output)
    assert "measured.far_below_ceiling" in {f["rule"] for f in answer["findings"]}
    assert answer["question"]["measured_by"]["tool"] == "iperf 3.12"
    refused = CliRunner().invoke(cli, [*asked, "--measured", "5"])
    assert "options.invalid" in str(refused.output) + str(refused.exception)
