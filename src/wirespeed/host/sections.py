"""A POSIX shell script that prints sections: one round trip to a host, read by `parse_capture`."""

from importlib.resources import files

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


def sections_script(about: str, *parts: str) -> str:
    """Make a script of parts that call `run`, `show` and `files` (see sections.sh).

    `about` is its first comment. Run it by `sh -s`, on the standard input.
    """
    functions = files("wirespeed.host").joinpath("sections.sh").read_text()
    return "".join([START, OPEN, about, functions.partition("\n\n")[2], *parts, CLOSE])
