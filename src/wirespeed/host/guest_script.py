"""Scripts that run on a host or in a guest: files of their own beside this one, sent by stdin."""

import re
from collections.abc import Sequence
from importlib.resources import files

from wirespeed.host.runner import MAX_OUTPUT_BYTES, Completed, Runner

PART = re.compile(r"^from wirespeed\.host\.(guest_[a-z]+) import \w+$", re.M)
"""A line of a script that that whole file stands in for: the guest has no package of ours."""
INTERPRETERS = {".sh": ("sh", "-s", "--"), ".py": ("python3", "-I", "-S", "-")}
"""Python takes nothing of the place where it starts, and no packages but its own."""


def run_script(
    runner: Runner,
    name: str,
    arguments: Sequence[str],
    *,
    timeout_s: float = 60.0,
    max_bytes: int = MAX_OUTPUT_BYTES,
) -> Completed:
    """Run the script `name` there; nothing is installed. Raises as `Runner.run` does."""
    text = PART.sub(lambda match: _text(f"{match[1]}.py"), _text(name))
    interpreter = INTERPRETERS[name[name.rindex(".") :]]
    return runner.run(
        (*interpreter, *arguments), timeout_s=timeout_s, stdin=text, max_bytes=max_bytes
    )


def _text(name: str) -> str:
    return files("wirespeed.host").joinpath(name).read_text()
