"""One core: generating to net_null beside testpmd, and the whole loop over net_ring."""

from collections.abc import Callable, Iterator

from bench_figures import Result, Unmeasured
from bench_pairs import pairs
from bench_programs import (
    FLOWS,
    FRAME_BYTES_MAX,
    Peer,
    Trials,
    cycles_per_frame,
    on_one_core,
    tester,
)
from wirespeed.host.procfs import usable_cpus
from wirespeed.measure.bench.eal_side import EalSide
from wirespeed.measure.bench.tester_ports import Holding, memory_mib

SECONDS = 0.5
NULL = "net_null0,no-rx=1"
"""Without its receive side, which invents frames and would cost flowgen."""
RING = "net_ring0"
MILLION = 1 << 20
SECOND, SIXTEEN = 2, 16
TWO_CORES_CPUS = 3
"""Two workers, and one for the control thread and whoever measures: beside a worker, it would be
what is measured."""
_FLOWS = f"--flowgen-flows={FLOWS}"


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
            (sides[2], "generate_vs_flowgen", "flowgen", _FLOWS),
        ):
            with Peer(side, mode, option) as peer:
                beside = f"beside `{peer.command_line}`"
                yield pairs(name, our_mpps, _mpps_of(peer), beside)


def _mpps_of(peer: Peer) -> Callable[[], float]:
    return lambda: peer.run(SECONDS).sent_pps / 1e6


def ring() -> Iterator[Result]:
    """Cycles a frame over net_ring, on each instruction set and with many flows."""
    with on_one_core(RING, RING) as (side, other), Peer(other, "flowgen", _FLOWS) as peer:
        with tester(side) as ours:
            trials = Trials(ours, prime=True)
            if ours.hello.isa == "avx512":
                yield _beside_flowgen("avx512", trials, peer)
            else:
                why = "this CPU has no AVX-512"
                yield Unmeasured(name="ring_cycles_avx512", why=why, excused=True)
            yield pairs(
                "million_flows",
                lambda: cycles_per_frame(trials.run(SECONDS, MILLION)),
                lambda: cycles_per_frame(trials.run(SECONDS)),
                f"instruction set {ours.hello.isa}",
            )
        with tester(side, isa="portable") as ours:
            yield _beside_flowgen("portable", Trials(ours, prime=True), peer)


def _beside_flowgen(isa: str, trials: Trials, peer: Peer) -> Result:
    """All cycles of the core for each frame that came back: ours judges it, flowgen frees it."""
    tsc_hz: list[float] = []

    def our_cycles() -> float:
        result = trials.run(SECONDS)
        tsc_hz.append(result.tester.tsc_hz)
        return cycles_per_frame(result)

    def peer_cycles() -> float:
        return tsc_hz[-1] / peer.run(SECONDS).received_pps

    beside = f"beside `{peer.command_line}`"
    return pairs(f"ring_cycles_{isa}", our_cycles, peer_cycles, beside)


def queues() -> Iterator[Result]:
    """What more queues cost one core over net_ring, and what a second core brings."""
    with on_one_core(RING, RING, RING) as sides:
        held = [_with_rings(side, n) for side, n in zip(sides, (1, SECOND, SIXTEEN), strict=True)]
        with (
            tester(held[0]) as one,
            tester(held[1], queues=SECOND) as second,
            tester(held[2], queues=SIXTEEN) as sixteen,
        ):
            alone = Trials(one, prime=True)
            for name, more in (("second_queue", second), ("sixteen_queues", sixteen)):
                trials = Trials(more, prime=True)
                yield pairs(name, _cycles_of(trials), _cycles_of(alone))
        yield _two_cores(sides[0], sides[1])


def _two_cores(side: EalSide, other: EalSide) -> Result:
    cpus = usable_cpus()
    if len(cpus) < TWO_CORES_CPUS:
        why = f"this machine has {len(cpus)} CPUs, {TWO_CORES_CPUS} are needed"
        return Unmeasured(name="two_cores", why=why, excused=True)
    workers = [cpu for cpu in cpus if cpu != side.control_cpu][-2:]
    both = _with_rings(other, SECOND).model_copy(update={"worker_cpus": tuple(workers)})
    with tester(side) as one, tester(both, queues=SECOND, lcores=2) as two:
        ours, beside = Trials(two, prime=True), Trials(one, prime=True)
        return pairs("two_cores", lambda: _judged_mpps(ours), lambda: _judged_mpps(beside))


def _judged_mpps(trials: Trials) -> float:
    result = trials.run(SECONDS)
    judged = sum(s.in_order_frames + s.reordered_frames for s in result.streams)
    return judged / result.measured_seconds / 1e6


def _cycles_of(trials: Trials) -> Callable[[], float]:
    return lambda: cycles_per_frame(trials.run(SECONDS))


def _with_rings(side: EalSide, queues: int) -> EalSide:
    """Give a side whose net_ring has so many queues, one for each lcore: only the first works."""
    memory = memory_mib(1, Holding(queues=queues), frame_bytes_max=FRAME_BYTES_MAX)
    lcores = side.worker_cpus * queues
    return side.model_copy(update={"worker_cpus": lcores, "memory_mib": memory})
