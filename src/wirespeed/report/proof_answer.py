"""What a proof shows: one answer to each question, and whether all of it is proven. Pure.

The command's exit code and the page are made of the same answers.
"""

from collections.abc import Sequence

from wirespeed.catalog import approaches
from wirespeed.model.finding import Diagnosis
from wirespeed.model.frozen import Frozen
from wirespeed.model.journal import Intent, outcome
from wirespeed.model.network_trial import (
    FailoverTrial,
    FailoverVerdict,
    IsolationVerdict,
    OffloadVerdict,
)
from wirespeed.model.proof import Stage
from wirespeed.model.spec.networks import Failover
from wirespeed.model.spread import Spread
from wirespeed.report import format as fmt
from wirespeed.report.proof_page import Proof
from wirespeed.report.result import why_unproven

EMULATED = "TCG"
"""In the name of the CPU that QEMU makes up when it emulates all of it."""
NOT_SHOWN = "not shown"
MOST_UNANSWERED = 0.05
"""Share of the packets of a pair's flood pings: with more, the mean of the rest tells little of the
path."""


class ProofAnswer(Frozen):
    """One question."""

    question: str
    figure: str
    condition: str
    """How it was shown, with its n and spread; or why it is not."""
    more: str = ""
    is_proven: bool
    is_asked: bool = True
    """False: the spec does not ask it, and it counts nowhere."""


def answers(proof: Proof) -> tuple[ProofAnswer, ...]:
    """Give all of them, in the order of the page."""
    return (
        _zero_loss(proof) if proof.is_bench else _throughput(proof),
        _latency(proof),
        _failover(proof),
        _isolation(proof),
        _offload(proof),
        _set_up(proof),
        _undo(proof),
    )


def is_proven(proof: Proof) -> bool:
    """Every question that is asked has a good answer, and no stage failed."""
    good = all(answer.is_proven for answer in answers(proof) if answer.is_asked)
    return good and not any(end.outcome == "failed" for end in proof.stages)


def verdict(proof: Proof) -> str:
    """Say it in one line."""
    if is_proven(proof):
        return "Proven"
    failed = next((end for end in proof.stages if end.outcome == "failed"), None)
    if failed is not None:
        return f"Not proven: {failed.stage} failed"
    lacking = [a.question.lower() for a in answers(proof) if a.is_asked and not a.is_proven]
    return f"Not proven: {', '.join(lacking)}"


def exit_code(proof: Proof) -> int:
    """0 all of it is proven, 1 something is not, 3 a host was left changed against the wish."""
    if is_left_changed(proof):
        return 3
    return 0 if is_proven(proof) else 1


def is_left_changed(proof: Proof) -> bool:
    """Tell whether steps are in place that should have been undone, by the journal."""
    if not any(isinstance(entry, Intent) for entry in proof.entries):
        return False
    ended = outcome(proof.entries)
    return ended != "undone" and not (proof.opening.keeps and ended == "applied")


def emulated_hosts(proof: Proof) -> tuple[str, ...]:
    """Hosts whose CPU is emulated: what they do is real, how fast they do it tells nothing."""
    return tuple(
        dict.fromkeys(
            answer.host
            for answer in proof.found
            if isinstance(answer, Diagnosis)
            and any(label == "CPU" and EMULATED in value for label, value in answer.about)
        )
    )


def warnings(proof: Proof) -> tuple[str, ...]:
    """What a reader has to know before he takes a figure home."""
    found = []
    if hosts := emulated_hosts(proof):
        found.append(
            f"Emulated hosts ({', '.join(hosts)}): a real kernel with its own driver shows that "
            "something works, and which frames get through. The speed says nothing about "
            "hardware."
        )
    found += [
        f"{end.stage} failed: {end.error}: {end.said}"
        # What to do next may be several lines; here it is one.
        + (f" Next: {'; '.join(end.next.splitlines())}" if end.next else "")
        for end in proof.stages
        if end.outcome == "failed"
    ]
    if is_left_changed(proof):
        found.append(
            "The journal says that some steps are not undone: wirespeed undo "
            f"{proof.opening.run_name}"
        )
    if any(t.verdict is IsolationVerdict.NOT_ENFORCED for t in proof.isolation):
        found.append(NOT_ENFORCED)
    return tuple(found)


NOT_ENFORCED = (
    "Not enforced by this card: it accepts `spoofchk on` but still forwards frames with another "
    "source MAC. A guest can impersonate another guest of its own network; guests of other "
    "networks do not receive its frames. If the guests of a network must not trust each other, "
    "give them separate networks, or use another card."
)


def _missing(proof: Proof, question: str) -> ProofAnswer:
    """Nothing was measured: say why."""
    for stage in Stage:
        end = proof.stage(stage)
        if end is not None and end.outcome == "failed":
            why = f"{end.stage} failed"
            break
        if stage is Stage.MEASURE and end is not None and end.outcome == "left out":
            why = end.said
            break
    else:
        why = "it was not come to"
    return ProofAnswer(question=question, figure=NOT_SHOWN, condition=why, is_proven=False)


