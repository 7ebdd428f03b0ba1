"""The device under test: what a measurement needs of one, whoever runs it.

    start_trial    make it forward (testpmd: `start`); what lay in its queues is thrown away
    read           cumulative counters, before
      ... traffic, and time to settle ...
    read           cumulative counters, after
    end_trial      make it stop (testpmd: `stop`), where it can

`difference(before, after)` turns two readings into what happened in between.
"""

from collections.abc import Mapping
from typing import Literal, Protocol

from wirespeed.model.error import MeasurementError
from wirespeed.model.frozen import Frozen
from wirespeed.model.port_statistics import risen
from wirespeed.model.trial import DutReading, PortCounters

Expect = Literal["as-sent", "macswap", "5tswap", "mac", "routed"]
"""How a frame comes back.

`as-sent`: the same bytes. `macswap`: MAC addresses exchanged. `5tswap`: MAC addresses, IPv4
addresses and UDP ports exchanged, checksums as they were. `mac`: both MAC addresses written anew.
`routed`: as `mac`, and the TTL one less with the IPv4 checksum adjusted for it.
"""


class DutDescription(Frozen):
    """What never changes while a DUT runs."""

    name: str
    version: str
    command_line: str
    """Empty when someone else started it."""
    expect: Expect
    cpu: int | None
    """The CPU that forwards; None when that is not here."""
    details: tuple[tuple[str, str], ...] = ()
    """Label and value for the report: device, queues, lcores, memory."""


class DutCounters(Frozen):
    """Cumulative counters of a DUT at one moment; None where it cannot say."""

    ports: tuple[PortCounters, ...] = ()
    """As the ports count: since they were started."""
    forward_tx_dropped: int | None = None
    busy_cycles: int | None = None
    """TSC cycles that its forwarding spent on bursts that had packets."""
    busy_packets: int | None = None
    """The packets in those bursts."""
    cpu_run_ns: int | None = None
    cpu_wait_ns: int | None = None
    steal_ns: int | None = None
    core_hz: int | None = None
    """Clock of the forwarding core at that moment, of a DUT on a host of its own."""
    thread: tuple[int, int] | None = None
    """Process and thread that forwards by polling, where it is known."""
    statistics: Mapping[int, Mapping[str, int]] = {}
    """By port, what its driver counts beside; a port that does not tell is not in it."""
    far: bool = False
    """It is on a host of its own, behind real links."""


class Dut(Protocol):
    """A DUT that is ready, or as good as: `start_trial` sees to the rest.

    Everything but `alive` and `close` raises MeasurementError `dut.*`, with the last that the DUT
    said when it died.
    """

    @property
    def description(self) -> DutDescription:
        """Name, version, command line and what it does to a frame."""
        ...

    def start_trial(self) -> None:
        """Make sure that it forwards from now on, with its link up."""
        ...

    def end_trial(self) -> None:
        """Let it rest where it can; frames that reach it now are not forwarded."""
        ...

    def read(self) -> DutCounters:
        """Read its counters, cumulative."""
        ...

    def alive(self) -> bool:
        """Tell whether it still runs, as far as can be known from here."""
        ...

    def death(self) -> MeasurementError:
        """Make the error that says how it ended. Only for one that is not alive."""
        ...

    def close(self) -> None:
        """End it; a second call does nothing."""
        ...


def difference(before: DutCounters, after: DutCounters) -> DutReading:
    """Subtract two readings.

    A negative difference stays negative: counters that were reset are not made plausible here.
    Raises MeasurementError `dut.ports_changed` when the readings are of different ports.
    """
    if [p.port for p in before.ports] != [p.port for p in after.ports]:
        raise MeasurementError(
            "dut.ports_changed",
            where="the DUT",
            found=f"{len(before.ports)} ports before and {len(after.ports)} after the trial, or "
            "different ones",
            so="their counters cannot be compared",
            next="add no port to the DUT and remove none while it is measured; then run the same "
            "command again",
        )
    cycles = _minus(after.busy_cycles, before.busy_cycles)
    packets = _minus(after.busy_packets, before.busy_packets)
    return DutReading(
        ports=tuple(
            _ports_minus(new, old) for new, old in zip(after.ports, before.ports, strict=True)
        ),
        forward_tx_dropped=_minus(after.forward_tx_dropped, before.forward_tx_dropped),
        busy_cycles_per_packet=cycles / packets if cycles is not None and packets else None,
        cpu_run_ns=_minus(after.cpu_run_ns, before.cpu_run_ns),
        cpu_wait_ns=_minus(after.cpu_wait_ns, before.cpu_wait_ns),
        steal_ns=_minus(after.steal_ns, before.steal_ns),
        core_hz=after.core_hz,
        statistics=tuple(
            risen(port, before.statistics[port], told)
            for port, told in sorted(after.statistics.items())
            if port in before.statistics
        ),
        far=after.far,
    )


def _minus(after: int | None, before: int | None) -> int | None:
    return None if after is None or before is None else after - before


def _ports_minus(after: PortCounters, before: PortCounters) -> PortCounters:
    counts = before.model_dump(exclude={"port", "discards"})
    return PortCounters(
        port=after.port, **{name: getattr(after, name) - old for name, old in counts.items()}
    )
