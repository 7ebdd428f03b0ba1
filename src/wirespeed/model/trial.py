"""A trial, what it counted, and what a search made of many of them.

Counts are primary and ratios derived: nothing here stores a figure that follows from another one.
Frames that are *missing* were offered and never came back intact at the right port; the ledger
says where they went.
"""

from typing import Annotated, Literal

from pydantic import Field, TypeAdapter, model_validator

from wirespeed.model.frame_mix import FrameMix
from wirespeed.model.frozen import Finite
from wirespeed.model.port_statistics import PortStatistics
from wirespeed.model.spread import Confirmations
from wirespeed.model.windows import Windows

Count = Annotated[int, Field(ge=0)]
SearchNumber = Annotated[int, Field(ge=1)]
"""Position of a search in the run, from 1."""


class StreamCounts(Finite):
    """The frames of one stream: sent by one port of the tester, due back at another.

    `offered_frames` were handed to the port; `refused_frames` of them were not taken because the
    ring behind it was full. On a virtual wire that ring is the DUT's input queue, and a card
    would have sent them, so they count as offered.
    """

    tx_port: Count
    rx_port: Count
    intended_frames: Count
    offered_frames: Count
    refused_frames: Count
    unsent_late_frames: Count
    """Due while the tester's own loop was late: never built."""
    unsent_no_mbuf_frames: Count
    """Due while the tester's own pool was empty: never built."""
    in_order_frames: Count
    reordered_frames: Count
    """Came back once, behind a frame of the same flow that was sent later (RFC 4737)."""
    reorder_extent_max: Count
    """Largest distance, in frames of the same flow, by which one was overtaken."""
    duplicated_frames: Count
    undecided_frames: Count
    """Late by more than the judge's window: duplicate or reordered, it cannot tell."""
    corrupted_frames: Count
    misdelivered_frames: Count
    """Frames of this stream that came back at another port."""
    earlier_trial_frames: Count
    foreign_frames: Count
    """Not the tester's frames at all (LLDP, ARP), received at this stream's port."""

    @property
    def unique_frames(self) -> int:
        """Frames that came back intact at the right port, each counted once."""
        return self.in_order_frames + self.reordered_frames

    @property
    def missing_frames(self) -> int:
        """Offered frames that did not come back intact at the right port. Never clipped at 0."""
        return self.offered_frames - self.unique_frames


class Latency(Finite):
    """Time from the stamp to the judge, in ns, over the sound frames of this trial.

    Buckets hold three significant digits (HdrHistogram); `source` says whose clock. A frame that a
    stamping port did not stamp has no latency: `frames` counts those that have.
    """

    frames: Count
    latency_ns_min: Count
    latency_ns_p50: Count
    latency_ns_p90: Count
    latency_ns_p99: Count
    latency_ns_p999: Count
    latency_ns_p9999: Count | None = None
    """None: the tester of that release did not tell."""
    latency_ns_max: Count
    source: Literal["software", "hardware"] = "software"


class Departure(Finite):
    """How evenly bursts left: time between consecutive bursts of one transmit queue, in ns."""

    burst_frames_max: Count
    interval_ns_intended: float
    interval_ns_p50: Count
    interval_ns_p99: Count
    interval_ns_max: Count


class TesterHealth(Finite):
    """What the tester's own loops and cores went through during a trial."""

    gap_ns_max: Count
    """Longest time that a hot loop's thread was away."""
    gaps_over_limit: Count
    gap_limit_ns: Count
    stalled_ns: Count
    """Sum of the time that the hot loops' threads were away, in passes longer than 50 us."""
    pingpong_cycles_before: tuple[Count, ...] = ()
    """Round trip of a cache line between each pair of cores in use, TSC cycles, median."""
    pingpong_cycles_after: tuple[Count, ...] = ()
    busy_cycles_per_frame: float | None = None
    """TSC cycles of the hot loop while it had work, per frame sent and judged."""
    tsc_hz: Count
    off_core_ns: Count | None = None
    """Of the passes longer than 50 us: the kernel says that the thread was not on its core."""
    hidden_ns: Count | None = None
    """Of them: time on the core that neither the pass's frames nor the kernel explain."""
    long_pass_work_ns: Count | None = None
    """Of them: the rest, which was work. A slow wire makes passes long."""
    pass_ns_max: Count | None = None
    """Longest pass of a hot loop, work and absence."""
    run_ns: Count | None = None
    """CPU time of the hot loops' threads (schedstat, first field)."""
    wait_ns: Count | None = None
    """Time that they were ready to run and another thread had their core (second field)."""
    steal_ns: Count | None = None
    """Time that the hypervisor took from their CPUs (/proc/stat, in steps of 10 ms)."""
    rx_burst_frames: Count | None = None
    """Most frames that a receive queue took at once in the end: fewer where passes got long."""
    core_hz: Count | None = None
    """Frequency that the DUT's core (or the tester's, where that is not here) really ran at."""


