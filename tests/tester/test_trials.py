"""Trials of the real binary over vdevs: pacing, streams, queues, and an account that closes."""

import os
import signal
import socket
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tester_programs import Relay, Reply, Tester, trial_fields

pytestmark = pytest.mark.dpdk

NULL = "net_null0,no-rx=1"
"""Takes whatever is sent, and gives nothing back."""
IMIX = [
    {"frame_bytes": 64, "weight": 7},
    {"frame_bytes": 594, "weight": 4},
    {"frame_bytes": 1518, "weight": 1},
]


def stream(result: Reply, index: int = 0) -> dict[str, int]:
    """One stream's counts."""
    counts: dict[str, int] = result["streams"][index]
    return counts


def check_account(result: Reply) -> None:
    """Every intended frame was offered or not, and every offered one is back, refused or lost."""
    for s in result["streams"]:
        unsent = s["unsent_late_frames"] + s["unsent_no_mbuf_frames"]
        assert s["intended_frames"] == s["offered_frames"] + unsent
        assert s["refused_frames"] <= s["offered_frames"]
    assert result["valid"] is (result["invalid_reasons"] == [])


@pytest.mark.parametrize(
    ("load", "frames"),
    [
        ({"pps": 1_000}, 300),
        ({"pps": 33_333}, 10_000),
        ({"pps": 250_000}, 75_000),
        ({"pps": 1_000_000}, 300_000),
        ({"pps": 2_500_000.5}, 750_000),
        ({"gbps_l1": 1.344}, 600_000),  # 84 bytes on the wire: 2 Mpps
        ({"line_rate_percent": 10, "link_gbps": 6.72}, 300_000),  # 1 Mpps
    ],
)
def test_offered_is_intended_to_the_frame_and_evenly_spaced(
    tester: Tester, load: dict[str, float], frames: int
):
    tester.open(NULL)
    result = tester.trial(load=load, seconds=0.3, prime=False, settle_ms=1, burst_frames=32)
    check_account(result)
    counts = stream(result)
    assert counts["intended_frames"] == counts["offered_frames"] == frames
    assert result["measured_seconds"] >= 0.3 * 0.999
    assert result["change"] is None
    departure = result["departure"]
    assert 1 <= departure["burst_frames_max"] <= 32
    assert departure["interval_ns_intended"] == pytest.approx(
        departure["burst_frames_max"] / frames * 0.3e9, rel=1e-4
    )
    assert departure["interval_ns_p50"] == pytest.approx(
        departure["interval_ns_intended"], rel=0.01
    )


@pytest.mark.parametrize("burst_frames", [1, 7, 128])
def test_bursts_are_no_longer_than_configured(tester: Tester, burst_frames: int):
    tester.open(NULL)
    longest = []
    # Where a pass takes too long, as one that was interrupted does, bursts are halved for a while.
    while burst_frames not in longest and len(longest) < 10:
        result = tester.trial(
            load={"max": True}, burst_frames=burst_frames, prime=False, settle_ms=1, seconds=0.1
        )
        longest.append(result["departure"]["burst_frames_max"])
    assert max(longest) == burst_frames


def test_a_ring_that_stays_full_is_looked_at_ever_less_often(
    start_tester: Callable[..., Tester], short_folder: Path
):
    """Of a DUT that reads nothing: each look takes the line away that it would write to."""
    path = short_folder / "wire"
    with Relay(short_folder, [path], "memif") as relay:
        tester = start_tester()
        tester.open(f"own_memif0,socket={path},rsize=10")
        hz = tester.ask("hello")["tsc_hz"]
        relay.signal(signal.SIGSTOP)
        result = tester.trial(
            load={"max": True}, burst_frames=32, prime=False, settle_ms=1, seconds=0.1
        )
        relay.signal(signal.SIGCONT)
    sent = stream(result)
    assert sent["offered_frames"] - sent["refused_frames"] == 1 << 10
    # From 256 cycles on the time doubles, up to 16384.
    doublings = 7
    assert sent["refused_frames"] / 32 <= 0.1 * hz / 16384 + doublings + 1


