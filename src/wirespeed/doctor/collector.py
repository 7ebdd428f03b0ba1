"""The collector: one POSIX shell script made of every fact's part, for one round trip."""

from functools import cache
from importlib.resources import files

from wirespeed.catalog import facts, platforms
from wirespeed.facts.ports import Ports
from wirespeed.host.sections import START, sections_script


@cache
def collector_script(interval_s: int = 0) -> str:
    """Give the whole script; counters are read again after `interval_s` seconds and the rest."""
    text = files("wirespeed.doctor").joinpath("collector.sh").read_text().removeprefix(START)
    about, _, prelude = text.partition("\n\n")
    # The ports first: without them, what a capture that was cut off still holds is about nothing.
    ordered = sorted(facts(), key=lambda fact: fact is not Ports)
    parts = [
        f"\n# {fact.__module__.rpartition('.')[2]}\n{fact.script}"
        for fact in ordered
        if fact.script
    ]
    other = [one.within_linux() for one in platforms()]
    again = [fact.script_again for fact in facts() if fact.script_again]
    wait = f"\nsleep {interval_s}\n" if interval_s else ""
    end = "\n# Once more, for what is counted.\n" + wait
    return sections_script(f"{about}\n\n", f"\n{prelude}", *parts, *other, end, *again)
