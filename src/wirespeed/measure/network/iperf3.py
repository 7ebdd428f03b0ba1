"""The iperf3 matrix: every pair of guests, every MTU, every number of streams, several runs each.

    run 1 of every cell, then run 2 of every cell, …: a slow minute of a machine hits all alike

A server is started in its guest for each run, and ends with it. Every run is recorded the moment it
is made; one that gave no figures says why, and the others go on.
"""

import secrets
from collections.abc import Callable, Mapping, Sequence
from itertools import product

from wirespeed.host.guest_script import run_script
from wirespeed.host.runner import Completed, Runner
from wirespeed.measure.network.endpoint import Endpoint
from wirespeed.measure.network.host_cpu import read_cpu_ticks, spent
from wirespeed.measure.network.iperf3_output import Iperf3Figures, NoFiguresError, parse_iperf3
from wirespeed.measure.network.lease import said
from wirespeed.measure.network.path import PATH_S, await_path, mtu_of
from wirespeed.model.error import LeftChangedError, MeasurementError, WirespeedError
from wirespeed.model.network_trial import HostCpu, Iperf3Trial, NetworkTrial, Pair
from wirespeed.model.shown import shown
from wirespeed.model.spec.measure import Iperf3Spec

FIRST_PORT, PORTS = 20000, 10000
"""Below the ports that Linux gives to clients (32768 and above)."""
PORT_TRIES = 3
SLACK_S = 20
"""For iperf3 to connect, to exchange its results and to end."""
CONNECT_MS = 10_000
"""Then iperf3 says that it cannot connect, and names a firewall. Ended from outside, it says that
it was interrupted (iperf_got_sigend() in iperf_api.c)."""


def iperf3_matrix(
    endpoints: Mapping[str, Endpoint],
    hosts: Mapping[str, Runner],
    spec: Iperf3Spec,
    pairs: Sequence[Pair],
    record: Callable[[NetworkTrial], None],
    progress: Callable[[str], None] = lambda _doing: None,
) -> None:
    """Measure every cell of the matrix, and record each run.

    An MTU above that of a pair's network is not tried there. `hosts` reads what each host spends
    meanwhile. Only LeftChangedError is raised: an MTU could not be put back (`mtu_of`).
    """
    guests = dict(endpoints)
    for number, mtu, pair in product(range(1, spec.runs + 1), spec.mtu, pairs):
        if mtu > guests[pair.server].attachments[pair.network].mtu:
            continue
        try:
            with mtu_of(guests, pair, mtu, _lease_s(spec)):
                await_path(guests, pair, mtu)
                for streams in spec.streams:
                    progress(f"iperf3 {pair.client} to {pair.server}, MTU {mtu}, {streams} streams")
                    record(_run(guests, hosts, spec, pair, mtu, streams, number))
        except LeftChangedError:
            raise
        except WirespeedError as error:
            for streams in spec.streams:
                record(_failed(spec, pair, mtu, streams, number, f"{error.what}: {error.found}"))


def _lease_s(spec: Iperf3Spec) -> int:
    """Longest that the runs of one MTU can take, all waits at their ends."""
    one_run_s = spec.seconds + PORT_TRIES * SLACK_S + 2 * SLACK_S
    return int(PATH_S + SLACK_S + len(spec.streams) * one_run_s)


