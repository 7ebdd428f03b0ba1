"""Faults injected on the wire are counted exactly, frame for frame.

The relay takes the DUT's place. It knows what it did to every frame and what the tester must make
of it (tester/tests/tally.c, which shares no code with the judge). The two must agree to the frame.
Nothing here depends on speed: a busy machine makes a trial slow, and its counts stay exact.
"""

import os
import random
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path

import pytest
from tester_programs import Relay, Reply, Tester, spinning_on, trial_fields, usable_cpus

pytestmark = [pytest.mark.dpdk, pytest.mark.usefixtures("built")]

FAULTS = ("loss", "duplicate", "reorder", "corrupt", "misdeliver", "foreign", "stale")
JUDGED = (
    "in_order",
    "reordered",
    "duplicated",
    "undecided",
    "corrupted",
    "misdelivered",
    "earlier_trial",
    "foreign",
)
"""Every frame that arrives is exactly one of these."""
IMIX = [
    {"frame_bytes": 64, "weight": 7},
    {"frame_bytes": 594, "weight": 4},
    {"frame_bytes": 1518, "weight": 1},
]
RING_FRAMES = 16384
"""Trials of fewer frames than the ring lose nothing, even if the relay does not run meanwhile."""
SETTLE_MS = 100
"""Far longer than the relay holds a frame back once the tester is silent (5 ms)."""


@dataclass
class Wires:
    tester: Tester
    relay: Relay
    ports: int
    trials: int = 0


VHOST, DIRECT = "vhost", "memif"
DEVICES = {
    VHOST: f"net_virtio_user{{}},path={{}},server=1,queues=1,queue_size={RING_FRAMES}",
    # Its frames are composed and judged in the memory of the memif itself.
    DIRECT: "own_memif{},socket={},rsize=14",
}
OpenWires = Callable[..., Wires]


def seeds(wire: str, first: int, end: int) -> Iterator[object]:
    """Give a wire and a seed for each case; two of five are tried each time, the rest is rare."""
    for seed in range(first, end):
        marks = () if seed - first < 2 * (end - first) // 5 else pytest.mark.rare
        yield pytest.param(wire, seed, marks=marks)


@pytest.fixture(scope="module")
def open_wires(wire_folder: Path) -> Iterator[OpenWires]:
    """Give wires with this many ports: opened once, kept until the module ends."""
    opened: dict[tuple[int, str], Wires] = {}

    def wires(ports: int, wire: str = VHOST) -> Wires:
        if (ports, wire) not in opened:
            folder = wire_folder / f"{wire}{ports}"
            folder.mkdir()
            sockets = [folder / f"wire{i}" for i in range(ports)]
            tester = Tester(folder, memory_mib=512, eal=["--single-file-segments"])
            opened[ports, wire] = Wires(tester, Relay(folder, sockets, wire), ports)
            device = DEVICES[wire]
            queues = [[i, 0] for i in range(ports)]
            reply = tester.ask(
                "open",
                ports=[
                    {
                        "device": device.format(i, socket),
                        "tx_descriptors": RING_FRAMES,
                        "rx_descriptors": RING_FRAMES,
                    }
                    for i, socket in enumerate(sockets)
                ],
                workers=[{"lcore": 1, "tx": queues, "rx": queues}],
            )
            assert reply["event"] == "opened", reply
        return opened[ports, wire]

    yield wires
    for each in opened.values():
        each.tester.close()
        each.relay.close()


def test_a_virtio_ring_shorter_than_what_is_usual_sends_and_receives(wire_folder: Path):
    """QEMU's have 256 descriptors where nobody asks for more; DPDK gives their number to no one
    before the queue is set up (virtio_dev_info_get: 32768 at most)."""
    folder = wire_folder / "short"
    folder.mkdir()
    socket = folder / "wire"
    tester = Tester(folder, memory_mib=512, eal=["--single-file-segments"])
    relay = Relay(folder, [socket], VHOST)
    try:
        relay.case(seed=1, flows=16, span=2000)
        device = f"net_virtio_user0,path={socket},server=1,queues=1,queue_size=256"
        opened = tester.ask(
            "open",
            # As many as a card is asked for.
            ports=[{"device": device, "tx_descriptors": 4096, "rx_descriptors": 4096}],
            workers=[{"lcore": 1, "tx": [[0, 0]], "rx": [[0, 0]]}],
        )
        assert opened["event"] == "opened", opened
        trial = tester.trial(settle_ms=SETTLE_MS, load={"pps": 2000}, seconds=0.1)
        (stream,) = trial["streams"]
        assert stream["in_order_frames"] + stream["refused_frames"] == stream["offered_frames"]
        assert stream["in_order_frames"] > 100
    finally:
        tester.close()
        relay.close()


