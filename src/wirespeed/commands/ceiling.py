"""`wirespeed ceiling`: the path as a ledger of ceilings, of a host or of cards not bought yet."""

import json
from collections.abc import Iterator
from typing import Any

import click

from wirespeed.ceilings.cpu import DPDK_CYCLES_PER_PACKET, DPDK_CYCLES_SOURCE, cores_ceiling
from wirespeed.ceilings.devices import device_for
from wirespeed.ceilings.encapsulation import Encapsulation, encapsulation_ceiling
from wirespeed.ceilings.ethernet import ethernet_ceiling
from wirespeed.ceilings.pcie import pcie_ceiling
from wirespeed.ceilings.tcp import goodput_bps, tcp_payload_bytes, tcp_window_ceiling
from wirespeed.ceilings.vswitch import vswitch_ceiling
from wirespeed.commands import ceiling_options as option
from wirespeed.commands.described import Described
from wirespeed.model.ceiling import Ceiling, Direction, Ledger, Quantity
from wirespeed.model.error import InputError
from wirespeed.model.frozen import ascii_json
from wirespeed.model.observed import CannotTellError
from wirespeed.model.question import Purpose, Question
from wirespeed.model.shown import shown
from wirespeed.report.ceiling_text import ceiling_lines
from wirespeed.terminal import echo

WIDTH = 80
GIVEN = "as you gave it"
USUAL = {"source": "what most servers of today are set to", "assumed": True}
WHAT_IF = (
    "pcie", "payload", "read_request", "link", "ports", "cores", "core_ghz", "cycles", "window",
    "encapsulation", "vswitch",
)  # fmt: skip
"""Options that describe a path; with none of them it is read from a host."""


@click.command(
    cls=Described,
    reads="the host or the file",
    changes="nothing",
    codes={0: "computed", 2: "bad input, or a reading that was cut off"},
)
@click.argument("host", required=False, metavar="[HOST|FILE]")
@click.option(
    "--pcie", metavar="GENxLANES", help="PCIe slot, as generation and lanes: 4.0x4, 3.0x16."
)
@click.option(
    "--payload",
    metavar="BYTES",
    help="PCIe maximum payload size, in bytes; 256 is assumed without it.",
)
@click.option(
    "--read-request",
    metavar="BYTES",
    help="PCIe maximum read request, in bytes; 512 is assumed without it.",
)
@click.option("--link", metavar="GB/S", help="Speed of a port, in Gb/s.")
@click.option("--ports", metavar="N", help="Number of ports in that slot, all in use at once.")
@click.option("--cores", metavar="N", help="Number of cores that only forward frames.")
@click.option("--core-ghz", metavar="GHZ", help="Clock of these cores, in GHz.")
@click.option("--cycles", metavar="N", help="CPU cycles per frame.")
@click.option("--window", metavar="SIZE", help="TCP window of one connection: 16M.")
@click.option("--rtt", metavar="TIME", help="Round-trip time to the peer, with its unit: 0.2ms.")
@click.option("--vxlan", is_flag=True, help="Add the VXLAN encapsulation to each frame.")
@click.option(
    "--geneve",
    is_flag=True,
    help="Add the Geneve encapsulation, without options, to each frame.",
)
@click.option("--vlan", is_flag=True, help="Add a VLAN tag to each frame.")
@click.option("--vswitch", metavar="GB/S", help="Speed that a virtual adapter reports, in Gb/s.")
@click.option(
    "--frame",
    "--frame-bytes",
    default="1518",
    show_default=True,
    metavar="BYTES",
    help="Bytes of a frame, with FCS and without any tunnel.",
)
@click.option(
    "--bidirectional", is_flag=True, help="Assume the same traffic in both directions at once."
)
@click.option(
    "--for",
    "purpose",
    type=click.Choice([p.value for p in Purpose]),
    help="Purpose of the ports: dpdk has other costs per frame than the kernel.",
)
@click.option(
    "--port", "names", multiple=True, help="Netdev or PCI address of the only port, with HOST."
)
@click.option("--explain", is_flag=True, help="Show the formulas with their values.")
@click.option("--json", "as_json", is_flag=True, help="Print one line of JSON.")
def ceiling(host: str | None, frame: str, purpose: str | None, **given: Any) -> int:
    """Show the most that a path can carry, and what limits it.

    The path is that of this machine, of a host over SSH, or of a file that `wirespeed capture`
    wrote; --pcie, --link and the options after them describe the path of cards that you plan to
    buy.

    The solid part of a bar ends at what a well configured path reaches. The light part ends at what
    would be left if headers were the only cost; no measurement can exceed it.
    """
    question = Question(
        purpose=None if purpose is None else Purpose(purpose),
        frame_bytes=option.frame_length(frame),
        bidirectional=given["bidirectional"],
        rtt_s=None if given["rtt"] is None else option.seconds(given["rtt"]),
        ports=given["names"],
    )
    given["encapsulation"] = _encapsulation(given)
    described = [name for name in WHAT_IF if given[name] is not None]
    if described and (host is not None or question.ports):
        flag = _flag(described[0], given)
        raise InputError(
            "ceiling.two_paths",
            where=host or f"--port {question.ports[0]}",
            found=f"a host is given, and --{flag} describes a path",
            so="wirespeed cannot tell which of the two to compute",
            next="leave out the host or the options of the path",
        )
    if described:
        ledgers = [_what_if(question, given)]
        warnings: tuple[str, ...] = ()
        is_complete = True
    else:
        ledgers, warnings, is_complete = _of_host(host, question)
    if given["as_json"]:
        told = {"is_complete": is_complete, "warnings": warnings}
        echo(ascii_json(json.dumps(told | {"paths": list(map(_path, ledgers))})))
        return 0 if is_complete else 2
    payload_bytes = tcp_payload_bytes(question.frame_bytes)
    name = shown(host or "this host")
    lines = [] if is_complete else [f"INCOMPLETE: {name}: the reading was cut off"]
    lines += [f"warning: {text}" for text in warnings]
    for ledger in ledgers:
        lines += ["", *ceiling_lines(ledger, payload_bytes, explain=given["explain"], width=WIDTH)]
    echo("\n".join(lines).strip("\n") or "no port was found on this host")
    return 0 if is_complete else 2