def _run(
    guests: dict[str, Endpoint],
    hosts: Mapping[str, Runner],
    spec: Iperf3Spec,
    pair: Pair,
    mtu: int,
    streams: int,
    number: int,
) -> Iperf3Trial:
    """Make one run; never raises for what iperf3 or a guest did."""
    names = list(dict.fromkeys((guests[pair.client].host, guests[pair.server].host)))
    watched = {name: hosts[name] for name in names if name in hosts}
    server = None
    try:
        server = _Server(guests[pair.server], spec.seconds + SLACK_S)
        before = {name: read_cpu_ticks(runner) for name, runner in watched.items()}
        figures = _client(guests, spec, pair, streams, server.port)
        cpu = [
            spent(name, before[name], read_cpu_ticks(runner)) for name, runner in watched.items()
        ]
    except NoFiguresError as error:
        return _failed(spec, pair, mtu, streams, number, str(error))
    except WirespeedError as error:
        return _failed(spec, pair, mtu, streams, number, f"{error.what}: {error.found}")
    finally:
        if server is not None:
            server.end()
    return Iperf3Trial(
        pair=pair,
        mtu=mtu,
        streams=streams,
        number=number,
        bidirectional=spec.bidirectional,
        seconds=figures.seconds,
        sent_bps=figures.sent_bps,
        returned_bps=figures.returned_bps,
        retransmits=figures.retransmits,
        returned_retransmits=figures.returned_retransmits,
        client_cpu_percent=figures.client_cpu_percent,
        server_cpu_percent=figures.server_cpu_percent,
        host_cpu=_all_or_none(cpu),
        version=figures.version,
    )


def _all_or_none(cpu: list[HostCpu | None]) -> tuple[HostCpu, ...]:
    found = tuple(one for one in cpu if one is not None)
    return found if len(found) == len(cpu) else ()


def _client(
    guests: dict[str, Endpoint], spec: Iperf3Spec, pair: Pair, streams: int, port: int
) -> Iperf3Figures:
    address = guests[pair.server].attachments[pair.network].address
    words = ["iperf3", "--client", str(address), "--port", str(port), "--json"]
    words += ["--time", str(spec.seconds), "--parallel", str(streams), "--interval", "0"]
    words += ["--connect-timeout", str(CONNECT_MS)]
    if spec.bidirectional:
        words.append("--bidir")
    # What ends it when we are gone.
    limit_s = spec.seconds + SLACK_S
    argv = ("timeout", "-k", "2", str(limit_s), *words)
    done = guests[pair.client].runner.run(argv, timeout_s=limit_s + SLACK_S)
    if not done.output.strip():
        raise NoFiguresError(f"iperf3 said nothing but: {_refused(done) or said(done)}")
    return parse_iperf3(done.output, streams=streams, bidirectional=spec.bidirectional)


def _refused(done: Completed) -> str:
    """Name the option that an older iperf3 does not know: its usage follows, and ends elsewhere."""
    line = next((line for line in done.errors.splitlines() if "unrecognized option" in line), "")
    needs = "iperf3 3.7 or later is needed, or 3.2 with `bidirectional: false`"
    return line and f"{shown(line, 80)}; {needs}"


class _Server:
    """An iperf3 server in a guest, for one run; it ends by itself after `seconds`."""

    def __init__(self, endpoint: Endpoint, seconds: int) -> None:
        """Start it and wait until it listens. Raises MeasurementError `iperf3.no_server`."""
        self._runner = endpoint.runner
        for _ in range(PORT_TRIES):
            self.port = FIRST_PORT + secrets.randbelow(PORTS)
            arguments = (str(self.port), str(seconds))
            done = run_script(self._runner, "guest_iperf3_server.sh", arguments)
            word, _, self._process = done.output.partition("\n")[0].partition(" ")
            if word == "listens" and self._process.isdecimal():
                return
        raise MeasurementError(
            "iperf3.no_server",
            where=endpoint.name,
            found=said(done),
            next=f"run `iperf3 -s -1` in {endpoint.name}: it says why no server starts there",
        )

    def end(self) -> None:
        """End it. Where its guest cannot be reached, its own time limit does."""
        try:
            arguments = (self._process, str(self.port))
            run_script(self._runner, "guest_iperf3_end.sh", arguments)
        except WirespeedError:
            return


def _failed(
    spec: Iperf3Spec, pair: Pair, mtu: int, streams: int, number: int, why: str
) -> Iperf3Trial:
    return Iperf3Trial(
        pair=pair,
        mtu=mtu,
        streams=streams,
        number=number,
        bidirectional=spec.bidirectional,
        seconds=0,
        sent_bps=0,
        returned_bps=0 if spec.bidirectional else None,
        retransmits=None,
        client_cpu_percent=0,
        server_cpu_percent=0,
        failed=why,
    )
