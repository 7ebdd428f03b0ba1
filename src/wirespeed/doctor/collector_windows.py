"""The collector for Windows: one PowerShell script made of every Windows fact's part."""

from functools import cache
from importlib.resources import files

from wirespeed.doctor.discover import facts
from wirespeed.model.fact import WindowsFact

DONE = '\n[Console]::Out.Write("$mark done`n")\n'


@cache
def windows_collector_script() -> str:
    """Give the whole script, for Windows PowerShell 5.1 and later."""
    prelude = files("wirespeed.doctor").joinpath("collector.ps1").read_text()
    parts = [
        f"\n# {fact.__module__.rpartition('.')[2]}\n{fact.powershell}"
        for fact in facts()
        if issubclass(fact, WindowsFact)
    ]
    return "".join([prelude, *parts, DONE])
