"""Facts and a question to the whole answer: run every rule, price what it found, rank. Pure."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import NamedTuple

from wirespeed.catalog import platform_of, platform_of_rule, platforms, rules
from wirespeed.doctor.about import describe
from wirespeed.doctor.causes import Joined, join, shown_by_roots
from wirespeed.doctor.frame_of_mtu import with_frame_of_mtu
from wirespeed.doctor.ledger import build_ledger
from wirespeed.doctor.low_figure import with_reason, without_idle_ceilings
from wirespeed.doctor.measured_path import measured_paths
from wirespeed.doctor.places import places_of
from wirespeed.doctor.price import priced
from wirespeed.doctor.without_link import lowered, ports_without_link
from wirespeed.facts.ports import Ports
from wirespeed.model.ceiling import Ledger
from wirespeed.model.error import InputError
from wirespeed.model.fact import HostFacts
from wirespeed.model.finding import Diagnosis, Finding, Severity, Verdict
from wirespeed.model.observed import CannotTellError
from wirespeed.model.platform import Platform
from wirespeed.model.port import Port
from wirespeed.model.question import Question
from wirespeed.model.rule import (
    DoesNotApplyError,
    FigureExam,
    FigureRule,
    HostExam,
    HostRule,
    PortExam,
    PortRule,
    Rule,
)
from wirespeed.model.shown import shown
from wirespeed.model.symptom import Symptom


class Unused(NamedTuple):
    """An option that the user gave and a rule could not use."""

    text: str


Said = Finding | Verdict | Unused

FAULTS_OF_OURS = (
    ArithmeticError, AssertionError, AttributeError, LookupError, RuntimeError, TypeError,
    ValueError,
)  # fmt: skip
"""What a mistake in a rule or a ceiling raises; a StopIteration within a generator is a
RuntimeError. It must not take the rest of the answer with it, nor be hidden: it is a verdict
*cannot tell*, and a line in `Diagnosis.faults`."""


def diagnose(
    host: HostFacts, question: Question, chosen: Iterable[Rule] | None = None
) -> Diagnosis:
    """Ask every rule, or the `chosen` ones, about the host and each of its ports.

    Raises InputError `port.unknown` when the question names a port that the host does not have.
    """
    warnings = [] if host.capture.complete else ["the capture was cut off: its end is missing"]
    faults: list[str] = []
    ports: tuple[Port, ...] = ()
    ports_unknown = ""
    own = platform_of(host.capture)
    try:
        ports = asked_ports(host, question)
    except CannotTellError as error:
        ports_unknown = error.reason
    question = with_frame_of_mtu(host, question, ports)
    ledgers = {port: _ledger(host, port, question, faults) for port in ports}
    others = [one for kind in platforms() for one in _others(kind, host, question, faults)]
    said: list[Said] = []
    asked_rules = rules() if chosen is None else tuple(chosen)
    later: list[HostRule | PortRule] = []

    def ask_now(rule: HostRule | PortRule) -> list[Said]:
        return list(_ask(rule, host, question, ports, ledgers, faults))

    for rule in asked_rules:
        if isinstance(rule, FigureRule):
            said += _ask_figure(rule, host, question, ledgers, others, faults)
        elif not own.is_usual and _concerns_linux(rule):
            said.append(_not_linux(rule, host.name, own))
        elif _is_for(rule, question):
            said += ask_now(rule)
        else:
            later.append(rule)
    all_ledgers = (*ledgers.values(), *others)
    asked = {rule.slug: _of_the_run(rule, question) for rule in asked_rules}

    measured_at = _measured_at(host, question, ledgers, others)
    measured = [ledger for ledger in all_ledgers if ledger.port in measured_at]

    def joined() -> Joined:
        found = _judged(host, question, said, all_ledgers, ports)
        return join(without_idle_ceilings(found, asked, question, measured), asked, places)

    places = places_of(host, ports)
    unexplained = set() if question.purpose is not None else shown_by_roots(joined(), asked)
    for rule in later:
        # What nothing explains is sought among what matters for other purposes.
        more = [] if unexplained.isdisjoint(rule.explains) else ask_now(rule)
        bears = any(isinstance(one, Finding) and one.severity is not Severity.NOTE for one in more)
        said += more if bears else [_not_asked(rule, host)]
    told = with_reason(joined(), asked, question)
    return Diagnosis(
        host=host.name,
        question=question,
        about=_about(host, question, faults),
        findings=told.findings,
        causes=told.causes,
        verdicts=tuple(v for v in said if isinstance(v, Verdict)),
        ledgers=all_ledgers,
        measured_at=measured_at,
        ports_unknown=ports_unknown,
        warnings=(*warnings, *dict.fromkeys(s.text for s in said if isinstance(s, Unused))),
        is_complete=host.capture.complete,
        faults=tuple(faults),
    )


def _of_the_run(rule: Rule, question: Question) -> Rule:
    """Give the rule without what it explains of a low figure, where no test of the network has it.

    SMB by TCP slows copies, and no run of iperf3.
    """
    if question.measured_by is None or rule.explains_runs:
        return rule
    explains = tuple(one for one in rule.explains if one is not Symptom.LOW_FIGURE)
    return replace(rule, explains=explains)


def _judged(
    host: HostFacts,
    question: Question,
    said: Iterable[Said],
    ledgers: Sequence[Ledger],
    ports: tuple[Port, ...],
) -> list[Finding]:
    """Give the findings with what they cost, and without faults of ports that are not used."""
    by_name = {ledger.port: ledger for ledger in ledgers}
    without_link = ports_without_link(host, ports, question)
    found = [priced(f, by_name.get(f.where)) for f in said if isinstance(f, Finding)]
    return [lowered(finding, without_link) for finding in found]


def asked_ports(host: HostFacts, question: Question) -> tuple[Port, ...]:
    """Give the ports that the question is about. Raises InputError `port.unknown`.

    A Windows adapter is not a port: it can be named, and the rules about Windows report it.
    """
    ports = host[Ports].ports if platform_of(host.capture).is_usual else ()
    if not question.ports:
        return ports
    names = {name for port in ports for name in (port.netdev, port.pci_address)}
    others = [name for platform in platforms() for name in platform.ports(host)]
    names |= set(others)
    unknown = [name for name in question.ports if name not in names]
    if unknown:
        has = [
            f"{port.name} ({port.pci_address})" if port.netdev and port.pci_address else port.name
            for port in ports
        ]
        has += others
        raise InputError(
            "port.unknown",
            where=host.name,
            found=f"no port {shown(unknown[0])}; it has {shown(', '.join(has), 400) or 'none'}",
            next="give one of these by its netdev or its PCI address",
        )
    return tuple(p for p in ports if {p.netdev, p.pci_address} & set(question.ports))


def _about(host: HostFacts, question: Question, faults: list[str]) -> tuple[tuple[str, str], ...]:
    """Describe the host."""
    try:
        return describe(host, question)
    except FAULTS_OF_OURS as error:
        faults.append(f"what host it is: {_mistake(error)}")
        return ()


def _ledger(host: HostFacts, port: Port, question: Question, faults: list[str]) -> Ledger:
    try:
        return build_ledger(host, port, question)
    except FAULTS_OF_OURS as error:
        faults.append(f"ledger of {port.name}: {_mistake(error)}")
        return Ledger(
            port=port.name,
            frame_bytes=question.frame_bytes,
            ceilings=(),
            unknown=("every element: a fault of wirespeed, not of this host",),
        )


def _others(
    platform: Platform, host: HostFacts, question: Question, faults: list[str]
) -> tuple[Ledger, ...]:
    """Give the ledgers of what is not a port of Linux."""
    try:
        return tuple(platform.ledgers(host, question))
    except FAULTS_OF_OURS as error:
        faults.append(f"ledgers of {platform.name}: {_mistake(error)}")
        return ()


def _concerns_linux(rule: Rule) -> bool:
    """Of a port of Linux, or in no other platform's folder."""
    return isinstance(rule, PortRule) or platform_of_rule(rule).is_usual


