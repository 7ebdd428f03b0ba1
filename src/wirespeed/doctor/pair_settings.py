"""Settings of two ends of one cable, held against each other."""

from collections.abc import Iterator

from wirespeed.doctor.pair_end import End, PairRule, Said, alike, are_up, read_at
from wirespeed.facts.netstack import NetStack
from wirespeed.model.finding import Severity
from wirespeed.model.observed import Absent, CannotTellError, Known, known
from wirespeed.model.pair import PairFinding
from wirespeed.model.rule import DoesNotApplyError

NO_FEC = {"off", "none"}


def _link(slug: str, first: End, second: End) -> Iterator[Said]:
    if are_up(first, second):
        yield alike(slug, "a link at both ends")
        return
    evidence = []
    for end in (first, second):
        link = end.link()
        why = f" ({link.down_reason.value})" if isinstance(link.down_reason, Known) else ""
        text = "link up" if known(link.is_up, "the carrier") else f"no link{why}"
        evidence.append(end.saw(link.is_up, text))
    is_half = any(one.found == "link up" for one in evidence)
    yield PairFinding(
        rule=slug,
        severity=Severity.FAULT,
        evidence=tuple(evidence),
        so="one end has a link and the other has none: they are not ends of one cable, were not "
        "read at one time, or only one of the two directions works"
        if is_half
        else "nothing passes between the two",
        do="look at the cable and at both modules, then at what both ends are set to"
        if not is_half
        else "see that the cable goes where you think (`ethtool -p` blinks the port), then at the "
        "module and the cable of the end without a link",
        commands=(first.ethtool("-m"), second.ethtool("-m")),
    )


def _links_bps(first: End, second: End) -> tuple[int, int] | None:
    """Give what both run at, in b/s; None where a link is down."""
    if not are_up(first, second):
        return None
    links_bps = []
    for end in (first, second):
        link_bps = end.link().link_bps
        read_at(end, link_bps, "the speed")
        links_bps.append(known(link_bps, "the speed"))
    return links_bps[0], links_bps[1]


def on_one_cable(first: End, second: End) -> None:
    """Raise CannotTellError where the two cannot be: what is set on each hop is its own."""
    links_bps = _links_bps(first, second)
    if links_bps is not None and links_bps[0] != links_bps[1]:
        raise CannotTellError(
            "the two run at different speeds, so no one cable joins them",
            "wirespeed doctor --far-end, for each host and its switch",
        )


def _link_bps(slug: str, first: End, second: End) -> Iterator[Said]:
    links_bps = _links_bps(first, second)
    if links_bps is None:
        yield from _common_bps(slug, first, second)
    elif links_bps[0] == links_bps[1]:
        yield alike(slug, f"{_gigabits(links_bps[0])} at both ends")
    else:
        slow = first if links_bps[0] < links_bps[1] else second
        yield PairFinding(
            rule=slug,
            severity=Severity.FAULT,
            evidence=tuple(
                end.saw(end.link().link_bps, _gigabits(link_bps))
                for end, link_bps in zip((first, second), links_bps, strict=True)
            ),
            so="no one cable runs at two speeds: a switch is in between, and what comes faster "
            f"than {_gigabits(min(links_bps))} waits in it or is dropped",
            do=f"bring {slow.label} to the speed of the other end, or check which ports the "
            "cables connect",
            commands=(slow.ethtool("-m"),),
        )


def _common_bps(slug: str, first: End, second: End) -> Iterator[Said]:
    can = []
    for end in (first, second):
        modes = end.link().advertised.bps
        read_at(end, modes, "which speeds it advertises")
        can.append(set(known(modes, "the speeds")))
    both = can[0] & can[1]
    if both:
        yield alike(slug, f"no link; both advertise {_gigabits(max(both))}")
        return
    yield PairFinding(
        rule=slug,
        severity=Severity.FAULT,
        evidence=tuple(
            end.saw(
                end.link().advertised.bps, f"advertises {', '.join(map(_gigabits, sorted(bps)))}"
            )
            for end, bps in zip((first, second), can, strict=True)
        ),
        so="the two have no speed in common, and no link comes up",
        do="take modules and a cable of one speed that both ports support, or set both to it",
        commands=(first.ethtool("-m"), second.ethtool("-m")),
    )


