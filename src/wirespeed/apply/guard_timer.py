"""A timer on the host itself, which undoes a step unless we come back by a new connection. Pure.

    arm      a folder with the script of the undo; a timer that starts it
    change   the step's commands, each only while nobody has claimed the folder
    claim    whoever makes `taken` in the folder first: we, come back, or the timer
             we then write `confirmed`, the timer `result` when its undo is done
             a change that finds another state than it leads from claims it at once: `untouched`

Of the two that claim, one gets it: a folder is made or it is not. So the host undoes the step, or
it is confirmed, and never both. What is neither as the change left it nor as it was before, others
changed: the timer leaves it alone. It has to read that: the way to the host comes first, and what
cannot be read, or is known only some time after the change, is undone. All of it is in /run, for
root alone, and gone after a reboot.
"""

import shlex
from collections.abc import Sequence
from enum import StrEnum

from wirespeed.apply.control import Changed
from wirespeed.apply.control_script import CHANGE_TIMEOUT_S, heredoc, read_sections, states
from wirespeed.apply.state_text import state_text_part
from wirespeed.host.sections import sections_script
from wirespeed.model.capture import Capture
from wirespeed.model.command import Command
from wirespeed.model.step import Step

FOLDER = "/run/wirespeed"
TIMER = "wirespeed-undo-"
"""Before the token: name of the folder of one armed step, and of its unit where systemd runs."""
LOOK_S = 5.0
"""How long after a change the host looks how that left it."""
UNDOING_S = 60
"""How long whoever comes back waits for an undo that the host is in the midst of."""

PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

_END_TIMER = f"""\
end_timer() {{
	if [ -s "$folder/sleeper" ]; then
		kill -TERM "-$(cat "$folder/sleeper")"
	else
		systemctl stop "{TIMER}${{folder##*/{TIMER}}}.timer"
	fi
}} 2>/dev/null
"""
RESULT = f"""\
result() {{
	tries=0
	until [ -e "$folder/result" ] || [ $tries -ge {UNDOING_S} ]; do
		tries=$((tries + 1))
		sleep 1
	done
	cat "$folder/result" 2>/dev/null || echo undoing
}}
"""


class Outcome(StrEnum):
    """What became of an armed step, by who made the claim."""

    CONFIRMED = "confirmed"
    UNTOUCHED = "untouched"
    """Nothing of it was written: the step's state was no longer the one that it leads from."""
    UNDONE = "undone"
    """The host undid it itself."""
    THEIRS = "theirs"
    """The host left it alone: others had changed it since."""
    UNDOING = "undoing"
    """It is at it for longer than anybody waits."""
    GONE = "gone"
    """No trace of it: the host was started again meanwhile."""
    UNKNOWN = "unknown"
    """The host's answer was cut off."""


def taken(token: str) -> str:
    """Give the path whose making is the claim."""
    return f"{FOLDER}/{TIMER}{token}/taken"


def disarm_line(token: str) -> str:
    """Claim it where nothing was written, so that nothing is undone: a line of the change."""
    folder = f"{FOLDER}/{TIMER}{token}"
    return f"mkdir {folder}/taken 2>/dev/null && : >{folder}/untouched && : >{folder}/confirmed\n\t"


def look_part(token: str) -> str:
    """Look, a moment later, how the change left its step: a part of its script, at its end."""
    folder = f"{FOLDER}/{TIMER}{token}"
    return f"""\
look() {{
	cd {folder} && [ -e look ] && [ ! -e taken ] || return 0
	setsid sh look </dev/null >/dev/null 2>&1 &
}}
show look - look
"""


def _look(step: Step, within_s: int) -> str:
    """Give what looks: what alters by then is taken for a consequence of the change itself.

    udev gives a new bond another address; a netdev gets another name.
    """
    return f"""\
umask 077
{state_text_part(step)}sleep {min(LOOK_S, within_s / 4):g}
[ -e taken ] || state_text >left.new && mv left.new left
"""


def arm_script(token: str, undo: Sequence[Command], within_s: int, step: Step | None = None) -> str:
    """Put the undo on the host and start its timer; the section `armed` says whether it runs.

    `step`: whose undo it is, to know what others change of it.
    """
    folder = f"{FOLDER}/{TIMER}{token}"
    by_systemd = shlex.join(
        (
            *("systemd-run", "--quiet", "--collect", f"--unit={TIMER}{token}"),
            # The default accuracy of a timer is a minute: systemd.timer(5).
            *(f"--on-active={within_s}", "--timer-property=AccuracySec=100ms"),
            *("/bin/sh", f"{folder}/undo"),
        )
    )
    look = "before() {\n\t:\n}\n"
    # What is known only some time after the change is not compared.
    if step is not None and not (step.settle_s or step.again_s):
        look = f"""\
{state_text_part(step)}before() (
	cd "$1" || return
	state_text >before
	cat >look {heredoc(_look(step, within_s))})
"""
    return sections_script(
        "# Starts a timer that undoes what comes next.\n",
        f"""
{look}arm() {{
	umask 077
	mkdir -p {FOLDER} && mkdir {folder} && cat >{folder}/draft || return
	mv {folder}/draft {folder}/undo || return
	before {folder}
	if [ -d /run/systemd/system ]; then
		{by_systemd}
		return
	fi
	setsid sh -c 'echo $$ >{folder}/sleeper; sleep {within_s}
		rm -f {folder}/sleeper; exec sh {folder}/undo' \\
		</dev/null >/dev/null 2>&1 &
	tries=0
	until [ -s {folder}/sleeper ]; do
		[ $tries -lt 50 ] || return
		tries=$((tries + 1))
		sleep 0.1
	done
}}
show armed - arm {heredoc(undo_script(token, undo, step))}""",
    )