class PortCounters(Finite):
    """One DPDK port's own counters, as a difference over the trial."""

    port: Count
    ipackets: int
    opackets: int
    ibytes: int
    obytes: int
    imissed: int
    ierrors: int
    oerrors: int
    rx_nombuf: int
    discards: dict[str, int] = Field(default_factory=dict)
    """Of the tester's: extended statistics that count what its card threw away, if they rose."""


class DutReading(Finite):
    """What the DUT said of itself, as differences over the trial; None where it cannot say."""

    ports: tuple[PortCounters, ...] = ()
    forward_tx_dropped: int | None = None
    """Frames that the forwarding engine dropped because the port's transmit ring was full."""
    busy_cycles_per_packet: float | None = None
    """The DUT's own count of TSC cycles spent on bursts that had packets."""
    cpu_run_ns: int | None = None
    """CPU time of the forwarding thread (/proc/PID/task/TID/schedstat, first field)."""
    cpu_wait_ns: int | None = None
    """Time it was ready to run and another thread had its core (second field)."""
    steal_ns: int | None = None
    """Time that the hypervisor took from its core (/proc/stat, steal)."""
    core_hz: Count | None = None
    """Clock of a far DUT's lone forwarding core at the end of the trial, as its kernel says."""
    statistics: tuple[PortStatistics, ...] = ()
    """What its driver counts beside, of each port of a far DUT that tells; none: not read."""
    far: bool = False
    """The DUT is on a host of its own: each frame passes a real port at both ends of each link."""


class Recovery(Finite):
    """How a trial that began as an overload went on, at half of that load (RFC 2544, 26.5)."""

    overload_seconds: Annotated[float, Field(gt=0)]
    then_pps: Annotated[float, Field(gt=0)]
    """Sum over all streams."""
    last_loss_ns: Count
    """From the change to the departure of the last frame that was lost; 0: none was, after it."""


class Trial(Finite):
    """One load, once. `valid` is about the tester and its machine: never about the DUT.

    A lab's DUT shares the machine, so a core that was taken away from it voids a trial as well.
    """

    kind: Literal["trial"] = "trial"
    number: Count
    """Position in the run, from 1."""
    search: SearchNumber
    """The search that it is a step of; the outcome of that search has the same number."""
    dut: str
    mix: FrameMix
    flows: Annotated[int, Field(ge=1)]
    purpose: Literal[
        "probe", "search", "confirm", "capacity", "ladder", "burst", "soak", "reset", "recovery",
        "line",
    ]  # fmt: skip
    """Why it was made: for the search, to confirm, an overload, or what came after the search."""
    started_at: str
    """UTC, ISO 8601."""
    intended_load_pps: Annotated[float, Field(gt=0)]
    """Sum over all streams."""
    intended_seconds: Annotated[float, Field(gt=0)]
    measured_seconds: Annotated[float, Field(gt=0)]
    """First to last intended departure."""
    streams: Annotated[tuple[StreamCounts, ...], Field(min_length=1)]
    latency: Latency | None
    departure: Departure
    tester: TesterHealth
    silence_ns_max: Count
    """Longest time that nothing came back although frames were outstanding."""
    silence_ns_sum: Count
    """Sum of all such times of more than 50 us: longer than a poll-mode DUT that runs is silent."""
    quiet_ns: tuple[Count, Count] | None = None
    """Longest time between two frames that came; from the last one to the end of sending."""
    tester_ports: tuple[PortCounters, ...] = ()
    """The tester's own ports, as differences over the trial."""
    recovery: Recovery | None = None
    dut_reading: DutReading | None
    valid: bool
    invalid_reasons: tuple[str, ...] = ()
    windows: Windows | None = None
    """What a windowed trial was made of; None for a continuous one, which alone is RFC 2544's."""

    @model_validator(mode="after")
    def _reasons_go_with_the_verdict(self) -> "Trial":
        if self.valid == bool(self.invalid_reasons):
            raise ValueError("a trial is invalid exactly when it gives reasons")
        return self

    @property
    def offered_frames(self) -> int:
        """Frames handed to the wire, all streams."""
        return sum(s.offered_frames for s in self.streams)

    @property
    def missing_frames(self) -> int:
        """Offered frames that did not come back intact at the right port, all streams."""
        return sum(s.missing_frames for s in self.streams)

    @property
    def loss_ratio(self) -> float:
        """Missing over offered; 1 when nothing was offered, for nothing sent proves nothing."""
        return self.missing_frames / self.offered_frames if self.offered_frames else 1.0

    @property
    def offered_load_pps(self) -> float:
        """What was really offered, per second."""
        return self.offered_frames / self.measured_seconds

    @property
    def forwarding_rate_pps(self) -> float:
        """Frames per second that came back intact at the right port (RFC 2285 section 3.6.1).

        Of windows the time is that until the last frame was back: what a queue held is no rate.
        """
        drains = self.windows.drain_seconds if self.windows else 0.0
        return sum(s.unique_frames for s in self.streams) / (self.measured_seconds + drains)