def _not_linux(rule: Rule, where: str, own: Platform) -> Verdict:
    reason = f"it is about Linux, and this host is {own.name}"
    return Verdict(rule=rule.slug, where=where, outcome="does not apply", reason=reason)


def _is_for(rule: Rule, question: Question) -> bool:
    return rule.purposes is None or not question.purposes.isdisjoint(rule.purposes)


def _not_asked(rule: Rule, host: HostFacts) -> Verdict:
    wanted = ", ".join(sorted(rule.purposes or ()))
    reason = f"it matters for {wanted}: ask with --for"
    return Verdict(rule=rule.slug, where=host.name, outcome="does not apply", reason=reason)


def _ask(
    rule: HostRule | PortRule,
    host: HostFacts,
    question: Question,
    ports: tuple[Port, ...],
    ledgers: dict[Port, Ledger],
    faults: list[str],
) -> Iterator[Said]:
    if isinstance(rule, HostRule):
        check, exam = rule.check, HostExam(rule.slug, host, question, ports)
        yield from _guarded(rule.slug, host.name, lambda: check(exam), faults)
    else:
        for port in ports:
            asked = PortExam(rule.slug, host, question, ports, port, ledgers[port])
            yield from _guarded(rule.slug, port.name, partial(rule.check, asked), faults)