def test_a_load_beyond_the_tester_voids_the_trial_and_not_the_dut(tester: Tester):
    tester.open(NULL)
    begin = time.monotonic()
    result = tester.trial(load={"pps": 1e10}, seconds=0.05, prime=False, settle_ms=1)
    assert time.monotonic() - begin < 4, "it gave itself more time for what was late"
    check_account(result)
    assert result["valid"] is False
    assert any(r.startswith("tester.too_slow: ") for r in result["invalid_reasons"])
    counts = stream(result)
    assert counts["intended_frames"] == 500_000_000
    assert 0 < counts["unsent_late_frames"] < 500_000_000


@pytest.mark.parametrize("isa", ["portable", "avx512"])
@pytest.mark.parametrize("mix", [[{"frame_bytes": n}] for n in (64, 65, 127, 1518, 9600)] + [IMIX])
def test_every_frame_comes_back_in_order(
    start_tester: Callable[..., Tester], isa: str, mix: list[dict[str, int]]
):
    tester = start_tester(isa=isa)
    if tester.ask("hello")["isa"] != isa:
        pytest.skip(f"this CPU cannot run the {isa} build")
    tester.open("net_ring0", frame_bytes_max=9600)
    result = tester.trial(mix=mix, flows=300, load={"pps": 200_000}, seconds=0.05)
    check_account(result)
    counts = stream(result)
    assert counts["offered_frames"] == 10_000
    assert counts["in_order_frames"] == 10_000 - counts["refused_frames"]
    assert result["latency"]["frames"] == counts["in_order_frames"]
    assert result["counters"][0]["opackets"] == 10_000 - counts["refused_frames"]


def open_crossed(tester: Tester, folder: Path) -> None:
    """Open two ports, each at the other end of the other's cable."""
    common = f"socket={folder}/cable,socket-abstract=no"
    opened = tester.open(f"net_memif0,role=server,{common}", f"net_memif1,role=client,{common}")
    assert opened["event"] == "opened", opened


CROSSED = ({"tx_port": 0, "rx_port": 1}, {"tx_port": 1, "rx_port": 0})
STRAIGHT = ({"tx_port": 0, "rx_port": 0}, {"tx_port": 1, "rx_port": 1})


def test_an_imix_is_sent_in_its_weights(tester: Tester, short_folder: Path):
    open_crossed(tester, short_folder)
    # 3200 rounds of twelve frames, at a load of which the gap between frames is never long
    result = tester.trial(
        mix=IMIX, streams=CROSSED[:1], flows=7, load={"pps": 384_000}, seconds=0.1
    )
    check_account(result)
    if stream(result)["refused_frames"] == 0:
        sent = result["counters"][0]["obytes"]
        assert sent == 3200 * (7 * 60 + 4 * 590 + 1514)
    assert stream(result)["in_order_frames"] == 38_400 - stream(result)["refused_frames"]


@pytest.mark.parametrize("streams", [CROSSED[:1], CROSSED[1:], CROSSED])
def test_streams_go_one_way_or_both(
    tester: Tester, short_folder: Path, streams: tuple[dict[str, int], ...]
):
    open_crossed(tester, short_folder)
    result = tester.trial(streams=streams, load={"pps": 200_000}, seconds=0.05, flows=500)
    check_account(result)
    assert [(s["tx_port"], s["rx_port"]) for s in result["streams"]] == [
        (s["tx_port"], s["rx_port"]) for s in streams
    ]
    for s in result["streams"]:
        assert s["offered_frames"] == 10_000 / len(streams)
        assert s["in_order_frames"] == s["offered_frames"] - s["refused_frames"]


@pytest.mark.parametrize("streams", [STRAIGHT[:1], STRAIGHT])
def test_frames_at_the_wrong_port_are_misdelivered(
    tester: Tester, short_folder: Path, streams: tuple[dict[str, int], ...]
):
    open_crossed(tester, short_folder)
    refused = tester.trial(streams=streams)
    assert refused["what"] == "trial.nothing_comes_back"
    result = tester.trial(streams=streams, prime=False, settle_ms=20)
    check_account(result)
    for s in result["streams"]:
        assert s["in_order_frames"] == s["corrupted_frames"] == s["foreign_frames"] == 0
        assert s["misdelivered_frames"] == s["offered_frames"] - s["refused_frames"] > 0


@pytest.mark.parametrize("expect", ["5tswap", "routed"])
def test_a_dut_that_does_not_do_what_it_should_is_corruption(tester: Tester, expect: str):
    tester.open("net_ring0")
    counts = stream(tester.trial(expect=expect, settle_ms=20))
    assert counts["in_order_frames"] == 0
    assert counts["corrupted_frames"] == counts["offered_frames"] - counts["refused_frames"] > 0