def _zero_loss(proof: Proof) -> ProofAnswer:
    """Say the highest rate without loss, and of how many frame sizes one is proven."""
    found, spec = proof.outcomes, proof.opening.spec
    planned = len(spec.measure.rfc2544.frame_bytes) if spec.measure.rfc2544 else 0
    proven = [(o, o.throughput_pps) for o in found if o.throughput_pps is not None]
    if not proven:
        why = tuple(dict.fromkeys(map(why_unproven, found)))
        lacking = _missing(proof, "Throughput")
        return lacking.model_copy(update={"condition": "; ".join(why)}) if why else lacking
    best, pps = max(proven, key=lambda one: one[1])
    return ProofAnswer(
        question="Throughput",
        figure=f"{fmt.significant(pps / 1e6, 3)} Mpps",
        condition=f"no frame of {fmt.frame(best.mix.label)} lost in "
        f"{fmt.seconds(best.confirmed_seconds)}; {best.dut}; limited by: {best.limit.by}",
        more=f"{len(proven)} of {planned} frame sizes",
        is_proven=len(proven) == planned,
    )


def _throughput(proof: Proof) -> ProofAnswer:
    measured = proof.summary.iperf3
    good = [(cell, cell.bps) for cell in measured if cell.bps is not None]
    if not good:
        return _missing(proof, "Throughput")
    best, bps = max(good, key=lambda one: one[1].median)
    failed = sum(bool(cell.failed) for cell in measured)
    ways = "both directions at once" if best.bidirectional else "one direction"
    return ProofAnswer(
        question="Throughput",
        figure=f"{fmt.significant(bps.median / 1e9, 3)} Gb/s",
        condition=f"{best.name}, {_spread(bps, 1e9)}, {ways}",
        more=f"runs failed in {failed} of {len(measured)} cells" if failed else "",
        is_proven=not failed,
    )


def _latency(proof: Proof) -> ProofAnswer:
    if proof.is_bench:
        return _not_asked("Round trip", "each frame's latency is with its throughput")
    measured = proof.summary.pings
    good = [(p.mean_us, p.mdev_us) for p in measured if p.mean_us and p.mdev_us]
    if not good:
        return _missing(proof, "Round trip")
    mean, mdev = good[0]
    sent, lost = sum(p.sent for p in measured), sum(p.lost for p in measured)
    too_many = any(p.lost > MOST_UNANSWERED * p.sent for p in measured)
    bound = f"; proven with at most {MOST_UNANSWERED:.0%} of each pair" if too_many else ""
    return ProofAnswer(
        question="Round trip",
        figure=f"{fmt.significant(mean.median, 3)} µs",
        condition=f"flood ping, mdev {fmt.significant(mdev.median, 3)} µs; {_spread(mean, 1)}",
        more=f"{fmt.count(lost)} of {fmt.count(sent)} not answered{bound}",
        is_proven=len(good) == len(measured) and not (too_many or any(p.failed for p in measured)),
    )


def _failover(proof: Proof) -> ProofAnswer:
    if proof.opening.spec.failover is Failover.NONE:
        return _not_asked("Fail-over", "failover: none in the spec")
    trials = proof.summary.failovers
    if not trials:
        return _missing(proof, "Fail-over")
    ports = verdicts_by_port(trials)
    survived = [of for of in ports.values() if has_survived(of)]
    others = [v for of in ports.values() if not has_survived(of) for v in of]
    outages = [
        (ms, t.load_pps)
        for t in trials
        if t.verdict is FailoverVerdict.SURVIVED and (ms := t.longest_outage_ms) is not None
    ]
    counted = [t for t in trials if t.verdict is not FailoverVerdict.INVALID]
    lost = sum(t.lost_packets or 0 for t in counted)
    offered = sum(t.offered_packets or 0 for t in counted)
    return ProofAnswer(
        question="Fail-over",
        figure=f"{fmt.milliseconds(*max(outages))} ms" if outages else NOT_SHOWN,
        condition=f"longest outage; {len(survived)} of {len(ports)} ports lost and survived"
        + (f"; {', '.join(dict.fromkeys(others))}" if others else ""),
        more=f"{fmt.count(lost)} of {fmt.count(offered)} packets lost",
        is_proven=len(survived) == len(ports),
    )


def verdicts_by_port(
    trials: Sequence[FailoverTrial],
) -> dict[tuple[str, str], list[FailoverVerdict]]:
    """Host and port to what each trial of it said."""
    ports: dict[tuple[str, str], list[FailoverVerdict]] = {}
    for trial in trials:
        ports.setdefault((trial.host, trial.port), []).append(trial.verdict)
    return ports


def has_survived(verdicts: Sequence[FailoverVerdict]) -> bool:
    """Tell whether the flow survived the loss of a port in each trial that shows anything."""
    void = (FailoverVerdict.NOT_TOUCHED, FailoverVerdict.INVALID)
    shown = [v for v in verdicts if v not in void]
    return bool(shown) and all(v is FailoverVerdict.SURVIVED for v in shown)


