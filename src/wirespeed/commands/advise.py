"""`wirespeed advise`: questions of design, answered with figures."""

import re
from collections.abc import Callable
from typing import Any

import click

from wirespeed.advice.cable import SPEEDS, advise_cable
from wirespeed.advice.capacity import GT_PER_S
from wirespeed.advice.fabric import advise_fabric
from wirespeed.advice.inference import Model, advise_inference
from wirespeed.advice.network import Asked, advise_network
from wirespeed.advice.slot import Slot, advise_slot
from wirespeed.advice.transport import advise_transport
from wirespeed.advice.wsl2 import advise_wsl2
from wirespeed.commands.described import Described
from wirespeed.commands.quantities import FiniteRange
from wirespeed.model.advice import Advice
from wirespeed.model.error import InputError
from wirespeed.model.shown import shown
from wirespeed.report.advice_text import advice_lines
from wirespeed.terminal import echo

LANES = (1, 2, 4, 8, 16, 32)
as_json = click.option("--json", "as_json", is_flag=True, help="Print one line of JSON.")


@click.group()
def advise() -> None:
    """Answer design questions with figures, and say how certain they are."""


def _question() -> Callable[[Callable[..., int]], click.Command]:
    return advise.command(
        cls=Described,
        reads="only the options: no host is asked",
        changes="nothing",
        codes={0: "answered", 2: "bad input"},
    )


@_question()
@click.option("--ports", required=True, metavar="NxSPEED", help="Ports of each host: 2x10G.")
@click.option("--for", "purpose", default="live-migration", show_default=True,
              type=click.Choice(["live-migration", "storage"]),
              help="Purpose of the transport.")  # fmt: skip
@click.option(
    "--rdma/--no-rdma", default=False, help="Whether the cards of both ends support RDMA."
)
@click.option("--dcb/--no-dcb", default=False, help="Whether every switch between has DCB.")
@click.option(
    "--guests", type=click.IntRange(1, 1000), help="Number of guests migrated at the same time."
)
@as_json
def transport(
    ports: str, purpose: str, rdma: bool, dcb: bool, guests: int | None, as_json: bool
) -> int:
    """Choose the transport for live migration or storage of Windows hosts: TCP, SMB, RDMA."""
    number, gbps = _ports("--ports", ports)
    return _print(
        advise_transport(
            number,
            gbps,
            has_rdma=rdma,
            has_dcb=dcb,
            guests=guests,
            purpose=purpose.replace("-", " "),
        ),
        as_json=as_json,
    )


@_question()
@click.option("--card", required=True, metavar="SPEED", help="Speed of the card's port: 25G.")
@click.option("--switch", required=True, metavar="SPEED", help="Speed of the switch's port: 10G.")
@as_json
def fabric(card: str, switch: str, as_json: bool) -> int:
    """Tell whether a card works in a fabric of another speed, and what must be forced."""
    return _print(
        advise_fabric(_gigabits("--card", card), _gigabits("--switch", switch)), as_json=as_json
    )


@_question()
@click.option(
    "--card",
    required=True,
    metavar="NxSPEED",
    help="Ports of the card in use, with their speed: 2x100G.",
)
@click.option("--slot", "slots", multiple=True, metavar="GENxLANES",
              help="Slot: 4.0x8. May be repeated.  [default: all usual slots]")  # fmt: skip
@click.option(
    "--bidirectional", is_flag=True, help="Assume the same traffic in both directions at once."
)
@as_json
def slot(card: str, slots: tuple[str, ...], bidirectional: bool, as_json: bool) -> int:
    """Tell which slot a card needs, by lanes and generation."""
    number, gbps = _ports("--card", card)
    return _print(
        advise_slot(number, gbps, [_slot(text) for text in slots], both_ways=bidirectional),
        as_json=as_json,
    )


@_question()
@click.option(
    "--link",
    required=True,
    metavar="SPEED",
    help="Speed of the link: 10G, 25G, 40G, 50G, 100G, 200G or 400G.",
)
@click.option(
    "--metres",
    required=True,
    type=FiniteRange(min=0, min_open=True),
    help="Length of the cable, in metres.",
)
@as_json
def cable(link: str, metres: float, as_json: bool) -> int:
    """Tell which cable or fibre covers a distance."""
    gbps = _gigabits("--link", link)
    if gbps not in SPEEDS:
        raise _refused("--link", link, ", ".join(f"{known}G" for known in SPEEDS))
    return _print(advise_cable(gbps, metres), as_json=as_json)


@_question()
@click.option("--hosts", required=True, type=click.IntRange(2, 10_000), help="Number of hosts.")
@click.option("--ports", required=True, metavar="NxSPEED", help="Ports of each host: 2x100G.")
@click.option("--switch", required=True, metavar="NxSPEED", help="Ports of a switch: 32x100G.")
@click.option("--metres", type=FiniteRange(min=0, min_open=True), default=3,
              show_default=True, help="Length from a host to its switch, in metres.")  # fmt: skip
@click.option("--uplink-metres", type=FiniteRange(min=0, min_open=True), default=20,
              show_default=True, help="Length between switches, in metres.")  # fmt: skip
