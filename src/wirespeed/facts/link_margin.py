"""How near a link is to the errors that its FEC cannot correct, by lane: what mlxlink counted."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import ClassVar, Self, TypeVar

from wirespeed.facts.json_text import JsonObject, field, json_of, object_in
from wirespeed.facts.ports import Ports
from wirespeed.model.capture import Capture
from wirespeed.model.fact import Fact
from wirespeed.model.observed import Absent, Known, Observed, read_as

BER = re.compile(r"(\d{1,3}(?:\.\d{1,3})?)[eE]-(\d{1,3})")
BIN = re.compile(r"Bin (\d{1,2})")
MAX_DIGITS = 20
T = TypeVar("T", int, float)
ZERO_BER = 1e-200
"""mlxlink prints 15E-255 where it counted no error at all."""
EYE = ("Last FOM", "Physical Grade")
"""Of cards from 7 nm on (ConnectX-6 and newer), and of those before: showEye of mstflint's
mlxlink_commander.cpp."""


def mlxlink(capture: Capture, address: str) -> str:
    """Give the command that reads module, counters and eye of a card's port in one run."""
    return f"{_tool(capture)} -d {address} -m -c -e --json"


def _tool(capture: Capture) -> str:
    """Give the name of the tool that was asked: mstflint calls it mstlink."""
    section = capture.section("mlxlink-tool")
    is_free = section is not None and section.output.strip().endswith("/mstlink")
    return "mstlink" if is_free else "mlxlink"


@dataclass(frozen=True, slots=True)
class LinkMargin:
    """One port, since its counters were cleared last, as a rule when the link came up."""

    raw_ber: Observed[float]
    """Bits that arrived wrong, of all, before FEC; 0: none was seen."""
    effective_ber: Observed[float]
    """Of those, what FEC left wrong."""
    fec: Observed[str]
    """`Standard_RS-FEC - (544,514)`, `No FEC`."""
    minutes: Observed[float]
    """Over which they were counted."""
    link_downs: Observed[int]
    lanes_ber: Observed[tuple[float, ...]]
    """Bits that arrived wrong before FEC, by lane. Absent: older mlxlink do not say."""
    eye: Observed[tuple[int, ...]]
    """How open the eye is, by lane, in a unit of the card's maker, who publishes no limit."""
    worst_block: Observed[int]
    """Most symbols that FEC had to correct in one code word: the last bin that is not empty."""
    recommendation: Observed[str]
    """What the card's firmware makes of it: `No issue was observed`."""


@dataclass(frozen=True, slots=True)
class LinkMargins(Fact):
    """Every port of a card, by its PCI address, where mlxlink of MFT or mstlink is installed."""

    by_address: dict[str, Observed[LinkMargin]]

    script: ClassVar[str] = """\
tool=mlxlink
command -v mlxlink >/dev/null 2>&1 || tool=mstlink
if path=$(command -v "$tool"); then
	show mlxlink-tool - echo "$path"
	for address in $pfs; do
		[ -e "/sys/bus/pci/drivers/mlx5_core/$address" ] || continue
		ask_card mlxlink "$address" "$tool" -d "$address" -m -c -e --json
		[ "$code" -ne 124 ] || continue
		ask_card mlxlink-fec "$address" \\
			"$tool" -d "$address" --rx_fec_histogram --show_histogram --json
	done
fi
"""

    @classmethod
    def parse(cls, capture: Capture) -> Self:
        """Read what the tool printed about each port."""
        ports = [p.pci_address for p in Ports.parse(capture).ports if p.pci_address]
        return cls({address: _margin(capture, address) for address in ports})


def mlxlink_output(capture: Capture, address: str) -> Observed[JsonObject]:
    """Give what mlxlink printed of a port; also where one part of it failed, as the eye may."""
    source, section = mlxlink(capture, address), capture.section("mlxlink", address)
    text = capture.text("mlxlink", source, address)
    printed = section.output if section is not None else ""
    if not isinstance(text, Known) and not printed.lstrip().startswith("{"):
        return text
    told = json_of(Known(printed, source))
    whole = told.value if isinstance(told, Known) and isinstance(told.value, dict) else {}
    output = object_in(object_in(whole, "result"), "output")
    if output or (isinstance(text, Known) and isinstance(told, Known)):
        return Known(output, source)
    return told if isinstance(text, Known) or not isinstance(told, Known) else text


def _margin(capture: Capture, address: str) -> Observed[LinkMargin]:
    told = mlxlink_output(capture, address)
    if not isinstance(told, Known):
        return told
    output, source = told.value, told.source
    counters = object_in(output, "Physical Counters and BER Info")
    eye = object_in(output, "EYE Opening Info")

    def text(parent: JsonObject, name: str) -> Observed[str]:
        return field(parent, name, str, source)

    return Known(
        LinkMargin(
            raw_ber=read_as(text(counters, "Raw Physical BER"), _ber),
            effective_ber=read_as(text(counters, "Effective Physical BER"), _ber),
            fec=text(object_in(output, "Operational Info"), "FEC"),
            minutes=read_as(text(counters, "Time Since Last Clear [Min]"), float),
            link_downs=read_as(text(counters, "Link Down Counter"), int),
            lanes_ber=_by_lane(counters, ("Raw Physical BER Per Lane",), _ber, source),
            eye=_by_lane(eye, EYE, int, source),
            worst_block=_worst_block(capture, address),
            recommendation=text(object_in(output, "Troubleshooting Info"), "Recommendation"),
        ),
        source,
    )


def _by_lane(
    parent: JsonObject, names: Sequence[str], read: Callable[[str], T], source: str
) -> Observed[tuple[T, ...]]:
    """`{"values": ["107", "112"]}`, or `N/A` where the lane was not measured."""
    for name in names:
        values = object_in(parent, name).get("values")
        words = [str(value).strip() for value in values] if isinstance(values, list) else []
        if words and all(len(word) <= MAX_DIGITS for word in words):
            try:
                return Known(tuple(map(read, words)), source)
            except ValueError:
                return Absent(source, f"{name} is {words[0][:20]!r}")
    return Absent(source, f"no {names[0]}")


def _worst_block(capture: Capture, address: str) -> Observed[int]:
    source = f"{_tool(capture)} -d {address} --rx_fec_histogram --show_histogram --json"
    told = json_of(capture.text("mlxlink-fec", source, address))
    if not isinstance(told, Known):
        return told
    whole = told.value if isinstance(told.value, dict) else {}
    output = object_in(object_in(whole, "result"), "output")
    filled = []
    for name, one in object_in(output, "Histogram of FEC Errors").items():
        match = BIN.fullmatch(name)
        values = one.get("values") if isinstance(one, dict) else None
        # `["[8]", "3"]`: the range, and how often.
        if match is None or not isinstance(values, list) or len(values) != 2:
            continue
        count = str(values[1])
        # Of an anonymous capture the long counts, of the first bins, are no numbers any more.
        is_count = count.isascii() and count.isdecimal() and len(count) <= MAX_DIGITS
        filled += [int(match[1])] if is_count and int(count) else []
    return Known(max(filled), source) if filled else Absent(source, "no histogram")


def _ber(text: str) -> float:
    match = BER.fullmatch(text.strip())
    if match is None:
        raise ValueError(f"{text[:40]!r} is not a bit error rate")
    found = float(f"{match[1]}e-{match[2]}")
    return 0.0 if found < ZERO_BER else found
