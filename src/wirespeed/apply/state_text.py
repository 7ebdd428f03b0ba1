"""What a host itself knows a step's state by, where it undoes a change with no controller. Pure.

The reading of the step is taken, and what tells the state is kept of its text (`Step.mark`). Two
texts are compared: what it was before the change, and how the run left it. Neither: others changed
it, and it is theirs. What cannot be read is not known to be theirs.
"""

import shlex

from wirespeed.apply.control_script import CHANGE_TIMEOUT_S, heredoc
from wirespeed.apply.control_still import varying
from wirespeed.model.command import Command
from wirespeed.model.step import Step

NOT_THERE = "No such|not exist|annot find|annot open network namespace|not found"
"""Words of a reading that fails because the thing is not there, which is a state too."""


def state_text_part(step: Step) -> str:
    """Define the function `state_text`, which prints the text, and fails where there is none.

    What cannot be compared has none, and never had one.
    """
    if step.mark is None:
        return "state_text() {\n\treturn 1\n}\n"
    return f"""\
reading() {{
	{_run(step.read())}}}
state_text() {{
	limit=
	command -v timeout >/dev/null && limit='timeout {step.read_s}'
	text=$(reading 2>errors.$$; code=$?; echo; echo "$code")
	code=${{text##*
}}
	case $code in 12[4567] | 137) rm -f errors.$$; return 1 ;; esac
	[ "$code" -eq 0 ] || [ ! -s errors.$$ ] || grep -qE '{NOT_THERE}' errors.$$ || code=
	rm -f errors.$$
	[ -n "$code" ] || return 1
	echo "$code"
	printf '%s\\n' "${{text%$code}}" | {_filter(step)} || :
}}
"""


def undo_part(undo: tuple[Command, ...]) -> str:
    """Define the function `undo`, which runs every command, also after one that failed."""
    runs = "".join(f'\t{_run(command)}\t[ "$?" -eq 0 ] || refused=1\n' for command in undo)
    return f"""\
undo() {{
	limit=
	command -v timeout >/dev/null && limit='timeout {CHANGE_TIMEOUT_S}'
	refused=0
{runs}	return $refused
}}
"""


def _run(command: Command) -> str:
    """Give a line that runs it, with its input, and a line end."""
    end = "\n" if command.stdin is None else heredoc(command.stdin)
    return f"$limit {shlex.join(command.argv)} {end}"


def _filter(step: Step) -> str:
    if step.mark:
        return step.mark
    pattern = varying(step.read())
    return f"sed -E {shlex.quote(f's#{pattern}##g')}" if pattern else "cat"