def _gigabits(bps: int) -> str:
    return f"{bps / 1e9:g} Gb/s"


def _fec(slug: str, first: End, second: End) -> Iterator[Said]:
    on_one_cable(first, second)
    up = are_up(first, second)
    what = "the FEC that runs" if up else "the FEC that is set"
    read = [end.link().fec_active if up else end.link().fec_configured for end in (first, second)]
    if all(isinstance(one, Absent) for one in read):
        raise DoesNotApplyError("neither driver knows FEC")
    words: list[set[str]] = []
    for end, one in zip((first, second), read, strict=True):
        read_at(end, one, what)
        words.append({"none" if w.lower() in NO_FEC else w.lower() for w in known(one, what)})
    if words[0] & words[1]:
        yield alike(slug, f"FEC {', '.join(sorted(words[0] & words[1]))} at both ends")
        return
    is_auto = "auto" in words[0] | words[1]
    here = ", ".join(sorted(words[0] - {"auto"})) or "auto"
    yield PairFinding(
        rule=slug,
        severity=Severity.RISK if is_auto else Severity.FAULT,
        evidence=tuple(
            end.saw(one, f"FEC {', '.join(sorted(said))}")
            for end, one, said in zip((first, second), read, words, strict=True)
        ),
        so="one end chooses its FEC and the other does not: they may choose unlike, and no link "
        "comes up"
        if is_auto
        else "the two correct errors unlike: no link comes up, or frames arrive damaged",
        do=f"give both the same FEC: what the cable and the modules need, {here} if in doubt"
        if is_auto
        else "give both the same FEC: what the cable and the modules need, or auto at both",
        commands=tuple(end.ethtool("--set-fec", "encoding", "auto") for end in (first, second)),
    )


def _autonegotiation(slug: str, first: End, second: End) -> Iterator[Said]:
    on_one_cable(first, second)
    read = [end.link().autonegotiation for end in (first, second)]
    for end, one in zip((first, second), read, strict=True):
        read_at(end, one, "autonegotiation")
    here, there = (known(one, "autonegotiation") for one in read)
    if here == there:
        yield alike(slug, f"autonegotiation {_switch(here)} at both ends")
        return
    up = are_up(first, second)
    by_hand = second if here else first
    yield PairFinding(
        rule=slug,
        severity=Severity.RISK if up else Severity.FAULT,
        evidence=tuple(
            end.saw(one, f"autonegotiation {_switch(known(one, ''))}")
            for end, one in zip((first, second), read, strict=True)
        ),
        so="the end that negotiates gets no answer: the link is up by chance, and may stay down "
        "after its next loss"
        if up
        else "the end that negotiates gets no answer, and the link does not come up",
        do="let both negotiate, or set both by hand to one speed and FEC",
        commands=(by_hand.ethtool("-s", "autoneg", "on"),),
    )


def _switch(on: bool) -> str:
    return "on" if on else "off"


def _mtu(slug: str, first: End, second: End) -> Iterator[Said]:
    read = []
    for end in (first, second):
        if end.port.netdev is None:
            raise DoesNotApplyError(f"{end.label} has no netdev")
        read.append(end.host[NetStack][end.port.netdev].mtu)
        read_at(end, read[-1], "the MTU")
    here, there = (known(one, "the MTU") for one in read)
    if here == there:
        yield alike(slug, f"MTU {here} at both ends")
        return
    large, small = (first, second) if here > there else (second, first)
    yield PairFinding(
        rule=slug,
        severity=Severity.FAULT,
        evidence=tuple(
            end.saw(one, f"MTU {known(one, '')}")
            for end, one in zip((first, second), read, strict=True)
        ),
        so=f"{small.name} need not take what {large.name} sends above {min(here, there)} bytes, "
        "and no message says so: TCP agrees on less when it connects, UDP, RoCE and tunnels stall",
        do=f"give both one MTU: {max(here, there)} where every switch on the way has room for it",
    )


