"""Captures of switches, one after another: there are few, and each is one session."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import closing

from wirespeed.host.capture_request import Captured, CaptureRequest, Progress, Unreachable
from wirespeed.host.clock import monotonic_s
from wirespeed.host.reach_destination import SwitchHost
from wirespeed.host.switch import SwitchSession, switch_capture
from wirespeed.model.error import HostError, WirespeedError


def reach_switches(
    places: Sequence[SwitchHost],
    request: CaptureRequest,
    progress: Progress,
    session_of: Callable[[SwitchHost], SwitchSession] = SwitchSession,
) -> Iterator[Captured | Unreachable]:
    """Give one result for each."""
    for place in places:
        progress(place, "connecting")
        try:
            yield _captured(place, request, session_of)
        except WirespeedError as error:
            yield Unreachable(place, error)


def _captured(
    place: SwitchHost, request: CaptureRequest, session_of: Callable[[SwitchHost], SwitchSession]
) -> Captured:
    commands = request.switch.get(place.kind)
    if commands is None:
        raise HostError(
            "host.switch",
            where=place.text,
            found="what is to be read is not of a switch",
            next="`wirespeed doctor` and `wirespeed capture` read switches",
        )
    started = monotonic_s()
    with closing(session_of(place)) as session:
        again = request.switch_again.get(place.kind, "") if request.again_s else ""
        text = switch_capture(
            place, commands, session, place.cable, again=again, again_s=request.again_s
        )
    return Captured(place, text, monotonic_s() - started)
