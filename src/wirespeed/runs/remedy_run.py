"""What the doctor named on one host, as steps that a run can do and undo."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from wirespeed.apply.remedies import Skipped, chosen, plan_remedies
from wirespeed.catalog import platform_of
from wirespeed.model.capture import parse_capture
from wirespeed.model.error import HostError, InputError
from wirespeed.model.fact import HostFacts
from wirespeed.model.finding import Diagnosis, Finding, Unanswered
from wirespeed.model.observed import CannotTellError
from wirespeed.model.question import Question
from wirespeed.model.shown import shown
from wirespeed.model.spec.spec import Spec
from wirespeed.report.plan_text import plan_lines
from wirespeed.report.text_lines import wrapped
from wirespeed.runs.examine import examine
from wirespeed.runs.host_plan import Allowed, do_plan
from wirespeed.runs.hosts_of_spec import controls_of, lone_host
from wirespeed.runs.plan_hosts import require_whole
from wirespeed.terminal import echo

WIDTH = 80


@dataclass(frozen=True, slots=True)
class RemedyRequest:
    """A host, and what is to be done there."""

    host: str
    question: Question
    rules: tuple[str, ...] = ()
    """Only these findings; a remedy that is left to the user is done where its rule is named."""
    allowed: Allowed = field(default_factory=Allowed)


def remedy_host(asked: RemedyRequest) -> int:
    """Show the steps that fix what the doctor found, and do them where that is asked for.

    Gives the exit code. Raises InputError `remedy.*`, `run.applied_before`, `cutoff.*`; HostError.
    """
    host = asked.host
    ((answer, text),) = examine([host], asked.question)
    if isinstance(answer, Unanswered):
        raise HostError(answer.what, where=host, found=answer.found, next=answer.next)
    facts = HostFacts(host, parse_capture(text, host))
    require_whole(host, facts.capture)
    spec = spec_for_host(host, facts)
    (name,) = spec.hosts
    with controls_of(spec) as controls:
        shell = platform_of(facts.capture).shell
        steps, by_hand = chosen(_findings(answer, asked.rules), asked.rules, shell)
        states = controls[name].read([one.step for one in steps]) if steps else []
        plan, left = plan_remedies(name, steps, states)
        echo("\n".join([*plan_lines(plan), *skipped_lines([*left, *by_hand])]))
        return do_plan(plan, f"remedy {host}", spec, facts, controls, asked.allowed)


def spec_for_host(host: str, facts: HostFacts) -> Spec:
    """Give a spec that wants nothing, and says how the host is reached: the journal keeps it.

    Raises InputError `remedy.no_port`, `remedy.esxi`, `remedy.switch`.
    """
    platform = platform_of(facts.capture)
    if platform.no_remedy:
        raise InputError(
            f"remedy.{platform.name.lower().removeprefix('a ')}",
            where=host,
            found=platform.no_remedy,
            next=platform.instead_of_remedy,
        )
    try:
        ports = [*platform.cards(facts)]
    except CannotTellError as error:
        raise InputError(
            "remedy.no_port",
            where=host,
            found=error.reason,
            so="without a port, wirespeed cannot fix this host",
            next=f"run on the host: {error.would_tell}",
        ) from None
    if not ports:
        raise InputError(
            "remedy.no_port",
            where=host,
            found="the host has no PCI network card",
            next="give another host; `wirespeed doctor HOST` lists the ports of one",
        )
    return lone_host(host, ports[:8])


def _findings(answer: Diagnosis, rules: Iterable[str]) -> tuple[Finding, ...]:
    found = {finding.rule for finding in answer.findings}
    if missing := sorted(set(rules) - found):
        raise InputError(
            "remedy.not_found",
            where=answer.host,
            found=f"the host has no finding {', '.join(map(shown, missing))}",
            next=f"list the findings with `wirespeed doctor {answer.host}`",
        )
    return answer.findings


def skipped_lines(left: Iterable[Skipped]) -> Iterator[str]:
    """Say what is not done, and why; once each."""
    for number, one in enumerate(dict.fromkeys(left)):
        if not number:
            yield from ("", "not planned:")
        yield from wrapped(f"{one.rule}: {shown(one.why, 400)}", WIDTH, "  ", "    ")
