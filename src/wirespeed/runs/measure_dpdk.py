"""What a proof measures of a forwarder: RFC 2544 between two hosts, each record written as made."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Protocol

from wirespeed import __version__
from wirespeed.approaches.dpdk_vfs import device_of, vf_mac
from wirespeed.approaches.host_ports import port_of
from wirespeed.approaches.polling_cores import control_core, polling_cores
from wirespeed.facts.netstack import NetStack
from wirespeed.host.clock import utc_now
from wirespeed.host.procfs import describe_machine
from wirespeed.host.runner import Runner
from wirespeed.measure.bench.campaign import Campaign
from wirespeed.measure.bench.dut import Dut, Expect
from wirespeed.measure.bench.far_dut import FarDut, start_far_dut
from wirespeed.measure.bench.further import Further
from wirespeed.measure.bench.plan import LONGEST_TRIAL_S, SHORTEST_TRIAL_S, Plan
from wirespeed.measure.bench.program_host import FarHost, devices_of
from wirespeed.measure.bench.run_folder import resumable
from wirespeed.measure.bench.tester_ports import Holding
from wirespeed.measure.bench.tester_protocol import ProgressReply
from wirespeed.measure.bench.testpmd import Ports
from wirespeed.measure.bench.trial_maker import TesterBounds
from wirespeed.measure.bench.two_hosts_bed import End, TwoHosts, TwoHostsBed
from wirespeed.measure.search.search import Observer
from wirespeed.model.error import InputError
from wirespeed.model.fact import HostFacts
from wirespeed.model.frame_mix import FrameMix, FrameShare
from wirespeed.model.network_trial import NetworkTrial
from wirespeed.model.observed import known
from wirespeed.model.spec.dpdk import Role
from wirespeed.model.spec.measure import Rfc2544Spec
from wirespeed.model.spec.members import Dpdk
from wirespeed.model.spec.spec import Spec
from wirespeed.model.trial import End as RunEnd
from wirespeed.model.trial import Outcome, Record, Setup, Trial


class Kept(Protocol):
    """Keeps the records of a bench."""

    @property
    def recorded(self) -> Sequence[Record]:
        """What an earlier run left, to go on from; empty where it begins anew."""
        ...

    def bench(self, record: Record) -> None:
        """Write one."""
        ...


class DpdkMeasuring:
    """Measures the forwarder of a spec that is applied; `runners` reach its hosts."""

    def __init__(self, spec: Dpdk, runners: Mapping[str, Runner], kept: Kept) -> None:
        self._spec, self._runners, self._kept = spec, runners, kept
        self._record = kept.bench

    def measure(
        self,
        facts: Mapping[str, HostFacts],
        record: Callable[[NetworkTrial], None],  # noqa: ARG002  of guests, and there are none
        doing: Callable[[str], None],
    ) -> str:
        """Search for the highest load without loss of every frame size; say between what.

        Raises MeasurementError, InputError; what was measured until then is on disk.
        """
        spec, asked = self._spec, self._spec.measure.rfc2544
        if asked is None:
            raise AssertionError("a spec of this approach measures something")
        tester, dut = spec.host_of(Role.TESTER), spec.host_of(Role.DUT)
        plan = plan_of(spec, asked)
        hosts = hosts_of(spec, facts)
        far = far_dut_of(spec, hosts)

        def start(place: FarHost) -> Dut:
            return start_far_dut(place, far, hosts.dut)

        recorded = self._kept.recorded
        if not recorded:
            self._record(setup_of(spec, plan))
        runners = (self._runners[tester], self._runners[dut])
        campaign = Campaign(
            plan,
            lambda _: TwoHostsBed(hosts, start, runners),
            self._record,
            TrialLines(doing),
            recorded,
        )
        try:
            campaign.run()
        except BaseException as error:
            why = str(error) or type(error).__name__
            self._record(RunEnd(finished_at=utc_now(), completed=False, reason=why))
            raise
        self._record(RunEnd(finished_at=utc_now(), completed=True, reason=""))
        return f"from {tester} through {dut}"


def bench_to_resume(spec: Spec, folder: Path) -> list[Record]:
    """Give the records of a bench that a run of `spec` in `folder` left; none if it made no trial.

    Raises InputError `run.nothing_to_resume` where the spec measures none, and as `resumable`.
    """
    asked = spec.measure.rfc2544 if isinstance(spec, Dpdk) else None
    if not isinstance(spec, Dpdk) or asked is None:
        raise InputError(
            "run.nothing_to_resume",
            where=spec.approach,
            found="this approach measures for minutes and has no trials to continue from",
            so="nothing was changed",
            next="leave --resume out",
        )
    return resumable(folder, setup_of(spec, plan_of(spec, asked)).settings, resume=True)


def refuse_trials_of_no_length(spec: Spec, path: Path) -> None:
    """Raise InputError `spec.trial_seconds` for trials that the tester does not take.

    Before anything is changed, and not as a bound of the spec: journals hold specs, and an undo
    reads whatever was accepted once.
    """
    asked = spec.measure.rfc2544
    for name in ("seconds", "trial_seconds") if asked is not None else ():
        seconds = float(getattr(asked, name))
        if not SHORTEST_TRIAL_S <= seconds <= LONGEST_TRIAL_S:
            raise InputError(
                "spec.trial_seconds",
                where=str(path),
                found=f"rfc2544: {name}: {seconds:g}",
                so="the tester takes no such trial; nothing was changed",
                next=f"give {SHORTEST_TRIAL_S:g} to {LONGEST_TRIAL_S:g} seconds",
            )


def plan_of(spec: Dpdk, asked: Rfc2544Spec) -> Plan:
    """Give the searches that a spec asks for."""
    one_way = not spec.dpdk.bidirectional
    ways = len(streams_of(spec))
    line = None if asked.link_gbps is None else int(asked.link_gbps * 1e9) * ways
    return Plan(
        duts=(spec.dpdk.forwarder,),
        mixes=tuple(FrameMix(shares=(FrameShare(frame_bytes=size),)) for size in asked.frame_bytes),
        flows=asked.flows,
        relative_width=asked.width,
        trial_seconds=min(asked.trial_seconds, asked.seconds),
        confirm_seconds=asked.seconds,
        burst_frames=spec.dpdk.burst,
        link_bps=line if line is not None or one_way else None,
        further=Further(
            line_rate=asked.single_core,
            ladder=asked.ladder,
            back_to_back=asked.back_to_back,
            recoveries=asked.recoveries,
            overload_seconds=asked.overload_seconds,
            resets=asked.resets,
            soak_seconds=asked.soak_seconds,
        ),
        bounds=TesterBounds(gap_limit_ms=asked.gap_limit_ms, stalled_share=asked.stalled_share),
        max_load_pps=asked.max_load_pps,
        # Offer no more than this: an overload would, and a slow DUT takes seconds to get over it.
        overloads=asked.max_load_pps is None,
    )


def streams_of(spec: Dpdk) -> tuple[tuple[int, int], ...]:
    """Give the tester's ports that send, each with the one that its frames are due at."""
    if spec.dpdk.way_back == "same":
        count = len(next(iter(spec.hosts.values())).ports)
        return tuple((port, port) for port in range(count))
    return ((0, 1), (1, 0)) if spec.dpdk.bidirectional else ((0, 1),)


