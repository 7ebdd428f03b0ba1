"""What an answer of the doctor says, before it is a terminal's text or a page. Pure.

It computes no verdict: it counts, groups what reads alike, and words prices.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from wirespeed.ceilings.ethernet import is_without_link
from wirespeed.model.bound import Bound, BoundUnit
from wirespeed.model.ceiling import Band, Ceiling, Direction, Input, Ledger, Quantity
from wirespeed.model.command import Command
from wirespeed.model.finding import (
    Danger,
    Diagnosis,
    Evidence,
    Finding,
    Price,
    Severity,
    Verdict,
)
from wirespeed.model.question import Question
from wirespeed.model.shown import shown
from wirespeed.report.cause_view import THIS_HOST, cause_text
from wirespeed.report.load_text import LoadUnit, decimal
from wirespeed.report.praise import bound_prefix, doubts

PLURALS = {"fault": "faults", "ceiling": "ceilings", "risk": "risks", "note": "notes"}
DONE = {Direction.RECEIVE: "received", Direction.TRANSMIT: "sent"}
HOST_CHARACTERS = 48
HOST_LABELS = ("system", "runs on", "CPU")
"""Labels of `Diagnosis.about` that are about the host as a whole."""
CANNOT_TELL = "cannot tell"
MEASURED = "measured."
"""Rules about the figure itself."""
DENIED = ("permission denied", "not permitted")


@dataclass(frozen=True, slots=True)
class Undetermined:
    """Conditions that could not be determined for one reason, and commands that would tell."""

    reason: str
    commands: tuple[str, ...]
    verdicts: tuple[Verdict, ...]

    @property
    def denied(self) -> bool:
        """Only root may read it."""
        return any(word in self.reason.lower() for word in DENIED)


def with_places(diagnosis: Diagnosis) -> Diagnosis:
    """Say `this host` for what is about the host as a whole: its name may be a long path."""

    def place(where: str) -> str:
        return THIS_HOST if where == diagnosis.host else where

    return diagnosis.model_copy(
        update={
            "findings": tuple(
                f.model_copy(update={"where": place(f.where)}) for f in diagnosis.findings
            ),
            "causes": tuple(
                c.model_copy(
                    update={
                        "places": tuple(map(place, c.places)),
                        "priced_at": place(c.priced_at),
                    }
                )
                for c in diagnosis.causes
            ),
            "verdicts": tuple(
                v.model_copy(update={"where": place(v.where)}) for v in diagnosis.verdicts
            ),
        }
    )


def above_note(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """Those that cost something, now or later."""
    return tuple(f for f in findings if f.severity is not Severity.NOTE)


def notes_of(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """Those that are only worth knowing."""
    return tuple(f for f in findings if f.severity is Severity.NOTE)


def notes_beside(diagnosis: Diagnosis) -> tuple[Finding, ...]:
    """Notes that belong to no cause."""
    told = {n for c in diagnosis.causes for n in (*c.before, *c.findings, *c.effects)}
    return tuple(f for number, f in enumerate(diagnosis.findings) if number not in told)


def counts(diagnosis: Diagnosis) -> str:
    """`2 faults, 1 risk`, or `no finding above a note`."""
    return counted(diagnosis) or "no finding above a note"


def counted(diagnosis: Diagnosis) -> str:
    """`2 faults, 1 risk`; empty when nothing is above a note."""
    counts = {
        s: sum(f.severity is s for f in diagnosis.findings) for s in Severity if s != Severity.NOTE
    }
    return ", ".join(f"{n} {s if n == 1 else PLURALS[s]}" for s, n in counts.items() if n)


def asked(diagnosis: Diagnosis) -> str:
    """What the answer is about: `frames of 64 bytes, for dpdk`."""
    question = diagnosis.question
    is_of_mtu = question.frame_of_mtu and question.frame_bytes != Question().frame_bytes
    words = [f"{question.frame_bytes}-byte frames{' of the MTU' if is_of_mtu else ''}"]
    words += ["both directions at once"] if question.bidirectional else []
    words += [f"for {question.purpose}"] if question.purpose is not None else []
    words += [f"to {question.peer}"] if question.peer is not None else []
    if question.rtt_s is not None:
        words.append(f"{question.rtt_s * 1e3:g} ms there and back")
    if question.measured_bps is not None:
        words.append(f"{question.measured_bps / 1e9:g} Gb/s measured")
    words += [f"work done by {question.workload}"] if question.workload is not None else []
    return ", ".join(words)


def evidence_by_source(finding: Finding) -> tuple[Evidence, ...]:
    """Evidence of one source after the other, what has the same source as one."""
    found: dict[str, list[str]] = {}
    for evidence in finding.evidence:
        found.setdefault(evidence.source, []).append(evidence.found)
    return tuple(Evidence(found="; ".join(texts), source=s) for s, texts in found.items())


def price_texts(finding: Finding, unit: LoadUnit) -> tuple[str, ...]:
    """What it costs, once when both directions cost the same, else one text for each; bounds."""
    return (*_known_prices(finding, unit), *(_bound_text(one, unit) for one in finding.bounds))


def _known_prices(finding: Finding, unit: LoadUnit) -> tuple[str, ...]:
    if not finding.prices:
        return (f"not known: {finding.unpriced}",) if finding.unpriced else ()
    texts = {price.direction: _price_text(price, unit) for price in finding.prices}
    if len(texts) == len(Direction) and len(set(texts.values())) == 1:
        return (next(iter(texts.values())),)
    return tuple(f"{direction}: {text}" for direction, text in texts.items())


def _price_text(price: Price, unit: LoadUnit) -> str:
    now, after = unit.text(price.now_pps), unit.text(price.after_pps)
    if not price.cost_pps > 0 or now == after:
        return f"costs nothing while {price.bound_by_after} bounds at {after} {unit.name}"
    cost = unit.text(price.cost_pps)
    return f"costs {cost} {unit.name} ({now} -> {after}, then bound by {price.bound_by_after})"


def _bound_text(bound: Bound, unit: LoadUnit) -> str:
    figure = {
        BoundUnit.LOAD_PPS: f"{unit.text(bound.value)} {unit.name}",
        BoundUnit.SECONDS: _duration(bound.value),
        BoundUnit.SHARE: f"{100 * bound.value:.3g} %",
        BoundUnit.CORES: f"{decimal(bound.value)} cores",
    }[bound.unit]
    return f"bound: {bound.limit} {figure} {bound.of} ({bound.formula})"


def _duration(seconds: float) -> str:
    return f"{decimal(seconds * 1e3)} ms" if seconds >= 1e-3 else f"{decimal(seconds * 1e6)} us"


def bound_text(ledger: Ledger, before: str) -> str:
    """`<before> 58.0 Gb/s, bound by pcie …`, by direction where they differ; empty if unknown."""
    unit = LoadUnit(ledger.frame_bytes)
    figures, elements = {}, {}
    for direction in Direction:
        bound, most = ledger.bound(direction), ledger.most(direction)
        if bound is not None and most is not None:
            band = Band(low=bound.load_pps.low, high=most.load_pps.high)
            figures[direction] = f"{unit.band(band)} {unit.name}"
            # Where bands overlap, each of them may be the lowest.
            elements[direction] = " or ".join(map(_element, ledger.may_bound(direction)))
    one = next(iter(elements.values())) if len(set(elements.values())) == 1 else ""
    if one and len(figures) == len(Direction) and len(set(figures.values())) == 1:
        return f"{before} {next(iter(figures.values()))}, bound by {one}"
    ways = {d: f"{figure} {DONE[d]}" for d, figure in figures.items()}
    if one:
        return f"{before} {' and '.join(ways.values())}, bound by {one}"
    apart = [f"{way} (bound by {elements[d]})" for d, way in ways.items()]
    return f"{before} {' and '.join(apart)}" if apart else ""


def _element(ceiling: Ceiling) -> str:
    """Name an element, and that its figure is of another machine where it is."""
    is_elsewhere = ceiling.kind is Quantity.MEASURED
    return f"{ceiling.element} ({ceiling.kind})" if is_elsewhere else ceiling.element


def reported_text(ledger: Ledger) -> str:
    """Say what an adapter reports of itself where nothing that bounds it is known; else empty."""
    found = ledger.reported(Direction.TRANSMIT)
    if found is None or ledger.bound(Direction.TRANSMIT) is not None:
        return ""
    reported = found.inputs[0].shown
    return f"{ledger.port}: it reports {reported}, which bounds nothing; what does is not known"


def bound_texts(diagnosis: Diagnosis) -> tuple[str, ...]:
    """What each port carries at most, and why; in words of praise where that is earned."""
    found = bool(counted(diagnosis))
    texts = []
    for ledger in diagnosis.ledgers:
        bound = bound_text(ledger, bound_prefix(diagnosis, ledger, found=found))
        why = "" if found or is_without_link(ledger) else "; ".join(doubts(diagnosis, ledger))
        texts.append(
            (bound or reported_text(ledger) or f"{ledger.port}: what bounds it is not known")
            + (f" ({why})" if why else "")
        )
    if diagnosis.ports_unknown:
        return (f"which ports this host has could not be determined: {diagnosis.ports_unknown}",)
    return tuple(texts) or ("no network port was found on this host",)


def host_label(host: str) -> str:
    """Name a host, or a file by the end of its path."""
    label = shown(host, 4096)
    return label if len(label) <= HOST_CHARACTERS else f"…{label[1 - HOST_CHARACTERS :]}"


def headline(diagnosis: Diagnosis) -> str:
    """`alpha: eth2 reaches at most 47.0 of 94.1 Gb/s: …`; of one that was cut off, that first."""
    said = verdict_text(diagnosis)
    if not diagnosis.is_complete:
        return (
            f"INCOMPLETE: {host_label(diagnosis.host)}: the reading was cut off; in the part "
            f"that came: {said}"
        )
    return f"{host_label(diagnosis.host)}: {said}"


def verdict_text(diagnosis: Diagnosis) -> str:
    """What is wrong first, in one sentence; or that nothing is, and what is not known."""
    diagnosis = with_places(diagnosis)
    figure = figure_text(diagnosis)
    if figure and all(cause.severity is not Severity.FAULT for cause in diagnosis.causes):
        return figure
    if diagnosis.causes:
        return cause_text(diagnosis.causes[0], LoadUnit(diagnosis.question.frame_bytes))
    unknown = undetermined(diagnosis)
    if not unknown:
        return "nothing wrong was found"
    count = sum(len(group.verdicts) for group in unknown)
    most = unknown[0]
    why = f"{most.reason}: " if 2 * len(most.verdicts) > count > 1 else ""
    return f"nothing wrong was found, but {why}{conditions(count)} could not be determined"


def figure_text(diagnosis: Diagnosis) -> str:
    """`the measured 90 Gb/s are 90 % of what p0 carries at most`; empty where a finding says it.

    Also empty where it was compared with no port, or no ceiling of one is known.
    """
    question = diagnosis.question
    if question.measured_bps is None or any(
        one.rule.startswith(MEASURED) for one in diagnosis.findings
    ):
        return ""
    for ledger in diagnosis.ledgers:
        bounds = [bound for way in Direction if (bound := ledger.bound(way)) is not None]
        if ledger.port in diagnosis.measured_at and bounds:
            most = max(bound.load_bps_l1.low for bound in bounds)
            share = 100 * question.measured_bps / most
            return (
                f"the measured {question.measured_bps / 1e9:.4g} Gb/s are {share:.0f} % of what "
                f"{ledger.port} carries at most"
            )
    return ""


def about_texts(diagnosis: Diagnosis, ports: int | None = None) -> tuple[str, ...]:
    """What host it is in one text, then one for each of its first `ports` ports."""
    of_host = [
        value
        for label, value in diagnosis.about
        if label in HOST_LABELS and not value.startswith(CANNOT_TELL)
    ]
    of_ports = [f"{label}: {value}" for label, value in diagnosis.about if label not in HOST_LABELS]
    return tuple(filter(None, (" · ".join(shown(v) for v in of_host), *of_ports[:ports])))


def alike(ledgers: Iterable[Ledger]) -> tuple[tuple[Ledger, tuple[str, ...]], ...]:
    """Each ledger with the ports whose ceilings are the same, save the addresses in their names."""
    groups: dict[tuple[object, ...], tuple[Ledger, list[str]]] = {}
    for ledger in ledgers:
        ceilings = tuple(
            (c.element.partition(" ")[0], c.direction, c.load_pps) for c in ledger.ceilings
        )
        unknown = tuple(reason.replace(ledger.port, "") for reason in ledger.unknown)
        groups.setdefault((ceilings, unknown), (ledger, []))[1].append(ledger.port)
    return tuple((first, tuple(ports[1:])) for first, ports in groups.values())


def computed(ledger: Ledger) -> tuple[tuple[str, str, tuple[Input, ...]], ...]:
    """Element, formula and inputs of each ceiling, once where both directions have the same."""
    return tuple(dict.fromkeys((c.element, c.formula, c.inputs) for c in ledger.ceilings))


def undetermined(diagnosis: Diagnosis) -> tuple[Undetermined, ...]:
    """Group what could not be determined by its reason, the largest group first.

    Reasons start with what could not be read, `rings: …`: what follows is what they share.
    """
    groups: dict[str, list[Verdict]] = {}
    for verdict in diagnosis.verdicts:
        if verdict.outcome == "cannot tell":
            shared = verdict.reason.partition(": ")[2] or verdict.reason
            groups.setdefault(shared, []).append(verdict)
    found = [
        Undetermined(
            reason=verdicts[0].reason if len(verdicts) == 1 else shared,
            commands=tuple(dict.fromkeys(v.would_tell for v in verdicts)),
            verdicts=tuple(verdicts),
        )
        for shared, verdicts in groups.items()
    ]
    return tuple(sorted(found, key=lambda u: -len(u.verdicts)))


def same_verdicts(diagnosis: Diagnosis, outcome: str) -> dict[tuple[str, str], tuple[str, ...]]:
    """Rule and reason to the places of every verdict of one outcome."""
    groups: dict[tuple[str, str], list[str]] = {}
    for verdict in diagnosis.verdicts:
        if verdict.outcome == outcome:
            groups.setdefault((verdict.rule, verdict.reason), []).append(verdict.where)
    return {key: tuple(places) for key, places in groups.items()}


def remedy_text(text: str, danger: Danger) -> str:
    """Give the remedy with what it may break."""
    return text if danger is Danger.NONE else f"{text} ({danger.upper()})"


def command_text(command: Command) -> str:
    """A line for a shell on that host."""
    return command.line()


def conditions(count: int) -> str:
    """`1 condition`, `12 conditions`."""
    return f"{count} condition" if count == 1 else f"{count} conditions"