@click.option("--rdma/--no-rdma", default=False, help="Whether the hosts use RoCE.")
@click.option("--dcb/--no-dcb", default=False, help="Whether every switch has DCB.")
@click.option("--switch-price", type=FiniteRange(min=0), help="Your price of a switch.")
@click.option("--dac-price", type=FiniteRange(min=0), help="Your price of a copper cable.")
@click.option("--optic-price", type=FiniteRange(min=0),
              help="Your price of a module plus half of its fibre.")  # fmt: skip
@as_json
def network(hosts: int, ports: str, switch: str, as_json: bool, **given: Any) -> int:
    """Choose between two stand-alone switches, two joined ones, and spine and leaf."""
    host_ports, gbps = _ports("--ports", ports)
    switch_ports, switch_gbps = _ports("--switch", switch, most_digits=3)
    if host_ports % 2:
        raise InputError(
            "options.invalid",
            where="--ports",
            found=f"{host_ports} ports cannot be split evenly between two sides",
            next="give an even number, such as 2x100G",
        )
    if gbps != switch_gbps:
        raise InputError(
            "options.invalid",
            where="--switch",
            found=f"switch ports of {switch_gbps} Gb/s do not match hosts' ports of {gbps} Gb/s",
            so="this question needs one speed for all ports",
            next="give the same speed twice; whether the two speeds work together: `wirespeed "
            f"advise fabric --card {gbps}G --switch {switch_gbps}G`",
        )
    asked = Asked(hosts=hosts, host_ports=host_ports, switch_ports=switch_ports, gbps=gbps, **given)
    return _print(advise_network(asked), as_json=as_json)


@_question()
@click.option("--point-to-point/--network", default=True, show_default=True,
              help="Connection of the card: one host, or a network with a router.")  # fmt: skip
@click.option("--lan/--no-lan", default=True, show_default=True,
              help="Whether WSL2 also needs LAN and internet.")  # fmt: skip
@as_json
def wsl2(point_to_point: bool, lan: bool, as_json: bool) -> int:
    """Choose bridged or mirrored mode for a card in WSL2."""
    return _print(advise_wsl2(is_point_to_point=point_to_point, needs_lan=lan), as_json=as_json)


@_question()
@click.option("--hosts", type=click.IntRange(2, 1000), default=2, show_default=True,
              help="Number of hosts that share the model.")  # fmt: skip
@click.option("--split", type=click.Choice(["pipeline", "tensor"]), default="pipeline",
              show_default=True, help="Parallelism between hosts.")  # fmt: skip
@click.option("--hidden", required=True, type=click.IntRange(1, 10**6),
              help="Size of the hidden state (hidden_size): values per token.")  # fmt: skip
@click.option("--layers", required=True, type=click.IntRange(1, 10_000), help="Number of layers.")
@click.option("--value-bytes", type=click.IntRange(1, 4), default=2, show_default=True,
              help="Bytes per value.")  # fmt: skip
@click.option("--sequences", type=click.IntRange(1, 100_000), default=1, show_default=True,
              help="Sequences answered at once.")  # fmt: skip
@click.option("--tokens-per-s", required=True, type=FiniteRange(min=0, min_open=True),
              help="Tokens per second of all sequences together.")  # fmt: skip
@click.option("--link", required=True, metavar="SPEED", help="Speed of the link, such as 10G.")
@click.option("--latency-us", required=True, type=FiniteRange(min=0, min_open=True),
              help="One-way latency of a message, in microseconds: half of ping's round trip."
              )  # fmt: skip
@as_json
def inference(split: str, link: str, latency_us: float, as_json: bool, **given: Any) -> int:
    """Tell whether bandwidth or latency bounds a language model split over hosts."""
    gbps = _gigabits("--link", link)
    return _print(advise_inference(Model(**given), gbps, latency_us, split), as_json=as_json)


def _print(advice: Advice, *, as_json: bool) -> int:
    echo(advice.model_dump_json() if as_json else "\n".join(advice_lines(advice)))
    return 0


def _ports(option: str, text: str, most_digits: int = 2) -> tuple[int, int]:
    match = re.fullmatch(rf"(?:(\d{{1,{most_digits}}}) ?x ?)?(\d{{1,4}})G", text.strip())
    if match is None or not int(match[1] or 1) or not int(match[2]):
        raise _refused(option, text, "2x10G")
    return int(match[1] or 1), int(match[2])


def _gigabits(option: str, text: str) -> int:
    match = re.fullmatch(r"(\d{1,4})G", text.strip())
    if match is None or not int(match[1]):
        raise _refused(option, text, "25G")
    return int(match[1])


def _slot(text: str) -> Slot:
    match = re.fullmatch(r"([1-6])(?:\.[01])? ?x ?(\d{1,2})", text.strip())
    if match is None or int(match[1]) not in GT_PER_S or int(match[2]) not in LANES:
        raise _refused("--slot", text, "4.0x8")
    return int(match[1]), int(match[2])


def _refused(option: str, text: str, example: str) -> InputError:
    return InputError(
        "options.invalid",
        where=option,
        found=f"invalid value: {shown(text, 60)!r}",
        next=f"give a value such as {example}",
    )
