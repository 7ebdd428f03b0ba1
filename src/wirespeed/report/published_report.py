"""The six tests of Mellanox' performance report with DPDK 19.08, figures as printed."""

import csv
from functools import cache
from importlib.resources import files

from wirespeed.model.error import InputError
from wirespeed.model.frozen import Frozen

CSV = "dpdk-19.08-report.csv"
TITLES = {
    1: "two ports of 25 Gb/s, zero loss",
    2: "one port of 100 Gb/s, zero loss",
    3: "two ports of 100 Gb/s, single core",
    4: "two ports of 25 Gb/s, single core",
    5: "two ports of 25 Gb/s by VFs in a guest of ESXi, zero loss",
    6: "one port of 100 Gb/s by a VF in a guest of KVM, zero loss",
}
PORTS = {1: (2, 25), 2: (1, 100), 3: (2, 100), 4: (2, 25), 5: (2, 25), 6: (1, 100)}
"""Ports that the tester sends from, and Gb/s of each."""
SINGLE_CORE = (3, 4)
"""One core under an offered line rate: what it forwarded on average, not what it loses none of."""


class PublishedRow(Frozen):
    """One row of a result table."""

    frame_bytes: int
    mpps: str
    """As printed."""
    line_mpps: str
    """As printed; test 3 sends from two ports and prints the line rate of one."""
    pct_line_rate: str
    """As printed; empty in tests 3 and 4."""
    line_rate_gbps: int
    """That `line_mpps` is of."""

    @property
    def pps(self) -> float:
        """Frames per second."""
        return float(self.mpps) * 1e6


class PublishedTest(Frozen):
    """One test of the report."""

    number: int
    table: int
    """Its number in the report."""
    title: str
    ports: int
    port_gbps: int
    rows: tuple[PublishedRow, ...]

    @property
    def is_single_core(self) -> bool:
        """Whether its rates are of one core under an offered line rate."""
        return self.number in SINGLE_CORE

    def row(self, label: str) -> PublishedRow | None:
        """Give the row of a frame size; None for a mix or a size that the table lacks."""
        return next((one for one in self.rows if str(one.frame_bytes) == label), None)

    def line_pps(self, row: PublishedRow) -> float:
        """Line rate of all the ports that sent, from the printed one."""
        return float(row.line_mpps) * 1e6 * (self.ports * self.port_gbps / row.line_rate_gbps)


def published_test(name: str) -> PublishedTest:
    """Find `published:1` and so on. Raises InputError `report.no_such_test`, with all six."""
    found = next((one for one in published_tests() if f"published:{one.number}" == name), None)
    if found is None:
        raise InputError(
            "report.no_such_test",
            where=f"--beside {name}",
            found="the published report has six tests",
            next="; ".join(f"published:{one.number} is {one.title}" for one in published_tests()),
        )
    return found


@cache
def published_tests() -> tuple[PublishedTest, ...]:
    """Give all six; see docs/published-figures.md."""
    text = files("wirespeed.report").joinpath("published").joinpath(CSV).read_text()
    printed = list(csv.DictReader(text.splitlines()))
    return tuple(
        PublishedTest(
            number=number,
            table=next(int(row["table"]) for row in printed if row["test"] == str(number)),
            title=title,
            ports=PORTS[number][0],
            port_gbps=PORTS[number][1],
            rows=tuple(
                PublishedRow(
                    frame_bytes=int(row["frame_bytes"]),
                    mpps=row["frame_rate_mpps"],
                    line_mpps=row["line_rate_mpps"],
                    pct_line_rate=row["pct_line_rate"],
                    line_rate_gbps=int(row["line_rate_gbps"]),
                )
                for row in printed
                if row["test"] == str(number)
            ),
        )
        for number, title in TITLES.items()
    )