class Fate(Finite):
    """A place where offered frames ended, and the counter that says so."""

    place: str
    """`DUT input queue`, `DUT no mbuf`, `DUT transmit`, `corrupted`, `misdelivered`, …"""
    frames: int
    counter: str
    """Name of the counter and whose it is, or the sum it follows from."""


class Ledger(Finite):
    """sent = received + lost at a named place + unexplained. The unexplained may be negative."""

    offered_frames: Count
    received_frames: Count
    lost: tuple[Fate, ...]
    unexplained_frames: int
    dut_statistics: tuple[PortStatistics, ...] = ()
    """Of the DUT's driver: those that rose in this trial. They place a loss, and are in no sum."""

    @model_validator(mode="after")
    def _every_frame_has_a_fate(self) -> "Ledger":
        lost = sum(fate.frames for fate in self.lost)
        accounted = self.received_frames + lost + self.unexplained_frames
        if accounted != self.offered_frames:
            raise ValueError(
                f"sent {self.offered_frames}, but received {self.received_frames} + lost {lost} "
                f"+ unexplained {self.unexplained_frames} is {accounted}"
            )
        return self


class Limit(Finite):
    """What kept the rate from being higher, with the counters that say so."""

    by: Literal[
        "DUT core busy",
        "DUT core taken away",
        "tester",
        "line rate",
        "wire",
        "loss floor",
        "cannot tell",
    ]
    evidence: tuple[str, ...]


FAR_APART = "tester and DUT on cores far apart"
"""Begins the note of a result that was slower by where the machine put its cores."""


class Outcome(Finite):
    """The result of one search for one DUT and one frame mix."""

    kind: Literal["outcome"] = "outcome"
    search: SearchNumber
    dut: str
    mix: FrameMix
    method: Literal["rfc2544", "mlrsearch", "informed"]
    goal_width: Annotated[float, Field(gt=0, lt=1)]
    """Search stops when (upper - lower) / upper is no more than this."""
    found_load_pps: float | None
    """Highest load that the search saw pass, before it was confirmed; None if none passed."""
    upper_load_pps: Annotated[float, Field(gt=0)] | None
    """Lowest load that failed; None if none did."""
    throughput_pps: float | None
    """RFC 2544 throughput: load of the confirming trial, of several the one with the lowest rate;
    None if zero loss was not proven."""
    confirmed_seconds: Annotated[float, Field(ge=0)]
    """Duration of the confirming trial; 0 if there was none."""
    confirmed_trial: int | None
    """Number of the confirming trial in the run."""
    confirmations: Confirmations | None = None
    """Where the load was confirmed more than once."""
    lost_frames: int
    """Missing frames in the confirming trial, or in the last failed one if nothing was proven."""
    pdr_load_pps: float | None = None
    pdr_loss_ratio: float | None = None
    trials: Count
    invalid_trials: Count
    """Repeated because the tester or the machine failed, not the DUT."""
    seconds: Annotated[float, Field(ge=0)]
    """Wall time of the search; of what an earlier run had measured of it, the trials' own time."""
    loss_floor: float | None = None
    """Loss ratio that no load removed; None where there is none."""
    verdict: str
    """How the search ended: `width met`, `ceiling passed`, `nothing passed`, …"""
    windows: Windows | None = None
    """Of the confirming trial, or of the ledger's; None where trials were continuous."""
    notes: tuple[str, ...] = ()
    """What a reader must know to judge the figures: contradictions, repeats, short cuts."""
    limit: Limit
    ledger: Ledger
    """Of the trial that set the upper bound, or of the confirming one if nothing failed."""
    ledger_trial: int
    busy_cycles_per_packet: Annotated[float, Field(gt=0)] | None = None
    """TSC cycles that the DUT's forwarding core spent on bursts that had packets, per packet
    (testpmd's record-core-cycles); where the DUT does not say, TSC cycles per packet at its
    overloaded forwarding rate, when no poll comes back empty. None where neither is known."""
    cycles_source: Literal["dut", "overload"] | None = None
    """Which of the two it is."""
    core_hz: Annotated[int, Field(gt=0)] | None = None
    """Frequency that the DUT's core really ran at. TSC cycles are counted at the TSC's own."""

    @property
    def cores_far_apart(self) -> bool:
        """In some trial a cache line took long between tester and DUT: its notes say how long."""
        return any(FAR_APART in note for note in self.notes)

    @model_validator(mode="after")
    def _throughput_goes_with_its_confirmation(self) -> "Outcome":
        told = (
            self.throughput_pps is not None,
            self.confirmed_trial is not None,
            self.confirmed_seconds > 0,
        )
        if len(set(told)) > 1:
            raise ValueError(
                f"throughput_pps {self.throughput_pps}, confirmed_trial {self.confirmed_trial} and "
                f"confirmed_seconds {self.confirmed_seconds:g} go together or are all absent"
            )
        return self

    @model_validator(mode="after")
    def _cycles_name_their_source(self) -> "Outcome":
        if (self.busy_cycles_per_packet is None) != (self.cycles_source is None):
            raise ValueError("busy_cycles_per_packet and cycles_source go together")
        return self