def undo_script(token: str, undo: Sequence[Command], step: Step | None = None) -> str:
    """Give what the timer runs: every command, also after one that failed, and what became of it.

    It starts from a change that may have come only half of its way, so that some of it may have
    nothing to undo.
    """
    folder = f"{FOLDER}/{TIMER}{token}"
    runs = [
        f"$limit {shlex.join(command.argv)} {_input_of(command)}"
        f'[ "$?" -eq 0 ] || failed="$failed {number}"\n'
        for number, command in enumerate(undo)
    ]
    return f"""\
#!/bin/sh
# Undoes a change of the network, made by wirespeed, that was not confirmed.
LC_ALL=C
PATH={PATH}
export LC_ALL PATH
cd {folder} && mkdir taken 2>/dev/null || exit 0
exec >log 2>&1
{_check(step) if step else ""}limit=
command -v timeout >/dev/null && limit='timeout {CHANGE_TIMEOUT_S}'
failed=
{"".join(runs)}echo "undone$failed" >result.new
mv result.new result
"""


def _check(step: Step) -> str:
    """Leave alone what others changed; what cannot be read is not known to be theirs."""
    return f"""\
{state_text_part(step)}if [ -s left ] && text=$(state_text) && [ "$text" != "$(cat left)" ] &&
	[ "$text" != "$(cat before)" ]; then
	echo {Outcome.THEIRS} >result.new
	mv result.new result
	exit
fi
"""


def armed(capture: Capture) -> str:
    """Say why no timer runs; empty when it does."""
    section = capture.section("armed")
    if section is None or section.returncode is None:
        return "it is not known whether its timer was started"
    if section.returncode == 0:
        return ""
    said = " ".join((section.errors.strip() or section.output.strip()).split())
    return f"its timer was not started: return code {section.returncode}: {said[:300]}"


def confirm_script(token: str, step: Step) -> str:
    """Claim the folder before the timer does, then read the step's state.

    It may be asked again, where the answer was lost.
    """
    folder = f"{FOLDER}/{TIMER}{token}"
    return sections_script(
        "# Confirms a change, or learns that it was undone.\n",
        f"""
folder={folder}
{_END_TIMER}{RESULT}
outcome() {{
	if mkdir "$folder/taken" 2>/dev/null; then
		: >"$folder/confirmed"
	fi
	[ ! -e "$folder/confirmed" ] || end_timer
	if [ -e "$folder/untouched" ]; then
		echo {Outcome.UNTOUCHED}
	elif [ -e "$folder/confirmed" ]; then
		echo {Outcome.CONFIRMED}
	elif [ -d "$folder" ]; then
		result
	else
		echo {Outcome.GONE}
	fi
}}
show outcome - outcome
""",
        *read_sections([step]),
    )


def confirmed(capture: Capture, step: Step, undo: Sequence[Command]) -> tuple[Outcome, Changed]:
    """Give what `confirm_script` found, with the undo's commands that failed, and the state now."""
    section = capture.section("outcome")
    words = section.output.split() if section and section.returncode is not None else []
    outcome = Outcome.UNKNOWN
    if words and words[0] in set(Outcome) - {Outcome.UNKNOWN}:
        outcome = Outcome(words[0])
    numbers = [int(word) for word in words[1:] if word.isdecimal() and len(word) < 6]
    failed = "; ".join(undo[number].line() for number in numbers if number < len(undo))
    return outcome, Changed(failed, states(capture, [step])[0])


def settle_script(run: str) -> str:
    """Have the host undo now what a run left armed: the run was killed before it could confirm.

    A part of the script that locks a host. Whether the change has ended is not known, so it
    cannot be confirmed.
    """
    return f"""
{_END_TIMER}{RESULT}
settle() {{
	for folder in {FOLDER}/{TIMER}{run}-*; do
		[ -s "$folder/undo" ] || continue
		[ -e "$folder/confirmed" ] && continue
		sh "$folder/undo"
		result
		end_timer
	done
}}
show settled - settle
"""


def is_left_alone(capture: Capture) -> bool:
    """Tell whether `settle_script` found a step that the host left alone: others changed it."""
    section = capture.section("settled")
    return section is not None and Outcome.THEIRS in section.output.split()


def sweep_script(run: str) -> str:
    """Remove what a run confirmed or the host undid; what is still armed stays.

    A part of another script.
    """
    return f"""
for folder in {FOLDER}/{TIMER}{run}-*; do
	if [ -e "$folder/confirmed" ] || [ -e "$folder/result" ]; then
		rm -r "$folder"
	fi
done
[ ! -d {FOLDER} ] || rmdir {FOLDER} 2>/dev/null
"""


def others_script(run: str, more: str = "") -> str:
    """Name the folders of what other runs left armed: the section `others`. A part of a script.

    `more` names others yet.
    """
    return f"""
others() {{
	for folder in {FOLDER}/{TIMER}*; do
		[ -s "$folder/undo" ] || continue
		[ -e "$folder/confirmed" ] || [ -e "$folder/result" ] && continue
		case $folder in {FOLDER}/{TIMER}{run}-*) continue ;; esac
		echo "${{folder##*/}}"
	done
{more}}}
show others - others
"""


def other_runs(capture: Capture) -> list[str]:
    """Give what `others_script` named."""
    section = capture.section("others")
    return section.output.split()[:100] if section and section.returncode is not None else []


def _input_of(command: Command) -> str:
    return "\n" if command.stdin is None else heredoc(command.stdin)
