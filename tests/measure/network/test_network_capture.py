"""One capture of several senders, over namespaces and a bridge: each has an account of its own."""

import subprocess
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from ipaddress import IPv4Address
from pathlib import Path
from typing import Any

import pytest

from wirespeed.host.clock import Deadline, sleep_s
from wirespeed.host.local import LocalRunner
from wirespeed.host.runner import MAX_OUTPUT_BYTES, Completed
from wirespeed.measure.network.capture import Account, Attempt, Capture, Honest, Side
from wirespeed.measure.network.endpoint import Attachment, Endpoint
from wirespeed.measure.network.forged import PLAIN_KINDS, forged
from wirespeed.measure.network.isolation_verdict import heard_control, judge_forged
from wirespeed.model.error import HostError
from wirespeed.model.network_trial import ForgedKind, IsolationVerdict

LIFE_S = 120
FRAMES = 8
NOBODY = IPv4Address("192.0.2.254")
NETWORKS = {
    "peer": "storage", "receiver": "storage", "apart": "public", "leaking": "public",
}  # fmt: skip
"""The one that is apart has a wire that ends in no bridge."""


@dataclass(frozen=True)
class Inside:
    """Runs commands in the network namespace of a process."""

    pid: int

    def run(
        self,
        argv: Sequence[str],
        *,
        timeout_s: float = 60.0,
        stdin: str | None = None,
        max_bytes: int = MAX_OUTPUT_BYTES,
    ) -> Completed:
        there = ("nsenter", "-t", str(self.pid), "-n", *argv)
        return LocalRunner().run(there, timeout_s=timeout_s, stdin=stdin, max_bytes=max_bytes)

    def ip(self, *words: str) -> None:
        done = self.run(("ip", *words))
        assert done.returncode == 0, done.errors


@pytest.fixture
def places() -> Iterator[dict[str, Inside]]:
    """A namespace of each guest, and of a switch. All end with this process."""
    argv = ["setpriv", "--pdeathsig", "KILL", "unshare", "--net", "sleep", str(LIFE_S)]
    processes = {name: subprocess.Popen(argv) for name in (*NETWORKS, "switch")}
    try:
        deadline = Deadline(20)
        own = Path("/proc/self/ns/net").readlink()
        while any(Path(f"/proc/{one.pid}/ns/net").readlink() == own for one in processes.values()):
            assert not deadline.expired
            sleep_s(0.01)
        found = {name: Inside(one.pid) for name, one in processes.items()}
        switch = found["switch"]
        switch.ip("link", "add", "bridge", "type", "bridge")
        switch.ip("link", "set", "bridge", "up")
        for name in NETWORKS:
            peer = ("peer", "name", "net0", "netns", str(found[name].pid))
            switch.ip("link", "add", name, "type", "veth", *peer)
            if name != "apart":
                switch.ip("link", "set", name, "master", "bridge")
            switch.ip("link", "set", name, "up")
            mac = side(name, found).attachment.mac
            found[name].ip("link", "set", "net0", "address", mac)
            found[name].ip("link", "set", "net0", "up")
        yield found
    finally:
        for one in processes.values():
            one.kill()
            one.wait(10)


def side(name: str, places: dict[str, Inside]) -> Side:
    number = list(NETWORKS).index(name) + 1
    at = Attachment(
        network=NETWORKS[name],
        netdev="net0",
        members=(),
        mac=f"02:00:00:00:00:{number:02x}",
        address=IPv4Address(f"192.0.2.{number}"),
        prefix_length=24,
        segment=42,
        mtu=1500,
    )
    endpoint = Endpoint(name=name, host="alpha", runner=places[name], attachments={at.network: at})
    return Side(endpoint, at)


def captured(places: dict[str, Inside], progress: Callable[[str], None]) -> list[Account]:
    """Let the guest that is apart send first, then the one that leaks."""
    receiver, peer = side("receiver", places), side("peer", places)
    honest = Honest("peer", places["peer"], ("net0",), peer.attachment.mac, None)

    def attempt(name: str) -> Attempt:
        sender = side(name, places)
        mac = peer.attachment.mac
        return Attempt(
            sender, lambda word: forged(word, sender.end, receiver.end, mac, NOBODY), NOBODY
        )

    attempts = [attempt("apart"), attempt("leaking")]
    accounts = Capture(receiver, ("net0",), honest, FRAMES).accounts(attempts, progress)
    assert [account for account in accounts if isinstance(account, str)] == []
    return [account for account in accounts if isinstance(account, Account)]


def judged(account: Account) -> dict[ForgedKind, tuple[IsolationVerdict, int, int, str]]:
    return {
        kind: judge_forged(
            kind, account.place, FRAMES, account.forging, account.arrivals, within_its_network=False
        )
        for kind in PLAIN_KINDS
    }


def heard(account: Account) -> int:
    return heard_control(account.place, account.arrivals)


def test_each_sender_of_a_capture_is_judged_by_its_own_frames(places: dict[str, Inside]):
    said: list[str] = []
    apart, leaking = captured(places, said.append)
    assert said == ["apart in public", "leaking in public"]
    assert set(judged(apart).values()) == {(IsolationVerdict.APART, 0, 0, "")}
    of = judged(leaking)
    for kind in (ForgedKind.UNTAGGED, ForgedKind.BROADCAST, ForgedKind.FORGED_SOURCE_MAC):
        assert of[kind][:3] == (IsolationVerdict.LEAKED, FRAMES, 0), of[kind]
    assert (heard(apart), heard(leaking)) == (40, 40)


def test_a_wire_that_is_cut_between_two_senders_leaves_neither_with_a_proof(
    places: dict[str, Inside],
):
    def cut(before: str) -> None:
        """Take the receiver's peer away before the second sender's turn."""
        if before == "leaking in public":
            places["switch"].ip("link", "set", "peer", "nomaster")

    apart, leaking = captured(places, cut)
    why = "an honest frame sent after the forged ones was not heard either"
    assert set(judged(apart).values()) == {(IsolationVerdict.NOT_SHOWN, 0, 0, why)}
    # A frame that arrives is a leak though no honest one does.
    assert judged(leaking)[ForgedKind.UNTAGGED][:2] == (IsolationVerdict.LEAKED, FRAMES)
    assert (heard(apart), heard(leaking)) == (20, 0)


def test_a_leak_is_told_though_the_last_honest_frames_could_not_be_sent(
    places: dict[str, Inside],
):
    peer, receiver, sender = (side(name, places) for name in ("peer", "receiver", "leaking"))

    @dataclass
    class LostAfterOne:
        """The receiver's peer, whose connection is lost after it has sent once."""

        sent: int = 0

        def run(self, argv: Sequence[str], **given: Any) -> Completed:
            self.sent += 1
            if self.sent > 1:
                raise HostError("ssh.lost", where="peer", found="the connection ended")
            return places["peer"].run(argv, **given)

    honest = Honest("peer", LostAfterOne(), ("net0",), peer.attachment.mac, None)
    attempt = Attempt(
        sender,
        lambda word: forged(word, sender.end, receiver.end, peer.attachment.mac, NOBODY),
        NOBODY,
    )
    (account,) = Capture(receiver, ("net0",), honest, FRAMES).accounts([attempt])
    assert isinstance(account, Account), account
    assert judged(account)[ForgedKind.UNTAGGED][:2] == (IsolationVerdict.LEAKED, FRAMES)