def _measured_at(
    host: HostFacts, question: Question, ledgers: Mapping[Port, Ledger], others: Sequence[Ledger]
) -> tuple[str, ...]:
    """Name the ports that a figure is compared with; none where there is none."""
    try:
        return tuple(path.port for path in measured_paths(host, question, ledgers, others))
    except (DoesNotApplyError, *FAULTS_OF_OURS):
        return ()


def _ask_figure(
    rule: FigureRule,
    host: HostFacts,
    question: Question,
    ledgers: Mapping[Port, Ledger],
    others: Sequence[Ledger],
    faults: list[str],
) -> Iterator[Said]:
    """Hold a figure against the paths that it may be of; say so where there is nothing to hold."""
    paths: list[Ledger] = []

    def find() -> Iterable[Finding]:
        paths.extend(measured_paths(host, question, ledgers, others))
        return ()

    said = list(_guarded(rule.slug, host.name, find, faults))
    if not paths:
        yield from said
        return
    figure = question.measured_bps or 0.0
    exam = FigureExam(rule.slug, host, question, tuple(ledgers), figure, tuple(paths))
    for one in _guarded(rule.slug, exam.place, lambda: rule.check(exam), faults):
        yield one
        if isinstance(one, Verdict) and one.outcome == "cannot tell":
            yield from _undetermined(rule, one)


def _undetermined(rule: FigureRule, verdict: Verdict) -> Iterator[Unused]:
    """Say once that a figure could not be held against anything: of what a low one is found by."""
    if Symptom.LOW_FIGURE in rule.shows:
        yield Unused(f"the measured figure was compared with no ceiling: {verdict.reason}")


def _guarded(
    slug: str, where: str, check: Callable[[], Iterable[Finding]], faults: list[str]
) -> Iterator[Said]:
    """Findings of one check; what it could not tell comes after those that it made before."""
    count = 0
    try:
        for finding in check():
            count += 1
            yield finding
    except CannotTellError as error:
        yield Verdict(
            rule=slug,
            where=where,
            outcome="cannot tell",
            reason=error.reason,
            would_tell=error.would_tell,
        )
        return
    except DoesNotApplyError as error:
        yield Verdict(rule=slug, where=where, outcome="does not apply", reason=str(error))
        if error.unused:
            yield Unused(f"{error.unused} was not used: {error}")
        return
    except FAULTS_OF_OURS as error:
        faults.append(f"{slug} on {where}: {_mistake(error)}")
        yield Verdict(
            rule=slug,
            where=where,
            outcome="cannot tell",
            reason="a fault of this rule, not of the host",
            would_tell="wirespeed capture --anonymous",
        )
        return
    if not count:
        yield Verdict(rule=slug, where=where, outcome="absent")


def _mistake(error: Exception) -> str:
    """Say what went wrong and where in our own code."""
    last = error.__traceback__
    while last is not None and last.tb_next is not None:
        last = last.tb_next
    code = "" if last is None else last.tb_frame.f_code.co_filename.rpartition("/")[2]
    place = "" if last is None else f" ({code}, line {last.tb_lineno})"
    return f"{type(error).__name__}: {error}{place}"