def test_frames_that_nobody_sent_are_foreign(tester: Tester):
    """net_null makes frames of zeros up whenever it is asked for some."""
    tester.open("net_null0")
    counts = stream(tester.trial(prime=False, settle_ms=1, seconds=0.002))
    assert counts["foreign_frames"] > 0
    assert counts["in_order_frames"] == counts["corrupted_frames"] == 0


@pytest.mark.parametrize(("queues", "workers", "flows"), [(3, 1, 7), (3, 2, 8192), (2, 2, 2)])
def test_flows_are_split_over_queues_and_lcores(
    start_tester: Callable[..., Tester], queues: int, workers: int, flows: int
):
    # As many lcores as queues: net_ring has one ring for each lcore of the EAL.
    tester = start_tester(workers=max(queues, workers), memory_mib=512)
    shares: list[dict[str, Any]] = [
        {
            "lcore": w + 1,
            "tx": [[0, q] for q in range(w, queues, workers)],
            # another lcore reads than writes
            "rx": [[0, q] for q in range((w + 1) % workers, queues, workers)],
        }
        for w in range(workers)
    ]
    ports = [{"device": "net_ring0", "tx_queues": queues, "rx_queues": queues}]
    assert tester.ask("open", ports=ports, workers=shares)["event"] == "opened"
    result = tester.trial(flows=flows, load={"pps": 100_000}, seconds=0.05, gap_limit_ms=1000)
    check_account(result)
    counts = stream(result)
    assert counts["intended_frames"] == 5_000
    assert counts["in_order_frames"] == counts["offered_frames"] - counts["refused_frames"]
    assert not any("flow_at_two_queues" in r for r in result["invalid_reasons"])


@pytest.mark.parametrize("refused", ["dut", "tester"])
def test_frames_that_the_port_refuses_are_the_duts_or_the_testers_as_told(
    start_tester: Callable[..., Tester], refused: str
):
    """Sender and receiver take turns on one CPU, so the ring of 1024 overflows."""
    tester = start_tester(workers=2)
    opened = tester.ask(
        "open",
        ports=[{"device": "net_ring0", "refused": refused}],
        workers=[{"lcore": 1, "tx": [[0, 0]]}, {"lcore": 2, "rx": [[0, 0]]}],
    )
    assert opened["event"] == "opened", opened
    result = tester.trial(load={"pps": 5e6}, seconds=0.1, gap_limit_ms=1000)
    check_account(result)
    counts = stream(result)
    missing = counts["offered_frames"] - counts["in_order_frames"]
    assert counts["intended_frames"] == 500_000
    if refused == "dut":
        assert missing == counts["refused_frames"] > 0
    else:
        assert missing == counts["refused_frames"] == 0
        assert counts["unsent_late_frames"] > 0
        assert any(r.startswith("tester.too_slow: ") for r in result["invalid_reasons"])


def test_memory_is_what_the_page_says(tester: Tester):
    """16 bytes a flow at the smallest window, and the tables: 2 x 64 for 256 flows."""
    tester.open("net_ring0")

    def state_bytes(flows: int, window_frames: int = 0) -> int:
        result = tester.trial(flows=flows, window_frames=window_frames, settle_ms=1)
        assert result["event"] == "result", result
        return int(result["state_bytes"])

    def per_flow(words: int) -> float:
        return 8 + 8 * words + 2 * 64 / 256

    few = state_bytes(256, 64)
    for flows in (8192, 1_000_192, 1 << 20):
        assert state_bytes(flows, 64) - few == (flows - 256) * per_flow(words=1)
    assert state_bytes(8192, 1024) - state_bytes(8192, 64) == 8192 * 8 * 15
    # the default: 2^23 frames of window for all flows together
    assert state_bytes(8192) == state_bytes(8192, 1024)
    assert state_bytes(1 << 20) == state_bytes(1 << 20, 64)
    assert few < 2_000_000


def test_a_million_flows_are_judged(tester: Tester):
    tester.open("net_ring0")
    result = tester.trial(flows=1_000_000, load={"pps": 4_000_000}, seconds=0.5, burst_frames=16)
    check_account(result)
    counts = stream(result)
    assert counts["offered_frames"] == 2_000_000  # each flow sends two
    assert counts["in_order_frames"] == counts["offered_frames"] - counts["refused_frames"]


