"""The collector for Windows: one PowerShell script made of every Windows fact's part."""

from functools import cache
from importlib.resources import files

from wirespeed.catalog import facts
from wirespeed.model.fact import WindowsFact

FROM_INPUT = "& ([ScriptBlock]::Create(@($input) -join [char]10))"
"""Command of PowerShell that runs the script on its standard input, whole: `-Command -` would run
it line by line, as if it were typed, and lose blocks that have an empty line in them."""
DONE = '\n[Console]::Out.Write("$mark done`n")\n'


@cache
def windows_collector_script() -> str:
    """Give the whole script, for Windows PowerShell 5.1 and later."""
    prelude = files("wirespeed.platforms.windows").joinpath("collector.ps1").read_text()
    parts = [
        f"\n# {fact.__module__.rpartition('.')[2]}\n{fact.powershell}"
        for fact in facts()
        if issubclass(fact, WindowsFact)
    ]
    return "".join([prelude, *parts, DONE])


@cache
def wsl_part() -> str:
    """Give what the collector for Linux runs on WSL 2, so that one capture has both sides."""
    text = files("wirespeed.platforms.windows").joinpath("collector_wsl.sh").read_text()
    script = windows_collector_script().rstrip("\n")
    return text.replace("@FROM_INPUT@", FROM_INPUT).replace("@SCRIPT@", script)
