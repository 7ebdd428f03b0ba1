"""A paced flow of numbered packets from one guest to another, in the background of both."""

import secrets
from ipaddress import IPv4Address
from typing import Any

from wirespeed.host.clock import sleep_s
from wirespeed.host.closing import Closing
from wirespeed.host.guest_script import run_script
from wirespeed.host.runner import Completed, Runner
from wirespeed.measure.network.failover_verdict import Heard, Sent, parse_heard, parse_sent
from wirespeed.measure.network.lease import said
from wirespeed.model.error import MeasurementError, WirespeedError
from wirespeed.model.json_value import read_json

SETTLE_S = 0.3
"""After the last packet was sent, for those that are under way."""
MAX_PORT = 65535


class Flow(Closing):
    """A flow that is on. Both ends give up by themselves after `seconds`, whatever becomes of us.

    Everything raises MeasurementError `flow.failed`, and as `Runner.run`.
    """

    def __init__(
        self, sender: Runner, receiver: Runner, address: IPv4Address, load_pps: int, seconds: int
    ) -> None:
        """Start the receiver at `address`, then the sender."""
        self._sender, self._receiver = sender, receiver
        word = secrets.token_hex(8)
        self._names = f"wirespeed-r-{word}", f"wirespeed-s-{word}"
        self._is_over = False
        arguments = (self._names[0], str(address), word, str(seconds + 10))
        done = run_script(receiver, "guest_flow_receiver.py", arguments)
        port = done.output.strip()
        if done.returncode or not port.isdecimal() or not 0 < int(port) <= MAX_PORT:
            raise _failed("receiver", done)
        try:
            flow = (str(address), port, word, str(load_pps), str(seconds))
            done = run_script(sender, "guest_flow_sender.py", (self._names[1], *flow))
            if done.returncode:
                raise _failed("sender", done)
        except BaseException:
            self.close()
            raise

    def mark(self, phase: str) -> None:
        """Begin a phase of the receiver's account."""
        self._ask(self._receiver, self._names[0], f"mark {phase}")

    def stop(self) -> tuple[Sent, Heard]:
        """End it and give both accounts. Raises NoAccountError as well."""
        self._is_over = True
        sent = parse_sent(self._ask(self._sender, self._names[1], "stop"))
        sleep_s(SETTLE_S)
        return sent, parse_heard(self._ask(self._receiver, self._names[0], "stop"))

    def close(self) -> None:
        """End what is still on, as far as it can be reached."""
        if self._is_over:
            return
        self._is_over = True
        for runner, name in zip((self._receiver, self._sender), self._names, strict=True):
            try:
                run_script(runner, "guest_ask.py", (name, "stop"))
            except WirespeedError:
                continue

    def _ask(self, runner: Runner, name: str, query: str) -> Any:
        done = run_script(runner, "guest_ask.py", (name, query))
        try:
            if done.returncode == 0:
                return read_json(done.output)
        except ValueError:
            pass
        raise _failed(query, done)


def _failed(where: str, done: Completed) -> MeasurementError:
    return MeasurementError(
        "flow.failed",
        where=where,
        found=said(done),
        so="packets between the guests could not be counted, so this figure is missing",
        next="check that both guests reach each other (`ping`), then measure again",
    )
