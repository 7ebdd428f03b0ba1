"""Facts and a question to the whole answer: run every rule, price what it found, rank. Pure."""

from collections.abc import Callable, Iterable, Iterator

from wirespeed.doctor.discover import rules
from wirespeed.doctor.ledger import build_ledger
from wirespeed.doctor.price import priced
from wirespeed.facts.ports import Ports
from wirespeed.model.ceiling import Ledger
from wirespeed.model.fact import HostFacts
from wirespeed.model.finding import Diagnosis, Finding, Severity, Verdict
from wirespeed.model.observed import CannotTellError
from wirespeed.model.port import Port
from wirespeed.model.question import Question
from wirespeed.model.rule import (
    DoesNotApplyError,
    HostExam,
    HostRule,
    PortExam,
    PortRule,
    Rule,
)

Said = Finding | Verdict


def diagnose(
    host: HostFacts, question: Question, chosen: Iterable[Rule] | None = None
) -> Diagnosis:
    """Ask every rule, or the `chosen` ones, about the host and each of its ports."""
    ports = _asked(host[Ports].ports, question)
    ledgers = {port: build_ledger(host, port, question) for port in ports}
    said: list[Said] = []
    for rule in rules() if chosen is None else chosen:
        said += _ask(rule, host, question, ports, ledgers)
    by_name = {ledger.port: ledger for ledger in ledgers.values()}
    findings = [priced(f, by_name.get(f.where)) for f in said if isinstance(f, Finding)]
    return Diagnosis(
        host=host.name,
        question=question,
        findings=tuple(sorted(findings, key=_rank)),
        verdicts=tuple(v for v in said if isinstance(v, Verdict)),
        ledgers=tuple(ledgers.values()),
        warnings=() if host.capture.complete else ("the capture was cut off: its end is missing",),
    )


def _asked(ports: tuple[Port, ...], question: Question) -> tuple[Port, ...]:
    if not question.ports:
        return ports
    return tuple(p for p in ports if {p.netdev, p.pci_address} & set(question.ports))


def _ask(
    rule: Rule,
    host: HostFacts,
    question: Question,
    ports: tuple[Port, ...],
    ledgers: dict[Port, Ledger],
) -> Iterator[Said]:
    if rule.purposes is not None and question.purpose not in rule.purposes:
        wanted = ", ".join(sorted(rule.purposes))
        yield Verdict(
            rule=rule.slug,
            where=host.name,
            outcome="does not apply",
            reason=f"it matters for {wanted}: ask with --for",
        )
    elif isinstance(rule, HostRule):
        check, exam = rule.check, HostExam(host, question, ports)
        yield from _guarded(rule.slug, host.name, lambda: check(exam))
    else:
        for port in ports:
            yield from _ask_about(rule, PortExam(host, question, ports, port, ledgers[port]))


def _ask_about(rule: PortRule, exam: PortExam) -> Iterator[Said]:
    return _guarded(rule.slug, exam.port.name, lambda: rule.check(exam))


def _guarded(slug: str, where: str, check: Callable[[], Iterable[Finding]]) -> Iterator[Said]:
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
        return
    if not count:
        yield Verdict(rule=slug, where=where, outcome="absent")


def _rank(finding: Finding) -> tuple[bool, float, int, str, str]:
    """Dearest first; what has no price comes after what has one, by severity."""
    cost = max((price.cost_pps for price in finding.prices), default=0.0)
    order = list(Severity).index(finding.severity)
    return not cost, -cost, order, finding.rule, finding.where
