"""What the kernel does against the CPU's own vulnerabilities."""

import re
from dataclasses import dataclass
from typing import ClassVar, Self

from wirespeed.model.capture import NOT_THERE, Capture
from wirespeed.model.fact import Fact
from wirespeed.model.observed import Absent, Known, Observed, Unreadable

SYSFS = "/sys/devices/system/cpu/vulnerabilities"
LINE = re.compile(rf"{SYSFS}/([a-z0-9_]{{1,60}}):(.*)")


@dataclass(frozen=True, slots=True)
class Mitigations(Fact):
    """The kernel's words by vulnerability: `meltdown` to `Mitigation: PTI`."""

    by_vulnerability: Observed[dict[str, str]]
    """Absent: a kernel before 4.15, which does not say."""

    script: ClassVar[str] = """\
vulnerabilities() (
	set +f
	grep -H '' /sys/devices/system/cpu/vulnerabilities/*
)
show vulnerabilities - vulnerabilities
"""

    @classmethod
    def parse(cls, capture: Capture) -> Self:
        """Read the lines of `vulnerabilities`; each kernel knows its own set of them."""
        section, source = capture.section("vulnerabilities"), f"grep . {SYSFS}/*"
        if section is None:
            return cls(Unreadable("the capture has no such section", source))
        found = {m[1]: m[2] for line in section.output.splitlines() if (m := LINE.fullmatch(line))}
        if not found and section.errors.strip().endswith(NOT_THERE):
            return cls(Absent(source, "this kernel does not say"))
        return cls(Known(found, source) if found else section.failure(source))
