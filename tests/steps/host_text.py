"""What a host that undoes a change by itself keeps of a step's reading: its own shell tells."""

import json
import shlex
import subprocess
from typing import Any

from wirespeed.apply.state_text import state_text_part
from wirespeed.model.step import Step


def host_text(step: Step, output: str, errors: str = "", code: int = 0) -> str | None:
    """Give what is kept where the reading printed this; None: nothing can be compared."""
    script = f"""\
cd "$(mktemp -d)" || exit
{state_text_part(step)}
reading() {{
	printf '%s' {shlex.quote(output)}
	printf '%s' {shlex.quote(errors)} >&2
	return {code}
}}
state_text
code=$?
rmdir "$PWD" && exit $code
"""
    done = subprocess.run(["/bin/sh"], input=script, capture_output=True, text=True, check=False)
    assert not done.stderr, done.stderr
    return None if done.returncode else done.stdout


def as_printed(output: str) -> str:
    """Give JSON as `ip -j` and `devlink -j` print it: each list on one line, without spaces."""
    lines = [_as_printed(line) for line in output.split("\n")]
    return "\n".join(lines)


def _as_printed(line: str) -> str:
    try:
        data: Any = json.loads(line)
    except ValueError:
        return line
    if isinstance(data, list):
        links = [one for one in data if isinstance(one, dict) and "ifname" in one]
        if links:
            data = [{"ifindex": n, **one} for n, one in enumerate(data, 1)]
    return json.dumps(data, separators=(",", ":"))
