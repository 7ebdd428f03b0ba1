"""The form of a capture of a switch that nobody can reach from here: its outputs are pasted in."""

from wirespeed.model.capture import MAGIC, VERSION
from wirespeed.model.switch_kind import SwitchKind
from wirespeed.platforms.switch.facts.switchport import COMMANDS

NAME = "switch"
"""What the switch is called, until somebody writes another name there."""
HEAD = """\
Type each command at the switch{unpaged}.
Put what it prints in the place of the line in brackets, and leave the other
lines as they are. Then: wirespeed doctor THIS-FILE

"""
UNPAGED = ", after `terminal length 0`"
LINUX = (SwitchKind.SONIC, SwitchKind.CUMULUS)


def switch_form(kind: SwitchKind, mark: str) -> str:
    """Give the form; `mark` is what no switch prints: eight or more hexadecimal digits."""
    sections = [("kind", str(kind))]
    sections += [(key, f"[{line}]") for key, line in COMMANDS[kind].items()]
    text = HEAD.format(unpaged="" if kind in LINUX else UNPAGED) + f"{MAGIC}{VERSION} {mark}\n"
    for key, body in sections:
        text += f"{mark} begin switch-{key} {NAME}\n{body}\n{mark} end 0\n"
    return text + f"{mark} done\n"
