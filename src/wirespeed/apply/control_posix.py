"""Control by a runner: each reading and each change is one script, one round trip."""

import uuid
from collections.abc import Callable, Collection, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import ClassVar

from wirespeed.apply.change_from import change_from
from wirespeed.apply.claim import Claim
from wirespeed.apply.control import Changed
from wirespeed.apply.control_boot import (
    BOOT_S,
    await_boot,
    boot_id,
    boot_id_script,
    reboot_script,
)
from wirespeed.apply.control_script import (
    CHANGE_TIMEOUT_S,
    LOCK,
    Around,
    both_captures,
    both_scripts,
    change_script,
    changed,
    lock_script,
    not_ours,
    ours_part,
    read_script,
    settled_read_script,
    states,
    take_over_script,
    unlock_script,
)
from wirespeed.apply.found_copy import HostRuns, host_runs
from wirespeed.apply.guard_timer import (
    UNDOING_S,
    armed,
    is_left_alone,
    other_runs,
    others_script,
    settle_script,
    sweep_script,
)
from wirespeed.apply.guard_timer_change import change_or_roll_back, posix_scripts
from wirespeed.apply.host_copy import Batch, HostCopy
from wirespeed.apply.host_copy_script import (
    is_copied,
    keep_part,
    list_script,
    not_copied,
    told_of,
    told_part,
)
from wirespeed.apply.read_states import settled
from wirespeed.apply.tryout_notes import Note
from wirespeed.apply.tryout_script import (
    NO_SYSTEMD,
    Tryout,
    ask_script,
    claim_script,
    forget_script,
    gone_part,
    left_alone,
    left_part,
    left_script,
    not_noted,
    not_removed,
    note_part,
    others_tried,
    push_part,
    start_script,
    tryout_of,
)
from wirespeed.host.clock import Deadline, sleep_s
from wirespeed.host.runner import ByNetwork, Runner
from wirespeed.model.capture import MAGIC, MAX_PREAMBLE_CHARACTERS, Capture, Section, parse_capture
from wirespeed.model.command import Command
from wirespeed.model.error import HostError, InputError, MeasurementError
from wirespeed.model.observed import Observed
from wirespeed.model.owner import Owner
from wirespeed.model.shown import shown
from wirespeed.model.step import State, Step

READ_TIMEOUT_S = 60.0
RECONNECT_S = 60.0
"""How long a host may be away in the midst of a change: a port that starts anew, a switch."""
PAUSE_S = 1.0
NO_RUN = "0" * 32
"""Of a control that locked no host for a run."""


