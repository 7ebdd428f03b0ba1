"""The lines of `network.jsonl` to figures with their spread. Pure.

idle        busy cores of each host while no guest sends, over its readings
iperf3      the median of all values of a cell: both directions, all runs (the document that this
            follows takes it so), least, most and how many. One direction is never added to the
            other, nor the client's processor time to the server's.
ping        the median of the runs' means, and of their mean deviations; warm-ups count nowhere
isolation   each two guests once, with every kind of frame that was tried, and the worst verdict
offload     as it is
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import median

from wirespeed.model.network_trial import (
    FailoverTrial,
    HostCpu,
    IdleTrial,
    Iperf3Trial,
    IsolationTrial,
    IsolationVerdict,
    NetworkTrial,
    OffloadTrial,
    Pair,
    PingTrial,
)
from wirespeed.model.spread import Spread

GIGA = 1e9
WORST_FIRST = (
    IsolationVerdict.LEAKED,
    IsolationVerdict.NOT_SHOWN,
    IsolationVerdict.NOT_ENFORCED,
    IsolationVerdict.APART,
)


@dataclass(frozen=True, slots=True)
class Iperf3Cell:
    """All runs of one pair with one MTU and one number of streams."""

    pair: Pair
    mtu: int
    streams: int
    bidirectional: bool
    bps: Spread | None
    """Of one direction: each run gives two values where both went at once. None: no run counts."""
    client_cpu_percent: Spread | None
    server_cpu_percent: Spread | None
    host_cores_per_gbps: dict[str, Spread]
    """By host: busy cores for each Gb/s of payload that went through it, both directions of a run
    taken together, as they are other bits."""
    retransmits: int | None
    """Of all runs, sent by either end; None where one run does not tell."""
    failed: tuple[str, ...]
    """Why, one for each run that does not count."""
    versions: frozenset[str] = frozenset()
    """Of iperf3, in the runs that count; empty text: a run does not tell."""

    @property
    def name(self) -> str:
        """`iperf3/9000/6`, as the results' table has it."""
        return f"iperf3/{self.mtu}/{self.streams}"


@dataclass(frozen=True, slots=True)
class PingCell:
    """All flood pings of one pair but the warm-ups."""

    pair: Pair
    mean_us: Spread | None
    """Of the runs' means; None: no run had an answer."""
    mdev_us: Spread | None
    sent: int
    lost: int
    failed: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class IsolationRow:
    """From one guest in one network to another in another."""

    sender: str
    sender_network: str
    receiver: str
    receiver_network: str
    verdict: IsolationVerdict
    """The worst of its kinds of frames: leaked, not shown, not enforced, apart."""
    trials: tuple[IsolationTrial, ...]


@dataclass(frozen=True, slots=True)
class NetworkSummary:
    """All that was measured between guests, each list in the order of its first trial."""

    iperf3: tuple[Iperf3Cell, ...]
    pings: tuple[PingCell, ...]
    failovers: tuple[FailoverTrial, ...]
    isolation: tuple[IsolationRow, ...]
    idle_cores: dict[str, Spread]
    """By host: busy cores while no guest sends."""
    offloads: tuple[OffloadTrial, ...]


def summarize(trials: Iterable[NetworkTrial]) -> NetworkSummary:
    """Sum up a run."""
    cells: dict[tuple[Pair, int, int, bool], list[Iperf3Trial]] = {}
    pings: dict[Pair, list[PingTrial]] = {}
    failovers: list[FailoverTrial] = []
    idle: dict[str, list[float]] = {}
    rows: dict[tuple[str, str, str, str], list[IsolationTrial]] = {}
    offloads: list[OffloadTrial] = []
    for trial in trials:
        if isinstance(trial, Iperf3Trial):
            key = (trial.pair, trial.mtu, trial.streams, trial.bidirectional)
            cells.setdefault(key, []).append(trial)
        elif isinstance(trial, PingTrial):
            runs = pings.setdefault(trial.pair, [])
            if not trial.is_warmup:
                runs.append(trial)
        elif isinstance(trial, IdleTrial):
            idle.setdefault(trial.cpu.host, []).append(trial.cpu.busy_cores)
        elif isinstance(trial, FailoverTrial):
            failovers.append(trial)
        elif isinstance(trial, OffloadTrial):
            offloads.append(trial)
        else:
            four = (trial.sender, trial.sender_network, trial.receiver, trial.receiver_network)
            rows.setdefault(four, []).append(trial)
    return NetworkSummary(
        iperf3=tuple(_cell(runs, idle) for runs in cells.values()),
        pings=tuple(_ping(pair, runs) for pair, runs in pings.items()),
        failovers=tuple(failovers),
        isolation=tuple(_row(kinds) for kinds in rows.values()),
        offloads=tuple(offloads),
        idle_cores={host: _over(values) for host, values in idle.items()},
    )


