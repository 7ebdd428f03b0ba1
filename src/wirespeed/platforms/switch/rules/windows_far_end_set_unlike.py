"""A card of Windows that negotiates, at a switch's port that is set by hand, or the slow way."""

from collections.abc import Iterator

from wirespeed.ceilings.ethernet import ethernet_ceiling
from wirespeed.model.ceiling import Direction
from wirespeed.model.finding import ByHand, Change, Evidence, Finding, Remedy, Severity
from wirespeed.model.observed import CannotTellError, known, value_or_none
from wirespeed.model.rule import HostExam, HostRule
from wirespeed.model.shown import shown
from wirespeed.model.symptom import Symptom
from wirespeed.platforms.switch.facts.switchport_port import most_bps, without_negotiation
from wirespeed.platforms.switch.facts.windows_far_end import WindowsPair, windows_pairs
from wirespeed.platforms.windows.facts.windows_adapters import SOURCE, WindowsAdapter

DRIVERS = {"mlx5.sys": 10**10}
"""Least that any card of a driver can do: WinOF-2 has ConnectX-4 and later."""
DOWN = "Disconnected"


def _check(exam: HostExam) -> Iterator[Finding]:
    unknown: CannotTellError | None = None
    found = 0
    for pair in windows_pairs(exam.host):
        try:
            for finding in _pair(exam, pair):
                found += 1
                yield finding
        except CannotTellError as error:
            unknown = unknown or error
    if unknown is not None and not found:
        raise unknown


def _pair(exam: HostExam, pair: WindowsPair) -> Iterator[Finding]:
    card, port = pair.adapter, pair.port
    status = known(card.status, f"whether {card.name} has a link")
    negotiates = known(port.autonegotiation, f"whether {pair.place} negotiates")
    if status == DOWN and not negotiates:
        yield _no_link(exam, pair)
    elif card.is_up and negotiates:
        yield from _slow(exam, pair)


def _no_link(exam: HostExam, pair: WindowsPair) -> Finding:
    set_bps = value_or_none(pair.port.set_bps)
    return exam.finding(
        Severity.FAULT,
        (
            Evidence(
                found=f"{pair.place} {without_negotiation(pair.port)}",
                source=pair.port.autonegotiation.source,
            ),
            Evidence(found="no link", source=SOURCE),
        ),
        so="the card waits for a negotiation that this port does not send, and gets no link",
        where=shown(pair.adapter.name, 60),
        remedies=(_both(set_bps),),
        unpriced="the speed that the link should have is not known",
    )


def _slow(exam: HostExam, pair: WindowsPair) -> Iterator[Finding]:
    card, port = pair.adapter, pair.port
    now = known(card.link_bps, f"speed of {card.name}")
    theirs = most_bps(port.name)
    if theirs is None:
        raise CannotTellError(f"the speeds that {pair.place} supports", port.is_up.source)
    if now >= theirs:
        return
    own = _least(card)
    both = min(theirs, own)
    if now >= both:
        return
    yield exam.finding(
        Severity.FAULT,
        (
            Evidence(found=f"{port.name} is made for {_g(theirs)}", source=port.is_up.source),
            Evidence(found=f"{pair.place} negotiates", source=port.autonegotiation.source),
            Evidence(
                found=f"the mlx5 card supports {_g(own)}; it runs at {_g(now)}", source=SOURCE
            ),
        ),
        so=f"the link runs at {_g(now)} of the {_g(both)} that both ends support",
        where=shown(card.name, 60),
        remedies=(_both(both),),
        changes=tuple(
            Change(after=ethernet_ceiling(both, exam.question.frame_bytes, side, "both ends set"))
            for side in Direction
        ),
    )


def _least(card: WindowsAdapter) -> int:
    driver = value_or_none(card.driver_file)
    if driver is None or driver.lower() not in DRIVERS:
        raise CannotTellError(
            f"which speeds {card.name} supports",
            f"Get-NetAdapterAdvancedProperty -InterfaceDescription '{card.description}'",
        )
    return DRIVERS[driver.lower()]


def _both(bps: int | None) -> Remedy:
    gigabits = "SPEED" if bps is None else f"{bps // 10**9}G"
    return Remedy(
        text="set both ends to the same, as one change with one undo: `wirespeed link HOST "
        f"ADAPTER SWITCH --speed {gigabits}` (it sets a Mellanox card with mlx5cmd); setting "
        "one end alone leaves no link",
        by_hand=ByHand.FAR_END,
    )


def _g(bps: int) -> str:
    return f"{bps / 1e9:g} Gb/s"


RULE = HostRule(
    slug="windows.far_end_set_unlike",
    title="Settings differ between card and switch port (Windows)",
    why="A 25 Gb/s card gets no link at a switch port that is set to 10 Gb/s by hand, and comes "
    "up at 1 Gb/s if the port negotiates: SFP+ has no negotiation for 10 Gb/s. With both "
    "ends set to 10 Gb/s the link comes up. Windows does not report the speed that the card "
    "is set to: only the missing link at such a port shows it.",
    source="`Force Mellanox ConnectX-4 Lx 25Gbps to 10Gbps speed`; IEEE 802.3 clauses 37 and 73",
    price="line rate now and at the best speed that both ends are set for",
    explains=(Symptom.NO_LINK, Symptom.SLOW_LINK),
    check=_check,
)
