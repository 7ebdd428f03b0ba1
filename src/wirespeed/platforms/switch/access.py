"""Switches, over SSH: read one after another, each in a session; changed by `link` alone."""

from collections.abc import Sequence
from contextlib import closing
from functools import partial

from wirespeed.host.batch import OneByOne
from wirespeed.host.capture_request import Captured, CaptureRequest
from wirespeed.host.clock import monotonic_s
from wirespeed.host.reach_destination import SwitchHost
from wirespeed.host.switch import SwitchSession, switch_capture
from wirespeed.model.error import HostError
from wirespeed.platforms.access import Access, Turn, Way


def reach_switches(
    places: Sequence[SwitchHost], request: CaptureRequest, _limit: int
) -> OneByOne[SwitchHost]:
    """Give what reads them."""
    return OneByOne(places, partial(_captured, request))


def _captured(request: CaptureRequest, place: SwitchHost) -> Captured:
    commands = request.switch.get(place.kind)
    if commands is None:
        raise HostError(
            "host.switch",
            where=place.text,
            found="this command reads hosts only, and this is a switch",
            next="`wirespeed doctor` and `wirespeed capture` read switches",
        )
    started = monotonic_s()
    with closing(SwitchSession(place)) as session:
        again = request.switch_again.get(place.kind, "") if request.again_s else ""
        text = switch_capture(
            place, commands, session, place.cable, again=again, again_s=request.again_s
        )
    return Captured(place, text, monotonic_s() - started)


ACCESS = Access("a switch", (Way(SwitchHost, reach_switches, Turn.ONE_BY_ONE, approaches=()),))