def _cell(runs: Sequence[Iperf3Trial], idle: Mapping[str, Sequence[float]]) -> Iperf3Cell:
    first = runs[0]
    good = [run for run in runs if not run.failed]
    values = [bps for run in good for bps in (run.sent_bps, run.returned_bps) if bps is not None]
    bps = _spread(values)
    if bps is not None and len(values) > len(good):
        bps = replace(bps, runs=len(good))
    return Iperf3Cell(
        pair=first.pair,
        mtu=first.mtu,
        streams=first.streams,
        bidirectional=first.bidirectional,
        bps=bps,
        client_cpu_percent=_spread([run.client_cpu_percent for run in good]),
        server_cpu_percent=_spread([run.server_cpu_percent for run in good]),
        host_cores_per_gbps=_cost(good, idle),
        retransmits=_retransmits(good),
        failed=tuple(run.failed for run in runs if run.failed),
        versions=frozenset(run.version for run in good),
    )


def _cost(good: Sequence[Iperf3Trial], idle: Mapping[str, Sequence[float]]) -> dict[str, Spread]:
    by_host: dict[str, list[float]] = {}
    for run in good:
        carried_gbps = (run.sent_bps + (run.returned_bps or 0)) / GIGA
        for cpu in run.host_cpu:
            if carried_gbps:
                busy = _while_sending(cpu, run.seconds, idle.get(cpu.host, ()))
                if busy is not None:
                    by_host.setdefault(cpu.host, []).append(busy / carried_gbps)
    spreads = {host: _spread(costs) for host, costs in by_host.items()}
    return {host: spread for host, spread in spreads.items() if spread is not None}


def _while_sending(cpu: HostCpu, seconds: float, idle: Sequence[float]) -> float | None:
    """Give the busy cores of the run itself: around it the host is taken to be as it was idle.

    None: what the host does when idle was not read.
    """
    if cpu.window_s is None or not 0 < seconds < cpu.window_s:
        return cpu.busy_cores
    if not idle:
        return None
    around = median(idle) * (cpu.window_s - seconds)
    return min(max(cpu.busy_cores * cpu.window_s - around, 0) / seconds, cpu.cores)


def _retransmits(good: Sequence[Iperf3Trial]) -> int | None:
    counts = [run.retransmits for run in good]
    counts += [run.returned_retransmits for run in good if run.bidirectional]
    known = [count for count in counts if count is not None]
    return sum(known) if counts and len(known) == len(counts) else None


def _ping(pair: Pair, runs: Sequence[PingTrial]) -> PingCell:
    good = [run for run in runs if not run.failed]
    return PingCell(
        pair=pair,
        mean_us=_spread([run.rtt_us_mean for run in good if run.rtt_us_mean is not None]),
        mdev_us=_spread([run.rtt_us_mdev for run in good if run.rtt_us_mdev is not None]),
        sent=sum(run.sent for run in good),
        lost=sum(run.sent - run.received for run in good),
        failed=tuple(run.failed for run in runs if run.failed),
    )


def _row(kinds: Sequence[IsolationTrial]) -> IsolationRow:
    first = kinds[0]
    return IsolationRow(
        sender=first.sender,
        sender_network=first.sender_network,
        receiver=first.receiver,
        receiver_network=first.receiver_network,
        verdict=min((kind.verdict for kind in kinds), key=WORST_FIRST.index),
        trials=tuple(kinds),
    )


def _spread(values: Sequence[float]) -> Spread | None:
    return _over(values) if values else None


def _over(values: Sequence[float]) -> Spread:
    return Spread(median(values), min(values), max(values), len(values))
