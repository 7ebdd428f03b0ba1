"""The kinds of switches that are known, and how their ports are named. Pure."""

import re
from enum import StrEnum
from typing import Annotated

from pydantic import AfterValidator

PORT = re.compile(
    r"(?:swp[0-9]{1,4}s[0-9]{1,2}|"
    r"[A-Za-z][A-Za-z-]{0,30} ?[0-9]{1,4}(/[0-9]{1,4}){0,3}(:[0-9]{1,2})?)"
)
"""`Te1/0/1`, `TenGigabitEthernet 1/1`, `ethernet1/1/1:2`, `Ethernet4`, `swp1`, `swp1s0` (a part of
a port of Cumulus that is broken out); nothing else."""
LONG = {
    "tengigabitethernet": "te",
    "fortygigabitethernet": "fo",
    "fortygige": "fo",
    "fo": "fo",
    "twentyfivegige": "tf",
    "twentyfivegigabitethernet": "tw",
    "hundredgige": "hu",
    "hundredgigabitethernet": "hu",
    "gigabitethernet": "gi",
    "ethernet": "eth",
    "eth": "eth",
    "et": "eth",
}


class SwitchKind(StrEnum):
    """What runs on a switch, which decides what is typed there."""

    DELL_OS6 = "dell_os6"
    """Dell N-series."""
    DELL_OS9 = "dell_os9"
    """Dell S and Z series, once Force10's FTOS."""
    DELL_OS10 = "dell_os10"
    SONIC = "sonic"
    CUMULUS = "cumulus"
    """Cumulus Linux 5 with NVUE."""
    EOS = "eos"
    """Arista."""
    NXOS = "nxos"
    """Cisco Nexus."""


def _port(text: str) -> str:
    if not PORT.fullmatch(text):
        raise ValueError(f"{text!r} is not a port of a switch such as Te1/0/1 or ethernet1/1/1")
    return text


SwitchportName = Annotated[str, AfterValidator(_port)]


def same_port(one: str, other: str) -> bool:
    """Tell whether two names are of one port: `Te 1/1`, `TenGigabitEthernet 1/1`."""
    return _plain(one) == _plain(other)


def _plain(name: str) -> str:
    match = re.fullmatch(r"([A-Za-z-]+) ?([0-9/:]+)", name.strip())
    if match is None:
        return name.strip().lower()
    word = match[1].lower()
    return LONG.get(word, word) + match[2]
