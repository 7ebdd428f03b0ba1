"""Proof of offload: while a paced flow is on, both hosts are asked where its packets go.

    flow on -> WARM_S: the first packets make the flows -> counters -> STEADY_S -> flows, filters ->
    counters -> flow off -> verdict of each host

Port counters and software counters are held against each other over the same seconds.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from wirespeed.host.clock import monotonic_s, sleep_s
from wirespeed.host.runner import Runner
from wirespeed.measure.network.endpoint import Endpoint
from wirespeed.measure.network.flow import Flow
from wirespeed.measure.network.offload import (
    READ_S,
    Counted,
    counters_of,
    polled_packets,
    read_offload,
)
from wirespeed.measure.network.path import await_path
from wirespeed.model.error import LeftChangedError, WirespeedError
from wirespeed.model.network_trial import (
    FlowCounts,
    NetworkTrial,
    OffloadTrial,
    OffloadVerdict,
    Pair,
)

WARM_S = 2.0
"""For the daemon to give flows to the card."""
STEADY_S = 3.0
SLACK_S = 60
"""For all commands of a trial besides its own times."""
ANY_MTU = 128
PMD_STATS = ("ovs-appctl", "--timeout=10", "dpif-netdev/pmd-stats-show")


@dataclass(frozen=True, slots=True)
class OffloadPlace:
    """What is asked on a host."""

    host: str
    runner: Runner
    """Runs commands on the host."""
    ports: tuple[str, ...]
    """Netdevs of its ports."""
    guest_ports: dict[tuple[str, str], str]
    """By guest and network: the switch's port of it, as Open vSwitch calls it."""
    tunnel: str
    """Netdev that the kernel decapsulates on, whose filters count too; empty: userspace does."""
    is_expected: bool
    """Its card has an embedded switch."""


def offloads(
    endpoints: Mapping[str, Endpoint],
    places: Mapping[str, OffloadPlace],
    pairs: Sequence[Pair],
    load_pps: int,
    record: Callable[[NetworkTrial], None],
    progress: Callable[[str], None] = lambda _doing: None,
) -> None:
    """Record for each pair, and each of its hosts, where a paced flow between them goes.

    What cannot be read is recorded as *cannot tell*, with the reason.
    """
    for pair in pairs:
        progress(f"offload, {pair.client} to {pair.server} in {pair.network}")
        for trial in _trials(endpoints, places, pair, load_pps):
            record(trial)


def _trials(
    endpoints: Mapping[str, Endpoint],
    places: Mapping[str, OffloadPlace],
    pair: Pair,
    load_pps: int,
) -> list[OffloadTrial]:
    client, server = endpoints[pair.client], endpoints[pair.server]
    asked = [(places[one.host], one) for one in (client, server)]
    try:
        await_path(dict(endpoints), pair, ANY_MTU)
        address = server.attachments[pair.network].address
        seconds = int(WARM_S + STEADY_S + SLACK_S)
        with Flow(client.runner, server.runner, address, load_pps, seconds):
            sleep_s(WARM_S)
            before, began = [_counters(p, g, pair) for p, g in asked], monotonic_s()
            sleep_s(STEADY_S)
            after = [_counters(p, g, pair) for p, g in asked]
            took = monotonic_s() - began
            macs = [one.attachments[pair.network].mac for one in (client, server)]
            return [
                _judged(place, guest, pair, load_pps, took, macs, _grown(*counts))
                for (place, guest), counts in zip(
                    asked, zip(before, after, strict=True), strict=True
                )
            ]
    except LeftChangedError:
        raise
    except WirespeedError as error:
        return [_not_told(place, pair, load_pps, error) for place, _ in asked]


def _judged(
    place: OffloadPlace,
    guest: Endpoint,
    pair: Pair,
    load_pps: int,
    seconds: float,
    macs: Sequence[str],
    counted: Counted,
) -> OffloadTrial:
    port = place.guest_ports[guest.name, pair.network]
    netdevs = (port, place.tunnel) if place.tunnel else ()
    try:
        reading = read_offload(place.runner, place.host, netdevs, macs, counted)
    except WirespeedError as error:
        return _not_told(place, pair, load_pps, error)
    return OffloadTrial(
        pair=pair,
        host=place.host,
        is_expected=place.is_expected,
        load_pps=load_pps,
        seconds=round(seconds, 1),
        flows=reading.flows,
        tc_hardware_packets=reading.tc_hardware_packets,
        vf_packets=counted.vf_packets,
        software_packets=counted.software_packets,
        port_packets=counted.port_packets,
        verdict=reading.verdict,
        said=reading.said,
    )


def _not_told(
    place: OffloadPlace, pair: Pair, load_pps: int, error: WirespeedError
) -> OffloadTrial:
    return OffloadTrial(
        pair=pair,
        host=place.host,
        is_expected=place.is_expected,
        load_pps=load_pps,
        seconds=0,
        flows=FlowCounts(),
        verdict=OffloadVerdict.CANNOT_TELL,
        said=f"{error.what}: {error.found}",
    )


def _counters(place: OffloadPlace, guest: Endpoint, pair: Pair) -> Counted:
    """Read all that there is on a host; a counter that it has not is None."""
    of_ports = [_ethtool(place.runner, netdev) for netdev in place.ports]
    on_wire = [_both(one, "rx_packets_phy", "tx_packets_phy") for one in of_ports]
    if place.tunnel:
        port = _ethtool(place.runner, place.guest_ports[guest.name, pair.network])
        of_vf = _both(port, "vport_rx_packets", "vport_tx_packets")
        # A pair of virtual ports has counters of such names too, and nothing beside them.
        software = None if of_vf is None else _both(port, "rx_packets", "tx_packets")
    else:
        of_vf = None
        done = place.runner.run(PMD_STATS, timeout_s=READ_S)
        software = None if done.returncode else polled_packets(done.output)
    known = [count for count in on_wire if count is not None]
    wire = sum(known) if known and len(known) == len(on_wire) else None
    return Counted(of_vf, software, wire)


def _ethtool(runner: Runner, netdev: str) -> dict[str, int]:
    done = runner.run(("ethtool", "-S", netdev), timeout_s=READ_S)
    return {} if done.returncode else counters_of(done.output)


def _both(counters: Mapping[str, int], one: str, other: str) -> int | None:
    return counters[one] + counters[other] if one in counters and other in counters else None


def _grown(before: Counted, after: Counted) -> Counted:
    def grew(old: int | None, new: int | None) -> int | None:
        return None if old is None or new is None or new < old else new - old

    return Counted(
        grew(before.vf_packets, after.vf_packets),
        grew(before.software_packets, after.software_packets),
        grew(before.port_packets, after.port_packets),
    )
