"""What limited a result, and the counters that say so. Pure.

Asked in this order, and the first match wins: nothing failed; a loss that no load removes; the
DUT's core was taken away; the tester did not take what the DUT sent; the DUT's core was busy; the
wire. If it is none of these, it cannot tell. Of a DUT on another host, a loss that the ports at
both ends of a cable count, or the DUT between its own ports, is not laid to an absent core.
"""

from wirespeed.measure.search.sample import late_frames
from wirespeed.model.trial import Ledger, Limit, Trial

TAKEN_NS = 3_000_000
"""Silence from which a core was taken away for good. Shorter ones are a machine's everyday noise
(a kernel thread's turn), and a capacity is measured with them."""
BUSY_SHARE = 0.9
"""Share of its core's time from which a DUT is called busy."""
RUNNING_SHARE = 0.98
"""A polling core that ran for less than this share of the trial was taken away for the rest."""
WIRES = ("wire to the DUT", "wire from the DUT")
DUT_TRANSMIT = "DUT transmit"


def dut_core_taken(trial: Trial) -> tuple[str, ...]:
    """Say that the DUT's core was taken away for good, and explains the whole loss; or nothing."""
    return _silence_evidence(trial) if trial.silence_ns_max >= TAKEN_NS else ()


def _silence_evidence(trial: Trial) -> tuple[str, ...]:
    """Say why the DUT's absence explains all that is missing; empty if it does not.

    While it is silent a full input queue loses at most what arrives in that time, so a larger loss
    has another cause.
    """
    missing = trial.missing_frames
    if missing <= 0:
        return ()
    explained = trial.silence_ns_sum / 1e9 * trial.offered_load_pps
    if missing > explained:
        return ()
    evidence = [
        f"silent for {trial.silence_ns_sum / 1e6:.2f} ms in all, "
        f"{trial.silence_ns_max / 1e6:.2f} ms at once, while frames were outstanding: "
        f"{explained:.0f} frames were offered in that time, {missing} are missing"
    ]
    reading = trial.dut_reading
    if reading is not None and reading.cpu_wait_ns:
        evidence.append(f"its thread waited {reading.cpu_wait_ns / 1e6:.2f} ms for its core")
    if reading is not None and reading.steal_ns:
        evidence.append(f"the hypervisor took {reading.steal_ns / 1e6:.0f} ms from its core")
    return tuple(evidence)


def busy_share(trial: Trial) -> float | None:
    """Share of the DUT's core that its own cycle count says was busy; None where it has none."""
    reading = trial.dut_reading
    if reading is None or reading.busy_cycles_per_packet is None:
        return None
    return reading.busy_cycles_per_packet * trial.forwarding_rate_pps / trial.tester.tsc_hz


def limit_of_failure(trial: Trial, ledger: Ledger) -> Limit:
    """Name what kept `trial`, the one that set the upper bound, from passing."""
    lost = {fate.place: fate.frames for fate in ledger.lost}
    told = [f"{fate.place}: {fate.frames} frames ({fate.counter})" for fate in ledger.lost]
    main = max(lost, key=lambda place: lost[place], default=None)
    far = trial.dut_reading is not None and trial.dut_reading.far
    # Behind real links the ports at both ends count: a core that was away does not empty a cable.
    elsewhere = far and main in (*WIRES, DUT_TRANSMIT) and 2 * lost[main] > trial.missing_frames
    taken = () if elsewhere else dut_core_taken(trial)
    if taken:
        return Limit(by="DUT core taken away", evidence=taken)
    # A DUT on another host sends into a link that takes all; on a virtual wire, into our ring.
    if main == "tester receive queue" or (main == DUT_TRANSMIT and not far):
        gap = f"longest gap of the tester's loop {trial.tester.gap_ns_max / 1e6:.2f} ms"
        return Limit(by="tester", evidence=(*told, "the DUT forwarded more than was taken", gap))
    busy = busy_share(trial)
    if main in ("DUT input queue", "DUT receive queue", "DUT no mbuf"):
        ran = _running_evidence(trial)
        if busy is not None and busy >= BUSY_SHARE:
            share = f"its own count: {busy:.1%} of its core's cycles on bursts with packets"
            return Limit(by="DUT core busy", evidence=(share, *ran, *told))
        away = _silence_evidence(trial)
        if away:
            return Limit(by="DUT core taken away", evidence=(*away, *_busy_evidence(busy), *told))
        if busy is None and ran:
            return Limit(by="DUT core busy", evidence=(*ran, *told))
    if main in WIRES:
        return Limit(by="wire", evidence=tuple(told))
    late = late_frames(trial)
    if late:
        told.append(f"its queues took in {late} frames more than it forwarded in time")
        if busy is not None and busy >= BUSY_SHARE and not lost:
            return Limit(by="DUT core busy", evidence=(*_busy_evidence(busy), *told))
    told.extend(_busy_evidence(busy))
    if trial.silence_ns_sum:
        told.append(f"it was silent for {trial.silence_ns_sum / 1e6:.1f} ms of the trial in all")
    return Limit(by="cannot tell", evidence=tuple(told) or ("no counter claims the loss",))


def limit_of_ceiling(
    max_load_pps: float,
    *,
    link_load_pps: float | None,
    asked_load_pps: float | None,
    confirmed: Trial | None,
) -> Limit:
    """Name the ceiling of a search in which nothing failed.

    If the highest load was given by the user, it limits the search, not the rate.
    """
    if link_load_pps is not None and max_load_pps >= link_load_pps * 0.9999:
        return Limit(by="line rate", evidence=(f"line rate {link_load_pps:.0f} pps was passed",))
    if asked_load_pps is not None and max_load_pps >= asked_load_pps:
        asked = f"the highest load that was asked for, {asked_load_pps:.0f} pps, was passed"
        return Limit(by="cannot tell", evidence=(asked,))
    evidence = [f"the highest load that was offered, {max_load_pps:.0f} pps, was passed"]
    if confirmed is not None and confirmed.tester.busy_cycles_per_frame is not None:
        evidence.append(f"tester: {confirmed.tester.busy_cycles_per_frame:.1f} TSC cycles a frame")
        trips = ", ".join(str(c) for c in confirmed.tester.pingpong_cycles_before)
        if trips:
            evidence.append(
                f"a cache line's round trip between its core and the DUT's: {trips} cycles"
            )
    return Limit(by="tester", evidence=tuple(evidence))


def _busy_evidence(share: float | None) -> tuple[str, ...]:
    return () if share is None else (f"its core was busy for {share:.1%} of its cycles",)


def _running_evidence(trial: Trial) -> tuple[str, ...]:
    reading = trial.dut_reading
    if reading is None or reading.cpu_run_ns is None:
        return ()
    share = reading.cpu_run_ns / (trial.measured_seconds * 1e9)
    if share < RUNNING_SHARE:
        return ()
    return (
        "its thread ran on its core all the time (schedstat), while its input queue overflowed",
    )
