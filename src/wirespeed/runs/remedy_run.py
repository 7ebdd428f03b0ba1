"""What the doctor named on one host, as steps that a run can do and undo."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from wirespeed.apply.firmware_guard import refuse_firmware, refuse_no_way_back
from wirespeed.apply.guard import refuse_cutoff, with_cutoffs
from wirespeed.apply.lockdown_guard import refuse_locked_down
from wirespeed.apply.remedies import Skipped, chosen, plan_remedies
from wirespeed.apply.run import open_run
from wirespeed.apply.run_place import other_run_folder
from wirespeed.catalog import platform_of
from wirespeed.model.capture import parse_capture
from wirespeed.model.error import HostError, InputError
from wirespeed.model.fact import HostFacts
from wirespeed.model.finding import Diagnosis, Finding, Unanswered
from wirespeed.model.observed import CannotTellError
from wirespeed.model.plan import Plan
from wirespeed.model.question import Question
from wirespeed.model.shown import shown
from wirespeed.model.spec.spec import Spec
from wirespeed.report.plan_text import plan_lines
from wirespeed.report.text_lines import wrapped
from wirespeed.runs.examine import examine
from wirespeed.runs.hosts_of_spec import controls_of, here_of, lone_host
from wirespeed.runs.plan_hosts import require_whole
from wirespeed.runs.run_hosts import apply_plan
from wirespeed.terminal import confirm, echo

WIDTH = 80


@dataclass(frozen=True, slots=True)
class RemedyRequest:
    """A host, what it is asked, and what the user allows to be done there."""

    host: str
    question: Question
    rules: tuple[str, ...] = ()
    """Only these findings; a remedy that is left to the user is done where its rule is named."""
    folder: Path | None = None
    is_applied: bool = False
    yes: bool = False
    allow_cutoff: bool = False
    allow_firmware: bool = False
    allow_no_undo: bool = False
    breaks_lock: bool = False


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
        if not plan.steps or not asked.is_applied:
            return 1 if plan.steps else 0
        plan = _guarded(plan, asked, {name: facts}, here_of(spec))
        if not asked.yes and not confirm("Do this?"):
            return 1
        of = f"remedy {host}"
        where = asked.folder or other_run_folder(name, of)
        with open_run(where, breaks=asked.breaks_lock, of=of) as run:
            if run.outcome not in ("new", "undone"):
                raise InputError(
                    "run.applied_before",
                    where=str(where),
                    found=f"its run is {run.outcome}",
                    so="what stood there before is in its journal, and would be lost",
                    next=f"wirespeed undo {where}, or another --run",
                )
            run.begin_anew()
            apply_plan(run, plan, controls, spec=spec)
        echo(f"`wirespeed undo {where}` takes it back")
    return 0


def _guarded(plan: Plan, asked: RemedyRequest, facts: dict[str, HostFacts], here: set[str]) -> Plan:
    refuse_locked_down(plan, facts)
    if not asked.allow_firmware:
        refuse_firmware(plan)
    if not asked.allow_no_undo:
        refuse_no_way_back(plan)
    if asked.allow_cutoff:
        return with_cutoffs(plan, facts, here)
    refuse_cutoff(plan, facts)
    return plan


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
        raise InputError("remedy.no_port", where=host, found=error.reason) from None
    if not ports:
        raise InputError("remedy.no_port", where=host, found="it has no network card on PCI")
    return lone_host(host, ports[:8])


def _findings(answer: Diagnosis, rules: Iterable[str]) -> tuple[Finding, ...]:
    found = {finding.rule for finding in answer.findings}
    if missing := sorted(set(rules) - found):
        raise InputError(
            "remedy.not_found",
            where=answer.host,
            found=f"no finding of {', '.join(map(shown, missing))}",
            next=f"wirespeed doctor {answer.host} lists them",
        )
    return answer.findings


def skipped_lines(left: Iterable[Skipped]) -> Iterator[str]:
    """Say what is not done, and why; once each."""
    for number, one in enumerate(dict.fromkeys(left)):
        if not number:
            yield from ("", "left to you:")
        yield from wrapped(f"{one.rule}: {shown(one.why, 400)}", WIDTH, "  ", "    ")