def test_the_machine_is_looked_at_before_and_after(tester: Tester):
    tester.open("net_ring0")
    cpus = sorted(os.sched_getaffinity(0))[:2]
    health = tester.trial(cpus=cpus)["tester"]
    assert len(health["pingpong_cycles_before"]) == len(cpus) - 1
    assert len(health["pingpong_cycles_after"]) == len(cpus) - 1
    assert health["core_hz"] is None or 5e8 < health["core_hz"] < 1e10
    assert health["gap_ns_max"] > 0
    assert health["busy_cycles_per_frame"] > 0


def test_latency_is_ordered_and_has_every_frame(tester: Tester):
    tester.open("net_ring0")
    result = tester.trial(seconds=0.05)
    latency = result["latency"]
    steps = [
        latency[f"latency_ns_{q}"] for q in ("min", "p50", "p90", "p99", "p999", "p9999", "max")
    ]
    assert steps == sorted(steps)
    assert latency["frames"] == stream(result)["in_order_frames"]


def test_a_stall_of_the_tester_voids_the_trial(tester: Tester):
    """A limit that no loop can keep: the smallest that may be asked for."""
    tester.open("net_ring0")
    tester.tell("trial", **trial_fields(seconds=0.3, gap_limit_ms=0.01))
    time.sleep(0.1)
    tester.signal(signal.SIGSTOP)
    time.sleep(0.05)
    tester.signal(signal.SIGCONT)
    result = tester.result()
    check_account(result)
    assert result["tester"]["gap_ns_max"] > 40e6
    assert result["tester"]["gaps_over_limit"] > 0
    assert any(r.startswith("tester.stalled: lcore 1 ") for r in result["invalid_reasons"])
    # The schedule waited with the loop: nothing left late, and nothing left in one long burst.
    assert stream(result)["offered_frames"] == 30_000
    assert result["departure"]["burst_frames_max"] == 1


def test_each_window_has_its_own_account_and_they_add_up(tester: Tester):
    tester.open("net_ring0")
    result = tester.trial(seconds=0.1, windows=20, load={"pps": 1_000_000})
    windows = result["windows"]
    assert len(windows) == 20
    assert result["measured_seconds"] == pytest.approx(0.1, rel=0.01)
    for count in ("intended_frames", "offered_frames", "in_order_frames", "foreign_frames"):
        assert sum(w["streams"][0][count] for w in windows) == stream(result)[count]
    for window in windows:
        check_account({**window, "valid": window["invalid_reasons"] == []})
        assert window["streams"][0]["intended_frames"] == 5000


def test_windows_need_one_worker(start_tester: Callable[..., Tester]):
    tester = start_tester(workers=2, memory_mib=512)
    shares = [{"lcore": w + 1, "tx": [[0, w]], "rx": [[0, w]]} for w in range(2)]
    ports = [{"device": "net_ring0", "tx_queues": 2, "rx_queues": 2}]
    assert tester.ask("open", ports=ports, workers=shares)["event"] == "opened"
    error = tester.ask("trial", **trial_fields(windows=2))
    assert (error["what"], error["where"]) == ("request.invalid", "windows")


def test_a_server_that_answers_nothing_is_waited_for_as_long_as_was_asked_for(
    tester: Tester, short_folder: Path
):
    """A memif's server that takes the connection in, and then says no word of the protocol."""
    path = short_folder / "deaf"
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as deaf:
        deaf.bind(str(path))
        deaf.listen(64)
        began = time.monotonic()
        reply = tester.open(f"own_memif0,socket={path}", link_wait_ms=500)
        took = time.monotonic() - began
    assert reply["what"] == "port.link_down"
    # A look that has begun is ended: two seconds for an answer.
    assert took < 20


@pytest.mark.parametrize("arguments", ["", "rsize=15", "rsize=0", "bsize=1000", "bsize=40000"])
def test_a_memif_of_our_own_that_cannot_be_is_refused(
    tester: Tester, short_folder: Path, arguments: str
):
    where = f"socket={short_folder / 'wire'}," if arguments else ""
    reply = tester.open(f"own_memif0,{where}{arguments}")
    assert reply["event"] == "error"
    assert reply["what"] == "port.cannot_open"