TRIALS_ARE = "trials are"
"""Setting of a windowed run: how long its windows are. A continuous one, RFC 2544's, has none."""


class Setup(Finite):
    """Everything that a reader needs to judge the figures, or to get them again."""

    kind: Literal["setup"] = "setup"
    wirespeed: str
    started_at: str
    machine: dict[str, str]
    """Label to value, in reading order: machine, CPU, kernel, hugepages, …"""
    duts: dict[str, dict[str, str]]
    """DUT name to label and value: version, command line, devices, queues, lcores."""
    tester: dict[str, str]
    settings: dict[str, str]
    """Label to value: wire, flows, trial seconds, method, width, …"""
    link_bps: Annotated[int, Field(gt=0)] | None
    """Line rate of the wire in bit/s; None where there is no line (a virtual wire)."""
    full_method_seconds: float
    """How long the same run takes with RFC 2544's own 60 s trials."""
    trial_seconds: float
    confirm_seconds: float
    planned: Annotated[int, Field(ge=1)]
    """Searches that the whole run is made of. Fewer outcomes than this: it was aborted."""

    @property
    def windowed(self) -> bool:
        """Trials were made of short windows: the throughput is not RFC 2544's."""
        return TRIALS_ARE in self.settings


class End(Finite):
    """The last record of a run. A run without one was killed, or is still going on."""

    kind: Literal["end"] = "end"
    finished_at: str
    """UTC, ISO 8601."""
    completed: bool
    """Every planned search came to an outcome, proven or not."""
    reason: str
    """Why it ended before that; may be empty when it did not."""

    @model_validator(mode="after")
    def _an_abort_has_a_reason(self) -> "End":
        if not self.completed and not self.reason:
            raise ValueError("a run that was not completed says why")
        return self


class Started(Finite):
    """A DUT was started and joined to the tester, at this place in the run."""

    kind: Literal["started"] = "started"
    dut: str
    details: dict[str, str]
    """Label and value: version, command line, devices, queues, lcores."""
    tester: dict[str, str]


class Bursts(Finite):
    """The longest bursts without loss of one search's DUT and mix (RFC 9004)."""

    kind: Literal["bursts"] = "bursts"
    search: SearchNumber
    dut: str
    mix: FrameMix
    load_pps: Annotated[float, Field(gt=0)]
    throughput_pps: float | None
    longest_s: float
    shortest_s: float
    """Of a burst that was tried."""
    searches: Annotated[int, Field(ge=1)]
    """That were asked for."""
    frames: tuple[Count, ...]
    """Of each search that came to an end; 0: the shortest lost frames. Fewer: a burst was void."""

    @property
    def buffer_s(self) -> float | None:
        """Corrected buffer time of the DUT (RFC 9004 section 6).

        None without a throughput, or without a burst.
        """
        if self.throughput_pps is None or not self.frames:
            return None
        implied_s = sum(self.frames) / len(self.frames) / self.load_pps
        return implied_s * (1 - min(1.0, self.throughput_pps / self.load_pps))


Record = Setup | Started | Trial | Outcome | Bursts | End
record_adapter: TypeAdapter[Record] = TypeAdapter(Annotated[Record, Field(discriminator="kind")])
"""Parses one line of `trials.jsonl`."""
