"""What a fact is, and the facts of one host."""

from abc import ABC, abstractmethod
from typing import ClassVar, Self, TypeVar

from wirespeed.model.capture import Capture
from wirespeed.model.observed import CannotTellError


class Fact(ABC):
    """One source of facts: the shell text that reads it, and the pure parse of what that printed.

    A fact is a frozen dataclass in a file of its own in `facts/`; nothing lists it. Its fields are
    `Observed`, so that what could not be read says so; `parse` never raises for any output of a
    host, except CannotTellError if nothing at all can be read from it.
    """

    script: ClassVar[str]
    """POSIX shell, run within the collector: see `doctor/collector.sh` for what it may call."""
    script_again: ClassVar[str] = ""
    """Run once more at the end of the capture, for what is counted."""

    @classmethod
    @abstractmethod
    def parse(cls, capture: Capture) -> Self:
        """Make the fact of its sections."""


class WindowsFact(Fact):
    """A fact of the Windows side: read by PowerShell, within the collector for Windows.

    A capture of WSL 2 has both sides; one of a Linux host has no section of this kind.
    """

    script: ClassVar[str] = ""
    powershell: ClassVar[str]
    """Calls `Section`: see `platforms/windows/collector.ps1`."""


class EsxiFact(Fact):
    """A fact of an ESXi host: read by its own shell, within the collector for ESXi."""

    script: ClassVar[str] = ""
    esxi: ClassVar[str]
    """POSIX shell as busybox has it; see `platforms/esxi/collector.py`."""


FactT = TypeVar("FactT", bound=Fact)


class HostFacts:
    """The facts of one host, each parsed when it is first asked for.

    `host[Pci]` gives the fact of that type. It raises CannotTellError when the capture makes no
    sense there at all, so that only what depends on it is *cannot tell*.
    """

    def __init__(self, name: str, capture: Capture) -> None:
        self.name = name
        """How the user calls the host: `here`, an ssh destination, a file."""
        self.capture = capture
        self._parsed: dict[type[Fact], Fact | CannotTellError] = {}

    def parse(self, fact: type[FactT]) -> FactT:
        """Make a fact of the capture. Raises what its own `parse` raises."""
        return fact.parse(self.capture)

    def __getitem__(self, fact: type[FactT]) -> FactT:
        found = self._parsed.get(fact)
        if found is None:
            try:
                found = self.parse(fact)
            except CannotTellError as error:
                found = error
            except (ValueError, LookupError, ArithmeticError) as error:
                # A parser's own gap must not take the rest of the answer with it.
                found = CannotTellError(
                    f"{fact.__name__}: what the host printed makes no sense ({error})",
                    "wirespeed capture",
                )
            self._parsed[fact] = found
        if isinstance(found, CannotTellError):
            raise found
        if not isinstance(found, fact):
            raise AssertionError(f"{fact.__name__}.parse gave another type")
        return found
