"""A port of a switch as it runs, made what the switch starts with; read back.

A switch saves all that it runs with, or nothing: what others changed and did not save is saved too.
"""

from collections.abc import Sequence
from typing import Protocol

from wirespeed.host.switch import is_refused
from wirespeed.model.error import HostError
from wirespeed.model.shown import shown
from wirespeed.model.switch_kind import SwitchKind
from wirespeed.platforms.switch.steps.switchport_saved import SHOW_SAVED, differing, show_running


class SavingSession(Protocol):
    """What `host.switch.SwitchSession` is."""

    @property
    def kind(self) -> SwitchKind:
        """What runs on the switch."""
        ...

    def type(self, lines: Sequence[str]) -> list[str]:
        """Type lines up to the first that is refused; give what each printed."""
        ...

    def save(self) -> str:
        """Save the whole running configuration; give what was printed."""
        ...


def unsaved(session: SavingSession, port: str, where: str) -> tuple[str, ...]:
    """Name the settings of a port that the next start would undo.

    Raises HostError `switch.saved_unknown`.
    """
    try:
        (running,) = session.type([show_running(session.kind, port)])
        (saved,) = session.type([SHOW_SAVED[session.kind]])
        for said in (running[:2000], saved[:2000]):
            if is_refused(said):
                raise ValueError(said.strip())
        return differing(session.kind, port, running, saved)
    except (ValueError, LookupError, TypeError, AttributeError) as error:
        raise HostError(
            "switch.saved_unknown",
            where=where,
            found=shown(str(error), 200),
            so="whether a restart of the switch undoes the change is not known",
            next=f"run `{SHOW_SAVED[session.kind]}` there, and save the configuration by hand",
        ) from None


def save(session: SavingSession, port: str, where: str) -> tuple[str, ...]:
    """Save, and see that it is; give what was not before, and nothing where all was.

    Raises HostError `switch.saved_unknown`, `switch.not_saved`.
    """
    before = unsaved(session, port, where)
    if not before:
        return ()
    said = session.save()
    after = () if is_refused(said) else unsaved(session, port, where)
    if is_refused(said) or after:
        raise HostError(
            "switch.not_saved",
            where=where,
            found=shown(said.strip() or f"{', '.join(after)} is saved otherwise still", 200),
            so="a restart of the switch restores the configuration saved before",
            next="save it there by hand: docs/link-speed.md has the command of each kind",
        )
    return before
