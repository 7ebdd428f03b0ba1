"""Whether a reading of a host is still the same, asked within the script that writes. Pure.

The reading is taken once more, its text is compared with the one that the state was made of, and
where it differs nothing is run. What varies by itself and is no part of a state is left out.
"""

import re
import shlex

from wirespeed.model.capture import Capture, Section
from wirespeed.model.command import Command

STILL = "still"
"""Section of the comparison: return code 0, it is the same."""
TIMERS = r'"[a-z_]+_(timer|time)": *[0-9.]+'
"""In what `ip -j` prints: those of a bridge, what is left of an address's lifetime."""
MEMINFO = r"/meminfo:.*"
"""How much memory is free; `grep -H` names the file in each line."""


def varying(command: Command) -> str:
    """Give what varies by itself in what a command prints; empty where nothing does.

    A regular expression within a line, in words that `sed -E` and Python's `re` share.
    """
    if "ip" in command.argv and "-j" in command.argv:
        return TIMERS
    if any(word.endswith("/meminfo") for word in command.argv):
        return MEMINFO
    return ""


def still_part(command: Command, expected: Section, line: str, otherwise: str) -> str:
    """Compare a reading, within a loop that is left where it differs, after `otherwise` is run.

    `line` is the command as the script says it, with its input. The text is what `run` of
    host/sections.sh prints, by a mark that is known.
    """
    pattern = varying(command)
    text = _text(expected)
    if pattern:
        text = re.sub(pattern, "", text)
    strip = f" | sed -E {shlex.quote(f's#{pattern}##g')}" if pattern else ""
    return f"""\
as_read={shlex.quote(text)}
still() {{
	[ "$(mark=reading; run {STILL} - "$@"{strip})" = "$as_read" ]
}}
show {STILL} - still {line}[ "$code" -eq 0 ] || {{
	{otherwise}break
}}
"""


def is_still(capture: Capture) -> bool:
    """Tell whether the comparison, where there was one, found the same."""
    section = capture.section(STILL)
    return section is None or section.returncode == 0


def _text(section: Section) -> str:
    errors = f"\nreading errors\n{section.errors}" if section.errors else ""
    text = f"reading begin {STILL} -\n{section.output}{errors}\nreading end {section.returncode}"
    # No variable of a shell can hold a NUL: `$( )` leaves it out.
    return text.replace("\0", "")
