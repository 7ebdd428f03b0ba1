"""Every published figure beside the ceilings of the path that it was measured on.

`tests/ceilings/published/*.csv` are the tables as published; `setups.csv` says of each figure what
the document says of its path, and leaves empty what it does not say.
"""

import csv
import re
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path

from wirespeed.ceilings.cpu import (
    DPDK_CYCLES_PER_PACKET,
    DPDK_CYCLES_SOURCE,
    cores_ceiling,
    measured_cores_ceiling,
)
from wirespeed.ceilings.devices import MLX5_DPDK_MPRQ, MLX5_KERNEL
from wirespeed.ceilings.encapsulation import Encapsulation, encapsulation_ceiling
from wirespeed.ceilings.ethernet import ethernet_ceiling
from wirespeed.ceilings.pcie import pcie_ceiling
from wirespeed.ceilings.tcp import goodput_bps
from wirespeed.ceilings.vswitch import vswitch_ceiling
from wirespeed.model.ceiling import Band, Ceiling, Direction, Ledger, Quantity
from wirespeed.model.pcie_link import PcieLink
from wirespeed.model.units import load_bps_l1

TESTS = Path(__file__).parents[1] / "tests"
PUBLISHED = TESTS / "ceilings/published"
PACKAGE = Path(__file__).parents[1] / "src/wirespeed"
ELSEWHERE = {"dpdk-19.08-report.csv": PACKAGE / "report/published/dpdk-19.08-report.csv"}
UNITS = {"goodput": "Gb/s of TCP payload", "L1": "Gb/s of wire", "pps": "Mpps"}

Row = dict[str, str]


@dataclass(frozen=True, slots=True)
class Compared:
    """One figure and the band of its path, both in the figure's own unit."""

    file: str
    name: str
    unit: str
    printed: str
    kind: str
    """`measured`, `more than`, or `nominal`: a figure that nobody measured."""
    band: Band
    may_bound: tuple[str, ...]
    said_bound: str
    """Element that the document itself names, if any."""
    words: str

    @property
    def least(self) -> Decimal:
        """The lowest value that prints so: half of the last printed digit below it."""
        value = Decimal(self.printed)
        if self.kind == "more than":
            return value
        exponent = value.as_tuple().exponent
        if not isinstance(exponent, int):
            raise ValueError(f"{self.printed} is no figure")
        return value - Decimal(1).scaleb(exponent) / 2

    @property
    def is_impossible(self) -> bool:
        """Whether it lies above what the headers alone would leave."""
        return self.kind != "nominal" and float(self.least) > self.band.high * (1 + 1e-9)

    @property
    def is_above_low(self) -> bool:
        """Whether it lies within the band: above the whole model."""
        return float(self.least) > self.band.low * (1 + 1e-9)


def compared() -> Iterator[Compared]:
    """Every figure of every setup, in the order of the setups."""
    for setup in _rows(PUBLISHED / "setups.csv"):
        for name, row in _chosen(setup):
            frames = [int(f) for f in (setup["frame_bytes"] or row["frame_bytes"]).split("|")]
            ledgers = [_ledger(setup, frame_bytes) for frame_bytes in frames]
            direction = Direction(setup["direction"])
            bands = [_in_unit(setup["layer"], ledger, direction) for ledger in ledgers]
            yield Compared(
                file=setup["file"],
                name=name,
                unit=UNITS[setup["layer"]],
                printed=row[setup["column"]],
                kind=setup["kind"],
                band=Band(low=min(b.low for b in bands), high=max(b.high for b in bands)),
                may_bound=tuple(
                    dict.fromkeys(
                        c.element for ledger in ledgers for c in ledger.may_bound(direction)
                    )
                ),
                said_bound=setup["bound"],
                words=setup["words"],
            )


def _rows(path: Path) -> list[Row]:
    with path.open(newline="") as stream:
        return list(csv.DictReader(stream))