@dataclass(frozen=True)
class Case:
    """One trial: what is sent, and what happens to it."""

    ports: int
    flows: int
    frames: int
    load_pps: float
    mix: list[dict[str, int]]
    faults: dict[str, float]
    combine: bool
    hold: int
    window_frames: int
    seed: int

    @staticmethod
    def random(seed: int) -> "Case":
        r = random.Random(seed)
        ports = 2 if r.random() < 0.25 else 1
        flows = r.choice((1, 7, 256, 8192))
        if r.random() < 0.25:
            mix = IMIX
        else:
            sizes = (64, 65, 67, 68, 128, 256, 512, 1024, 1280, 1518, r.randint(64, 1518))
            mix = [{"frame_bytes": r.choice(sizes)}]
        # Several rounds over 8192 flows need more frames than the ring holds, so they go slowly.
        slow = flows == 8192 and r.random() < 0.7
        combine = r.random() < 0.4
        kinds = FAULTS if r.random() < 0.5 else r.sample(FAULTS, r.randint(1, 3))
        return Case(
            ports=ports,
            flows=flows,
            frames=40_000 if slow else r.randint(12_000, RING_FRAMES - 1_000),
            # At the highest, bursts are long enough to be judged in groups.
            load_pps=400_000 if slow else r.choice((200_000, 1_000_000, 12_000_000)),
            mix=mix,
            faults={
                kind: r.choice((0.0005, 0.01, 0.05, 0.2 if combine else 0.1))
                for kind in kinds
                if ports == 2 or kind != "misdeliver"
            },
            combine=combine,
            # Up to three windows of 64, so that some frames come too late to be told apart.
            hold=r.choice((1, 2, 5, 3 * flows, 200 * min(flows, 7))),
            window_frames=r.choice((64, 128, 1024)),
            seed=r.getrandbits(48),
        )


def run(wires: Wires, case: Case) -> tuple[Reply, Reply]:
    """Run one trial; give the tester's result and the relay's counts."""
    wires.trials += 1
    wires.relay.case(
        seed=case.seed,
        flows=case.flows,
        span=case.frames // case.flows + 2,
        hold=case.hold,
        window=case.window_frames,
        combine=int(case.combine),
        **case.faults,
    )
    result = wires.tester.trial(
        number=wires.trials,
        mix=case.mix,
        streams=[{"tx_port": i, "rx_port": i} for i in range(wires.ports)],
        flows=case.flows,
        burst_frames=64,
        window_frames=case.window_frames,
        load={"pps": case.load_pps * wires.ports},
        seconds=case.frames / case.load_pps,
        settle_ms=SETTLE_MS,
    )
    assert result["event"] == "result", result
    return result, wires.relay.counts()


