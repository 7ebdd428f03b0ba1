"""What is sent to a host or a guest by stdin: scripts, files beside this one, and other files."""

import base64
import io
import re
import tarfile
from collections.abc import Mapping, Sequence
from importlib.resources import files
from pathlib import Path

from wirespeed.host.runner import MAX_OUTPUT_BYTES, Completed, Runner

PART = re.compile(r"^from wirespeed\.host\.(guest_[a-z]+) import \w+$", re.M)
"""A line of a script that that whole file stands in for: the guest has no package of ours."""
INTERPRETERS = {".sh": ("sh", "-s", "--"), ".py": ("python3", "-I", "-S", "-")}
"""Python takes nothing of the place where it starts, and no packages but its own."""
UNPACK = 'base64 -d | tar -xz -C "$1"'
SEND_S = 180.0


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


def send_files(runner: Runner, folder: str, contents: Mapping[str, Path | str]) -> Completed:
    """Put files, or texts, by these names into a folder that is there; all may be executed."""
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w:gz", compresslevel=1) as tar:
        for name, content in contents.items():
            data = content.encode() if isinstance(content, str) else content.read_bytes()
            entry = tarfile.TarInfo(name)
            entry.size, entry.mode = len(data), 0o755
            tar.addfile(entry, io.BytesIO(data))
    text = base64.encodebytes(packed.getvalue()).decode()
    return runner.run(("sh", "-c", UNPACK, "sh", folder), stdin=text, timeout_s=SEND_S)


def _text(name: str) -> str:
    return files("wirespeed.host").joinpath(name).read_text()
