"""Runs a PowerShell script on Windows and gives what it printed, by whatever leads there.

The script goes as base64 on the standard input of Windows PowerShell 5.1, which every Windows has:
no shell on the way sees it, no code page turns its letters into others, its line ends stay. What
it prints are lines of UTF-8 on the standard output.

    inside WSL 2    powershell.exe, by WSL's interop
    winssh://       powershell.exe, started by Windows' sshd
    winrm://        powershell.exe, started by WinRM (host/winrm.py)
"""

import base64
import textwrap

from wirespeed.host.runner import MAX_OUTPUT_BYTES, Completed, Runner
from wirespeed.model.error import InputError

READ_AND_RUN = (
    "& ([scriptblock]::Create([Text.Encoding]::UTF8.GetString("
    "[Convert]::FromBase64String((@($input) -join '')))))"
)
POWERSHELL = (
    "powershell.exe",
    "-NoProfile",
    "-NonInteractive",
    "-OutputFormat",
    "Text",
    "-EncodedCommand",
    base64.b64encode(READ_AND_RUN.encode("utf-16-le")).decode(),
)
"""Every word of it stands for itself in cmd.exe, PowerShell and sh alike."""
LINE_CHARACTERS = 1000


def powershell_input(script: str) -> str:
    """Give what the command `POWERSHELL` reads for it to run `script`."""
    encoded = base64.b64encode(script.encode()).decode()
    return "\n".join(textwrap.wrap(encoded, LINE_CHARACTERS)) + "\n"


def run_powershell(
    runner: Runner,
    script: str,
    *,
    timeout_s: float = 60.0,
    max_bytes: int = MAX_OUTPUT_BYTES,
) -> Completed:
    """Run a script on the Windows that `runner` leads to. Raises as `Runner.run` does.

    Raises InputError `wsl.no_interop` on a Linux that has no way to Windows.
    """
    try:
        return runner.run(
            POWERSHELL, timeout_s=timeout_s, stdin=powershell_input(script), max_bytes=max_bytes
        )
    except InputError as error:
        if error.what != "command.missing":
            raise
        raise InputError(
            "wsl.no_interop",
            where="powershell.exe",
            found="not found: this is not WSL, or its interop is off",
            so="the Windows side cannot be read or changed from here",
            next="set enabled=true and appendWindowsPath=true under [interop] in /etc/wsl.conf; "
            "or reach the Windows host itself: winssh://USER@HOST",
        ) from None
