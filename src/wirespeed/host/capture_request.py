"""What is read on many hosts, and what comes of it: a capture, or why there is none."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from wirespeed.host.reach_destination import Destination
from wirespeed.host.runner import MAX_OUTPUT_BYTES
from wirespeed.model.error import HostError, WirespeedError
from wirespeed.model.shown import shown
from wirespeed.model.switch_kind import SwitchKind

LIMIT = 32
TIMEOUT_S = 90.0
"""In all; a tool that hangs costs 40 s of it (sections.sh), and the rest is read in seconds."""
SHELL = ("sh", "-s")
"""The script comes on its standard input, so that no shell on the way sees it to quote it."""
SUDO = ("sudo", "-n", *SHELL)


@dataclass(frozen=True, slots=True)
class Captured:
    """What the script printed on a host, or what a file holds."""

    destination: Destination
    text: str
    duration_s: float
    warnings: tuple[str, ...] = ()
    """Why it may not be all: it was cut at a limit, time was up."""


@dataclass(frozen=True, slots=True)
class Unreachable:
    """A host or a file that gave nothing, with the reason and what to do."""

    destination: Destination
    error: WirespeedError


Progress = Callable[[Destination, str], None]
"""Called with a destination and what is being done there: `connecting`, `reading`."""


@dataclass(frozen=True, slots=True)
class CaptureRequest:
    """What is to be run everywhere, and within which bounds."""

    script: str
    """POSIX shell."""
    begins: str
    """A word that its output has in its first lines; without it the host said something else."""
    sudo: bool = False
    timeout_s: float = TIMEOUT_S
    """For one host, connecting included."""
    max_bytes: int = MAX_OUTPUT_BYTES
    esxi: str = ""
    """What is run on an ESXi host instead: POSIX shell as busybox has it."""
    powershell: str = ""
    """What is run on a Windows host instead."""
    switch: Mapping[SwitchKind, Mapping[str, str]] = field(default_factory=dict)
    """What is typed at a switch instead, by its kind and by the section that holds the answer."""
    switch_again: Mapping[SwitchKind, str] = field(default_factory=dict)
    """Which of those sections has counters, by kind: it is read again."""
    again_s: int = 0
    """After so many seconds; 0: once is enough."""

    @property
    def argv(self) -> tuple[str, ...]:
        """The command that reads the script."""
        return SUDO if self.sudo else SHELL

    def judge(
        self, destination: Destination, output: str, errors: str, returncode: int | None
    ) -> str:
        """Give the output, or raise HostError when it is not the script's."""
        if self.begins in output[: 1 << 16]:
            return output
        said = shown((errors.strip() or output.strip()).partition("\n")[0], 200)
        if self.sudo and ("sudo" in said or returncode == 127):
            raise HostError(
                "sudo.refused",
                where=destination.text,
                found=said or "sudo printed no message",
                so="nothing was read: wirespeed never asks for a sudo password",
                next="log in as root, allow `sudo -n sh` there, or leave --sudo out",
            )
        ended = "time was up" if returncode is None else f"return code {returncode}"
        raise HostError(
            "host.no_answer",
            where=destination.text,
            found=f"it did not run the script: {said or ended}",
            next="check that its login shell can run `sh -s`; or run the script of `wirespeed "
            "capture --script` there",
        )


def cut_warning(cut: bool, request: CaptureRequest) -> tuple[str, ...]:
    """Say that there was more than the limit, where there was."""
    return (f"it printed more than {request.max_bytes >> 20} MiB: cut there",) if cut else ()
