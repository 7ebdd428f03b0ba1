"""Captures of switches, one after another: there are few, and each is one session."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import closing

from wirespeed.host.clock import monotonic_s
from wirespeed.host.reach import Errand, Progress, Told, Unreachable
from wirespeed.host.reach_destination import SwitchHost
from wirespeed.host.switch import SwitchSession, switch_capture
from wirespeed.model.error import HostError, WirespeedError


def reach_switches(
    places: Sequence[SwitchHost],
    errand: Errand,
    progress: Progress,
    session_of: Callable[[SwitchHost], SwitchSession] = SwitchSession,
) -> Iterator[Told | Unreachable]:
    """Give one result for each."""
    for place in places:
        progress(place, "connecting")
        try:
            yield _told(place, errand, session_of)
        except WirespeedError as error:
            yield Unreachable(place, error)


def _told(
    place: SwitchHost, errand: Errand, session_of: Callable[[SwitchHost], SwitchSession]
) -> Told:
    commands = errand.switch.get(place.kind)
    if commands is None:
        raise HostError(
            "host.switch",
            where=place.text,
            found="what is to be read is not of a switch",
            next="`wirespeed doctor` and `wirespeed capture` read switches",
        )
    started = monotonic_s()
    with closing(session_of(place)) as session:
        again = errand.switch_again.get(place.kind, "") if errand.again_s else ""
        text = switch_capture(
            place, commands, session, place.cable, again=again, again_s=errand.again_s
        )
    return Told(place, text, monotonic_s() - started)
