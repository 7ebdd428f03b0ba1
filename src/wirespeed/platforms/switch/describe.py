"""A switch in an answer: whether it was read alone, and what its ports say in one line each."""

from collections.abc import Iterator

from wirespeed.ceilings.ethernet import ethernet_ceiling
from wirespeed.model.capture import Capture
from wirespeed.model.ceiling import Direction, Ledger
from wirespeed.model.fact import HostFacts
from wirespeed.model.observed import Absent, CannotTellError, Known, Observed, Unreadable
from wirespeed.model.question import Question
from wirespeed.model.rule import DoesNotApplyError
from wirespeed.platforms.switch.facts.switchport import Switch, Switches
from wirespeed.platforms.switch.facts.switchport_ends import cable_ends
from wirespeed.platforms.switch.facts.switchport_port import SwitchPort

HOST_SECTIONS = ("ports", "kernel", "windows-host")
MAX_PORTS = 128
UNKNOWN = "?"


def is_only_switch(capture: Capture) -> bool:
    """Whether a capture has a switch, and no host at the other end of its cables."""
    return bool(capture.sections("switch-kind")) and not any(map(capture.section, HOST_SECTIONS))


def switch_lines(host: HostFacts, question: Question) -> Iterator[tuple[str, str]]:
    """Give name and state of every port of a switch alone, or of those that the host is in.

    Of a switch alone only the ports that are asked about, where some are.
    """
    if not is_only_switch(host.capture):
        try:
            found = cable_ends(host)
        except (CannotTellError, DoesNotApplyError):
            return
        for pair in found:
            yield f"{pair.name} is in", f"{pair.place}: {port_line(pair.port)}"
        return
    for name, switch in host[Switches].by_name.items():
        yield name, str(switch.kind)
        yield from _ports(switch, question.ports)


def switchports(host: HostFacts) -> Iterator[str]:
    """Give the names of the ports of a switch that was read alone."""
    if is_only_switch(host.capture):
        for switch in host[Switches].by_name.values():
            yield from (port.name for port in _known(switch))


def switch_ledgers(host: HostFacts, question: Question) -> Iterator[Ledger]:
    """Give what the wire of each port carries that is up, of a switch that was read alone."""
    if not is_only_switch(host.capture):
        return
    for name, switch in host[Switches].by_name.items():
        for port in _known(switch):
            is_up = isinstance(port.link_bps, Known) and port.link_bps.value > 0
            # Of all ports those that are down are told elsewhere.
            if port.name in question.ports or (is_up and not question.ports):
                yield _ledger(name, port, question)


def _ledger(name: str, port: SwitchPort, question: Question) -> Ledger:
    link = port.link_bps
    sides = tuple(Direction) if isinstance(link, Known) and link.value > 0 else ()
    ceilings = tuple(
        ethernet_ceiling(link.value, question.frame_bytes, side, link.source)
        for side in sides
        if isinstance(link, Known)
    )
    why = "what is behind the port: only the switch was read" if sides else "ethernet: no link"
    return Ledger(
        port=f"{port.name} of {name}",
        frame_bytes=question.frame_bytes,
        ceilings=ceilings,
        unknown=(why,),
        bidirectional=question.bidirectional,
    )


def _known(switch: Switch) -> tuple[SwitchPort, ...]:
    return switch.ports.value if isinstance(switch.ports, Known) else ()


def _ports(switch: Switch, asked: tuple[str, ...]) -> Iterator[tuple[str, str]]:
    if not isinstance(switch.ports, Known):
        yield "ports", f"cannot tell: {switch.ports.reason}"
        return
    ports = switch.ports.value
    for port in ports[:MAX_PORTS]:
        if not asked or port.name in asked:
            yield port.name, port_line(port)
    if len(ports) > MAX_PORTS:
        yield "ports", f"{len(ports) - MAX_PORTS} more"


def port_line(port: SwitchPort) -> str:
    """Give the state of a port; `?` is a value that its kind does not show."""
    errors = port.fcs_errors if isinstance(port.fcs_errors, Known) else port.input_errors
    words = [
        _state(port),
        _negotiation(port),
        f"FEC {_value(port.fec)}",
        f"MTU {_value(port.mtu_bytes)}",
        f"damaged {_value(errors)}",
        f"hears {_heard(port)}",
    ]
    return ", ".join(words)


def _state(port: SwitchPort) -> str:
    if isinstance(port.is_enabled, Known) and not port.is_enabled.value:
        return "disabled"
    if isinstance(port.is_up, Known) and port.is_up.value:
        return f"{_bps(port.link_bps)} up"
    at = f" (set to {_bps(port.set_bps)})" if isinstance(port.set_bps, Known) else ""
    return f"no link{at}" if isinstance(port.is_up, Known) else "link ?"


def _bps(observed: Observed[int]) -> str:
    return f"{observed.value / 1e9:g} Gb/s" if isinstance(observed, Known) else UNKNOWN


def _negotiation(port: SwitchPort) -> str:
    if not isinstance(port.autonegotiation, Known):
        return f"negotiation {UNKNOWN}"
    if port.autonegotiation.value:
        return "negotiates"
    return "does not negotiate" if isinstance(port.set_bps, Unreadable) else "set by hand"


def _value(observed: Observed[object]) -> str:
    return str(observed.value) if isinstance(observed, Known) else UNKNOWN


def _heard(port: SwitchPort) -> str:
    if isinstance(port.neighbors, Absent):
        return "no neighbor"
    if not isinstance(port.neighbors, Known):
        return UNKNOWN
    return "; ".join(f"{one.port} of {one.system or UNKNOWN}" for one in port.neighbors.value[:4])
