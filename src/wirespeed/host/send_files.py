"""Files of ours, sent to a folder on a host through the runner's own input."""

import base64
import io
import tarfile
from collections.abc import Mapping
from pathlib import Path

from wirespeed.host.runner import Completed, Runner

UNPACK = 'base64 -d | tar -xz -C "$1"'
SEND_S = 180.0


def send_files(runner: Runner, folder: str, files: Mapping[str, Path | str]) -> Completed:
    """Put files, or texts, by these names into a folder that is there; all may be executed."""
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w:gz", compresslevel=1) as tar:
        for name, content in files.items():
            data = content.encode() if isinstance(content, str) else content.read_bytes()
            entry = tarfile.TarInfo(name)
            entry.size, entry.mode = len(data), 0o755
            tar.addfile(entry, io.BytesIO(data))
    text = base64.encodebytes(packed.getvalue()).decode()
    return runner.run(("sh", "-c", UNPACK, "sh", folder), stdin=text, timeout_s=SEND_S)
