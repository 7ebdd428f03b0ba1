"""Firmware: what runs, what is stored for the next reset, and its settings now and next boot."""

import re
from dataclasses import dataclass
from typing import ClassVar, Self

from wirespeed.facts.json_text import field, json_of, object_in
from wirespeed.facts.sriov import Sriov
from wirespeed.model.capture import TIMED_OUT_RETURNCODE, Capture
from wirespeed.model.fact import Fact
from wirespeed.model.observed import Absent, CannotTellError, Known, Observed, Unreadable

RESETS = {"mstconfig": "mstfwreset", "mlxconfig": "mlxfwreset"}
"""By the tool that reads settings, the one that resets the card; NVIDIA's own and the free one."""
COLUMNS = ("Default", "Current", "Next Boot")
HEADER = re.compile(r"^[ \t]*Configurations:[ \t]+(\S.*)$", re.M)
ROW = re.compile(r"[*\s]*(?:RO\s+)?([A-Z][A-Z0-9_]+(?:[a-z]\w*)?(?:\[[\d.]+\])?)\s+(\S.*\S|\S)\s*")


@dataclass(frozen=True, slots=True)
class FirmwareSetting:
    """One setting of mstconfig or mlxconfig, as text: `True(1)`, `16`, `ETH(2)`."""

    name: str
    default: Observed[str]
    current: Observed[str]
    """In force since the last reset; Absent where the tool or the card does not tell it apart."""
    next_boot: Observed[str]


@dataclass(frozen=True, slots=True)
class CardFirmware:
    """Of one PCI function."""

    pci_address: str
    board_id: Observed[str]
    """PSID: which board, and which firmware fits it."""
    running: Observed[str]
    """`16.35.4554`."""
    stored: Observed[str]
    """What the next reset starts."""
    settings: Observed[dict[str, FirmwareSetting]]
    """By name; read for one function of a card and given for all of them."""
    settings_read_at: str
    """PCI address of that function; empty where none was read."""
    settings_tool: str
    """`mstconfig`, or `mlxconfig` where the host has that one alone."""


@dataclass(frozen=True, slots=True)
class Firmware(Fact):
    """Every network function that is no VF, by its PCI address."""

    cards: dict[str, CardFirmware]

    # One call for a card: it asks the firmware for each setting, which takes up to some seconds.
    # Where that is too long, as on an emulated host, what plans are made of is asked for alone.
    # VFs (their device numbers are listed in sriov.py) have no settings to ask for.
    script: ClassVar[str] = """\
run devlink-info - devlink -j dev info
cards=
for address in $pfs; do
	vendor= device=
	{ read -r vendor <"/sys/bus/pci/devices/$address/vendor"; } 2>/dev/null
	{ read -r device <"/sys/bus/pci/devices/$address/device"; } 2>/dev/null
	[ "$vendor" = 0x15b3 ] || continue
	case $device in
	0x1002 | 0x1004 | 0x1012 | 0x1014 | 0x1016 | 0x1018 | 0x101a | 0x101c | 0x101e | 0xa2d3)
		continue ;;
	esac
	case $cards in *" ${address%.*} "*) continue ;; esac
	cards="$cards ${address%.*} "
	tool=mstconfig
	command -v "$tool" >/dev/null 2>&1 || ! command -v mlxconfig >/dev/null 2>&1 || tool=mlxconfig
	ask_card "$tool" "$address" "$tool" -d "$address" -e q
	[ "$code" -ne 124 ] ||
		ask_card firmware-vfs "$address" "$tool" -d "$address" -e q SRIOV_EN NUM_OF_VFS
done
"""

    @classmethod
    def parse(cls, capture: Capture) -> Self:
        """Read `devlink dev info` and the tables of mstconfig."""
        info = json_of(capture.text("devlink-info", "devlink dev info"))
        asked = {a: (tool, s) for tool in RESETS for a, s in capture.sections(tool).items()}
        alone = capture.sections("firmware-vfs")
        tables = {}
        for address, (tool, section) in asked.items():
            source = f"{tool} -d {address} -e q"
            if section.returncode == TIMED_OUT_RETURNCODE and address in alone:
                section, source = alone[address], f"{source} SRIOV_EN NUM_OF_VFS"
            # It fails where the firmware refuses some groups of settings; the others stand.
            is_table = HEADER.search(section.output)
            given = Known(section.output, source) if is_table else section.text(source)
            tables[_card(address)] = (address, tool, _settings(given))
        return cls(
            {
                address: _function(address, info, tables)
                for address in dict.fromkeys([*Sriov.parse(capture).pfs, *asked])
                if address
            }
        )

    def of(self, pci_address: str | None) -> CardFirmware:
        """Give one function's; raises CannotTellError where nothing is known of it."""
        if pci_address not in self.cards:
            raise CannotTellError("no firmware was asked for", "devlink dev info")
        return self.cards[pci_address]


def _card(address: str) -> str:
    return address.rpartition(".")[0]


def _function(
    address: str,
    info: Observed[object],
    tables: dict[str, tuple[str, str, Observed[dict[str, FirmwareSetting]]]],
) -> CardFirmware:
    source = f"devlink dev info pci/{address}"
    never = Absent(source, "no setting of this card was asked for: it is not of Mellanox")
    read_at, tool, settings = tables.get(_card(address), ("", "mstconfig", never))

    def version(place: str, *names: str) -> Observed[str]:
        if not isinstance(info, Known):
            return info
        devices = object_in(info.value, "info") if isinstance(info.value, dict) else {}
        versions = object_in(object_in(devices, f"pci/{address}"), "versions")
        found = object_in(versions, place)
        name = next((name for name in names if name in found), names[0])
        return field(found, name, str, source)

    return CardFirmware(
        pci_address=address,
        board_id=version("fixed", "fw.psid", "board.id"),
        running=version("running", "fw.version", "fw"),
        stored=version("stored", "fw.version", "fw"),
        settings=settings,
        settings_read_at=read_at,
        settings_tool=tool,
    )


def _settings(text: Observed[str]) -> Observed[dict[str, FirmwareSetting]]:
    """Read the table: a line per setting, the columns that the header names, `*` where they differ.

    Not every card tells default and current apart; the header then has `Next Boot` alone.
    """
    if not isinstance(text, Known):
        return text
    columns: list[str] | None = None
    settings = {}
    for line in text.value.splitlines():
        if header := HEADER.fullmatch(line):
            columns = [name for name in COLUMNS if name in header[1]]
            continue
        row = ROW.fullmatch(line) if columns is not None else None
        values = row[2].split() if row else []
        if row is None or columns is None or len(values) != len(columns):
            continue
        by_column = dict(zip(columns, values, strict=True))
        settings[row[1]] = FirmwareSetting(
            row[1], *(_cell(by_column.get(column), column, text.source) for column in COLUMNS)
        )
    if not settings:
        return Unreadable("it printed no settings", text.source)
    return Known(settings, text.source)


def _cell(value: str | None, column: str, source: str) -> Observed[str]:
    if value is None:
        return Absent(source, f"no column {column}")
    return Absent(source, "N/A") if value == "N/A" else Known(value, source)
