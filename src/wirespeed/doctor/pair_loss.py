"""What one end of a cable loses or sends again, explained by what the other counts."""

from collections.abc import Iterator

from wirespeed.doctor.pair_end import End, PairRule, Said, alike, read_at
from wirespeed.facts.counters import Counters, Delta
from wirespeed.facts.counters_loss import Loss, loss_at
from wirespeed.facts.counters_places import CONTAINED, Place
from wirespeed.facts.kernel_tcp import TcpCounts
from wirespeed.model.finding import Severity
from wirespeed.model.observed import Absent, CannotTellError, known
from wirespeed.model.pair import PairFinding, SeenAt
from wirespeed.model.rule import DoesNotApplyError

FEWEST_RESENT, RESENT_SHARE = 10, 0.001
"""As in the rule about resent segments of one host."""
FIRM_S = 10.0
"""Seconds from which two readings that were not at one moment are held against each other."""
APART = 0.1
"""Share of what was sent by which the two may differ: they were not read at one moment."""
FEWEST_PPS = 1000
DROPPED_BY_HOST = (Place.PORT_BUFFER, Place.PCIE, Place.NO_RECEIVE_BUFFER)


def _loss(slug: str, sender: End, receiver: End) -> Iterator[Said]:
    """What is lost from `sender` to `receiver`, by the end that counts it."""
    unread: list[CannotTellError] = []

    def lost(end: End, place: Place, among: Place) -> Loss | None:
        try:
            return loss_at(end.host[Counters], end.port, place, among)
        except CannotTellError as error:
            unread.append(
                CannotTellError(
                    f"{end.name}: {error.reason}", f"{error.would_tell} (on {end.name})"
                )
            )
        except DoesNotApplyError:
            pass
        return None

    resent = _resent(sender, unread)
    before = lost(sender, Place.TRANSMIT, Place.SENT)
    damaged = lost(receiver, Place.PHYSICAL, Place.RECEIVED)
    late = [lost(receiver, place, Place.RECEIVED) for place in DROPPED_BY_HOST]
    dropped = [one for one in late if one is not None]
    explains = f", and is why {sender.name} sends segments again" if resent else ""
    counted = found = False
    for at, losses, so, do, commands in (
        (sender, [before] if before else [],
         f"{sender.name} itself drops before the cable: neither the cable nor {receiver.name} has "
         f"to do with it{explains}",
         f"see the findings about {sender.label}: queues, rings and what sends", ()),
        (receiver, [damaged] if damaged else [],
         f"frames of {sender.name} are damaged on the cable to {receiver.name}: {sender.name}'s "
         f"module, the cable, or the module that receives, never the load of a host{explains}",
         f"clean or replace the cable, then the module at {sender.label}, then at "
         f"{receiver.label}; look at light and FEC of both",
         (sender.ethtool("-m"), receiver.ethtool("-m"))),
        (receiver, dropped,
         f"the frames of {sender.name} arrive whole and {receiver.name} takes them too slowly: "
         f"the cable and {sender.name} are ruled out{explains}",
         f"see the findings about {receiver.label}: rings, cores, PCI Express", ()),
    ):  # fmt: skip
        if not losses:
            continue
        evidence = [
            SeenAt(host=at.name, found=one.found, source=one.source)
            for loss in losses
            for one in loss.evidence[:1]
        ]
        is_now = any(loss.now for loss in losses)
        counted, found = True, found or is_now
        yield PairFinding(
            rule=slug,
            severity=Severity.FAULT if is_now else Severity.NOTE,
            evidence=(*evidence, *(resent if is_now else ())),
            so=so if is_now else f"before this capture, {so.removesuffix(explains)}",
            do=do,
            commands=commands,
        )
    if unread:
        raise unread[0]
    if found:
        return
    if resent:
        yield PairFinding(
            rule=slug,
            severity=Severity.RISK,
            evidence=resent,
            so=f"neither end of the cable counts a loss from {sender.name} to {receiver.name}: "
            "the retransmissions are on another path, or the loss is in a switch between or "
            "above the card",
            do="`ss -ti` names the connections that resend; ask the doctor about that peer, and "
            "--far-end about the switch",
        )
        return
    if not counted:
        yield alike(slug, f"{sender.name} to {receiver.name}: no loss that either end counts")


