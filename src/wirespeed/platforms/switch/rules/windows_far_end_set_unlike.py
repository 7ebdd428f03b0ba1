"""A card of Windows that negotiates, at a switch's port that is set by hand, or the slow way."""

from collections.abc import Iterator

from wirespeed.ceilings.ethernet import ethernet_ceiling
from wirespeed.model.bound import Bound, BoundUnit, Limit
from wirespeed.model.ceiling import Direction
from wirespeed.model.finding import ByHand, Change, Evidence, Finding, Remedy, Severity
from wirespeed.model.observed import CannotTellError, Known, known, value_or_none
from wirespeed.model.rule import HostExam, HostRule, of_each
from wirespeed.model.symptom import Symptom
from wirespeed.model.units import line_rate_pps
from wirespeed.platforms.switch.facts.switchport_port import most_bps, without_negotiation
from wirespeed.platforms.switch.facts.windows_far_end import WindowsPair, windows_pairs
from wirespeed.platforms.windows.facts.windows_adapters import SOURCE, WindowsAdapter

DRIVERS = {"mlx5.sys": 10**10}
"""Least that any card of a driver can do: WinOF-2 has ConnectX-4 and later."""
DOWN = "Disconnected"


def _check(exam: HostExam) -> Iterator[Finding]:
    yield from of_each(windows_pairs(exam.host), lambda pair: _pair(exam, pair))


def _pair(exam: HostExam, pair: WindowsPair) -> Iterator[Finding]:
    card, port = pair.adapter, pair.port
    status = known(card.status, f"whether {card.name} has a link")
    negotiates = known(port.autonegotiation, f"whether {pair.place} negotiates")
    if status == DOWN and not negotiates:
        yield _no_link(exam, pair)
    elif card.is_up and negotiates:
        yield from _slow(exam, pair)


def _no_link(exam: HostExam, pair: WindowsPair) -> Finding:
    port_bps = pair.port.set_bps
    set_bps = port_bps.value if isinstance(port_bps, Known) else None
    return exam.finding(
        Severity.FAULT,
        (
            Evidence(
                found=f"{pair.place} {without_negotiation(pair.port)}",
                source=pair.port.autonegotiation.source,
            ),
            Evidence(found="no link", source=SOURCE),
        ),
        so="a card that negotiates gets no link at this port, which sends no negotiation",
        where=pair.adapter.name,
        remedies=(
            _both(
                set_bps,
                ". If the card is set to that speed already, check the cable and the modules",
            ),
        ),
        bounds=tuple(
            Bound(
                limit=Limit.EXACTLY,
                value=float(line_rate_pps(bps, exam.question.frame_bytes)),
                unit=BoundUnit.LOAD_PPS,
                of="each way: without a link nothing is carried",
                formula="line rate at the speed that the port is set to",
            )
            for bps in ((set_bps,) if set_bps else ())
        ),
        unpriced="the speed that the port is set to is not known: look at its configuration on the "
        "switch",
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
                found=f"the mlx5 card supports at least {_g(own)}; it runs at {_g(now)}",
                source=SOURCE,
            ),
        ),
        so=f"the link runs at {_g(now)} of the {_g(both)} that both ends support",
        where=card.name,
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


def _both(bps: int | None, otherwise: str = "") -> Remedy:
    gigabits = "SPEED" if bps is None else f"{bps / 1e9:g}G"
    return Remedy(
        text="set both ends to the same, as one change with one undo: `wirespeed link HOST "
        f"ADAPTER SWITCH --speed {gigabits}` (it sets a Mellanox card with mlx5cmd); setting "
        f"one end alone leaves no link{otherwise}",
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
    price="line rate now and at the best speed that both ends support; without a link, the line "
    "rate at the speed that the port is set to",
    explains=(Symptom.NO_LINK, Symptom.SLOW_LINK),
    check=_check,
)
