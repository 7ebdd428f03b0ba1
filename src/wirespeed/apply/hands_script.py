"""The scripts that hands send to a host, and what they make of the answer. Pure."""

import shlex
from collections.abc import Sequence

from wirespeed.apply.hands import Changed
from wirespeed.apply.hands_boot import READ_BOOT_ID
from wirespeed.host.sections import sections_script
from wirespeed.model.capture import HEADER, MAGIC, TIMED_OUT_RETURNCODE, VERSION, Capture
from wirespeed.model.command import Command
from wirespeed.model.observed import Observed, Unreadable
from wirespeed.model.step import State, Step

CHANGE_TIMEOUT_S = 120
"""A firmware tool, update-grub or a card that takes its rings down may well take a minute."""
STDIN_END = "WIRESPEED_STDIN_"
LOCK = "/run/wirespeed.lock"


def read_script(steps: Sequence[Step]) -> str:
    """Read the state of every step: sections `step-0`, `step-1` and so on."""
    return sections_script("# Reads; changes nothing.\n", "\n", *read_sections(steps))


def change_script(step: Step, commands: Sequence[Command], unless: str = "") -> str:
    """Run commands in sections `change-0`, … up to the first that fails; then read the state.

    None is begun when the path `unless` is there.
    """
    limit = (
        f"\n{_say_change()}[ -z \"$limit\" ] || limit='timeout {CHANGE_TIMEOUT_S}'\nwhile :; do\n"
    )
    check = f"[ ! -e {shlex.quote(unless)} ] || break\n" if unless else ""
    runs = [_run(f"change-{number}", command) for number, command in enumerate(commands)]
    tries = [f'{check}{run}[ "$code" -eq 0 ] || break\n' for run in runs]
    return sections_script(
        "# Changes one thing.\n", limit, *tries, "break\ndone\n", *read_sections([step])
    )


def _say_change() -> str:
    """Say which process is at it: one whose connection was lost goes on by itself."""
    return f"{{ echo $$ >{LOCK}/change; }} 2>/dev/null\n"


def _await_change() -> str:
    """Wait until it is at its end, so that nobody comes between."""
    return f"""
tries=0
{{ read -r pid <{LOCK}/change; }} 2>/dev/null &&
	while kill -0 "$pid" 2>/dev/null && [ $tries -lt {CHANGE_TIMEOUT_S + 10} ]; do
		tries=$((tries + 1))
		sleep 1
	done
"""


def settled_read_script(step: Step) -> str:
    """Read a step's state when the change that was under way there has come to its end."""
    return sections_script("# Reads; changes nothing.\n", _await_change(), *read_sections([step]))


def lock_script(run: str, then: str = "") -> str:
    """Take the host for a run, if nobody has it; say who has it now, in the section `owner`.

    A folder is made or it is not: of two that ask at once, one gets it. It is gone after a reboot.
    `then`: what is done next, if it is this run's.
    """
    owner = f"{LOCK}/owner"
    take = f"mkdir -m 700 {LOCK} 2>/dev/null && printf '%s\\n' {shlex.quote(run)} >{owner}"
    return sections_script(
        "# Takes the host for one run.\n",
        f"\n{take}\n",
        f"run owner - cat {owner}\n{READ_BOOT_ID}",
        f"if {_is_of(run)}; then\n{_await_change()}{then}fi\n",
    )


def unlock_script(run: str, first: str = "") -> str:
    """Give the host back, if it is this run's; `first` is done before."""
    give = f"if {_is_of(run)}; then\n{first}rm -r {LOCK}\nfi\n"
    return sections_script("# Gives the host back.\n", f"\n{give}")


def _is_of(run: str) -> str:
    return f'[ "$(cat {LOCK}/owner)" = {shlex.quote(run)} ]'


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
        if section is None:
            found.append(Unreadable("the host did not answer", step.read().line()))
        else:
            found.append(step.parse(section))
    return found


def changed(capture: Capture, step: Step, commands: Sequence[Command]) -> Changed:
    """Give what became of `change_script`: which command failed, and the state now."""
    failed = ""
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
    return [_run(f"step-{number}", step.read()) for number, step in enumerate(steps)]


def _run(name: str, command: Command) -> str:
    line = f"run {name} - {shlex.join(command.argv)}"
    if command.stdin is None:
        return f"{line}\n"
    return f"{line} {heredoc(command.stdin)}"


def heredoc(text: str) -> str:
    """Give the end of a command line whose input is `text`, whatever is in it, and a line end."""
    end = STDIN_END
    while end in text:
        end += "_"
    return f"<<'{end}'\n{text}\n{end}\n"