def _pause(slug: str, first: End, second: End) -> Iterator[Said]:
    on_one_cable(first, second)
    settings = [end.link().pause for end in (first, second)]
    for end, one in zip((first, second), settings, strict=True):
        read_at(end, one.receive, "whether it obeys pause frames")
        read_at(end, one.transmit, "whether it sends pause frames")
    if all(isinstance(s.autonegotiation, Known) and s.autonegotiation.value for s in settings):
        raise DoesNotApplyError("both negotiate it")
    asks = False
    for sender, receiver, sent, obeyed in (
        (first, second, settings[0].transmit, settings[1].receive),
        (second, first, settings[1].transmit, settings[0].receive),
    ):
        if known(sent, "") and not known(obeyed, ""):
            asks = True
            yield PairFinding(
                rule=slug,
                severity=Severity.RISK,
                evidence=(
                    sender.saw(sent, "sends pause frames"),
                    receiver.saw(obeyed, "does not obey pause frames"),
                ),
                so=f"{sender.name} sends pause frames, but {receiver.name} does not obey them: "
                f"{sender.name} drops what does not fit",
                do="obey them there too, or send none here: both ends alike",
                commands=(receiver.ethtool("-A", "rx", "on"),),
            )
    if not asks:
        yield alike(slug, "pause frames are obeyed where they are sent")


SETTINGS = (
    PairRule(
        "pair.link",
        "Carrier at both ends",
        _link,
        why="A link comes up at both ends or at none, within the seconds that negotiation takes. "
        "One end alone means that only one direction works, or that the two are not one cable.",
        source="IEEE 802.3 clauses 46.3.4 (link fault signaling: an end that hears nothing tells "
        "the other so) and 73 (autonegotiation)",
    ),
    PairRule(
        "pair.speed",
        "Speed at both ends",
        _link_bps,
        why="Both ends of a cable run at one speed, so two speeds mean a switch in between. "
        "Without a link, two ends that advertise no speed in common never get one.",
        source="IEEE 802.3 clauses 28.2.3.3 and 73.7.6 (priority resolution: the highest that both "
        "have)",
    ),
    PairRule(
        "pair.fec",
        "FEC at both ends",
        _fec,
        why="FEC adds code words to the line that an end without it, or with another one, cannot "
        "read: there is no link, or every frame is damaged. Where one end is set to auto it may "
        "choose the same one or not.",
        source="IEEE 802.3 clauses 74, 91 and 73.6.5 (FEC is negotiated where both negotiate); "
        "https://man7.org/linux/man-pages/man8/ethtool.8.html (--set-fec)",
    ),
    PairRule(
        "pair.autonegotiation",
        "Autonegotiation at both ends",
        _autonegotiation,
        why="An end that negotiates waits for pages that the other end does not send. Copper "
        "cables of 25 Gb/s and more are trained with them; on BASE-T the end that gets none "
        "assumes half duplex.",
        source="IEEE 802.3 clauses 28.2.3.1 (parallel detection) and 73",
    ),
    PairRule(
        "pair.mtu",
        "MTU at both ends",
        _mtu,
        why="A frame that is longer than the receiver's MTU is dropped there without a message: "
        "only routers send one. TCP avoids it by the MSS of both ends; nothing else does.",
        source="RFC 9293 section 3.7.1 (MSS); RFC 4821 section 1 (packets lost without a message); "
        "https://docs.kernel.org/networking/statistics.html (rx_length_errors)",
    ),
    PairRule(
        "pair.pause",
        "Pause frames that one end sends and the other ignores",
        _pause,
        why="A pause frame asks the other end to stop. An end that does not obey keeps sending "
        "into a full buffer. If both ends negotiate pause, the driver resolves it, and the "
        "active mode may differ from the configured one.",
        source="IEEE 802.3 annexes 31B (PAUSE) and 28B.3 (its resolution); "
        "https://man7.org/linux/man-pages/man8/ethtool.8.html (-A)",
    ),
)
