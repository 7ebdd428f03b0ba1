"""The scripts that are sent to a host, and what they make of the answer. Pure."""

import json
import shlex
from collections.abc import Sequence
from hashlib import sha256
from typing import NamedTuple

from wirespeed.apply.control import Changed
from wirespeed.apply.control_boot import READ_BOOT_ID
from wirespeed.apply.control_still import is_still, still_part
from wirespeed.host.sections import sections_script
from wirespeed.model.capture import HEADER, MAGIC, TIMED_OUT_RETURNCODE, VERSION, Capture, Section
from wirespeed.model.command import Command, again_while_busy
from wirespeed.model.observed import CUT_OFF, Known, Observed, Unreadable
from wirespeed.model.owner import owner_said
from wirespeed.model.step import State, Step

CHANGE_TIMEOUT_S = 120
"""A firmware tool, update-grub or a card that takes its rings down may well take a minute."""
STDIN_END = "WIRESPEED_STDIN_"
LOCK = "/run/wirespeed.lock"
LOST_BYTE = "\ufffd"
NOT_UTF8 = "it is not UTF-8, and undo could not write its bytes back: convert it to UTF-8"


class Around(NamedTuple):
    """What the script of a change does besides."""

    first: str = ""
    """Before the first command, of which none is begun where it says `break`."""
    last: str = ""
    """After the last one, in any case."""


NOTHING_AROUND = Around()


def read_script(steps: Sequence[Step]) -> str:
    """Read the state of every step: sections `step-0`, `step-1` and so on."""
    return sections_script("# Reads; changes nothing.\n", "\n", *read_sections(steps))


def reading_name(command: Command) -> str:
    """Name the section that holds what a command read; the same command has the same name."""
    return f"reading-{sha256(command.line().encode()).hexdigest()[:16]}"


def readings_script(commands: Sequence[Command]) -> str:
    """Read what a capture lacks: one section for each command, by its `reading_name`."""
    readings = (_run(reading_name(one), one) for one in dict.fromkeys(commands))
    return sections_script("# Reads; changes nothing.\n", "\n", *readings)


def change_script(
    step: Step,
    commands: Sequence[Command],
    unless: str = "",
    expected: Section | None = None,
    otherwise: str = "",
    *,
    around: Around = NOTHING_AROUND,
) -> str:
    """Run commands in sections `change-0`, … up to the first that fails; then read the state.

    None is begun when the path `unless` is there, nor where the step's reading is not `expected`:
    then `otherwise` is run, a line of the script.
    """
    limit = f"[ -z \"$limit\" ] || limit='timeout {CHANGE_TIMEOUT_S}'\n"
    check = f"[ ! -e {shlex.quote(unless)} ] || break\n" if unless else ""
    given = map(again_while_busy, commands) if step.is_refused_at_times else commands
    runs = [_run(f"change-{number}", command) for number, command in enumerate(given)]
    tries = [f'{check}{run}[ "$code" -eq 0 ] || break\n' for run in runs]
    still = ""
    if expected is not None:
        still = still_part(step.read(), expected, _line(step.read()), otherwise)
    return sections_script(
        "# Changes one thing.\n",
        f"\n{_say_change()}while :; do\n{still}{limit}{around.first}",
        *tries,
        "break\ndone\n",
        around.last,
        *read_sections([step]),
    )


def _say_change() -> str:
    """Say which process is at it: one whose connection was lost goes on by itself."""
    return f"{{ echo $$ >{LOCK}/change; }} 2>/dev/null\n"


def await_change() -> str:
    """Wait until the change has ended, so that no other command runs in between."""
    return f"""
tries=0
{{ read -r pid <{LOCK}/change; }} 2>/dev/null &&
	while kill -0 "$pid" 2>/dev/null && [ $tries -lt {CHANGE_TIMEOUT_S + 10} ]; do
		tries=$((tries + 1))
		sleep 1
	done
"""


def ours_part(run: str) -> str:
    """Start no command of a change if another run has locked the host: the section `ours`.

    Without a lock the host was rebooted, and no run has locked it.
    """
    return f"""\
ours() {{
	case $(cat {LOCK}/owner 2>/dev/null) in
	'' | 'run={run} '*) ;;
	*) cat {LOCK}/owner >&2 && return 1 ;;
	esac
}}
show ours - ours
[ "$code" -eq 0 ] || break
"""


def not_ours(capture: Capture) -> str:
    """Say that another run has taken the host since; empty: none has."""
    section = capture.section("ours")
    if section is None or section.returncode == 0:
        return ""
    return f"the host was locked meanwhile by {owner_said(section.errors)}: nothing was started"


def not_begun(capture: Capture, name: str, why: str) -> str:
    """Say why nothing was begun: a section failed, which means `why`; empty: it did not."""
    section = capture.section(name)
    if section is None or section.returncode == 0:
        return ""
    said = " ".join((section.errors.strip() or section.output.strip()).split())
    return f"{why}, and so it was not begun: {said[:300]}"


def settled_read_script(step: Step) -> str:
    """Read a step's state when the change that was under way there has come to its end."""
    return sections_script("# Reads; changes nothing.\n", await_change(), *read_sections([step]))


