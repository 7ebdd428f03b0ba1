"""One capture: a guest listens, honest frames are sent, forged ones, and honest ones again."""

import json
import secrets
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from ipaddress import IPv4Address
from typing import Any

from wirespeed.host.guest_script import run_script
from wirespeed.host.runner import Completed, Runner
from wirespeed.measure.network.endpoint import Attachment, Endpoint
from wirespeed.measure.network.forged import CONTROL_AFTER, CONTROL_BEFORE, End, Template, control
from wirespeed.measure.network.isolation_verdict import (
    Arrival,
    Forging,
    parse_arrivals,
    parse_forging,
)
from wirespeed.measure.network.lease import said
from wirespeed.model.error import MeasurementError, WirespeedError

CONTROL_FRAMES = 20
"""Before, and again after: a handful may be lost while a switch learns."""
BASE_S = 60.0
FRAME_S = 0.02
"""Bound for one frame to be forged, on the slowest host."""


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


def capture(
    word: bytes,
    sender: Side,
    receiver: Side,
    netdevs: Sequence[str],
    honest: Honest | None,
    templates: Sequence[Template],
    nobody: IPv4Address | None,
    frames: int,
) -> tuple[Forging, list[Arrival]]:
    """Send `frames` of each template through each of the sender's netdevs, while it listens.

    `netdevs` are those of the receiver that count. The sender answers for `nobody`'s address.
    Raises NoAccountError, MeasurementError `capture.failed`, and as `Runner.run`.
    """
    seconds = BASE_S + FRAME_S * frames * len(templates) * len(sender.netdevs)
    to = receiver.attachment
    with _listening(receiver, word, netdevs, int(2 * seconds)) as stop:
        _send_honest(word, honest, receiver, CONTROL_BEFORE)
        sent = _send(
            sender.endpoint.runner, word, frames, templates, sender.netdevs, to, nobody, seconds
        )
        forged = _json(str(sender), sent)
        _send_honest(word, honest, receiver, CONTROL_AFTER)
        heard = stop()
    return parse_forging(forged), parse_arrivals(heard, frozenset(netdevs))


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


def _send_honest(word: bytes, honest: Honest | None, receiver: Side, kind: int) -> None:
    if honest is not None:
        template = control(word, kind, honest.mac, receiver.end, honest.vlan)
        to = receiver.attachment
        sent = _send(
            honest.runner, word, CONTROL_FRAMES, [template], honest.netdevs, to, to.address, BASE_S
        )
        _json(honest.name, sent)


def _send(
    runner: Runner,
    word: bytes,
    frames: int,
    templates: Sequence[Template],
    netdevs: Sequence[str],
    to: Attachment,
    nobody: IPv4Address | None,
    seconds: float,
) -> Completed:
    given = json.dumps([(one.kind, one.frame.hex(), one.offset) for one in templates])
    answering = (to.mac.replace(":", ""), str(to.address), str(nobody or to.address))
    arguments = (word.hex(), str(frames), given, ",".join(netdevs), *answering)
    return run_script(runner, "guest_forger.py", arguments, timeout_s=seconds)


def _json(where: str, done: Completed) -> Any:
    try:
        if done.returncode == 0:
            return json.loads(done.output)
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
