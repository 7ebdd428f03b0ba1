"""One capture: a guest listens while others send it forged frames, each of them in its turn.

Honest frames are sent before the first, between two of them, and after the last.
"""

import json
import secrets
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from ipaddress import IPv4Address
from typing import Any

from wirespeed.host.guest_script import run_script
from wirespeed.host.runner import Completed, Runner
from wirespeed.measure.network.endpoint import Attachment, Endpoint
from wirespeed.measure.network.forged import (
    WORD_BYTES,
    End,
    Template,
    control,
)
from wirespeed.measure.network.isolation_verdict import (
    Arrival,
    Forging,
    NoAccountError,
    parse_arrivals,
    parse_forging,
)
from wirespeed.measure.network.lease import said
from wirespeed.model.error import MeasurementError, WirespeedError
from wirespeed.model.json_value import read_json

CONTROL_FRAMES = 20
"""Before, and again after: a handful may be lost while a switch learns."""
BASE_S = 60.0
FRAME_S = 0.02
"""Bound for one frame to be forged, on the slowest host."""
ANSWERS_S, NO_ANSWERS_S = 0.5, 0.05
"""For how long a sender listens for answers. Honest frames ask for none: only for them to leave."""


@dataclass(frozen=True, slots=True)
class Side:
    """A guest in one of its networks."""

    endpoint: Endpoint
    attachment: Attachment

    @property
    def netdevs(self) -> tuple[str, ...]:
        """What leads there: the bond and each of its members, or the one netdev."""
        of = self.attachment
        return (of.netdev, *of.members) if of.is_bond else (of.netdev,)

    @property
    def end(self) -> End:
        """Where its frames come from, or go to."""
        return End(self.attachment.mac, self.attachment.segment, self.attachment.address)

    def __str__(self) -> str:
        """For a person."""
        return f"{self.endpoint.name} in {self.attachment.network}"


@dataclass(frozen=True, slots=True)
class Honest:
    """Who sends the frames that must be heard."""

    name: str
    runner: Runner
    netdevs: tuple[str, ...]
    mac: str
    vlan: int | None
    """The tag that it puts on them itself; None: it is a guest of the network."""


@dataclass(frozen=True, slots=True)
class Attempt:
    """What one sender tries in a capture."""

    sender: Side
    templates: Callable[[bytes], list[Template]]
    """Makes its frames, with the word that is its own."""
    nobody: IPv4Address | None
    """The address that it answers for."""


@dataclass(frozen=True, slots=True)
class Account:
    """What became of an attempt: what its sender did, and all that the receiver heard."""

    place: int
    """Of the sender, in the capture."""
    forging: Forging
    arrivals: list[Arrival]


