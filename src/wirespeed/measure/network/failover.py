"""Fail-over: a paced flow goes on while each port in turn is lost and comes back.

    flow on -> 1 s as it is -> port away, `seconds` -> port back, `seconds` -> flow off -> verdict

Where guests have the bonds, the flow goes to the one whose host loses the port. The driver of a VF
may hold a CPU of that host while the port goes (igbvf asks its PF again and again, a second or two,
with preemption off): a sender there would pause with it, and nobody could tell its pause from the
outage. A receiver's packets are stamped by the kernel, and what it does not hear it loses. It also
asks more: the switch has to learn where the guest is now. Where a host has the bond, the client
sends.

Which port carries the flow is read in the guest, or on the host where the bond is the host's:
before, at the end of the time without it, and at the end. Where the port that was lost did not
carry it nothing is shown: it is tried once more when the other ports had their turn, as the flow
has moved by then. A trial that is invalid is repeated, TRIES times in all, once the port that has
the flow by then was lost in its turn; every one is recorded.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from wirespeed.host.clock import sleep_s
from wirespeed.host.runner import Runner
from wirespeed.measure.network.carrier import NONE, Place, carrier_of
from wirespeed.measure.network.endpoint import Endpoint
from wirespeed.measure.network.failover_verdict import Carried, NoAccountError, judge
from wirespeed.measure.network.flow import Flow
from wirespeed.measure.network.path import await_path
from wirespeed.measure.network.port_switch import PortSwitch
from wirespeed.model.error import LeftChangedError, WirespeedError
from wirespeed.model.network_trial import FailoverTrial, FailoverVerdict, NetworkTrial, Pair
from wirespeed.model.spec.measure import FailoverSpec

STEADY_S = 1.0
WARM_S = 0.3
SLACK_S = 60
"""For all commands of a trial besides its own times."""
TRIES = 3
AGAIN = (FailoverVerdict.NOT_TOUCHED, FailoverVerdict.INVALID)
ANY_MTU = 128


@dataclass(frozen=True, slots=True)
class HostBond:
    """A bond of a host that carries its guests' networks, who have none of their own."""

    runner: Runner
    """Runs commands on the host."""
    netdev: str
    members: tuple[str, ...]
    """Netdevs of its ports, in the order of the spec."""


@dataclass(frozen=True, slots=True)
class _Guests:
    """The guests, and the bonds of their hosts."""

    endpoints: dict[str, Endpoint]
    bonds: dict[str, HostBond]

    def __getitem__(self, name: str) -> Endpoint:
        return self.endpoints[name]

    def is_on(self, host: str, name: str) -> bool:
        """Whether a guest runs on that host."""
        return name in self.endpoints and self.endpoints[name].host == host

    def place(self, pair: Pair, switch: PortSwitch) -> Place:
        """Give where the carrier is read for a port of a host."""
        for name in (pair.client, pair.server):
            guest = self.endpoints[name]
            if guest.host != switch.host:
                continue
            of = self.bonds.get(switch.host)
            if of is not None:
                return Place(name, of.runner, of.netdev, of.members)
            at = guest.attachments[pair.network]
            return Place(name, guest.runner, at.netdev if at.is_bond else "", at.members)
        raise AssertionError(f"{switch.host} has neither {pair.client} nor {pair.server}")


def failovers(
    endpoints: Mapping[str, Endpoint],
    spec: FailoverSpec,
    pair: Pair,
    switches: Sequence[PortSwitch],
    record: Callable[[NetworkTrial], None],
    progress: Callable[[str], None] = lambda _doing: None,
    bonds: Mapping[str, HostBond] | None = None,
) -> None:
    """Take each port away in turn, and record what became of the flow of `pair`.

    `bonds` are those of hosts, by the host's name; else the guests have them. All switches are of
    ports of one host, the client's of `pair` or the server's. Only LeftChangedError is raised: a
    port could not be given back now (`borrowed`).
    """
    guests = _Guests(dict(endpoints), dict(bonds or {}))
    verdicts: list[FailoverVerdict] = []
    if switches and not bonds and guests.is_on(switches[0].host, pair.client):
        pair = Pair(client=pair.server, server=pair.client, network=pair.network)
    for switch in switches:
        progress(f"fail-over, {switch.port} of {switch.host} {switch.how}")
        verdicts.append(_valid(guests, spec, pair, switch, record).verdict)
    for _ in range(TRIES if len(switches) > 1 else 0):
        if not any(verdict in AGAIN for verdict in verdicts):
            break
        for number, switch in enumerate(switches):
            if verdicts[number] not in AGAIN:
                continue
            # The flow has moved from it, by a trial that told nothing: it is brought back.
            if verdicts[number] is FailoverVerdict.INVALID and not _carries(guests, pair, switch):
                _move_back(guests, spec, pair, switches, record, progress)
            # A bond with a primary port has gone back to it: then the others never carry it.
            if _carries(guests, pair, switch):
                progress(f"fail-over, {switch.port} of {switch.host} {switch.how}, again")
                verdicts[number] = _valid(guests, spec, pair, switch, record).verdict


