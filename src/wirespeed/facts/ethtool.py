"""What ethtool says of one netdev, and ethtool as a remedy.

Its text is read, not its JSON: every version prints the text, and 6.1 (Debian 12) has no JSON for
most of these options. Versions before 5.7 print 0 where later ones print `n/a`.
"""

import re
from dataclasses import replace

from wirespeed.model.capture import Capture
from wirespeed.model.command import Command
from wirespeed.model.observed import Absent, CannotTellError, Known, Observed, Unreadable

NETDEV = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.@-]{0,14}")
"""Names that are safe as an argument; the kernel allows more."""
NOT_SUPPORTED = "Operation not supported"
NO_SUCH_SETTING = "the driver has no such setting"


def ethtool_answer(
    capture: Capture, section: str, netdev: str, option: str, *words: str
) -> Observed[str]:
    """Output of `ethtool OPTION NETDEV WORDS`; Absent where the driver does not support it."""
    command = " ".join(["ethtool", option, netdev, *words])
    found = capture.section(section, netdev)
    if found is None:
        return Unreadable("the capture has no such section", command)
    if found.returncode == 0:
        return Known(found.output, command)
    # Older ones break the line: `Cannot get device channel parameters\n: Operation not supported`.
    return replace(found, errors=" ".join(found.errors.split())).failure(command)


def before_and_now(answer: Observed[str]) -> tuple[Observed[str], Observed[str]]:
    """Split the answer of `-g` or `-l` into its maximums and what is set now."""
    if not isinstance(answer, Known):
        return answer, answer
    maximums, header, now = answer.value.partition("Current hardware settings:")
    if not header:
        nothing = Unreadable("it does not say what is set now", answer.source)
        return nothing, nothing
    return Known(maximums, answer.source), Known(now, answer.source)


def number_of(lines: Observed[str], name: str) -> Observed[int]:
    """Give the number after `NAME:`. Absent for `n/a` and where there is no such line."""
    text = word_of(lines, name)
    if not isinstance(text, Known):
        return text
    if not re.fullmatch(r"\d{1,10}", text.value):
        return Unreadable(f"{name}: {text.value[:40]!r} is not a number", text.source)
    return Known(int(text.value), text.source)


def on_or_off(text: Observed[str]) -> Observed[bool]:
    """Give True for `on`, False for `off`."""
    if not isinstance(text, Known):
        return text
    if text.value not in ("on", "off"):
        return Unreadable(f"{text.value[:40]!r} is neither on nor off", text.source)
    return Known(text.value == "on", text.source)


def word_of(lines: Observed[str], name: str) -> Observed[str]:
    """Give the first word after `NAME:`. Absent for `n/a` and where there is no such line."""
    if not isinstance(lines, Known):
        return lines
    match = re.search(rf"^{re.escape(name)}:[ \t]*(\S+)", lines.value, re.M)
    if match is None or match[1] == "n/a":
        return Absent(lines.source, NO_SUCH_SETTING)
    return Known(match[1], lines.source)


def ethtool_command(option: str, netdev: str, *settings: str) -> Command:
    """Make `ethtool OPTION NETDEV SETTINGS`; raises CannotTellError where the name is not safe."""
    return Command(argv=("ethtool", option, safe_netdev(netdev), *settings))


def safe_netdev(netdev: str) -> str:
    """Give the name as it is; raises CannotTellError where it could be taken for anything else."""
    if not NETDEV.fullmatch(netdev):
        raise CannotTellError(f"{netdev!r} is not a name for a command line", "ip -br link")
    return netdev