def _chosen(setup: Row) -> Iterator[tuple[str, Row]]:
    """Rows that a setup is about, each with a name for the table."""
    rows = _rows(ELSEWHERE.get(setup["file"], PUBLISHED / setup["file"]))
    wanted = setup["rows"]
    if match := re.fullmatch(r"test (\d)(?: (up to|from) (\d+))?", wanted):
        for row in rows:
            frame_bytes, limit = int(row["frame_bytes"]), int(match[3] or 0)
            fits = not limit or (frame_bytes <= limit if match[2] == "up to" else
                                 frame_bytes >= limit)  # fmt: skip
            if row["test"] == match[1] and fits:
                yield f"test {match[1]}, {frame_bytes} bytes", row
    elif wanted.startswith("#"):
        row = rows[int(wanted[1:]) - 1]
        yield ", ".join((row["transport"], row["rss"], row["vms"])), row
    else:
        (row,) = (r for r in rows if wanted in (r.get("stage"), r.get("approach")))
        label = re.sub(r"iperf3_mtu(\d+)_t(\d)_gbps", r"MTU \1, \2 streams", setup["column"])
        yield wanted if label == "gbps" else f"{wanted}, {label}", row


def _ledger(setup: Row, frame_bytes: int) -> Ledger:
    return Ledger(
        port=setup["rows"],
        frame_bytes=frame_bytes,
        ceilings=tuple(_ceilings(setup, frame_bytes, Direction(setup["direction"]))),
    )


def _ceilings(setup: Row, frame_bytes: int, direction: Direction) -> Iterator[Ceiling]:
    source = setup["words"]
    link_bps = int(float(setup["link_gbps"]) * 1e9) * int(setup["ports"])
    if setup["encapsulation"]:
        kind = Encapsulation(setup["encapsulation"])
        yield encapsulation_ceiling(link_bps, frame_bytes, kind, direction, source)
    else:
        yield ethernet_ceiling(link_bps, frame_bytes, direction, source)
    if setup["gt_per_s"]:
        # Cards of their own have links of their own: as many lanes more.
        link = PcieLink(
            gt_per_s=float(setup["gt_per_s"]),
            lanes=int(setup["lanes"]) * int(setup["cards"]),
            max_payload_bytes=int(setup["max_payload"] or 0) or None,
            max_read_request_bytes=int(setup["max_read_request"] or 0) or None,
        )
        device = MLX5_DPDK_MPRQ if setup["driver"] == "dpdk" else MLX5_KERNEL
        both = setup["bidirectional"] == "yes"
        yield pcie_ceiling(
            link, frame_bytes, direction, "pcie", source, device=device, bidirectional=both
        )
    if setup["vswitch_gbps"]:
        reported_bps = int(float(setup["vswitch_gbps"]) * 1e9)
        yield vswitch_ceiling(reported_bps, frame_bytes, direction, source, Quantity.ASSUMED)
    if setup["core_gbps"]:
        low, high = (float(gbps) * 1e9 for gbps in setup["core_gbps"].split("|"))
        core_bps = Band(low=low, high=high)
        cores = int(setup["cores"])
        yield measured_cores_ceiling(cores, core_bps, frame_bytes, direction, source)
    elif setup["core_ghz"]:
        fewest, most = DPDK_CYCLES_PER_PACKET
        yield cores_ceiling(
            int(setup["cores"]),
            float(setup["core_ghz"]) * 1e9,
            most,
            frame_bytes,
            direction,
            DPDK_CYCLES_SOURCE,
            fewest_cycles_per_packet=fewest,
            assumed=True,
        )


def _in_unit(layer: str, ledger: Ledger, direction: Direction) -> Band:
    bound, most = ledger.bound(direction), ledger.most(direction)
    if bound is None or most is None:
        raise ValueError(f"{ledger.port}: no ceiling")

    def converted(load_pps: float) -> float:
        if layer == "pps":
            return load_pps / 1e6
        if layer == "goodput":
            return goodput_bps(load_pps, ledger.frame_bytes) / 1e9
        return load_bps_l1(load_pps, ledger.frame_bytes) / 1e9

    return Band(low=converted(bound.load_pps.low), high=converted(most.load_pps.high))
