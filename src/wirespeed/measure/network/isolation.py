"""Isolation: forged frames from every guest in every network to every other guest in another one.

The honest frames beside them must be heard in the same capture, or nothing is shown. They come from
a guest of the receiver's network; where there is none, from a host's ports, with the network's tag.

Where a card says that it checks the source of what a VF sends, that is tried within the sender's
own network, as there is nothing else to see of it.

While it goes on, switches learn forged addresses: what else runs in these networks may stumble.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from ipaddress import IPv4Address, IPv4Interface

from wirespeed.host.runner import Runner
from wirespeed.measure.network.capture import Account, Attempt, Capture, Honest, Side
from wirespeed.measure.network.endpoint import Attachment, Endpoint
from wirespeed.measure.network.forged import (
    KINDS,
    MAX_SENDERS,
    OF_NOBODY,
    WORD_BYTES,
    Template,
    forged,
    spoofed,
)
from wirespeed.measure.network.forged_outer import HostEnd, outer_forged
from wirespeed.measure.network.isolation_verdict import (
    heard_control,
    judge_forged,
)
from wirespeed.measure.network.spoof_check import spoof_checks
from wirespeed.model.network_trial import (
    ForgedKind,
    IsolationTrial,
    IsolationVerdict,
    NetworkTrial,
)
from wirespeed.model.spec.measure import IsolationSpec

NOBODY = "02:77:69:72:65:00"
"""A MAC of nobody: of a host's honest frames, and where there is no third guest."""


def isolation(
    endpoints: Mapping[str, Endpoint],
    hosts: Mapping[str, Runner],
    spec: IsolationSpec,
    record: Callable[[NetworkTrial], None],
    ports: Mapping[str, Sequence[str]] | None = None,
    progress: Callable[[str], None] = lambda _doing: None,
    underlay: Mapping[str, HostEnd] | None = None,
) -> None:
    """Try every guest against every other, in each two networks, and record each kind of frame.

    `ports` gives the netdevs of each host's ports, where the networks are VLANs of these: they
    send the honest frames of a network that has one guest only. `underlay` gives where tunnels end
    on each host, where networks are tunnels: then guests try to make some themselves. Raises
    nothing for what a guest did: such a trial is not shown, and says why.
    """
    sides = [
        Side(endpoint, attachment)
        for endpoint in endpoints.values()
        for attachment in endpoint.attachments.values()
    ]
    for receiver in sides:
        captures: dict[tuple[tuple[str, ...], Honest | None], list[Side]] = {}
        for sender in sides:
            if _are_two(sender, receiver) and not _share(sender, receiver):
                honest = _honest(sides, hosts, ports or {}, sender, receiver)
                captures.setdefault((_counting(sender, receiver), honest), []).append(sender)
        for (netdevs, honest), senders in captures.items():
            listening = Capture(receiver, netdevs, honest, spec.frames)
            apart = _Apart(sides, listening, underlay or {})
            for first in range(0, len(senders), MAX_SENDERS):
                for trial in apart.trials(senders[first : first + MAX_SENDERS], progress):
                    record(trial)
    checks = {name: spoof_checks(runner) for name, runner in hosts.items()}
    for sender in sides:
        peer = next((s for s in sides if _are_two(sender, s) and _share(sender, s)), None)
        said, mac = checks.get(sender.endpoint.host), sender.attachment.mac
        if peer is None or said is None or not said.is_tried(mac):
            continue
        if why := said.why_not(mac):
            record(_not_shown(ForgedKind.FORGED_SOURCE_MAC, sender, peer, why))
        else:
            progress(f"spoof check of {sender}")
            record(_spoofing(sides, spec.frames, sender, peer))


def _are_two(one: Side, other: Side) -> bool:
    return one.endpoint.name != other.endpoint.name


def _share(one: Side, other: Side) -> bool:
    return one.attachment.network == other.attachment.network


def _counting(sender: Side, receiver: Side) -> tuple[str, ...]:
    """Give the receiver's netdevs that count.

    In the sender's own network, where the receiver is in that too, it may hear the sender.
    """
    return tuple(
        netdev
        for attachment in receiver.endpoint.attachments.values()
        if attachment.network != sender.attachment.network
        for netdev in Side(receiver.endpoint, attachment).netdevs
    )


