"""Hosts read and diagnosed in the order asked for; a host without an answer keeps its place."""

import sys
from collections.abc import Iterator, Sequence
from contextlib import closing

from wirespeed.doctor.diagnose import diagnose
from wirespeed.host.capture_request import TIMEOUT_S, Captured, Unreachable
from wirespeed.host.reach_destination import HERE, Destination, Remote, parse_destination
from wirespeed.model.capture import parse_capture, with_section
from wirespeed.model.error import InputError, WirespeedError
from wirespeed.model.fact import HostFacts
from wirespeed.model.finding import Unanswered
from wirespeed.model.question import Question
from wirespeed.model.shown import shown
from wirespeed.platforms.windows.facts.windows_crashes import ANALYSIS_SECTION
from wirespeed.report.diagnosis_hosts import (
    Answer,
)
from wirespeed.report.diagnosis_text import WIDTH
from wirespeed.report.text_lines import clip
from wirespeed.runs.captures import collect
from wirespeed.terminal import echo_live, takes_escapes


def examine(
    hosts: Sequence[str],
    question: Question,
    *,
    sudo: bool = False,
    seconds: int = 0,
    timeout_s: float = TIMEOUT_S,
    crash: str | None = None,
    far_ends: Sequence[str] = (),
) -> Iterator[tuple[Answer, str]]:
    """Diagnose each of `hosts` in their order, this machine if there is none; with its capture.

    Of one alone InputError is raised; of many it must not take the others with it. `crash` is a
    debugger's analysis of a crash of that host, `far_ends` are switches that its cables go to.
    """
    alone = len(hosts) <= 1
    if far_ends and not alone:
        raise InputError(
            "far_end.of_which",
            where=", ".join(hosts),
            found="--far-end is given with several hosts",
            next="give one host at a time: a far end belongs to the cable of one host",
        )
    places: dict[str, Destination | WirespeedError] = {}
    for host in hosts or [HERE]:
        try:
            places[host] = parse_destination(host)
        except InputError as error:
            if alone:
                raise
            places[host] = error
    wanted = [place for place in places.values() if not isinstance(place, WirespeedError)]
    show = Progress(wanted)
    captured: dict[Destination, tuple[Answer, str]] = {}
    reading = collect(
        wanted, interval_s=seconds, sudo=sudo, timeout_s=timeout_s, progress=show.doing
    )
    with closing(reading) as results:
        for result in results:
            show.ended()
            captured[result.destination] = _answer(
                result, question, crash, far_ends, alone=alone, seconds=seconds
            )
    show.close()
    for host, place in places.items():
        if isinstance(place, WirespeedError):
            yield unanswered(host, place), ""
        else:
            yield captured[place]


def _answer(
    captured: Captured | Unreachable,
    question: Question,
    crash: str | None,
    far_ends: Sequence[str],
    *,
    alone: bool,
    seconds: int,
) -> tuple[Answer, str]:
    name = captured.destination.text
    try:
        if isinstance(captured, Unreachable):
            raise captured.error
        text = captured.text
        if crash is not None:
            text = with_section(text, name, ANALYSIS_SECTION, crash)
        if far_ends:
            # Only here: few ask for it.
            from wirespeed.runs.captures import with_far_ends

            text = with_far_ends(text, far_ends, seconds)
        answer = diagnose(HostFacts(name, parse_capture(text, name)), question)
    except InputError as error:
        if alone:
            raise
        return unanswered(name, error), ""
    except WirespeedError as error:
        return unanswered(name, error), ""
    warnings = (*captured.warnings, *answer.warnings)
    return answer.model_copy(update={"warnings": warnings}), text


def unanswered(host: str, error: WirespeedError) -> Unanswered:
    """Turn an error into the record that replaces an answer."""
    return Unanswered(
        host=host,
        what=error.what,
        found=error.found,
        so=error.so,
        next=error.next,
        bad_input=isinstance(error, InputError),
    )


class Progress:
    """One live line on a terminal while hosts are read; nothing elsewhere."""

    def __init__(self, places: Sequence[Destination]) -> None:
        self._hosts, self._ended = len(places), 0
        takes_long = len(places) > 1 or any(isinstance(place, Remote) for place in places)
        self._live = takes_long and takes_escapes(sys.stderr)

    def doing(self, place: Destination, what: str) -> None:
        """Say what is being done now."""
        if self._live:
            text = clip(f"{self._ended} of {self._hosts} read; {what} {shown(place.text)}", WIDTH)
            echo_live(text)

    def ended(self) -> None:
        """Count one."""
        self._ended += 1

    def close(self) -> None:
        """Leave no trace."""
        if self._live:
            echo_live("")