def _isolation(proof: Proof) -> ProofAnswer:
    trials = proof.isolation
    if not trials:
        if not proof.opening.spec.guests:
            return _not_asked("Isolation", "the spec has no guests")
        if len(proof.opening.spec.networks) < 2:
            return _not_asked("Isolation", "there is one network")
        return _missing(proof, "Isolation")
    leaked = [t for t in trials if t.verdict is IsolationVerdict.LEAKED]
    unknown = [t for t in trials if t.verdict is IsolationVerdict.NOT_SHOWN]
    unenforced = [t for t in trials if t.verdict is IsolationVerdict.NOT_ENFORCED]
    counted = [t for t in trials if t not in unenforced]
    sent, arrived = sum(t.sent for t in counted), sum(t.arrived for t in counted)
    figure = "leaked" if leaked else "apart"
    more = [f"not enforced by this card: {k}" for k in dict.fromkeys(t.forged for t in unenforced)]
    if leaked:
        more = [f"{t.sender} to {t.receiver}: {t.forged}" for t in leaked[:3]] + more
    return ProofAnswer(
        question="Isolation",
        figure=NOT_SHOWN if unknown and not leaked else figure,
        condition=f"{fmt.count(arrived)} of {fmt.count(sent)} forged frames arrived, "
        f"{len({(t.sender, t.receiver) for t in counted})} ways from guest to guest, "
        f"{len({t.forged for t in counted})} kinds"
        + (f"; {len(unknown)} not shown: {unknown[0].said}" if unknown else ""),
        more="; ".join(more),
        is_proven=not leaked and not unknown,
    )


def _offload(proof: Proof) -> ProofAnswer:
    """Where the card has an embedded switch, the packets have to be seen to go through it."""
    if why := approaches()[proof.opening.spec.approach].proof.no_switch:
        return _not_asked("Offload", why)
    trials = proof.summary.offloads
    if not trials:
        missing = _missing(proof, "Offload")
        return missing.model_copy(update={"is_asked": _has_embedded_switch(proof)})
    asked = [trial for trial in trials if trial.is_expected]
    if not asked:
        found = ", ".join(dict.fromkeys(f"{t.host}: {t.verdict}" for t in trials))
        return _not_asked("Offload", f"no card with an embedded switch; {found}")
    worst = max(asked, key=lambda one: WORST_LAST.index(one.verdict))
    good = [one for one in asked if one.verdict is OffloadVerdict.HIT]
    one_way = approaches()[proof.opening.spec.approach].proof.partly_offloaded
    is_expected = one_way and worst.verdict is OffloadVerdict.PARTLY
    return ProofAnswer(
        question="Offload",
        figure=worst.verdict,
        condition=f"{len(good)} of {len(asked)} readings while a flow was on; "
        f"{worst.host}: {worst.said}" + (f". To be expected: {one_way}" if is_expected else ""),
        is_proven=len(good) == len(asked),
    )


WORST_LAST = (
    OffloadVerdict.HIT,
    OffloadVerdict.CANNOT_TELL,
    OffloadVerdict.PARTLY,
    OffloadVerdict.NOT_HIT,
    OffloadVerdict.IN_SOFTWARE,
)


def _has_embedded_switch(proof: Proof) -> bool:
    """Tell whether the plan uses one."""
    steps = proof.plan.steps if proof.plan is not None else ()
    return any(step.kind == "eswitch_mode" for step in steps)


def _not_asked(question: str, why: str) -> ProofAnswer:
    return ProofAnswer(
        question=question, figure="not asked", condition=why, is_proven=False, is_asked=False
    )


def _set_up(proof: Proof) -> ProofAnswer:
    applied, verified = proof.stage(Stage.APPLY), proof.stage(Stage.VERIFY)
    if applied is None or applied.outcome != "done" or proof.drift is None or verified is None:
        return _missing(proof, "Set-up")
    drifted = proof.drift.differences
    return ProofAnswer(
        question="Set-up",
        figure="as planned" if proof.drift.is_equal else _differ(len(drifted)),
        condition=f"{applied.said}; {verified.said}",
        is_proven=proof.drift.is_equal,
    )


def _undo(proof: Proof) -> ProofAnswer:
    if proof.opening.keeps:
        return ProofAnswer(
            question="Undo",
            figure="kept",
            condition=f"by --keep; wirespeed undo {proof.opening.run_name} undoes it",
            is_proven=False,
            is_asked=False,
        )
    if proof.undone is None:
        return _missing(proof, "Undo")
    count = len(proof.undone.differences)
    return ProofAnswer(
        question="Undo",
        figure="as found" if proof.undone.is_equal else _differ(count),
        condition=f"{fmt.count(proof.undone.compared)} values of a fresh reading compared with "
        "those before",
        is_proven=proof.undone.is_equal,
    )


def _differ(count: int) -> str:
    return "1 differs" if count == 1 else f"{count} differ"


def _spread(spread: Spread, unit: float) -> str:
    if spread.n == 1:
        return "one value"
    least, most = (fmt.significant(v / unit, 3) for v in (spread.least, spread.most))
    return f"median of {spread.n} values, {least} to {most}"