def check(case: Case, result: Reply, relay: Reply) -> None:
    """Hold the tester's counts against the relay's."""
    assert (relay["held"], relay["relay_failed"], relay["outside"], relay["strange"]) == (0,) * 4
    for stream, port, truth in zip(
        result["streams"], result["counters"], relay["streams"], strict=True
    ):
        sent, refused = stream["offered_frames"], stream["refused_frames"]
        missing = sent - stream["in_order_frames"] - stream["reordered_frames"]
        assert sent - refused == truth["read"]
        assert missing - refused == truth["read"] - truth["in_order"] - truth["reordered"]
        for kind in JUDGED:
            assert stream[f"{kind}_frames"] == truth[kind], kind
        assert stream["reorder_extent_max"] == truth["reorder_extent_max"]
        if case.ports == 1:
            assert port["ipackets"] == sum(stream[f"{kind}_frames"] for kind in JUDGED)
    if not case.combine:
        struck = relay["struck"]
        total = {
            key: sum(s[key] for s in result["streams"])
            for key in result["streams"][0]
            if key.endswith("_frames")
        }
        lost = total["offered_frames"] - total["in_order_frames"] - total["reordered_frames"]
        assert lost - total["undecided_frames"] == total["refused_frames"] + (
            struck["loss"] + struck["corrupt"] + struck["misdeliver"]
        )
        assert total["corrupted_frames"] == struck["corrupt"]
        assert total["duplicated_frames"] == struck["duplicate"]  # the twin leaves at once
        assert total["misdelivered_frames"] == struck["misdeliver"]
        assert total["foreign_frames"] == struck["foreign"]
        assert total["earlier_trial_frames"] == struck["stale"]


@pytest.mark.parametrize(
    ("wire", "seed"),
    [*seeds(VHOST, 0, 100), *seeds(DIRECT, 100, 140)],
)
def test_the_tester_counts_what_the_relay_did(open_wires: OpenWires, wire: str, seed: int):
    case = Case.random(seed)
    print(case)  # noqa: T201 - pytest shows it where the case fails
    result, counts = run(open_wires(case.ports, wire), case)
    check(case, result, counts)


@pytest.mark.parametrize("who", ["the DUT", "the tester"])
def test_silence_is_the_duts_and_never_the_testers_own(open_wires: OpenWires, who: str):
    wires = open_wires(1)
    wires.trials += 1
    wires.relay.case(seed=1, flows=16, span=2000)
    wires.tester.tell(
        "trial",
        **trial_fields(number=wires.trials, seconds=0.4, load={"pps": 20_000}, gap_limit_ms=1000),
    )
    time.sleep(0.1)
    stopped = wires.relay if who == "the DUT" else wires.tester
    stopped.signal(signal.SIGSTOP)
    time.sleep(0.12)
    stopped.signal(signal.SIGCONT)
    result = wires.tester.result()
    assert result["streams"][0]["in_order_frames"] == 8000
    assert result["silence_ns_max"] <= result["silence_ns_sum"]
    if who == "the DUT":
        # What the tester did not see because it was not running either is not in it.
        assert result["silence_ns_max"] > 5e6
        assert result["silence_ns_max"] + result["tester"]["stalled_ns"] > 100e6
    else:
        assert result["silence_ns_max"] < 60e6
        assert result["tester"]["gap_ns_max"] > 100e6


@pytest.mark.parametrize("loss", [0, 0.1])
def test_frames_of_others_do_not_prolong_the_wait_for_our_own(open_wires: OpenWires, loss: float):
    wires = open_wires(1)
    wires.trials += 1
    wires.relay.case(seed=1, flows=16, span=2000, loss=loss, chatter_us=500)
    begin = time.monotonic()
    result = wires.tester.trial(number=wires.trials, settle_ms=SETTLE_MS)
    took = time.monotonic() - begin
    wires.relay.case()
    assert result["streams"][0]["foreign_frames"] > 0
    assert not any(r.startswith("trial.not_settled") for r in result["invalid_reasons"])
    assert took < 4, "50 times the silence that says that no more will come"


def test_a_trial_whose_frames_never_stop_coming_is_void_and_says_so(
    open_wires: OpenWires,
):
    wires = open_wires(1)
    # A machine that takes the relay's core for 50 ms ends the wait before its time.
    for _ in range(5):
        wires.trials += 1
        # All 3000 are held back, and then one leaves in each millisecond.
        wires.relay.case(seed=1, flows=16, span=2000, reorder=1, hold=100_000, drip_us=1000)
        fields = trial_fields(number=wires.trials, seconds=0.03, settle_ms=50)
        result = wires.tester.ask("trial", **fields)
        wires.relay.case()
        said = [r for r in result["invalid_reasons"] if r.startswith("trial.not_settled: ")]
        if said:
            break
    (stream,) = result["streams"]
    assert 0 < stream["in_order_frames"] + stream["reordered_frames"] < 3000
    assert "2500 ms" in said[0]


