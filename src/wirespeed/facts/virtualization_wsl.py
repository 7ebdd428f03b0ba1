"""Windows Subsystem for Linux: which version, and how its network is joined to Windows'."""

import re
from dataclasses import dataclass
from typing import ClassVar, Self

from wirespeed.facts.kernel import Kernel
from wirespeed.model.capture import Capture
from wirespeed.model.fact import Fact
from wirespeed.model.observed import Absent, Known, Observed, read_as

MODES = ("nat", "mirrored", "bridged", "virtioproxy", "consomme", "none", "wsl1")


@dataclass(frozen=True, slots=True)
class Wsl(Fact):
    """Its Linux side; .wslconfig lies on the Windows side and is not read."""

    version: Observed[int]
    """1 or 2; Absent: this is no WSL."""
    networking_mode: Observed[str]
    """`nat`, `mirrored`, `bridged`, `virtioproxy`, `none`: what is in force, not what was asked."""
    settings: Observed[dict[str, str]]
    """/etc/wsl.conf, as `network.hostname`; Absent: there is none."""

    script: ClassVar[str] = """\
release=
{ read -r release </proc/sys/kernel/osrelease; } 2>/dev/null
case $release in *[Mm]icrosoft*)
	run wsl-mode - wslinfo --networking-mode
	show wsl-conf - grep -H '' /etc/wsl.conf ;;
esac
"""

    @classmethod
    def parse(cls, capture: Capture) -> Self:
        """Read the kernel's release, and where it is Microsoft's what wslinfo and wsl.conf say."""
        version = read_as(Kernel.parse(capture).release, _version)
        if isinstance(version, Known) and not version.value:
            absent = Absent(version.source, "this is not WSL")
            return cls(absent, absent, absent)
        mode = read_as(capture.text("wsl-mode", "wslinfo --networking-mode"), _mode)
        conf = capture.files("wsl-conf", ("wsl.conf",))["/etc/wsl.conf"]
        return cls(version, mode, read_as(conf, _settings))


def _version(release: str) -> int:
    """0: none. WSL 1 names its own number (4.4.0-19041-Microsoft), WSL 2 is a kernel of its own."""
    if "microsoft" not in release.lower():
        return 0
    return 1 if release.endswith("-Microsoft") else 2


def _mode(text: str) -> str:
    mode = text.strip().lower()
    if mode not in MODES:
        raise ValueError(f"{mode[:40]!r} is not a mode that is known")
    return mode


def _settings(text: str) -> dict[str, str]:
    section, found = "", {}
    for line in text.splitlines():
        line = line.split("#")[0].strip()
        if match := re.fullmatch(r"\[(.*)\]", line):
            section = match[1].strip()
        elif "=" in line:
            name, _, value = line.partition("=")
            found[f"{section}.{name.strip()}"] = value.strip()
    return found