@dataclass(frozen=True, slots=True)
class _Apart:
    """What guests of other networks try with one receiver, in one capture."""

    sides: Sequence[Side]
    capture: Capture
    underlay: Mapping[str, HostEnd]

    def trials(
        self, senders: Sequence[Side], progress: Callable[[str], None]
    ) -> Iterator[IsolationTrial]:
        """Let each sender send every kind."""
        receiver = self.capture.receiver
        nobody = _unused_address(self.sides, receiver.attachment)
        attempts = [
            Attempt(sender, partial(self._templates, sender, nobody), nobody) for sender in senders
        ]
        accounts = self.capture.accounts(
            attempts, lambda sender: progress(f"isolation, {sender} to {receiver}")
        )
        for attempt, account in zip(attempts, accounts, strict=True):
            for kind in OF_NOBODY if nobody is None else ():
                yield _not_shown(kind, attempt.sender, receiver, _full(receiver.attachment))
            for template in attempt.templates(bytes(WORD_BYTES)):
                yield _judged(KINDS[template.kind], self.capture, account, attempt.sender)

    def _templates(self, sender: Side, nobody: IPv4Address | None, word: bytes) -> list[Template]:
        receiver = self.capture.receiver
        third = _third_mac(self.sides, sender, receiver)
        templates = forged(word, sender.end, receiver.end, third, nobody)
        host = receiver.endpoint.host
        if host in self.underlay:
            others = [end for name, end in self.underlay.items() if name != host]
            # A tunnel takes nothing but what comes from its other end.
            templates += outer_forged(
                word, sender.end, receiver.end, others[0], self.underlay[host]
            )
        return templates


def _spoofing(sides: Sequence[Side], frames: int, sender: Side, peer: Side) -> IsolationTrial:
    """Send within the sender's own network with a source that is not its own."""
    third = _third_mac(sides, sender, peer)
    listening = Capture(peer, peer.netdevs, _of_guest(sender), frames)
    attempt = Attempt(
        sender,
        lambda word: [spoofed(word, peer.end, third)],
        _unused_address(sides, peer.attachment),
    )
    (account,) = listening.accounts([attempt])
    return _judged(ForgedKind.FORGED_SOURCE_MAC, listening, account, sender)


def _honest(
    sides: Sequence[Side],
    hosts: Mapping[str, Runner],
    ports: Mapping[str, Sequence[str]],
    sender: Side,
    receiver: Side,
) -> Honest | None:
    """Choose who sends what the receiver must hear: rather over the wire than from its own host."""
    own = receiver.endpoint.host
    peers = [side for side in sides if _are_two(side, receiver) and _share(side, receiver)]
    peers.sort(key=lambda side: (side.endpoint.host == own, side.endpoint is sender.endpoint))
    if peers:
        return _of_guest(peers[0])
    for name in sorted(ports, key=lambda name: (name == own, name)):
        if name in hosts and ports[name]:
            vlan = receiver.attachment.segment or None
            return Honest(f"ports of {name}", hosts[name], tuple(ports[name]), NOBODY, vlan)
    return None


def _of_guest(side: Side) -> Honest:
    of = side.attachment
    return Honest(side.endpoint.name, side.endpoint.runner, (of.netdev,), of.mac, None)


def _third_mac(sides: Sequence[Side], sender: Side, receiver: Side) -> str:
    """Give the MAC of a third guest, of the receiver's network if there is one."""
    two = (sender.endpoint.name, receiver.endpoint.name)
    others = [side for side in sides if side.endpoint.name not in two]
    others.sort(key=lambda side: not _share(side, receiver))
    return others[0].attachment.mac if others else NOBODY


def _unused_address(sides: Sequence[Side], of: Attachment) -> IPv4Address | None:
    """Give the highest address of a guest's subnet that no guest has; None: all are taken."""
    used = {side.attachment.address for side in sides}
    subnet = IPv4Interface(f"{of.address}/{of.prefix_length}").network
    address = subnet.broadcast_address - 1
    while address in used:
        address -= 1
    return address if address > subnet.network_address else None


def _full(of: Attachment) -> str:
    subnet = IPv4Interface(f"{of.address}/{of.prefix_length}").network
    return f"every address of {subnet} is a guest's: none is left to forge"


def _judged(
    kind: ForgedKind, listening: Capture, account: Account | str, sender: Side
) -> IsolationTrial:
    receiver, honest = listening.receiver, listening.honest
    if isinstance(account, str):
        return _not_shown(kind, sender, receiver, account)
    verdict, arrived, answered, what = judge_forged(
        kind,
        account.place,
        listening.frames * len(sender.netdevs),
        account.forging,
        account.arrivals,
        within_its_network=_share(sender, receiver),
    )
    if honest is None and verdict is IsolationVerdict.NOT_SHOWN:
        what = f"{receiver.attachment.network} has no other guest that it would have to hear"
    return IsolationTrial(
        forged=kind,
        sender=sender.endpoint.name,
        sender_network=sender.attachment.network,
        receiver=receiver.endpoint.name,
        receiver_network=receiver.attachment.network,
        sent=account.forging.left.get(KINDS.index(kind), 0),
        arrived=arrived,
        answered=answered,
        heard_control=heard_control(account.place, account.arrivals),
        control="" if honest is None else honest.name,
        verdict=verdict,
        said=what,
    )


def _not_shown(kind: ForgedKind, sender: Side, receiver: Side, why: str) -> IsolationTrial:
    return IsolationTrial(
        forged=kind,
        sender=sender.endpoint.name,
        sender_network=sender.attachment.network,
        receiver=receiver.endpoint.name,
        receiver_network=receiver.attachment.network,
        sent=0,
        arrived=0,
        heard_control=0,
        verdict=IsolationVerdict.NOT_SHOWN,
        said=why,
    )
