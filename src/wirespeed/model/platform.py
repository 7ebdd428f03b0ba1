"""A kind of host, as pure code knows it: what of an answer or a plan is only about such hosts.

Each folder of `platforms/` has one, called PLATFORM, in its `platform.py`; `catalog.platforms`
finds them. What a kind of host does not have stays at its default, and nobody asks for the kind.
"""

from collections.abc import Callable, Container, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from wirespeed.model.capture import Capture, Section
from wirespeed.model.ceiling import Ceiling, Ledger
from wirespeed.model.command import Command, Shell
from wirespeed.model.fact import HostFacts
from wirespeed.model.port import Port
from wirespeed.model.question import Question

Lines: TypeAlias = Iterator[tuple[str, str]]
"""Label and value."""


def _no(_capture: Capture) -> bool:
    return False


def _no_lines(_host: HostFacts, _question: Question) -> Lines:
    return iter(())


def _no_names(_host: HostFacts) -> Iterator[str]:
    return iter(())


def _no_ledgers(_host: HostFacts, _question: Question) -> Iterator[Ledger]:
    return iter(())


def _nothing_recorded(_capture: Capture, _command: Command) -> Section | None:
    return None


def _no_private_names(_capture: Capture) -> Iterator[str]:
    return iter(())


def _as_it_is(part: str, _netdevs: Container[str]) -> str:
    return part


def _no_script() -> str:
    return ""


@dataclass(frozen=True, slots=True)
class Platform:
    """A kind of host."""

    name: str
    """As an answer says it: `Linux`, `ESXi`, `a switch`."""
    shell: Shell
    """What its steps are written for."""
    is_alone: Callable[[Capture], bool] = _no
    """Whether a capture is of such a host and of no Linux."""
    is_usual: bool = False
    """A host that no other kind claims alone is of this one: Linux."""
    about: Callable[[HostFacts, Question], Lines] = _no_lines
    """What the host is, at the head of an answer."""
    about_ports: Callable[[HostFacts, Question], Lines] = _no_lines
    """And its ports, one a line."""
    ports: Callable[[HostFacts], Iterator[str]] = _no_names
    """What a question may name as a port, beside those of Linux."""
    ledgers: Callable[[HostFacts, Question], Iterator[Ledger]] = _no_ledgers
    """Of what carries frames and is not a port of Linux."""
    beneath: Callable[[HostFacts, Port, Question], Iterator[Ceiling]] | None = None
    """Ceilings of what a virtual port of Linux stands on: the card of Windows, below WSL."""
    carried: Callable[[HostFacts, Sequence[Command]], Lines] | None = None
    """What of the way to a host these commands change: its name, and what it carries."""
    recorded: Callable[[Capture, Command], Section | None] = _nothing_recorded
    """What a command would have printed, where the capture tells; None: it does not."""
    private_names: Callable[[Capture], Iterator[str]] = _no_private_names
    """Names in a capture that --anonymous replaces."""
    without_free_text: Callable[[str, Container[str]], str] = _as_it_is
    """Give a section's text without what people wrote in it; netdevs of the host may stay."""
    within_linux: Callable[[], str] = _no_script
    """What Linux's collector runs besides: the part of the other side, on WSL."""
    can_be_locked: bool = True
    """Whether a lock can be left that another controller meets. Not on a switch: some kinds have
    one, for as long as a session configures. Not by ESXi's API: fields of its own for a host are
    vCenter's alone (CustomFieldsManager of the vSphere API)."""
    no_remedy: str = ""
    """Why `wirespeed remedy` does nothing there; empty: it does."""
    instead_of_remedy: str = ""
    """What to do then."""
    cards: Callable[[HostFacts], Iterator[str]] = _no_names
    """PCI addresses of its network cards."""
    elsewhere: str = ""
    """Why its steps are not done from a host of another kind, and what to do: `of a switch: …`."""
