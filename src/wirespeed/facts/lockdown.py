"""Whether the kernel keeps programs from cards and memory: lockdown, and Secure Boot behind it."""

import re
from dataclasses import dataclass
from typing import ClassVar, Self

from wirespeed.model.capture import Capture
from wirespeed.model.fact import Fact
from wirespeed.model.observed import Absent, Known, Observed, read_as

PATH = "/sys/kernel/security/lockdown"
VARIABLE = "/sys/firmware/efi/efivars/SecureBoot-8be4df61-93ca-11d2-aa0d-00e098032b8c"
CHOSEN = re.compile(r"\[(none|integrity|confidentiality)\]")
BYTES = re.compile(r"(?:\s*\d{1,3}\b){4}\s*([01])\s*")
"""The variable's attributes, and its one byte: UEFI specification, 8.2 and 3.3."""


@dataclass(frozen=True, slots=True)
class Lockdown(Fact):
    """Of the running kernel (kernel_lockdown(7)), and of the firmware that started it."""

    mode: Observed[str]
    """`none`, `integrity`, `confidentiality`. Absent: a kernel without lockdown."""
    secure_boot: Observed[bool]
    """Absent: not started by UEFI."""

    script: ClassVar[str] = f"""\
printf '%s\\0' {PATH} | files lockdown -
secure_boot() {{
	[ ! -e {VARIABLE} ] || od -An -tu1 {VARIABLE}
}}
show secure-boot - secure_boot
"""

    @classmethod
    def parse(cls, capture: Capture) -> Self:
        """Read the mode in brackets, and the last byte of the variable."""
        mode = capture.files("lockdown", ("lockdown",))[PATH]
        variable = capture.text("secure-boot", f"od -An -tu1 {VARIABLE}")
        if isinstance(variable, Known) and not variable.value.strip():
            return cls(read_as(mode, _mode), Absent(variable.source, "it was not started by UEFI"))
        return cls(read_as(mode, _mode), read_as(variable, _is_on))


def _mode(text: str) -> str:
    match = CHOSEN.search(text)
    if match is None:
        raise ValueError(f"{text[:40]!r} names no mode")
    return match[1]


def _is_on(text: str) -> bool:
    match = BYTES.fullmatch(text)
    if match is None:
        raise ValueError(f"{text[:40]!r} is not the variable")
    return match[1] == "1"