@pytest.mark.parametrize("kept", [True, False], ids=["kept from its core", "asleep"])
def test_a_dut_that_is_kept_from_its_core_is_told_from_one_that_rests(
    open_wires: OpenWires, kept: bool
):
    """The relay sleeps in poll() when nothing comes; a neighbour on its core lets it wait."""
    wires = open_wires(1)
    wires.trials += 1
    wires.relay.case(seed=1, flows=16, span=4000)
    pid = wires.relay.process.pid
    before = int(Path(f"/proc/{pid}/schedstat").read_text().split()[1])
    with spinning_on(usable_cpus()[0]) if kept else nullcontext():
        result = wires.tester.trial(
            number=wires.trials, seconds=0.5, load={"pps": 20_000}, watch=[[pid, pid]]
        )
    waited = int(Path(f"/proc/{pid}/schedstat").read_text().split()[1]) - before
    away = result["watched_away_ns"][0] + result["watched_drain_away_ns"][0]
    if kept:
        assert waited > 50e6
        assert away >= 0.8 * waited - 50e6
    assert away <= 1.3 * waited + 30e6


def test_a_thread_that_is_not_there_is_not_taken_for_one_that_ran(
    open_wires: OpenWires,
):
    wires = open_wires(1)
    wires.trials += 1
    wires.relay.case(seed=1, flows=16, span=2000)
    result = wires.tester.trial(number=wires.trials, watch=[[2**31 - 1, 2**31 - 1]])
    assert result["watched_away_ns"] == [None]


def missing(window: Reply) -> int:
    """Frames of the first stream that did not come back."""
    counts = window["streams"][0]
    lost: int = counts["offered_frames"] - counts["in_order_frames"] - counts["reordered_frames"]
    return lost


@pytest.mark.parametrize(("wire", "seed"), seeds(VHOST, 0, 100))
def test_an_injected_loss_is_in_the_window_in_which_it_was_and_none_follows(
    open_wires: OpenWires, wire: str, seed: int
):
    """At a random place, of a random size; in half of the cases at a stop of tester or relay.

    So no later window can have too many frames and make up for it.
    """
    r = random.Random(seed)
    wires = open_wires(1, wire)
    wires.trials += 1
    at_a_stall = seed % 2 == 0
    lost = round(10 ** r.uniform(0, 3))
    place = r.randrange(20_000)
    wires.relay.case(
        seed=seed,
        flows=256,
        span=200,
        lose_frames=lost,
        lose_from=place,
        lose_at_stall=int(at_a_stall),
    )
    wires.tester.tell(
        "trial",
        **trial_fields(
            number=wires.trials,
            flows=256,
            seconds=0.1,
            windows=40,
            load={"pps": 300_000},
            settle_ms=SETTLE_MS,
        ),
    )
    if at_a_stall:
        stopped = wires.tester if r.random() < 0.5 else wires.relay
        time.sleep(r.uniform(0.02, 0.1))
        stopped.signal(signal.SIGSTOP)
        time.sleep(r.uniform(0.002, 0.02))
        stopped.signal(signal.SIGCONT)
    result, counts = wires.tester.result(), wires.relay.counts()
    windows = result["windows"]
    struck = counts["struck"]["loss"]
    # A relay that is away for long ends the run too, and then there may be nothing to lose from.
    assert 0 < struck <= lost or len(windows) < 40
    assert [missing(window) for window in windows[:-1]] == [0] * (len(windows) - 1)
    assert missing(windows[-1]) == struck + windows[-1]["streams"][0]["refused_frames"]
    assert missing(result) == missing(windows[-1])


