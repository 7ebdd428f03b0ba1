"""The kernel: its release, command line and clock; the distribution around it."""

import re
from dataclasses import dataclass
from typing import ClassVar, Self

from wirespeed.facts.cpu_list import parse_cpu_list
from wirespeed.model.capture import Capture
from wirespeed.model.fact import Fact
from wirespeed.model.observed import Observed, read_as

CLOCK = "/sys/devices/system/clocksource/clocksource0"
ATTRIBUTES = (
    "osrelease", "cmdline", "os-release", "current_clocksource", "available_clocksource",
)  # fmt: skip
PARAMETER = re.compile(r'(?:[^\s"]|"[^"]*(?:"|$))+')
CPU_LIST = re.compile(r"\d[\d,:/-]*")


@dataclass(frozen=True, slots=True)
class CommandLine:
    """The kernel's parameters in their order; `-` and `_` in a name are the same to the kernel."""

    parameters: tuple[tuple[str, str], ...]
    """Name, with `_` for `-`, and value; the value is empty where there is none."""

    def values(self, name: str) -> tuple[str, ...]:
        """Every value that a parameter was given, in order; empty where it is not there."""
        return tuple(value for key, value in self.parameters if key == name.replace("-", "_"))

    def last(self, name: str) -> str | None:
        """Give the value that counts for most parameters: the last one. None: not there."""
        return next(iter(self.values(name)[::-1]), None)

    def cpus(self, name: str) -> frozenset[int]:
        """CPUs of `isolcpus=managed_irq,domain,2-5` and its like; none where it is not there.

        Raises ValueError where its CPUs are no list.
        """
        listed = ",".join(
            part for part in (self.last(name) or "").split(",") if CPU_LIST.fullmatch(part)
        )
        return parse_cpu_list(listed)


def is_yes(value: str) -> bool:
    """Whether the kernel reads this value of a parameter as true (kstrtobool, lib/kstrtox.c)."""
    return value[:1] in tuple("yYtT1") or value[:2].lower() == "on"


@dataclass(frozen=True, slots=True)
class Kernel(Fact):
    """What runs on the host."""

    release: Observed[str]
    """`6.12.38+deb13-amd64`."""
    command_line: Observed[CommandLine]
    distribution: Observed[str]
    """`Debian GNU/Linux 13 (trixie)`."""
    clocksource: Observed[str]
    """`tsc`, `hpet`, `kvm-clock`."""
    clocksources: Observed[tuple[str, ...]]
    """Those that the kernel could use."""
    has_grub: Observed[bool]
    """Whether GRUB's settings are here: not in a container, nor where another loader boots."""

    script: ClassVar[str] = f"""\
show kernel - grep -H '' /proc/sys/kernel/osrelease /proc/cmdline /etc/os-release \\
	{CLOCK}/current_clocksource {CLOCK}/available_clocksource
boot_loader() {{
	[ ! -e /etc/default/grub ] || printf 'grub\\n'
}}
show boot-loader - boot_loader
list_modules() (
	set +f
	set -- /sys/module/*
	[ -e "$1" ] && printf '%s\\n' "$@"
)
show modules - list_modules
"""

    def version(self) -> Observed[tuple[int, int]]:
        """Major and minor number of the release: (6, 12)."""
        return read_as(self.release, _version)

    @classmethod
    def parse(cls, capture: Capture) -> Self:
        """Read the small files of `kernel`, and `boot-loader`."""
        files = capture.files("kernel", ATTRIBUTES)
        return cls(
            release=read_as(files["/proc/sys/kernel/osrelease"], _word),
            command_line=read_as(files["/proc/cmdline"], parse_command_line),
            distribution=read_as(files["/etc/os-release"], _pretty_name),
            clocksource=read_as(files[f"{CLOCK}/current_clocksource"], _word),
            clocksources=read_as(
                files[f"{CLOCK}/available_clocksource"], lambda text: tuple(text.split())
            ),
            has_grub=read_as(
                capture.text("boot-loader", "ls /etc/default/grub"),
                lambda text: text.strip() == "grub",
            ),
        )


def parse_command_line(text: str) -> CommandLine:
    """Split as the kernel does: double quotes keep spaces, and `--` ends what is the kernel's."""
    parameters = []
    for match in PARAMETER.finditer(text):
        word = match[0]
        if word == "--":
            break
        name, _, value = word.replace('"', "").partition("=")
        parameters.append((name.replace("-", "_"), value))
    return CommandLine(tuple(parameters))


def _version(release: str) -> tuple[int, int]:
    match = re.match(r"(\d{1,3})\.(\d{1,4})", release)
    if match is None:
        raise ValueError(f"{release[:40]!r} is not a release")
    return int(match[1]), int(match[2])


def _word(text: str) -> str:
    if not text.strip():
        raise ValueError("it is empty")
    return text.strip()


def _pretty_name(text: str) -> str:
    values = dict(re.findall(r'^(PRETTY_NAME|NAME)=["\']?(.*?)["\']?$', text, re.M))
    name = values.get("PRETTY_NAME") or values.get("NAME")
    if not name:
        raise ValueError("it has neither PRETTY_NAME nor NAME")
    return str(name)
