"""The stages of a proof, one after another; whatever fails, what was applied is taken back.

doctor -> plan -> apply -> verify -> measure -> doctor again -> undo -> compare -> page
"""

from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path

from wirespeed.apply.control_posix import PosixControl
from wirespeed.apply.drift import applied_states, drifted
from wirespeed.apply.gate import Admitted
from wirespeed.apply.make import When as Planning
from wirespeed.apply.make import plan_spec
from wirespeed.apply.planner import described
from wirespeed.apply.read_states import read_states
from wirespeed.apply.run import Run
from wirespeed.doctor.diagnose import diagnose
from wirespeed.doctor.host_state import Values, differences, values_of
from wirespeed.host.capture_request import Unreachable
from wirespeed.host.clock import Deadline, monotonic_s, sleep_s
from wirespeed.host.reach_destination import Destination, parse_destination
from wirespeed.model.capture import parse_capture
from wirespeed.model.error import InputError, WirespeedError
from wirespeed.model.fact import HostFacts
from wirespeed.model.finding import Diagnosis
from wirespeed.model.journal import StepProgress, progress
from wirespeed.model.observed import Known
from wirespeed.model.plan import Plan
from wirespeed.model.proof import Compared, Difference, Stage, StageEnd, When
from wirespeed.model.question import Purpose, Question
from wirespeed.model.spec.spec import Spec
from wirespeed.model.step import State
from wirespeed.report.diagnosis_view import above_note
from wirespeed.report.plan_text import plan_lines
from wirespeed.report.proof_host_tables import PURPOSES, findings
from wirespeed.runs.captures import collect
from wirespeed.runs.change_hosts import admit_of_spec, change_hosts
from wirespeed.runs.measuring import Measuring
from wirespeed.runs.plan_hosts import require_whole
from wirespeed.runs.prove_folder import DRIFT, PLAN, UNDONE, ProofFolder
from wirespeed.runs.run_hosts import undo_plan
from wirespeed.terminal import confirm, echo

SETTLE_S = 30.0
"""Ports that were reset by the undo come back, and with them their addresses."""
SETTLE_AGAIN_S = 2.0
STAGES = len(Stage)
MOST_TOLD = 6


class DeclinedError(Exception):
    """The user does not want the plan to be carried out."""


