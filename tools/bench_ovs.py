"""Open vSwitch with DPDK, plain and through its own VXLAN, and testpmd: packets and cycles.

One round is a sample of each, one after the other, as each polls from its start to its end. Ratios
are taken within a round. A sample is the first of a few short trials in which nobody took a core
away; where there are too few whole rounds when the time is up, that is said, and no ratio is made.
"""

import statistics
from collections.abc import Iterator, Sequence

from bench_figures import MIN_PAIRS, Figure, Result, Unmeasured
from bench_pairs import PAIRS, DisturbedError
from bench_programs import BURST, FLOWS, MAX_AWAY
from wirespeed.ceilings.encapsulation import Encapsulation, encapsulation_ceiling
from wirespeed.ceilings.ethernet import ethernet_ceiling
from wirespeed.host.clock import Deadline
from wirespeed.lab.bed import VirtualBed
from wirespeed.measure.bench.ovs_programs import find_ovs
from wirespeed.measure.bench.testbed import BedTrial
from wirespeed.measure.bench.tester_protocol import TrialRequest
from wirespeed.model.ceiling import Direction
from wirespeed.model.error import InputError, MeasurementError
from wirespeed.model.frame_mix import FrameMix

SECONDS = 0.2
TRIES = 8
"""Trials of one sample, which cost less than another start of a switch."""
BUDGET_S = 90.0
"""For all: a round begins within it, or not at all."""
ROUND_S = 12.0
"""What a round may take on a busy machine: three starts, all tries."""
FRAME_BYTES = 64
LINE_BPS = 25 * 10**9
NAMES = ("ovs_vxlan_forwarded", "ovs_vxlan_cycles", "ovs_cycles")
THROUGH, PLAIN, FORWARDER = "ovs-dpdk-vxlan", "ovs-dpdk", "testpmd-io"
DUTS = (THROUGH, PLAIN, FORWARDER)
Round = dict[str, BedTrial]


def open_vswitch() -> Iterator[Result]:
    """Frames a second that come back at overload, and the polling thread's cycles for each."""
    try:
        find_ovs()
    except InputError as error:
        why = f"{error.where}: {error.next}"
        yield from (Unmeasured(name=name, why=why, excused=True) for name in NAMES)
        return
    rounds, void, why = measured_rounds()
    if len(rounds) < MIN_PAIRS:
        said = f"{len(rounds)} whole rounds in {BUDGET_S:.0f} s, {void} disturbed; the last: {why}"
        yield from (Unmeasured(name=name, why=said, excused=False) for name in NAMES)
        return
    of = {dut: [one[dut] for one in rounds] for dut in DUTS}
    mpps = {dut: tuple(map(_mpps, trials)) for dut, trials in of.items()}
    cycles = {dut: tuple(map(_cycles, trials)) for dut, trials in of.items()}
    yield Figure(
        name=NAMES[0], ours=mpps[THROUGH], beside=mpps[PLAIN], void=void, notes=(ceiling(),)
    )
    yield Figure(
        name=NAMES[1],
        ours=cycles[THROUGH],
        beside=cycles[PLAIN],
        void=void,
        notes=("outer headers added once, taken off once", _own_count(THROUGH, of[THROUGH])),
    )
    yield Figure(
        name=NAMES[2],
        ours=cycles[PLAIN],
        beside=cycles[FORWARDER],
        void=void,
        notes=(_own_count(PLAIN, of[PLAIN]),),
    )


def measured_rounds() -> tuple[list[Round], int, str]:
    """Give the whole rounds that fit into the time, how many were disturbed, and why the last."""
    rounds: list[Round] = []
    void, why = 0, ""
    deadline = Deadline(BUDGET_S - ROUND_S)
    while len(rounds) < PAIRS and not deadline.expired:
        try:
            rounds.append({dut: _sample(dut) for dut in DUTS})
        except (DisturbedError, MeasurementError) as error:
            void, why = void + 1, str(error)
    return rounds, void, why


def ceiling() -> str:
    """Say what a wire would carry of such frames, with and without outer headers."""
    out = Direction.TRANSMIT
    bare = ethernet_ceiling(LINE_BPS, FRAME_BYTES, out, "example").load_pps.high / 1e6
    tunnel = encapsulation_ceiling(LINE_BPS, FRAME_BYTES, Encapsulation.VXLAN, out, "example")
    return (
        f"a link of {LINE_BPS / 1e9:.0f} Gb/s carries {bare:.1f} Mpps of {FRAME_BYTES}-byte frames "
        f"and {tunnel.load_pps.high / 1e6:.1f} Mpps of them in VXLAN over IPv4: above that, no "
        "core is to blame"
    )


def _sample(dut: str) -> BedTrial:
    """Start it, and give the first trial that nobody disturbed."""
    why = ""
    bed = VirtualBed(dut, "vhost", flows=FLOWS, frame_bytes_max=1518)
    try:
        for number in range(1, TRIES + 1):
            made = bed.run(
                TrialRequest(
                    number=number,
                    mix=FrameMix.parse(str(FRAME_BYTES)),
                    flows=FLOWS,
                    load_pps=None,
                    seconds=SECONDS,
                    burst_frames=BURST,
                    prime=True,
                    expect=bed.dut.expect,
                    cpus=bed.cpus,
                )
            )
            why = disturbance(dut, made)
            if not why:
                return made
    finally:
        bed.close()
    raise DisturbedError(why)


def disturbance(dut: str, made: BedTrial) -> str:
    """Say why a trial tells nothing; empty where it does."""
    if not made.result.valid:
        return "; ".join(made.result.invalid_reasons)
    away_ns = (made.dut.cpu_wait_ns or 0) + (made.dut.steal_ns or 0)
    if away_ns > MAX_AWAY * made.result.measured_seconds * 1e9:
        return f"the core of {dut} was taken away for {away_ns / 1e6:.1f} ms"
    if _cycles(made) <= 0:
        return f"{dut} counted no cycles"
    sent = sum(port.opackets for port in made.dut.ports)
    back = sum(stream.unique_frames for stream in made.result.streams)
    if back > sent:
        return f"a contradiction: {back} frames came back, {dut} counted {sent} that it sent"
    return ""


def _mpps(made: BedTrial) -> float:
    back = sum(stream.unique_frames for stream in made.result.streams)
    return back / made.result.measured_seconds / 1e6


def _cycles(made: BedTrial) -> float:
    """As the DUT itself says: of the polls that found packets, over these packets."""
    return made.dut.busy_cycles_per_packet or 0.0


def _own_count(dut: str, trials: Sequence[BedTrial]) -> str:
    """Say what the tester makes of it: the whole core's cycles over the frames that came back."""
    own = statistics.median(made.result.tester.tsc_hz / (_mpps(made) * 1e6) for made in trials)
    said = statistics.median(map(_cycles, trials))
    return (
        f"{dut}: its polling thread counts {said:.0f} cycles a frame, busy polls alone; by the "
        f"tester's count the core had {own:.0f} for each frame that came back"
    )
