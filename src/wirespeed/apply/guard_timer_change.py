"""A step that may cut us off, done so that the host undoes it itself if it does.

    arm -> change -> a new connection -> confirm        (guard_timer)

The connection that the change was sent by proves nothing: it may live on where no other is let in,
and be dead where others are.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from wirespeed.apply.control import Changed
from wirespeed.apply.control_script import (
    NOTHING_AROUND,
    Around,
    change_script,
    changed,
    read_script,
    states,
)
from wirespeed.apply.guard_timer import (
    UNDOING_S,
    Outcome,
    arm_script,
    armed,
    confirm_script,
    confirmed,
    disarm_line,
    look_part,
    taken,
)
from wirespeed.host.clock import Deadline, sleep_s
from wirespeed.model.capture import Capture, Section
from wirespeed.model.command import Command
from wirespeed.model.error import LeftChangedError, WirespeedError
from wirespeed.model.step import Step

ANSWER_S = 60.0
PAUSE_S = 1.0
SETTLE_S = 5.0
"""A port may go down, or get another address, a moment after the command that led to it."""
LATEST_S = 120.0
"""How long after the timer a host may take to come back: its undo, and a port that restarts."""
SAID = {
    Outcome.UNDONE: "the host undid it itself",
    Outcome.THEIRS: "the host left it alone: others changed it after the change",
    Outcome.UNDOING: "the host is undoing it itself, and is not at the end",
}


@dataclass(frozen=True, slots=True)
class TimerScripts:
    """The scripts by which a kind of host does it, each by the token of the armed step."""

    arm: Callable[[str, Sequence[Command], int, Step], str]
    change: Callable[[str, Step, Sequence[Command], Section | None], str]
    read: Callable[[Sequence[Step]], str]
    confirm: Callable[[str, Step], str]
    by_hand: Callable[[str], str]
    """What a person types on the host's console to have it undone."""


def posix_scripts(around: Around = NOTHING_AROUND) -> TimerScripts:
    """Give those of a host with a POSIX shell."""

    def change(
        token: str, step: Step, commands: Sequence[Command], expected: Section | None
    ) -> str:
        kept = around._replace(last=f"{look_part(token)}{around.last}")
        return change_script(
            step, commands, taken(token), expected, disarm_line(token), around=kept
        )

    return TimerScripts(arm_script, change, read_script, confirm_script, _posix_by_hand)


def _posix_by_hand(token: str) -> str:
    return f"sh {taken(token).replace('taken', 'undo')}"


POSIX = posix_scripts()


def change_or_roll_back(
    ask: Callable[[str, float], Capture],
    renew: Callable[[], None],
    token: str,
    step: Step,
    commands: Sequence[Command],
    undo: Sequence[Command],
    within_s: int,
    scripts: TimerScripts = POSIX,
    expected: Section | None = None,
) -> Changed:
    """Do a change with its timer; `ask` sends a script and bounds its time, in seconds.

    Nothing is changed, and nothing will be undone, where the step's reading is not `expected`.

    Raises LeftChangedError `host.cut_off` when the host is not there even when its timer is over.
    """
    if reason := armed(ask(scripts.arm(token, undo, within_s, step), ANSWER_S)):
        return Changed(reason, states(ask(scripts.read([step]), ANSWER_S), [step])[0])
    latest = Deadline(within_s + LATEST_S)
    done = None
    try:
        # Half of the time for the commands, half for the way back.
        script = scripts.change(token, step, commands, expected)
        done = changed(ask(script, within_s / 2), step, commands)
    except WirespeedError as error:
        lost = error.found
    sleep_s(min(SETTLE_S, within_s / 4))
    while True:
        renew()
        try:
            script = scripts.confirm(token, step)
            outcome, now = confirmed(ask(script, ANSWER_S + UNDOING_S), step, undo)
        except WirespeedError as error:
            lost, outcome = error.found, Outcome.UNKNOWN
        if outcome is not Outcome.UNKNOWN:
            break
        if latest.expired:
            raise LeftChangedError(
                "host.cut_off",
                where=step.subject,
                found=f"it has not answered since: {lost}",
                so=f"its rollback timer of {within_s} s has expired and should have undone the "
                "step",
                next=f"on its console: {scripts.by_hand(token)}; "
                "then `wirespeed undo` or `apply` again",
            )
        sleep_s(PAUSE_S)
    if outcome is Outcome.UNTOUCHED:
        return Changed("", now.now, is_stale=True)
    if outcome is Outcome.CONFIRMED:
        return Changed(done.failed if done else "", now.now)
    if outcome is Outcome.GONE:
        return Changed("the host was started again before the change was confirmed", now.now)
    said = f"no new connection came through within {within_s} s (--confirm-within), "
    said += f"and {SAID[outcome]}"
    said += f"; of that, failed: {now.failed}" if now.failed else ""
    is_theirs = outcome is Outcome.THEIRS
    return Changed(said, now.now, is_cut_off=True, is_theirs=is_theirs)
