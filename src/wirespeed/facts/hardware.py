"""The machine itself: maker and model, BIOS, memory modules, part number of each network card.

No serial number is read: of what prints one, only the lines below are kept.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar, Self

from wirespeed.facts.virtualization import DMI
from wirespeed.model.capture import Capture
from wirespeed.model.fact import Fact
from wirespeed.model.observed import Absent, Known, Observed, read_as

ATTRIBUTES = (
    "sys_vendor", "product_name", "board_vendor", "board_name", "bios_vendor", "bios_version",
    "bios_date",
)  # fmt: skip
FILES = " \\\n\t".join(f"{DMI}/{name}" for name in ATTRIBUTES)
DEVICE = "Memory Device"
DIMMS = "dmidecode -t 17"
MOST_DIMMS = 256
LINE = re.compile(r"\s+([A-Z][A-Za-z ]{1,40}): (.{1,100})")
PART = re.compile(r"^[ \t]*\[PN\] Part number: (.{1,80})$", re.M)
PRODUCT = re.compile(r"^[ \t]*Product Name: (.{1,200})$", re.M)


@dataclass(frozen=True, slots=True)
class MemoryModule:
    """One that is in its slot, in dmidecode's words; empty where it says nothing of it."""

    size: str
    """`32 GB`, of older ones `32768 MB`."""
    kind: str
    """`DDR4`."""
    runs_at: str
    """`2666 MT/s`: what it is set to, else what it is made for."""
    part_number: str


@dataclass(frozen=True, slots=True)
class Card:
    """What the vital product data of a network card say."""

    part_number: Observed[str]
    """`MCX556A-EDAT`."""
    product: Observed[str]
    """`CX556A - ConnectX-5 QSFP28`."""


@dataclass(frozen=True, slots=True)
class Hardware(Fact):
    """What a reader needs to buy the same machine."""

    model: Observed[str]
    """`Dell Inc. PowerEdge R740`."""
    board: Observed[str]
    bios: Observed[str]
    """`Dell Inc. 2.4.8, 11/26/2019`."""
    memory_modules: Observed[tuple[MemoryModule, ...]]
    cards: dict[str, Card]
    """By the PCI address of one function of each."""

    # dmidecode: SMBIOS 3, type 17; lspci: pciutils' ls-vpd.c. Both need root, and print more than
    # is kept here. Devices whose vital product data hang have no such file (drivers/pci/vpd.c).
    script: ClassVar[str] = f"""\
show dmi - grep -H '' {FILES}
has() {{
	command -v "$1" >/dev/null && return
	printf '%s: not found\n' "$1" >&2
	return 127
}}
memory_modules() {{
	has dmidecode || return
	said=$($limit dmidecode -t 17) || return
	printf '%s\\n' "$said" | grep -E '^Memory Device$|^[[:space:]](Size|Type|Part Number|\
Speed|Configured (Memory|Clock) Speed):'
}}
show memory-modules - memory_modules
card_data() {{
	has lspci || return
	said=$($limit lspci -vv -s "$1") || return
	printf '%s\\n' "$said" | grep -E '^[[:space:]]+(Product Name:|\\[PN\\] Part number:)'
}}
cards=
for address in $pfs; do
	[ -e "/sys/bus/pci/devices/$address/vpd" ] || continue
	case $cards in *" ${{address%.*}} "*) continue ;; esac
	cards="$cards ${{address%.*}} "
	show card-data "$address" card_data "$address"
done
"""

    @classmethod
    def parse(cls, capture: Capture) -> Self:
        """Read DMI's small files, and the lines that were kept of dmidecode and lspci."""
        files = capture.files("dmi", ATTRIBUTES)
        of = {name: files[f"{DMI}/{name}"] for name in ATTRIBUTES}
        return cls(
            model=_joined(of["sys_vendor"], of["product_name"]),
            board=_joined(of["board_vendor"], of["board_name"]),
            bios=_joined(_joined(of["bios_vendor"], of["bios_version"]), of["bios_date"], ", "),
            memory_modules=read_as(
                capture.text("memory-modules", DIMMS), lambda text: tuple(_modules(text))
            ),
            cards={
                address: _card(section.text(f"lspci -vv -s {address}"))
                for address, section in capture.sections("card-data").items()
            },
        )

    def card_of(self, pci_address: str) -> Card | None:
        """Give that of the card which a function is on; None where it was not read."""
        slot = pci_address.rpartition(".")[0]
        found = (card for at, card in self.cards.items() if at.rpartition(".")[0] == slot)
        return next(found, None)


def _joined(first: Observed[str], second: Observed[str], between: str = " ") -> Observed[str]:
    """Put two words in one; a maker who stands in the model already is not said twice."""
    known = [one.value.strip() for one in (first, second) if isinstance(one, Known)]
    words = [word for word in known if word]
    if not words:
        return Absent(second.source, "it is empty") if isinstance(second, Known) else second
    if len(words) == 2 and words[1].startswith(words[0]):
        words = words[1:]
    return Known(between.join(words), second.source)


def _modules(text: str) -> Iterator[MemoryModule]:
    """Read each device; an empty slot has no size that is a number."""
    for device in text.split(DEVICE)[1 : MOST_DIMMS + 1]:
        of = {m[1]: m[2].strip() for line in device.split("\n") if (m := LINE.fullmatch(line))}
        if not of.get("Size", "")[:1].isdigit():
            continue
        at = (of.get(f"Configured {what} Speed", "") for what in ("Memory", "Clock"))
        yield MemoryModule(
            size=of["Size"],
            kind=of.get("Type", ""),
            runs_at=next((one for one in at if one[:1].isdigit()), of.get("Speed", "")),
            part_number=of.get("Part Number", ""),
        )


def _card(text: Observed[str]) -> Card:
    def field(pattern: re.Pattern[str]) -> Observed[str]:
        if not isinstance(text, Known):
            return text
        found = pattern.search(text.value)
        value = found[1].strip() if found else ""
        return Known(value, text.source) if value else Absent(text.source, "it has none")

    return Card(part_number=field(PART), product=field(PRODUCT))