@dataclass(frozen=True, slots=True)
class Capture:
    """A receiver that listens, and who is heard by it."""

    receiver: Side
    netdevs: tuple[str, ...]
    """Of the receiver: those that count."""
    honest: Honest | None
    frames: int
    """Of each template, through each netdev of a sender."""

    def accounts(
        self,
        attempts: Sequence[Attempt],
        progress: Callable[[str], None] = lambda _sender: None,
    ) -> list[Account | str]:
        """Let each sender make its attempt while the receiver listens; at most MAX_SENDERS.

        Gives an account of each attempt, or why there is none.
        """
        try:
            return self._accounts(attempts, progress)
        except (NoAccountError, WirespeedError) as error:
            return [str(error)] * len(attempts)

    def _accounts(
        self, attempts: Sequence[Attempt], progress: Callable[[str], None]
    ) -> list[Account | str]:
        """As `accounts`. Raises NoAccountError, and WirespeedError where the receiver fails."""
        common = secrets.token_bytes(WORD_BYTES - 1)
        words = [common + bytes([place]) for place in range(len(attempts) + 1)]
        made = [one.templates(word) for one, word in zip(attempts, words, strict=False)]
        seconds = [
            BASE_S + FRAME_S * self.frames * len(templates) * len(one.sender.netdevs)
            for one, templates in zip(attempts, made, strict=True)
        ]
        sent: list[Forging | str] = []
        with _listening(self.receiver, common, self.netdevs, int(2 * sum(seconds))) as stop:
            for place, one in enumerate(attempts):
                progress(str(one.sender))
                try:
                    self._send_honest(words[place])
                    sent.append(self._forging(words[place], one, made[place], seconds[place]))
                except (NoAccountError, WirespeedError) as error:
                    sent.append(str(error))
            # The last sender is judged without them: a frame of it that arrived is a leak still.
            with suppress(WirespeedError):
                self._send_honest(words[-1])
            arrivals = parse_arrivals(stop(), frozenset(self.netdevs))
        return [
            of if isinstance(of, str) else Account(place, of, arrivals)
            for place, of in enumerate(sent)
        ]

    def _forging(
        self, word: bytes, attempt: Attempt, templates: Sequence[Template], seconds: float
    ) -> Forging:
        sender = attempt.sender
        answers = _answers(ANSWERS_S, self.receiver.attachment, attempt.nobody)
        runner, netdevs = sender.endpoint.runner, sender.netdevs
        sent = _send(runner, word, self.frames, templates, netdevs, answers, seconds)
        return parse_forging(_json(str(sender), sent))

    def _send_honest(self, word: bytes) -> None:
        honest = self.honest
        if honest is not None:
            template = control(word, honest.mac, self.receiver.end, honest.vlan)
            answers = _answers(NO_ANSWERS_S, self.receiver.attachment, None)
            sent = _send(
                honest.runner, word, CONTROL_FRAMES, [template], honest.netdevs, answers, BASE_S
            )
            _json(honest.name, sent)


@contextmanager
def _listening(
    receiver: Side, word: bytes, netdevs: Sequence[str], seconds: int
) -> Iterator[Callable[[], Any]]:
    """Let a guest listen; what is given ends it and tells what it heard. It ends in any case."""
    runner = receiver.endpoint.runner
    name = f"wirespeed-l-{secrets.token_hex(8)}"
    arguments = (name, word.hex(), str(seconds), ",".join(netdevs))
    done = run_script(runner, "guest_listener.py", arguments)
    if done.output.strip() != "listens":
        raise _failure(str(receiver), done)
    is_over = False

    def stop() -> Any:
        nonlocal is_over
        is_over = True
        return _json(str(receiver), run_script(runner, "guest_ask.py", (name, "stop")))

    try:
        yield stop
    finally:
        if not is_over:
            _end(runner, name)


def _end(runner: Runner, name: str) -> None:
    try:
        run_script(runner, "guest_ask.py", (name, "stop"))
    except WirespeedError:
        # Its own time limit ends it.
        return


def _answers(listen_s: float, to: Attachment, nobody: IPv4Address | None) -> tuple[str, ...]:
    """Give the arguments of what is listened for: how long, from whom, and for whose address."""
    return str(listen_s), to.mac.replace(":", ""), str(to.address), str(nobody or to.address)


def _send(
    runner: Runner,
    word: bytes,
    frames: int,
    templates: Sequence[Template],
    netdevs: Sequence[str],
    answers: Sequence[str],
    seconds: float,
) -> Completed:
    given = json.dumps([(one.kind, one.frame.hex(), one.offset) for one in templates])
    arguments = (word.hex(), str(frames), given, ",".join(netdevs), *answers)
    return run_script(runner, "guest_forger.py", arguments, timeout_s=seconds)


def _json(where: str, done: Completed) -> Any:
    try:
        if done.returncode == 0:
            return read_json(done.output)
    except ValueError:
        pass
    raise _failure(where, done)


def _failure(where: str, done: Completed) -> MeasurementError:
    return MeasurementError(
        "capture.failed",
        where=where,
        found=said(done),
        so="whether frames leak between networks is not known",
        next="check that this guest has python3, and that wirespeed is root in it: raw sockets "
        "need that",
    )