def _move_back(
    guests: _Guests,
    spec: FailoverSpec,
    pair: Pair,
    switches: Sequence[PortSwitch],
    record: Callable[[NetworkTrial], None],
    progress: Callable[[str], None],
) -> None:
    """Take away the port that carries the flow, if any: a trial of it as any other."""
    carrier = next((switch for switch in switches if _carries(guests, pair, switch)), None)
    if carrier is not None:
        progress(f"fail-over, {carrier.port} of {carrier.host} {carrier.how}, to move the flow")
        record(_trial(guests, spec, pair, carrier))


def _valid(
    guests: _Guests,
    spec: FailoverSpec,
    pair: Pair,
    switch: PortSwitch,
    record: Callable[[NetworkTrial], None],
) -> FailoverTrial:
    """Make and record trials until one is valid, TRIES at most; give the last.

    None is repeated where the flow has moved to another port: that has its own turn.
    """
    for left in reversed(range(TRIES)):
        trial = _trial(guests, spec, pair, switch)
        record(trial)
        is_over = trial.verdict is not FailoverVerdict.INVALID or not left
        if is_over or not _carries(guests, pair, switch):
            break
    return trial


def _member(place: Place, switch: PortSwitch) -> str:
    return place.members[switch.number] if switch.number < len(place.members) else NONE


def _trial(guests: _Guests, spec: FailoverSpec, pair: Pair, switch: PortSwitch) -> FailoverTrial:
    try:
        return _made(guests, spec, pair, switch)
    except LeftChangedError:
        raise
    except NoAccountError as error:
        return _invalid(guests, spec, pair, switch, str(error))
    except WirespeedError as error:
        return _invalid(guests, spec, pair, switch, f"{error.what}: {error.found}")


def _made(guests: _Guests, spec: FailoverSpec, pair: Pair, switch: PortSwitch) -> FailoverTrial:
    place = guests.place(pair, switch)
    await_path(guests.endpoints, pair, ANY_MTU)
    server = guests[pair.server]
    seconds = int(2 * spec.seconds + SLACK_S)
    with Flow(
        guests[pair.client].runner,
        server.runner,
        server.attachments[pair.network].address,
        spec.load_pps,
        seconds,
    ) as flow:
        sleep_s(WARM_S)
        flow.mark("before")
        sleep_s(STEADY_S)
        before = carrier_of(place)
        flow.mark("away")
        try:
            switch.down(seconds)
            sleep_s(spec.seconds)
            during = carrier_of(place)
            flow.mark("back")
        finally:
            switch.up()
        sleep_s(spec.seconds)
        carried = Carried(before, during, carrier_of(place))
        flow.mark("tail")
        sent, heard = flow.stop()
    verdict, what = judge(spec.load_pps, sent, heard, carried, _member(place, switch))
    return FailoverTrial(
        pair=pair,
        host=switch.host,
        port=switch.port,
        how=switch.how,
        guest=place.name,
        load_pps=spec.load_pps,
        offered_packets=sent.packets,
        received_packets=heard.received,
        lost_packets=max(0, sent.packets - heard.received),
        outage_ms=heard.phases["away"].longest_silence_ms,
        return_outage_ms=heard.phases["back"].longest_silence_ms,
        carried_before=carried.before,
        carried_during=carried.during,
        carried_after=carried.after,
        longest_pause_ms=sent.longest_pause_ms,
        longest_loss_packets=heard.phases["away"].longest_skip,
        steady_silence_ms=heard.phases["before"].longest_silence_ms,
        duplicate_packets=heard.duplicates,
        reordered_packets=heard.reordered,
        refused_packets=sent.refused,
        verdict=verdict,
        said=what,
    )


def _carries(guests: _Guests, pair: Pair, switch: PortSwitch) -> bool:
    """Whether a port carries the flow now, as far as can be read."""
    place = guests.place(pair, switch)
    try:
        carrier = carrier_of(place)
    except WirespeedError:
        return False
    return carrier == _member(place, switch)


def _invalid(
    guests: _Guests, spec: FailoverSpec, pair: Pair, switch: PortSwitch, why: str
) -> FailoverTrial:
    return FailoverTrial(
        pair=pair,
        host=switch.host,
        port=switch.port,
        how=switch.how,
        guest=guests.place(pair, switch).name,
        load_pps=spec.load_pps,
        verdict=FailoverVerdict.INVALID,
        said=why,
    )
