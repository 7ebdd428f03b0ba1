"""The copies of journals that stand on a host, read as what a stranger may have written. Pure.

What is taken of one: steps, by their own fields, and the states that they lead from and to. What is
shown and run is made of these afresh: no command that stands in a copy is.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import pairwise

from wirespeed.apply.guard_timer import other_runs
from wirespeed.apply.host_copy import About, said_of
from wirespeed.apply.host_copy_script import NOT_READ, NOT_THERE
from wirespeed.apply.journal_damage import UNFIT
from wirespeed.apply.tryout_script import gone_runs
from wirespeed.catalog import read_step
from wirespeed.model.capture import Capture, Section
from wirespeed.model.error import HostError, LeftChangedError
from wirespeed.model.journal import Begun, Entry, Intent, Staged, outcome, whole_plan
from wirespeed.model.journal_lines import JournalText, read_journal_text, sealed
from wirespeed.model.json_value import read_record
from wirespeed.model.plan import Plan, PlannedStep
from wirespeed.model.shown import shown
from wirespeed.model.spec.spec import Spec
from wirespeed.model.step import State


@dataclass(frozen=True, slots=True)
class FoundCopy:
    """A copy on a host."""

    name: str
    """Of its folder: the run's id, and a digest of the host's name in the run."""
    number: int | None
    """Of two, the one that was begun later has the greater; None: not known."""
    about: About | None
    told: JournalText | None
    """None: it was not read, or is undone."""
    text: str = ""
    why: str = ""
    """Why it was not read."""
    is_undone: bool = False

    @property
    def run(self) -> str:
        """The id of the run."""
        return self.name.partition("-")[0]

    @property
    def outcome(self) -> str:
        """How its run ended, as `journal.outcome`."""
        if self.is_undone:
            return "undone"
        if self.told is None or not self.told.entries:
            return "not readable"
        return "damaged" if self.told.damage else outcome(self.told.entries)


@dataclass(frozen=True, slots=True)
class HostRuns:
    """What wirespeed has on a host."""

    copies: tuple[FoundCopy, ...]
    """The latest first; those whose turn is not known at the end."""
    owner: str
    """The line of its lock; empty: nobody has it."""
    armed: tuple[str, ...]
    """The folders of steps and runs that the host undoes by itself unless they are confirmed."""
    gone: Mapping[str, frozenset[str]] = field(default_factory=dict)
    """Runs that the host has undone by itself, and digests of the steps that it left alone."""

    @property
    def standing(self) -> list[FoundCopy]:
        """Give those that are not undone."""
        return [copy for copy in self.copies if copy.outcome != "undone"]


def host_runs(capture: Capture, where: str) -> HostRuns:
    """Read the output of `list_script`. Raises HostError `copies.not_read`."""
    listed = capture.section("runs")
    if listed is None or listed.returncode != 0 or not capture.complete:
        said = shown(listed.errors.strip(), 300) if listed else ""
        raise HostError(
            "copies.not_read",
            where=where,
            found=said or "its answer was cut off",
            so="which runs are applied there is not known",
            next="log in as root: the copies in /var/lib/wirespeed/runs belong to root",
        )
    names = [*capture.sections("copy"), *capture.sections("undone")]
    copies = [_found(capture, name) for name in names]
    copies.sort(key=lambda one: one.number or 0, reverse=True)
    owner = capture.section("owner")
    has_owner = owner is not None and owner.returncode == 0
    return HostRuns(
        tuple(copies),
        owner.output.strip() if owner is not None and has_owner else "",
        tuple(other_runs(capture)),
        gone_runs(capture),
    )


def in_order(copies: list[FoundCopy]) -> bool:
    """Tell whether it is known which of them was begun before which."""
    numbers = [copy.number for copy in copies]
    if len(numbers) < 2:
        return True
    return None not in numbers and all(one != other for one, other in pairwise(numbers))


def rebuilt(copy: FoundCopy, spec: Spec) -> list[str]:
    """Give the lines of a journal that says the same, of the one host that `spec` reaches.

    What was damaged is damaged there too. Raises LeftChangedError `copy.not_a_journal`.
    """
    (place,) = spec.hosts
    told = copy.told
    if told is None or not told.entries:
        raise _no_journal(copy, place, copy.why or (said_of(told) if told else "it is undone"))
    if not told.begins_sealed:
        raise _no_journal(copy, place, "its first line has no checksum: wirespeed did not write it")
    try:
        entries = list(made_again(told, copy.run, place, spec))
    except UNFIT as error:
        what = shown(str(error).partition("\n")[0], 200)
        why = f"no journal of steps of this release: {type(error).__name__} {what}"
        raise _no_journal(copy, place, why) from None
    lines = [
        sealed(entry.model_dump_json(), number, told.run)
        for number, entry in zip(told.numbers, entries, strict=True)
    ]
    # What is lost at the end leaves no gap between two numbers.
    return lines + ["{}"] * (told.number - told.numbers[-1])


def plan_of(lines: list[str]) -> tuple[Plan, JournalText]:
    """Give what lines of `rebuilt` say."""
    told = read_journal_text("".join(f"{line}\n" for line in lines).encode())
    return whole_plan(told.entries) or Plan(steps=()), told


def _found(capture: Capture, name: str) -> FoundCopy:
    number = capture.section("number", name)
    digits = number.output.strip() if number is not None and number.returncode == 0 else ""
    turn = int(digits) if digits.isascii() and digits.isdecimal() and len(digits) < 10 else None
    about = _about(capture.section("about", name))
    if capture.section("undone", name) is not None:
        return FoundCopy(name, turn, about, None, is_undone=True)
    section = capture.section("copy", name)
    if section is None or section.returncode != 0:
        return FoundCopy(name, turn, about, None, why=_why(section))
    told = read_journal_text(section.output.encode())
    is_undone = outcome(told.entries) == "undone" and not told.damage
    return FoundCopy(name, turn, about, told, section.output, is_undone=is_undone)


def _about(section: Section | None) -> About | None:
    if section is None or section.returncode != 0:
        return None
    try:
        return read_record(About, section.output)
    except ValueError:
        return None


def _why(section: Section | None) -> str:
    if section is None or section.returncode is None:
        return "its answer was cut off"
    known = {NOT_THERE: "journal.jsonl is not there", NOT_READ: "all together are too long"}
    said = shown(" ".join(section.errors.split()), 300)
    return known.get(section.returncode) or said or f"return code {section.returncode}"


def made_again(told: JournalText, run: str, place: str, spec: Spec | None) -> Iterator[Entry]:
    """Give the entries of a copy on `place`, with all that is run made of the steps again.

    Raises as `UNFIT`.
    """
    steps: list[PlannedStep] = []
    places = {one.host for entry in told.entries if isinstance(entry, Begun) for one in _of(entry)}
    if len(places) > 1:
        raise ValueError("it is about more than one host")
    for entry in told.entries:
        if isinstance(entry, Begun):
            if entry.run != run:
                raise ValueError(f"it is of run {shown(entry.run, 40)}")
            made = tuple(_step(one, place) for one in entry.plan.steps)
            steps += made
            boot = "".join(list(entry.boot_ids.values())[:1])
            yield entry.model_copy(
                update={
                    "plan": Plan(steps=made),
                    "boot_ids": {place: boot} if boot else {},
                    "spec": spec,
                }
            )
        elif isinstance(entry, Intent):
            planned = steps[entry.number]
            goal = planned.goal if entry.goal is None else entry.goal
            undo = read_step(planned.step).change(goal, entry.before)
            yield entry.model_copy(update={"undo": undo})
        elif isinstance(entry, Staged):
            waits = list(entry.waits.values())[:1]
            yield entry.model_copy(update={"waits": {place: waits[0]} if waits else {}})
        else:
            yield entry


def _of(entry: Begun) -> tuple[PlannedStep, ...]:
    return entry.plan.steps


def _step(planned: PlannedStep, place: str) -> PlannedStep:
    """Plan a step again from its own fields and its states. Raises as `UNFIT`."""
    step = read_step(planned.step)
    before: State | None = planned.before if planned.before is not None else step.made()
    if before is None:
        raise ValueError(f"no step makes what {shown(planned.kind)} is about")
    return PlannedStep(
        host=place,
        step=planned.step,
        subject=step.subject,
        why=step.why,
        scope=step.scope,
        danger=step.danger,
        before=planned.before,
        goal=planned.goal,
        read=step.read(),
        commands=step.change(before, planned.goal),
        undo=step.change(planned.goal, before),
        no_op="it was so already" if planned.no_op else "",
        stage=planned.stage,
        waits_for_reboot=step.waits_for_reboot,
    )


def _no_journal(copy: FoundCopy, place: str, why: str) -> LeftChangedError:
    return LeftChangedError(
        "copy.not_a_journal",
        where=f"run {copy.run} on {place}",
        found=why,
        so="the host may have been changed, and its copy does not say how; this command changed "
        "nothing",
        next=f"read /var/lib/wirespeed/runs/{copy.name} on the host, undo by hand what it "
        "names, and remove it; or restore the run folder from a backup and run `wirespeed "
        "undo FOLDER`",
    )
