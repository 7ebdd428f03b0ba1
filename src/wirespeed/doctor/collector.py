"""The collector: one POSIX shell script made of every fact's part, for one round trip."""

from functools import cache
from importlib.resources import files

from wirespeed.doctor.discover import facts

END = """
printf '%s done\\n' "$mark"
"""


@cache
def collector_script(interval_s: int = 0) -> str:
    """Give the whole script; counters are read again after `interval_s` seconds and the rest."""
    prelude = files("wirespeed.doctor").joinpath("collector.sh").read_text()
    parts = [f"\n# {fact.__module__.rpartition('.')[2]}\n{fact.script}" for fact in facts()]
    again = [fact.script_again for fact in facts() if fact.script_again]
    wait = f"\nsleep {interval_s}\n" if interval_s else ""
    return "".join([prelude, *parts, "\n# Once more, for what is counted.\n" + wait, *again, END])