class PosixControl:
    """Control of the host that `runner` reaches; `name` is how the user calls it."""

    interruption: ClassVar[str] = ""
    """What `reboot` ends, where that is not what everybody takes a reboot for."""

    lock_folder: ClassVar[str] = LOCK
    """The folder on the host that says who has it."""
    can_be_tried: ClassVar[bool] = True
    """Whether the host can take back a whole run by itself."""
    keeps_copy: ClassVar[bool] = True
    """Whether the host has a copy of the journal of each run that changes it."""
    survives_reboot = True
    """Whether a timer that `start_tryout` has started outlives a reboot of the host."""

    def __init__(self, name: str, runner: Runner) -> None:
        self._name, self._runner = name, runner
        self._run = NO_RUN
        self._latest: dict[Command, Section] = {}
        """What each reading of a step said last: the text that a change is compared with."""
        self._is_tried = False
        self._note: Note | None = None
        self.has_left_alone = False
        """Whether a step that was armed when its controller was killed was left alone."""
        self.left_alone: set[str] = set()
        """Digests of the steps that the host left alone when it undid the run by itself."""
        self._copy: HostCopy | None = None
        self._batch: Batch | None = None
        """What the script that is under way adds to the copy."""
        self._refused = ""
        """Why that script began none of its commands."""

    def read(self, steps: Sequence[Step]) -> list[Observed[State]]:
        """See `HostControl.read`."""
        return states(self._ask_of(steps, read_script(steps), READ_TIMEOUT_S), steps)

    def change(self, step: Step, commands: Sequence[Command], now: State | None = None) -> Changed:
        """See `HostControl.change`."""
        timeout_s = READ_TIMEOUT_S + CHANGE_TIMEOUT_S * len(commands)

        around = self._around()

        def attempt(expected: Section | None) -> Changed:
            self._refused = ""
            script = change_script(step, commands, expected=expected, around=around)
            try:
                capture = self._ask_of([step], script, timeout_s)
            except HostError as error:
                return Changed("", self._read_again(step, error))
            return settled(self.read, step, self._begun(changed(capture, step, commands)))

        return self._change_from(now, step, attempt)

    def change_or_roll_back(
        self,
        step: Step,
        commands: Sequence[Command],
        undo: Sequence[Command],
        within_s: int,
        now: State | None = None,
    ) -> Changed:
        """Do as `change`; the host runs `undo` unless a new connection comes within `within_s`.

        From here to here there is no way to lose.
        """
        if not isinstance(self._runner, ByNetwork):
            return self.change(step, commands, now)
        ask, renew = partial(self._ask_of, [step]), self._runner.renew
        scripts = posix_scripts(self._around())

        def attempt(expected: Section | None) -> Changed:
            self._refused, token = "", self._token()
            done = change_or_roll_back(
                ask, renew, token, step, commands, undo, within_s, scripts, expected
            )
            return settled(self.read, step, self._begun(done))

        return self._change_from(now, step, attempt)

    def _begun(self, done: Changed) -> Changed:
        """Say why nothing was begun, where that is so."""
        return replace(done, failed=self._refused) if self._refused else done

    def _change_from(
        self, now: State | None, step: Step, attempt: Callable[[Section | None], Changed]
    ) -> Changed:
        return change_from(now, step, lambda one: self._latest.get(one.read()), self.read, attempt)

    def capture(
        self, collector: str, steps: Sequence[Step]
    ) -> tuple[Capture, list[Observed[State]]]:
        """Run the collector and read the states of `steps`, in one round trip."""
        script = both_scripts(collector, read_script(steps))
        first, second = both_captures(self._say(script, 2 * READ_TIMEOUT_S))
        capture = parse_capture(first, self._name)
        return capture, states(self._noted(parse_capture(second, self._name), steps), steps)

    def boot_id(self) -> str:
        """Give the id of the boot that the host is in; empty: it could not be read."""
        return boot_id(self._ask(boot_id_script(), READ_TIMEOUT_S))

    def reboot(self, before: str, within_s: float = BOOT_S) -> str:
        """Start the host again, and give the id of its new boot.

        Raises InputError `reboot.here`, LeftChangedError `reboot.no_return`.
        """
        if not isinstance(self._runner, ByNetwork):
            raise InputError(
                "reboot.here",
                where=self._name,
                found="wirespeed runs on this host",
                so="a reboot would end wirespeed too",
                next="reboot it yourself; then run `wirespeed apply` again to continue",
            )
        with suppress(HostError):  # It may be gone before it has answered.
            self._ask(reboot_script(), READ_TIMEOUT_S)
        return await_boot(self._ask, self._runner.renew, self._name, before, within_s)

    def lock(self, claim: Claim) -> str:
        """Lock the host for a run, again if it is its own; give its boot id.

        Raises InputError `host.in_use`. A change that is still under way there is waited for.
        What the run itself left armed when it was killed is undone first; what another run left
        armed is not touched, and the host is not taken then.
        """
        told = told_part(self._copy.name) if self._copy else ""
        parts = settle_script(claim.run) + told, others_script(claim.run, others_tried(claim.run))
        capture = self._taken(lock_script(claim.line(), *parts))
        found = line_of(capture, "owner")
        if found != claim.line() and claim.takes_over(found):
            script = take_over_script(claim.line(), claim.former_of(self._name, found), *parts)
            capture = self._taken(script)
            found = line_of(capture, "owner")
        self.has_left_alone = is_left_alone(capture)
        if self._copy:
            self._copy.found(*told_of(capture))
        self._claimed(claim, found, other_runs(capture), f"by hand: rm -r {self.lock_folder}")
        return boot_id(capture)

    def unlock(self, claim: Claim) -> None:
        """Let other runs lock it; its copy of the journal is brought up to date before."""
        first = sweep_script(claim.run) + self._keeping(is_last=True)
        self._ask(unlock_script(claim.line(), first), READ_TIMEOUT_S)

    def keep_copy(self, copy: HostCopy) -> None:
        """See `CopyKeeper.keep_copy`."""
        self._copy = copy

    def host_runs(self) -> HostRuns:
        """Read the copies of journals on the host, who has locked it, and which steps are armed."""
        others = others_script(NO_RUN, others_tried(NO_RUN))
        return host_runs(
            self._ask(list_script(others + gone_part(), self.lock_folder), READ_TIMEOUT_S),
            self._name,
        )

    def _claimed(self, claim: Claim, found: str, others: list[str], remove: str) -> None:
        """See that the host is ours. Raises InputError `host.in_use`."""
        try:
            claim.check(self._name, found, others, remove)
        except InputError:
            if found == claim.line():
                self.unlock(claim)
            raise
        self._run = claim.run

    def _token(self) -> str:
        """Name a step that is armed now, so that only its own run settles it."""
        return f"{self._run}-{uuid.uuid4().hex[:12]}"

    def _taken(self, script: str) -> Capture:
        return self._ask(script, READ_TIMEOUT_S + CHANGE_TIMEOUT_S + UNDOING_S)

    def start_tryout(self, owner: Owner, seconds: int) -> str:
        """Have the host undo the whole run from here on, unless it is confirmed.

        Gives the reason why the timer did not start; empty: it started. `survives_reboot` says
        whether it survives a reboot.
        """
        capture = self._ask(start_script(owner.run, owner.line(), seconds), READ_TIMEOUT_S)
        reason = armed(capture)
        self._is_tried = not reason
        self.survives_reboot = line_of(capture, "armed") != NO_SYSTEMD
        return reason

    def note_undo(self, note: Note) -> None:
        """Let the next change keep this undo on the host first, where it is tried."""
        self._note = note

    def note_left(self, known: Collection[str], unknown: Collection[str]) -> None:
        """Have the host keep how steps stand, where it is tried: all is done."""
        if self._is_tried:
            self._ask(left_script(self._run, known, unknown), READ_TIMEOUT_S)

    def ask_tryout(self) -> tuple[Tryout, str]:
        """Ask by a new connection for the timer's state; a running timer starts again."""
        if isinstance(self._runner, ByNetwork):
            self._runner.renew()
        return tryout_of(self._told_tryout(ask_script(self._run)))

    def end_tryout(self) -> tuple[Tryout, str, str]:
        """Stop the timer: the run is confirmed, or undone by wirespeed. It may be undone already.

        Gives also why parts of the timer are still on the host.
        """
        self._is_tried = False
        capture = self._told_tryout(claim_script(self._run))
        return *tryout_of(capture), not_removed(capture)

    def _told_tryout(self, script: str) -> Capture:
        capture = self._ask(script, READ_TIMEOUT_S + UNDOING_S)
        self.left_alone = left_alone(capture)
        return capture

    def forget_tryout(self) -> str:
        """Remove the timer of a run that the host has undone; give why parts of it stay."""
        return not_removed(self._ask(forget_script(self._run), READ_TIMEOUT_S))

    def _around(self) -> Around:
        ours = ours_part(self._run) if self._run != NO_RUN else ""
        ours += self._keeping()
        note, self._note = self._note, None
        if not self._is_tried:
            return Around(ours)
        first = note_part(self._run, note) if note else ""
        last = left_part(self._run, note) if note else ""
        return Around(f"{ours}{first}", f"{last}{push_part(self._run)}")

    def _keeping(self, *, is_last: bool = False) -> str:
        """Give the part of a script that brings the host's copy of the journal up to date."""
        self._batch = self._copy.batch() if self._copy else None
        if self._copy is None or self._batch is None:
            return ""
        batch = self._batch._replace(is_must=False) if is_last else self._batch
        return keep_part(self._copy.name, batch)

    def _read_again(self, step: Step, lost: HostError) -> Observed[State]:
        """Read what became of a change whose connection was lost: the host's word is what counts.

        Raises `lost` when the host is not back in time.
        """
        latest = Deadline(RECONNECT_S)
        script, timeout_s = settled_read_script(step), READ_TIMEOUT_S + CHANGE_TIMEOUT_S
        while True:
            try:
                return states(self._ask_of([step], script, timeout_s), [step])[0]
            except (HostError, MeasurementError):
                if latest.expired:
                    raise lost from None
                sleep_s(PAUSE_S)

    def _ask_of(self, steps: Sequence[Step], script: str, timeout_s: float) -> Capture:
        """Run a script that reads these steps too, and keep what they said."""
        return self._noted(self._ask(script, timeout_s), steps)

    def _noted(self, capture: Capture, steps: Sequence[Step]) -> Capture:
        refused = not_ours(capture) or not_copied(capture) or not_noted(capture)
        self._refused = self._refused or refused
        for number, step in enumerate(steps):
            if section := capture.section(f"step-{number}"):
                self._latest[step.read()] = section
        return capture

    def _ask(self, script: str, timeout_s: float) -> Capture:
        capture = parse_capture(self._say(script, timeout_s), self._name)
        if self._copy and self._batch and is_copied(capture):
            self._copy.sent(self._batch)
            self._batch = None
        return capture

    def _say(self, script: str, timeout_s: float) -> str:
        done = self._runner.run(("sh", "-s"), timeout_s=timeout_s, stdin=script)
        if MAGIC not in done.output[:MAX_PREAMBLE_CHARACTERS]:
            said = shown((done.errors.strip() or done.output.strip()).partition("\n")[0], 200)
            raise HostError(
                "host.no_answer",
                where=self._name,
                found=f"it did not run the script: {said or f'return code {done.returncode}'}",
                next="check that its login shell can run `sh -s`",
            )
        return done.output


def line_of(capture: Capture, name: str) -> str:
    """Give what a section says, without its line end; empty: it failed."""
    section = capture.section(name)
    return section.output.strip() if section and section.returncode == 0 else ""
