"""Through a DUT: testpmd io behind memif, fed by ours and by testpmd flowgen in turn.

Ours by DPDK's driver of memif, and as the memif's client itself (`memif-direct`).
"""

import statistics
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

from bench_figures import Result
from bench_pairs import Pairs
from bench_programs import FLOWS, Peer, PeerRun, Trials, eal_side, placement, tester
from wirespeed.host.folder import PrivateFolder
from wirespeed.lab.wire import RING_FRAMES, WireKind, devices
from wirespeed.measure.bench.tester_protocol import ResultReply
from wirespeed.measure.bench.testpmd import Testpmd

SECONDS = 1.0


def through_memif() -> Iterator[Result]:
    """Frames a second that come back, and what the generator pays for each."""
    yield from _through("memif", "forwarded_vs_flowgen", "cost_vs_flowgen")


def through_memif_direct() -> Iterator[Result]:
    """The same without DPDK's driver on our side."""
    yield from _through("memif-direct", "direct_vs_flowgen", "direct_cost_vs_flowgen")


def _through(kind: WireKind, forwarded: str, cost: str) -> Iterator[Result]:
    with ExitStack() as stack:
        places = placement()
        # One folder, and so one pair of sockets, for each generator with a DUT of its own. The
        # DUTs share a CPU and take turns.
        ends = []
        wires: tuple[WireKind, WireKind] = (kind, "memif")
        for wire in wires:
            folder = stack.enter_context(PrivateFolder.create()).path
            device = devices(wire, folder / "wire", frame_bytes_max=1518, zero_copy=False)
            dut = stack.enter_context(
                Testpmd(
                    eal_side(folder, "dut", device[1], places.dut_cpu, places.control_cpu),
                    "io",
                    burst=32,
                )
            )
            side = eal_side(folder, "tester", device[0], places.tester_cpus[0], places.control_cpu)
            ends.append((dut, side))
        (our_dut, our_side), (peer_dut, peer_side) = ends
        ours = stack.enter_context(tester(our_side, descriptors=RING_FRAMES))
        peer = stack.enter_context(
            Peer(
                peer_side,
                "flowgen",
                f"--flowgen-flows={FLOWS}",
                f"--txd={RING_FRAMES}",
                f"--rxd={RING_FRAMES}",
                mbufs=3 * RING_FRAMES,
            )
        )
        # A memif server that still polls crashes now and then when its client leaves.
        stack.callback(our_dut.close)
        stack.callback(peer_dut.close)
        trials = Trials(ours, prime=True, cpus=(places.tester_cpus[0], places.dut_cpu))

        def our_run() -> ResultReply:
            with forwarding(our_dut):
                return trials.run(SECONDS)

        def peer_run() -> PeerRun:
            with forwarding(peer_dut):
                return peer.run(SECONDS)

        # The first burst over memif can drop, and addresses are learned.
        Pairs(our_run, peer_run, n=1)
        fed = Pairs(our_run, peer_run)
        notes = (f"beside `{peer.command_line}`", *_refused(fed))
        yield fed.result(forwarded, _our_mpps, _peer_mpps, *notes)
        yield fed.result(cost, _our_cycles, _peer_cycles, *notes)


@contextmanager
def forwarding(dut: Testpmd) -> Iterator[None]:
    """Let a DUT forward only while it is fed: the two share a CPU."""
    dut.start_trial()
    try:
        yield
    finally:
        dut.end_trial()


def _refused(fed: Pairs[ResultReply, PeerRun]) -> tuple[str, ...]:
    if not fed.samples:
        return ()
    ours = statistics.median(_our_refused(result) for result, _ in fed.samples)
    peer = statistics.median(run.refused_share for _, run in fed.samples)
    return (f"refused by the full ring: {ours:.1%} of ours, {peer:.1%} of flowgen's",)


def _our_mpps(result: ResultReply) -> float:
    """Frames that came back and were judged sound."""
    return sum(s.unique_frames for s in result.streams) / result.measured_seconds / 1e6


def _peer_mpps(run: PeerRun) -> float:
    """Frames that came back."""
    return run.received_pps / 1e6


def _our_cycles(result: ResultReply) -> float:
    """Of the turns that had work, for each frame that the wire took."""
    busy = result.tester.busy_cycles_per_frame
    if busy is None:
        raise ValueError("the tester counted no cycles")
    return busy / (1 - _our_refused(result))


def _our_refused(result: ResultReply) -> float:
    offered = sum(s.offered_frames for s in result.streams)
    return sum(s.refused_frames for s in result.streams) / offered


def _peer_cycles(run: PeerRun) -> float:
    """Its own count, for each frame that the wire took."""
    return run.cycles_per_packet
