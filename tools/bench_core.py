"""One core: generating to net_null beside testpmd, and the whole loop over net_ring."""

from collections.abc import Callable, Iterator

from bench_figures import Result, Unmeasured
from bench_pairs import pairs, within
from bench_programs import FLOWS, Peer, Trials, cycles_per_frame, on_one_core, tester

SECONDS = 0.5
NULL = "net_null0,no-rx=1"
"""Without its receive side, which invents frames and would cost flowgen."""
RING = "net_ring0"
BUDGET_CYCLES = {"avx512": 10.0, "portable": 16.0}
MILLION = 1 << 20


def generate() -> Iterator[Result]:
    """Frames a second to net_null, ours and testpmd's."""
    with on_one_core(NULL, NULL, NULL) as sides, tester(sides[0]) as ours:
        trials = Trials(ours, prime=False)

        def our_mpps() -> float:
            result = trials.run(SECONDS)
            offered = sum(stream.offered_frames for stream in result.streams)
            return offered / result.measured_seconds / 1e6

        for side, name, mode, option in (
            (sides[1], "generate_vs_txonly", "txonly", "--txonly-multi-flow"),
            (sides[2], "generate_vs_flowgen", "flowgen", f"--flowgen-flows={FLOWS}"),
        ):
            with Peer(side, mode, option) as peer:
                beside = f"beside `{peer.command_line}`"
                yield pairs(name, our_mpps, _mpps_of(peer), beside)


def _mpps_of(peer: Peer) -> Callable[[], float]:
    return lambda: peer.run(SECONDS).sent_pps / 1e6


def ring() -> Iterator[Result]:
    """Cycles a frame over net_ring, on each instruction set and with many flows."""
    with on_one_core(RING) as (side,), tester(side) as ours:
        trials = Trials(ours, prime=True)
        if ours.hello.isa == "avx512":
            yield _within_budget("avx512", trials)
        else:
            yield Unmeasured(name="ring_cycles_avx512", why="this CPU has no AVX-512", excused=True)
        yield pairs(
            "million_flows",
            lambda: cycles_per_frame(trials.run(SECONDS, MILLION)),
            lambda: cycles_per_frame(trials.run(SECONDS)),
            f"instruction set {ours.hello.isa}",
        )
    with on_one_core(RING) as (side,), tester(side, isa="portable") as ours:
        yield _within_budget("portable", Trials(ours, prime=True))


def _within_budget(isa: str, trials: Trials) -> Result:
    budget = BUDGET_CYCLES[isa]
    return within(f"ring_cycles_{isa}", lambda: cycles_per_frame(trials.run(SECONDS)), budget)