def _resent(end: End, unread: list[CannotTellError]) -> tuple[SeenAt, ...]:
    """Give what TCP of that host sends again, over all its connections; empty: next to nothing."""
    counts = end.host[TcpCounts]
    try:
        read_at(end, counts.sent_segments, "how many segments TCP sends")
        read_at(end, counts.resent_segments, "how many segments TCP sends again")
    except CannotTellError as error:
        unread.append(error)
        return ()
    sent, resent = known(counts.sent_segments, ""), known(counts.resent_segments, "")
    if resent < FEWEST_RESENT or resent <= RESENT_SHARE * sent:
        return ()
    text = f"{resent} segments sent again, of {sent} over all connections"
    return (end.saw(counts.resent_segments, text),)


def _frames(slug: str, sender: End, receiver: End) -> Iterator[Said]:
    """What was sent and not received, counted damaged and dropped frames in."""
    sent = _delta(sender, Place.SENT)
    received = _delta(receiver, Place.RECEIVED)
    if sent.per_second < FEWEST_PPS:
        raise DoesNotApplyError(f"below {FEWEST_PPS} frames a second there is nothing to compare")
    held = {place for name in received.counters for place in CONTAINED.get(name, ())}
    got = received.per_second
    for place in (Place.PHYSICAL, *(p for p in DROPPED_BY_HOST if p not in held)):
        delta = receiver.host[Counters].delta(receiver.port.netdev, place)
        if not isinstance(delta, Absent):
            got += _delta(receiver, place).per_second
    missing = (sent.per_second - got) / sent.per_second
    text = f"{sent.per_second:,.0f} frames/s sent, {got:,.0f} frames/s arrived"
    if abs(missing) <= APART:
        yield alike(slug, f"{sender.name} to {receiver.name}: {text}")
        return
    again = "the same with --seconds 30, while the traffic is steady"
    if missing < 0:
        raise CannotTellError(f"{text}: others send there too, or at another moment", again)
    if min(sent.seconds, received.seconds) < FIRM_S:
        raise CannotTellError(f"{text}; the readings were short, and not at one moment", again)
    yield PairFinding(
        rule=slug,
        severity=Severity.FAULT,
        evidence=tuple(
            SeenAt(
                host=end.name,
                found=f"{delta.count} {place} in {delta.seconds:.1f} s",
                source=f"ethtool -S {end.port.netdev}",
            )
            for end, delta, place in (
                (sender, sent, Place.SENT), (receiver, received, Place.RECEIVED),
            )
        ),
        so=f"{missing:.0%} of what {sender.name} sends is not received, dropped or damaged at "
        f"{receiver.name}: a switch between the two drops it, or it goes elsewhere",
        do="see whether one cable joins the two; ask the switch between them with --far-end",
    )  # fmt: skip


def _delta(end: End, place: Place) -> Delta:
    observed = end.host[Counters].delta(end.port.netdev, place)
    read_at(end, observed, place)
    return known(observed, place)


LOSSES = (
    PairRule(
        "pair.loss",
        "Frames lost on the way, by the end that lost them",
        _loss,
        why="Each frame is counted where it is dropped: by the sender before the cable, as damaged "
        "by the receiver's MAC, or by the receiver's card when its host is slow. So the counters "
        "of one end say why TCP of the other sends again. TCP counts over all its connections, "
        "those to other hosts too.",
        source="https://docs.kernel.org/networking/statistics.html (tx_dropped, rx_crc_errors, "
        "rx_missed_errors); IEEE 802.3 clause 30.3.1.1.6; RFC 4022 (tcpRetransSegs)",
        each_way=True,
    ),
    PairRule(
        "pair.frames",
        "Frames sent against those that arrived",
        _frames,
        why="What one end sends and the other neither receives, drops nor calls damaged went "
        "elsewhere: by a switch between the two, or to another port. The two are not read at "
        "one moment, which the rule allows for.",
        source="IEEE 802.3 clauses 30.3.1.1.2 and 30.3.1.1.5 (frames transmitted and received OK); "
        "https://docs.kernel.org/networking/statistics.html",
        each_way=True,
    ),
)