def _encapsulation(given: dict[str, Any]) -> Encapsulation | None:
    """Give the one that was asked for."""
    found = [kind for kind in Encapsulation if given[kind.lower()]]
    if len(found) > 1:
        flags = [f"--{kind.lower()}" for kind in found]
        raise InputError(
            "ceiling.encapsulation",
            where=" ".join(flags),
            found=f"{len(found)} encapsulations are given",
            so="wirespeed computes one of them at a time",
            next=f"give only one of {', '.join(flags)}",
        )
    return found[0] if found else None


def _what_if(question: Question, given: dict[str, Any]) -> Ledger:
    ceilings = [c for d in Direction for c in _described(question, given, d)]
    if not ceilings:
        raise InputError(
            "ceiling.nothing",
            where="wirespeed ceiling",
            found="its options describe no element of a path",
            so="there is nothing to compute",
            next="give --pcie, --link, --vswitch, --cores or --window: "
            "wirespeed ceiling --pcie 4.0x4 --link 100",
        )
    return Ledger(
        port=_title(given),
        frame_bytes=question.frame_bytes,
        ceilings=tuple(ceilings),
        bidirectional=question.bidirectional,
    )


def _title(given: dict[str, Any]) -> str:
    """Say in words what was described."""
    parts = []
    if given["link"] is not None:
        ports = given["ports"] or "1"
        parts.append(f"{ports} port{'' if ports == '1' else 's'} of {given['link']} Gb/s")
    if given["pcie"] is not None:
        parts.append(f"PCIe {given['pcie']}")
    return ", ".join(parts) or "the path that you described"


def _described(
    question: Question, given: dict[str, Any], direction: Direction
) -> Iterator[Ceiling]:
    frame_bytes = question.frame_bytes
    yield from _wire(given, frame_bytes, direction)
    if given["pcie"] is not None:
        found = pcie_ceiling(
            option.pcie_link(given["pcie"], given["payload"], given["read_request"]),
            frame_bytes,
            direction,
            "pcie",
            GIVEN,
            device=device_for(question.purpose),
            bidirectional=question.bidirectional,
        )
        assumed = {
            name
            for name, value in (
                ("payload", given["payload"]),
                ("read request", given["read_request"]),
            )
            if value is None
        }
        inputs = tuple(i.model_copy(update=USUAL) if i.name in assumed else i for i in found.inputs)
        yield found.model_copy(update={"inputs": inputs})
    else:
        _needs(given, "pcie", "payload", "read_request")
    if given["vswitch"] is not None:
        reported_bps = option.gigabits_bps("vswitch", given["vswitch"])
        yield vswitch_ceiling(reported_bps, frame_bytes, direction, GIVEN, Quantity.ASSUMED)
    yield from _cores(question, given, direction)
    yield from _window(question, given, direction)


def _wire(given: dict[str, Any], frame_bytes: int, direction: Direction) -> Iterator[Ceiling]:
    if given["link"] is None:
        _needs(given, "link", "ports", "encapsulation")
        return
    ports = 1 if given["ports"] is None else option.count("ports", given["ports"])
    link_bps = option.gigabits_bps("link", given["link"]) * ports
    yield ethernet_ceiling(link_bps, frame_bytes, direction, GIVEN)
    if given["encapsulation"] is not None:
        kind = given["encapsulation"]
        yield encapsulation_ceiling(link_bps, frame_bytes, kind, direction, GIVEN)


