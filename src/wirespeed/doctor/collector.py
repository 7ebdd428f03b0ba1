"""The collector: one POSIX shell script made of every fact's part, for one round trip."""

from functools import cache
from importlib.resources import files

from wirespeed.doctor.discover import facts
from wirespeed.facts.ports import Ports

START = "#!/bin/sh\n"
OPEN = """\
# The braces: a shell reads to their end before it runs any of it. So it may come on the standard
# input, and one that was torn on its way does nothing.
# shellcheck disable=SC1007,SC2015,SC2034,SC2086 # lists of names are split, and globbing is off
{
"""
CLOSE = """
printf '%s done\\n' "$mark"
} </dev/null
"""


@cache
def collector_script(interval_s: int = 0) -> str:
    """Give the whole script; counters are read again after `interval_s` seconds and the rest."""
    prelude = files("wirespeed.doctor").joinpath("collector.sh").read_text()
    # The ports first: without them, what a capture that was cut off still holds is about nothing.
    ordered = sorted(facts(), key=lambda fact: fact is not Ports)
    parts = [f"\n# {fact.__module__.rpartition('.')[2]}\n{fact.script}" for fact in ordered]
    again = [fact.script_again for fact in facts() if fact.script_again]
    wait = f"\nsleep {interval_s}\n" if interval_s else ""
    end = "\n# Once more, for what is counted.\n" + wait
    body = prelude.removeprefix(START)
    return "".join([START, OPEN, body, *parts, end, *again, CLOSE])