def hosts_of(spec: Dpdk, facts: Mapping[str, HostFacts]) -> TwoHosts:
    """Give both ends, with what is known of them as found."""
    asked = spec.measure.rfc2544 or Rfc2544Spec()
    return TwoHosts(
        tester=_end(spec, spec.host_of(Role.TESTER), facts),
        dut=_end(spec, spec.host_of(Role.DUT), facts),
        streams=streams_of(spec),
        frame_bytes_max=max(1518, *asked.frame_bytes),
        holding=Holding(
            queues=spec.dpdk.tester.queues,
            rx_descriptors=spec.dpdk.tester.rx_descriptors or 0,
            tx_descriptors=spec.dpdk.tester.tx_descriptors or 0,
            hardware_stamps=spec.dpdk.tester.hardware_stamps,
        ),
        peer_macs=spec.dpdk.tester.peer_macs,
    )


def _end(spec: Dpdk, name: str, facts: Mapping[str, HostFacts]) -> End:
    host = spec.hosts[name]
    devargs = spec.dpdk.devargs if host.role is Role.DUT else None
    return End(
        reach=host.reach,
        devices=devices_of(
            [device_of(spec, name, facts[name], port) for port in host.ports], devargs
        ),
        macs=tuple(_mac(spec, facts[name], name, port) for port in host.ports),
        control_cpu=control_core(spec, name, facts[name]),
        worker_cpus=polling_cores(spec, name, facts[name]),
        memory_mib=spec.dpdk.memory_mib,
    )


