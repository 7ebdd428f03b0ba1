"""What was measured beside a workload, by label: the median of its trials. Pure."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from statistics import median

from wirespeed.model.shown import shown
from wirespeed.model.workload_trial import HostUse, Labelled
from wirespeed.report import format as fmt

PORTS = 4
"""So many of a host are shown: those that carried most."""
WORTH_SHOWING = 0.01
"""Of what the busiest port carried."""
NOT_READ = "-"


@dataclass(frozen=True, slots=True)
class Row:
    """One thing of one host, and what it was under each label."""

    host: str
    what: str
    values: tuple[str, ...]


def beside(labels: Sequence[Labelled]) -> list[Row]:
    """Give the rows of every host that any label watched."""
    hosts = dict.fromkeys(use.host for one in labels for use in _uses(one))
    return [row for host in hosts for row in _of_host(host, labels)]


def watched_failures(labels: Sequence[Labelled]) -> list[str]:
    """Say of which trials a host could not be read to the end, and why."""
    return [
        f"{one.workload.label} {trial.number}, {shown(use.host, 60)}: {shown(use.failed, 200)}"
        for one in labels
        for trial in one.trials
        for use in trial.hosts
        if use.failed
    ]


def _of_host(host: str, labels: Sequence[Labelled]) -> Iterator[Row]:
    uses = [[use for use in _uses(one) if use.host == host and use.cores] for one in labels]

    def row(
        what: str, read: Callable[[HostUse], float | None], unit: Callable[[float], str]
    ) -> Row:
        return Row(host, what, tuple(_middle(of_label, read, unit) for of_label in uses))

    for netdev in _busiest_ports([use for of_label in uses for use in of_label]):
        yield row(f"{netdev} received", partial(_received, netdev), _gbps)
        yield row(f"{netdev} sent", partial(_sent, netdev), _gbps)
    yield row("TCP sent again", lambda use: use.retransmitted_segments, _segments)
    yield row("busy cores", lambda use: sum(core.busy for core in use.cores), _cores)
    yield row("busiest core", lambda use: max(core.busy for core in use.cores), _percent)
    yield row("busiest core's peak", _highest_peak, _percent)


def _middle(
    uses: Sequence[HostUse], read: Callable[[HostUse], float | None], unit: Callable[[float], str]
) -> str:
    known = [value for use in uses if (value := read(use)) is not None]
    return unit(median(known)) if known else NOT_READ


def _busiest_ports(uses: Sequence[HostUse]) -> list[str]:
    carried: dict[str, float] = {}
    for use in uses:
        for port in use.ports:
            most = max(port.received_bps, port.sent_bps)
            carried[port.netdev] = max(carried.get(port.netdev, 0.0), most)
    least = WORTH_SHOWING * max(carried.values(), default=0.0)
    ranked = sorted(carried, key=lambda netdev: -carried[netdev])
    return [netdev for netdev in ranked if carried[netdev] >= least][:PORTS]


def _received(netdev: str, use: HostUse) -> float:
    """Give bits a second: a netdev that is not listed carried nothing."""
    return next((port.received_bps for port in use.ports if port.netdev == netdev), 0.0)


def _sent(netdev: str, use: HostUse) -> float:
    return next((port.sent_bps for port in use.ports if port.netdev == netdev), 0.0)


def _highest_peak(use: HostUse) -> float | None:
    return max((core.busy_peak for core in use.cores if core.busy_peak is not None), default=None)


def _gbps(bps: float) -> str:
    return f"{fmt.significant(bps / 1e9, 3)} Gb/s"


def _segments(number: float) -> str:
    return f"{number:,.0f} segments"


def _cores(number: float) -> str:
    return f"{number:.2f}"


def _percent(share: float) -> str:
    return f"{100 * share:.0f} %"


def _uses(one: Labelled) -> Iterator[HostUse]:
    """Of the trials that count: what a failed one did says nothing of the figure."""
    for trial in one.trials:
        if trial.figure is not None:
            yield from trial.hosts