@pytest.mark.parametrize(
    ("lose_from", "lose_frames", "last_loss_s", "within_s"),
    [
        pytest.param(4500, 500, 0, 0.003, id="all-before-the-change"),
        pytest.param(4900, 600, 0.1, 0.003, id="until-a-tenth-of-a-second-after-it"),
        pytest.param(6000, 1, 0.2, 0.003, id="one-frame"),
        pytest.param(9990, 10, 1, 0.015, id="the-last-ones"),
        pytest.param(6000, 4000, 1, 0.015, id="all-that-follow"),
        pytest.param(20_000, 0, 0, 0, id="none"),
    ],
)
def test_the_last_loss_after_a_change_of_load_has_its_time(
    open_wires: OpenWires,
    lose_from: int,
    lose_frames: int,
    last_loss_s: float,
    within_s: float,
):
    """Half a second of 10,000 frames a second, then a second of 5,000."""
    wires = open_wires(1)
    wires.trials += 1
    wires.relay.case(seed=1, flows=64, span=200, lose_from=lose_from, lose_frames=lose_frames)
    result = wires.tester.ask(
        "trial",
        **trial_fields(
            number=wires.trials,
            flows=64,
            seconds=1.5,
            load={"pps": 10_000},
            then={"after_seconds": 0.5, "pps": 5_000},
            settle_ms=SETTLE_MS,
        ),
    )
    (stream,) = result["streams"]
    assert stream["offered_frames"] == 10_000
    assert missing(result) == lose_frames
    away_s = result["tester"]["stalled_ns"] / 1e9
    assert result["change"]["at_ns"] / 1e9 == pytest.approx(0.5, abs=0.002 + away_s)
    # A frame in each 0.2 ms, alone; where flows' last ones are missing, to within a round of 13 ms.
    assert result["change"]["last_loss_ns"] / 1e9 == pytest.approx(
        last_loss_s, abs=within_s + away_s
    )


RING_COOKIE = (0x3E31F20).to_bytes(4, "little")
"""Of each ring's head (DPDK, drivers/net/memif/memif.h, MEMIF_COOKIE)."""
HEAD_AT, TAIL_AT = 6, 64


def spoil(relay: Relay) -> int:
    """Move both ends of every ring that the relay shares to where they cannot be; how many."""
    rings = 0
    for link in Path(f"/proc/{relay.process.pid}/fd").iterdir():
        if not str(link.readlink()).startswith("/memfd:"):
            continue
        with link.open("r+b", buffering=0) as file:
            head = file.read(1 << 20)
            at = head.find(RING_COOKIE)
            while at >= 0:
                for end in (HEAD_AT, TAIL_AT):
                    value = int.from_bytes(head[at + end : at + end + 2], "little")
                    os.pwrite(
                        file.fileno(), (value + 30_000 & 0xFFFF).to_bytes(2, "little"), at + end
                    )
                rings += 1
                at = head.find(RING_COOKIE, at + 4)
    return rings


def test_a_hostile_peer_that_spoils_a_ring_ends_the_trial_as_its_own_failure(wire_folder: Path):
    """No trial of the tester's failed: it is not void, and no loss is counted. The DUT is named."""
    folder = wire_folder / "spoilt"
    folder.mkdir()
    socket = folder / "wire"
    tester = Tester(folder, memory_mib=512, eal=["--single-file-segments"])
    relay = Relay(folder, [socket], DIRECT)
    try:
        relay.case(seed=1, flows=16, span=2000)
        device = DEVICES[DIRECT].format(0, socket)
        opened = tester.ask(
            "open",
            ports=[{"device": device, "tx_descriptors": 1024, "rx_descriptors": 1024}],
            workers=[{"lcore": 1, "tx": [[0, 0]], "rx": [[0, 0]]}],
        )
        assert opened["event"] == "opened", opened
        number = tester.tell("trial", **trial_fields(seconds=3.0, load={"pps": 2000}))
        time.sleep(0.5)
        # A relay that runs may write its ends anew before the tester looks at them.
        relay.process.send_signal(signal.SIGSTOP)
        assert spoil(relay) >= 2
        reply = tester.result()
        assert (reply["id"], reply["event"]) == (number, "error"), reply
        assert reply["what"] == "port.memory_spoilt"
        assert reply["found"] == "the DUT wrote an index of a ring that its frames cannot give"
        assert reply["next"] == "restart the DUT, or join it by --wire memif"
    finally:
        relay.process.send_signal(signal.SIGCONT)
        tester.close()
        relay.close()