def _mac(spec: Dpdk, facts: HostFacts, name: str, address: str) -> str | None:
    if spec.hosts[name].use_vfs:
        return vf_mac(name, address)
    netdev = port_of(facts, name, address).netdev
    if netdev is None:
        return None
    links = known(facts[NetStack].links, f"the netdevs of {name}")
    return known(links[netdev].mac, f"the MAC address of {netdev}")


def far_dut_of(spec: Dpdk, hosts: TwoHosts) -> FarDut:
    """Give what is to be started on the DUT. Raises InputError `dut.no_mac`."""
    wanted, name = spec.dpdk, spec.host_of(Role.DUT)
    peers = tuple(mac for mac in hosts.tester.macs if mac is not None)
    are_known = len(peers) == len(hosts.tester.macs)
    if wanted.forwarder in ("testpmd-mac", "l3fwd-lpm", "l3fwd-em") and not are_known:
        raise InputError(
            "dut.no_mac",
            where=name,
            found="a port of the tester no longer has its kernel driver, which knows its MAC "
            "address",
            so=f"{wanted.forwarder} writes this address into every frame",
            next="run `wirespeed undo`, or bind the port to its kernel driver again",
        )
    asked = spec.measure.rfc2544 or Rfc2544Spec()
    expect: Expect | None = wanted.expect
    return FarDut(
        forwarder=wanted.forwarder,
        command=wanted.command,
        expect=expect,
        environment=wanted.environment,
        realtime_priority=wanted.realtime_priority,
        ports=Ports(
            count=len(spec.hosts[name].ports),
            queues=wanted.queues,
            rx_descriptors=wanted.rx_descriptors,
            tx_descriptors=wanted.tx_descriptors,
            same=wanted.way_back == "same",
            # Its port N is cabled to the tester's.
            peer_macs=peers if are_known else (),
            frame_bytes_max=hosts.frame_bytes_max,
        ),
        burst=wanted.burst,
        flows=asked.flows,
        # Its port N is cabled to the tester's.
        ways=tuple(due_at for _, due_at in streams_of(spec)),
    )


def setup_of(spec: Dpdk, plan: Plan) -> Setup:
    """Give the first record of the run."""
    tester, dut = spec.host_of(Role.TESTER), spec.host_of(Role.DUT)
    of, to = ("VF of " if spec.hosts[name].use_vfs else "" for name in (tester, dut))
    ends = zip(spec.hosts[tester].ports, spec.hosts[dut].ports, strict=True)
    wire = ", ".join(f"{tester} {of}{a} to {dut} {to}{b}" for a, b in ends)
    way = f"{spec.dpdk.way_back} port"
    settings = plan.settings(wire=wire, bidirectional=spec.dpdk.bidirectional)
    return Setup(
        wirespeed=__version__,
        started_at=utc_now(),
        machine=describe_machine(),
        duts={},
        tester={},
        settings={**settings, "frames come back at": way},
        # A page counts the ports that sent.
        link_bps=plan.link_bps and plan.link_bps // len(streams_of(spec)),
        full_method_seconds=plan.full_method_seconds,
        trial_seconds=plan.trial_seconds,
        confirm_seconds=plan.confirm_seconds,
        planned=len(plan.searches),
    )


class TrialLines:
    """See `Listener`: a line for each trial."""

    def __init__(self, doing: Callable[[str], None]) -> None:
        self._doing = doing

    def search_started(self, number: int, dut: str, mix: FrameMix) -> None:
        """Say which size is searched for."""
        self._doing(f"search {number}: {dut}, {mix.label} bytes")

    def search_observer(self) -> Observer:
        """Give one that says nothing: each trial is told of when it was made."""
        return lambda *_: None

    def trial_progress(self, progress: ProgressReply) -> None:
        """Say nothing."""

    def trial_ended(self, trial: Trial) -> None:
        """Say what it showed."""
        void = "" if trial.valid else f", void: {trial.invalid_reasons[0].partition(':')[0]}"
        self._doing(
            f"trial {trial.number}: {trial.offered_load_pps:.0f} pps for "
            f"{trial.measured_seconds:.3g} s, {trial.missing_frames} of {trial.offered_frames} "
            f"missing{void}"
        )

    def search_ended(self, outcome: Outcome) -> None:
        """Say what came of it."""
        pps = outcome.throughput_pps
        self._doing("no throughput is proven" if pps is None else f"throughput {pps:.0f} pps")