class Proving:
    """One proof, from the hosts as found to the hosts as found."""

    def __init__(
        self,
        spec: Spec,
        name: Path,
        run: Run,
        controls: Mapping[str, PosixControl],
        folder: ProofFolder,
        measuring: Measuring,
        *,
        asks: bool,
        keeps: bool,
    ) -> None:
        self._spec, self._name, self._run, self._controls = spec, name, run, controls
        self._folder, self._measuring = folder, measuring
        self._asks, self._keeps = asks, keeps
        self._number = 0
        self._before: dict[str, Values] = {}

    def go(self) -> None:
        """Go through all stages. Raises the failure once all that can be undone is."""
        facts = self._examine(Stage.DOCTOR, When.BEFORE)
        admitted = self._plan(facts)
        plan = admitted.plan
        try:
            self._apply(admitted)
            self._verify(plan)
            self._measure(facts)
            self._examine(Stage.AFTER, When.APPLIED)
        finally:
            if not self._keeps:
                try:
                    self._undo()
                finally:
                    self._compare(plan)

    @contextmanager
    def _stage(self, stage: Stage) -> Iterator[Callable[[str], None]]:
        """Tell of a stage, and write how it ended; what it calls says what came of it."""
        self._number = list(Stage).index(stage) + 1
        echo(f"[{self._number}/{STAGES}] {stage}", err=True)
        started = monotonic_s()
        said: list[str] = []

        def ended(**fields: str) -> None:
            end = {"outcome": "done", "said": said[-1] if said else "", **fields}
            line = StageEnd(stage=stage, seconds=round(monotonic_s() - started, 2), **end)
            self._folder.line(line)
            echo(f"      {line.outcome} in {line.seconds:.1f} s: {line.said}", err=True)

        try:
            yield said.append
        except WirespeedError as error:
            found = f"{error.where}: {error.found}" if error.where else error.found
            ended(outcome="failed", said=found, error=error.what, next=error.next)
            raise
        except DeclinedError:
            ended(outcome="left out", said="you declined the plan")
            raise
        except BaseException as error:
            stopped = isinstance(error, KeyboardInterrupt)
            what = "interrupted" if stopped else "wirespeed.mistake"
            ended(outcome="failed", said=str(error) or type(error).__name__, error=what)
            raise
        ended()

    def _examine(self, stage: Stage, when: When) -> dict[str, HostFacts]:
        """Capture every host, and ask the doctor about its ports."""
        with self._stage(stage) as says:
            facts = self._capture(when)
            answers = [
                diagnose(
                    facts[host],
                    Question(purpose=purpose, ports=self._spec.hosts[host].ports),
                )
                for host in facts
                for purpose in PURPOSES
                if self._spec.guests or purpose is not Purpose.GUESTS
            ]
            self._folder.findings(when, answers)
            found = above_note(findings(tuple(answers)))
            by_host = [
                f"{host} {sum(one.where.split(' ')[0] == host for one in found)}" for host in facts
            ]
            says(f"findings above a note: {', '.join(by_host)}")
            _tell(answers)
        return facts

    def _capture(self, when: When) -> dict[str, HostFacts]:
        texts = captured(self._spec)
        self._folder.captures(when, texts)
        facts = {host: HostFacts(host, parse_capture(text, host)) for host, text in texts.items()}
        if when is When.BEFORE:
            self._before = {host: values_of(one) for host, one in facts.items()}
        return facts

    def _plan(self, facts: Mapping[str, HostFacts]) -> Admitted:
        with self._stage(Stage.PLAN) as says:
            plan = plan_spec(
                self._spec, facts, self._controls, Planning(at_once=tuple(self._spec.hosts))
            )
            self._folder.write(PLAN, plan)
            if plan.later:
                waits = ", ".join(dict.fromkeys(later.host for later in plan.later))
                raise InputError(
                    "plan.needs_reboot",
                    where=waits,
                    found="its firmware or its kernel's command line must be changed first",
                    so="nothing was changed: the steps after a reboot cannot be planned yet",
                    next=f"run `wirespeed apply {self._name}`, reboot the host, then prove again",
                )
            admitted = admit_of_spec(plan, facts, self._spec)
            todo = sum(not step.no_op for step in plan.steps)
            says(f"{todo} of {len(plan.steps)} steps to do")
            if self._asks:
                echo("\n".join(plan_lines(plan)))
                if not confirm("Apply this, measure it, and undo it?"):
                    raise DeclinedError
        return admitted

    def _apply(self, admitted: Admitted) -> None:
        with self._stage(Stage.APPLY) as says:
            self._run.begin_anew()
            name = str(self._name)
            change_hosts(self._run, admitted, self._controls, spec=self._spec, name=name)
            came = progress(admitted.plan, self._run.entries)
            says(f"{came.count(StepProgress.DONE)} steps done, each verified")

    def _verify(self, plan: Plan) -> None:
        """Read all steps once more: what a later one altered, or others did, shows."""
        with self._stage(Stage.VERIFY) as says:
            left = applied_states(plan, self._run.entries)
            now = read_states(plan, list(left), self._controls)
            found = tuple(
                Difference(
                    host=one.planned.host,
                    subject=one.planned.subject,
                    what=one.planned.kind,
                    before=described(one.left),
                    now=_state_text(one.now.value if isinstance(one.now, Known) else None),
                )
                for one in drifted(plan, left, now)
            )
            self._folder.write(DRIFT, Compared(compared=len(left), differences=found))
            says(f"{len(left)} states read again, {len(found)} differ from what was applied")

    def _measure(self, facts: Mapping[str, HostFacts]) -> None:
        with self._stage(Stage.MEASURE) as says:
            between = self._measuring.measure(facts, self._folder.trial, _doing)
            says(f"{self._folder.trials} trials {between}")

    def _undo(self) -> None:
        plan = self._run.plan
        if plan is None or self._run.outcome in ("undone", "new"):
            return
        with self._stage(Stage.UNDO) as says:
            undo_plan(self._run, plan, self._controls, str(self._name))
            came = progress(plan, self._run.entries)
            says(f"{came.count(StepProgress.UNDONE)} steps undone, each verified")

    def _compare(self, plan: Plan) -> None:
        """Compare fresh captures, and every step's own state, with what they were before."""
        with self._stage(Stage.COMPARE) as says:
            deadline = Deadline(SETTLE_S)
            compared = self._compared(plan)
            while compared.differences and not deadline.expired:
                sleep_s(SETTLE_AGAIN_S)
                compared = self._compared(plan)
            self._folder.write(UNDONE, compared)
            count = len(compared.differences)
            says(f"{compared.compared} values: " + (f"{count} differ" if count else "as found"))

    def _compared(self, plan: Plan) -> Compared:
        facts = self._capture(When.UNDONE)
        found: list[Difference] = []
        count = 0
        for host, before in self._before.items():
            count += len(before)
            found += differences(host, before, values_of(facts[host]))
        known = [number for number, step in enumerate(plan.steps) if step.before is not None]
        now = read_states(plan, known, self._controls)
        for number, state in now.items():
            planned = plan.steps[number]
            if not isinstance(state, Known) or state.value != planned.before:
                found.append(
                    Difference(
                        host=planned.host,
                        subject=planned.subject,
                        what=planned.kind,
                        before=_state_text(planned.before),
                        now=_state_text(state.value if isinstance(state, Known) else None),
                    )
                )
        return Compared(compared=count + len(known), differences=tuple(found))


def captured(spec: Spec) -> dict[str, str]:
    """Read every host of a spec, many at once. Raises the error of the first without an answer."""
    places = {name: parse_destination(host.reach) for name, host in spec.hosts.items()}
    texts: dict[Destination, str] = {}
    with closing(collect(list(dict.fromkeys(places.values())))) as results:
        for one in results:
            if isinstance(one, Unreachable):
                raise one.error
            name = one.destination.text
            require_whole(name, parse_capture(one.text, name))
            texts[one.destination] = one.text
    return {name: texts[place] for name, place in places.items()}


def _state_text(state: State | None) -> str:
    return "not readable" if state is None else described(state)


def _tell(answers: list[Diagnosis]) -> None:
    """Say the dearest of what was found."""
    for one in above_note(findings(tuple(answers)))[:MOST_TOLD]:
        echo(f"      {one.severity} {one.rule}: {one.where}", err=True)


def _doing(what: str) -> None:
    echo(f"      {what}", err=True)