def lock_script(line: str, then: str = "", others: str = "") -> str:
    """Lock the host for the owner that `line` names, if it is not locked.

    The section `owner` says who has the lock now. The lock is a folder: of two runs that ask at
    once, one creates it. It is gone after a reboot. `then`: what is done next, if it is this
    owner's; `others`: what is printed then in any case.
    """
    take = f"if mkdir -m 700 {LOCK} 2>/dev/null; then\n{_write_owner(line)}fi\n"
    return _taking(take, line, then, others)


def take_over_script(line: str, former: str | None, then: str = "", others: str = "") -> str:
    """Do as `lock_script` where the lock has the line `former`; None: whatever it has.

    Of two that take over at once, one gets it: the owner's file is moved away once, and made once.
    """
    was = f"{LOCK}/was.$$"
    check = ""
    if former is not None:
        is_former = f'[ "$(cat {was})" = {shlex.quote(former)} ]'
        check = f"\t\t{is_former} || {{ mv {was} {LOCK}/owner; return; }}\n"
    take = f"""\
take_over() {{
	mkdir -m 700 {LOCK}
	if [ -e {LOCK}/owner ]; then
		mv {LOCK}/owner {was} || return
{check}		rm {was}
	fi
	{_write_owner(line)}}} 2>/dev/null
take_over
"""
    return _taking(take, line, then, others)


def unlock_script(line: str, first: str = "") -> str:
    """Give the host back, if it is this owner's; `first` is done before."""
    give = f"if {_is_of(line)}; then\n{first}rm -r {LOCK}\nfi\n"
    return sections_script("# Gives the host back.\n", f"\n{give}")


def _taking(take: str, line: str, then: str, others: str) -> str:
    return sections_script(
        "# Takes the host for one run.\n",
        f"\n{take}",
        f"run owner - cat {LOCK}/owner\n{READ_BOOT_ID}",
        f"if {_is_of(line)}; then\n{await_change()}{then}fi\n{others}",
    )


def _write_owner(line: str) -> str:
    """Write it where nobody else has: `set -C` makes the file, or fails."""
    return f"(set -C; printf '%s\\n' {shlex.quote(line)} >{LOCK}/owner)\n"


def _is_of(line: str) -> str:
    return f'[ "$(cat {LOCK}/owner 2>/dev/null)" = {shlex.quote(line)} ]'


def both_scripts(first: str, second: str) -> str:
    """Run two scripts one after the other; the first cannot set anything for the second."""
    return f"(\n{first})\n{second}"


def both_captures(text: str) -> tuple[str, str]:
    """Give what each of them printed. A first one that was cut off has no second."""
    header = HEADER.search(text)
    end = f"\n{header[2]} done\n" if header else ""
    first, done, second = text.partition(end) if end else (text, "", "")
    return first + done, second or f"{MAGIC}{VERSION} none\n"


def states(capture: Capture, steps: Sequence[Step]) -> list[Observed[State]]:
    """Give the states that `read_script` read."""
    found: list[Observed[State]] = []
    for number, step in enumerate(steps):
        section = capture.section(f"step-{number}")
        if section is None or section.returncode is None:
            found.append(Unreadable(CUT_OFF, step.read().line()))
        else:
            found.append(_whole(step.parse(section)))
    return found


def _whole(found: Observed[State]) -> Observed[State]:
    """Give a state that can be put back: a byte that is not UTF-8 was read as U+FFFD, and is lost.

    What stands for it would be written as itself, and read back as the same.
    """
    if isinstance(found, Known) and LOST_BYTE in json.dumps(found.value, ensure_ascii=False):
        return Unreadable(NOT_UTF8, found.source)
    return found


def changed(capture: Capture, step: Step, commands: Sequence[Command]) -> Changed:
    """Give what became of `change_script`: which command failed, and the state now."""
    failed = ""
    if not is_still(capture):
        return Changed("", states(capture, [step])[0], is_stale=True)
    for number, command in enumerate(commands):
        section = capture.section(f"change-{number}")
        if section is None or section.returncode is None:
            failed = f"{command.line()}: it is not known how it ended"
        elif section.returncode == TIMED_OUT_RETURNCODE:
            failed = f"{command.line()}: still running after {CHANGE_TIMEOUT_S} s, and ended"
        elif section.returncode:
            said = (section.errors.strip() or section.output.strip()).splitlines()
            failed = f"{command.line()}: return code {section.returncode}: {' '.join(said)[:500]}"
        if failed:
            break
    return Changed(failed, states(capture, [step])[0])


def read_sections(steps: Sequence[Step]) -> list[str]:
    """Read the states of steps: parts of a script."""
    return [
        f"[ -z \"$limit\" ] || limit='timeout {step.read_s}'\n"
        + _run(f"step-{number}", step.read())
        for number, step in enumerate(steps)
    ]


def _run(name: str, command: Command) -> str:
    return f"run {name} - {_line(command)}"


def _line(command: Command) -> str:
    """Give a command with its input, and a line end."""
    line = shlex.join(command.argv)
    return f"{line}\n" if command.stdin is None else f"{line} {heredoc(command.stdin)}"


def heredoc(text: str) -> str:
    """Give the end of a command line whose input is `text`, whatever is in it, and a line end."""
    end = STDIN_END
    while end in text:
        end += "_"
    return f"<<'{end}'\n{text}\n{end}\n"
