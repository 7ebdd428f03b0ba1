"""What of a switch's outputs names things of people: its name, its neighbours', descriptions."""

import re
from collections.abc import Container, Iterator

from wirespeed.model.capture import Capture
from wirespeed.model.observed import Known
from wirespeed.platforms.switch.facts.switchport import Switches

SECTION = "begin switch-"
IN_JSON = re.compile(
    r'("(?:description|desc|port_desc|descr|interfaceDescription|systemDescription|sys_desc)"'
    r'\s*:\s*")'
    r'((?:[^"\\\n]|\\.)*)"'
)
IN_LINE = re.compile(r"^([ \t]*(?:System )?Description:)[^\n]*$", re.M | re.I)
OS6_HEAD = re.compile(r"^Port +(Description +)(?=Vlan|VLAN|Duplex)", re.M)


def names_of_switches(capture: Capture) -> Iterator[str]:
    """Give the names of switches, and of what they hear."""
    for name, switch in Switches.parse(capture).by_name.items():
        yield name
        for port in switch.ports.value if isinstance(switch.ports, Known) else ():
            for neighbor in port.neighbors.value if isinstance(port.neighbors, Known) else ():
                yield neighbor.system


def without_descriptions(part: str, netdevs: Container[str]) -> str:
    """Blank the descriptions of ports; columns stay where they are.

    What a port hears of the host may end in one of its `netdevs`: that is what pairs the two.
    """
    if not part.startswith(SECTION):
        return part

    def blank(match: re.Match[str]) -> str:
        last = match[2].rpartition(" ")[2]
        return f'{match[1]}{last if last in netdevs else ""}"'

    part = IN_JSON.sub(blank, part)
    part = IN_LINE.sub(lambda match: match[1], part)
    head = OS6_HEAD.search(part)
    if head is None:
        return part
    line_start = part.rfind("\n", 0, head.start()) + 1
    start, end = head.start(1) - line_start, head.end(1) - line_start
    lines = part.split("\n")
    at = part.count("\n", 0, head.start())
    rest = [
        line
        if set(line) <= {"-", " "} or len(line) <= start or line.startswith(("Port", " "))
        else line[:start] + " " * (min(end, len(line)) - start) + line[end:]
        for line in lines[at + 1 :]
    ]
    return "\n".join([*lines[: at + 1], *rest])