def _cores(question: Question, given: dict[str, Any], direction: Direction) -> Iterator[Ceiling]:
    if given["cores"] is None:
        _needs(given, "cores", "core_ghz", "cycles")
        return
    if given["core_ghz"] is None:
        raise _lacks("core-ghz", "a number of cores without their clock", "--core-ghz 3.4")
    fewest, most = DPDK_CYCLES_PER_PACKET
    source = DPDK_CYCLES_SOURCE
    assumed = given["cycles"] is None
    if not assumed:
        fewest = most = option.cycles(given["cycles"])
        source = GIVEN
    elif question.purpose is not Purpose.DPDK:
        raise _lacks(
            "cycles",
            "cores without what a frame costs them, and for the kernel no figure is assumed",
            "--cycles 2000 as you measured it, or --for dpdk, where 33 to 43.7 are assumed",
        )
    yield cores_ceiling(
        option.count("cores", given["cores"]),
        option.clock_hz(given["core_ghz"]),
        most,
        question.frame_bytes,
        direction,
        source,
        fewest_cycles_per_packet=fewest,
        assumed=assumed,
    )


def _window(question: Question, given: dict[str, Any], direction: Direction) -> Iterator[Ceiling]:
    if given["window"] is None:
        if question.rtt_s is not None:
            raise _lacks("window", "a round-trip time without a window", "--window 16M")
        return
    if question.rtt_s is None:
        raise _lacks("rtt", "a window without a round-trip time", "--rtt 0.2ms")
    size = option.window_bytes(given["window"])
    if not tcp_payload_bytes(question.frame_bytes):
        raise InputError(
            "ceiling.frame",
            where=f"--frame {question.frame_bytes}",
            found="a frame of this size has no room for TCP payload",
            so="a TCP window cannot be computed for it",
            next="give a longer frame, or leave --window out",
        )
    yield tcp_window_ceiling(size, question.rtt_s, question.frame_bytes, direction, GIVEN)


def _needs(given: dict[str, Any], lacking: str, *present: str) -> None:
    """Refuse options that say something of an element that was not given."""
    for name in present:
        if given[name] is not None:
            raise _lacks(
                lacking, f"--{_flag(name, given)} without --{lacking}", f"--{lacking} as well"
            )


def _flag(name: str, given: dict[str, Any]) -> str:
    """Give the option as the user wrote it."""
    text: str = given[name].lower() if name == "encapsulation" else name.replace("_", "-")
    return text


def _lacks(name: str, found: str, next: str) -> InputError:
    return InputError(
        f"ceiling.{name}",
        where="ceiling",
        found=found,
        so="no ceiling can be computed from that",
        next=f"give {next}",
    )


def _of_host(host: str | None, question: Question) -> tuple[list[Ledger], tuple[str, ...], bool]:
    """Give the ledgers of its ports, what is to be said of the reading, and whether it is whole."""
    # Only here: a what-if needs no host, and shall not wait for what reads one.
    from wirespeed.catalog import platforms
    from wirespeed.doctor.diagnose import asked_ports
    from wirespeed.doctor.ledger import build_ledger
    from wirespeed.host.capture_request import Unreachable
    from wirespeed.host.reach_destination import HERE, parse_destination
    from wirespeed.runs.captures import gather

    (found,) = gather([parse_destination(host or HERE)])
    if isinstance(found, Unreachable):
        raise found.error
    facts = found.facts
    try:
        ports = asked_ports(facts, question)
    except CannotTellError as error:
        raise InputError(
            "ceiling.no_ports",
            where=facts.name,
            found=f"which ports this host has could not be determined: {error.reason}",
            so="no ceiling can be computed",
            next="read the host again with `wirespeed capture`; "
            f"`{error.would_tell}` lists its ports",
        ) from error
    ledgers = [build_ledger(facts, port, question) for port in ports]
    ledgers += [
        one
        for platform in platforms()
        for one in platform.ledgers(facts, question)
        if not question.ports or one.port in question.ports
    ]
    return ledgers, found.warnings, facts.capture.complete


def _path(ledger: Ledger) -> dict[str, Any]:
    """One path for a program: the ledger, and what bounds each direction."""
    bounds = {}
    for direction in Direction:
        low, high = ledger.bound(direction), ledger.most(direction)
        if low is None or high is None:
            continue
        bounds[direction.value] = {
            "may_be_bound_by": [c.element for c in ledger.may_bound(direction)],
            "load_pps": {"low": low.load_pps.low, "high": high.load_pps.high},
            "load_bps_l1": {"low": low.load_bps_l1.low, "high": high.load_bps_l1.high},
            "goodput_bps": {
                end: goodput_bps(load_pps, ledger.frame_bytes)
                for end, load_pps in (("low", low.load_pps.low), ("high", high.load_pps.high))
            },
        }
    return {**ledger.model_dump(mode="json"), "bounds": bounds}
