"""Figures that somebody else published, to stand beside ours as a reference of another machine."""

import csv
from functools import cache
from importlib.resources import files

from wirespeed.model.frozen import Frozen

SOURCE = (
    "two hosts with EPYC 4545P and ConnectX-5 Ex at 100 Gb/s in x8 slots, virtual machines with "
    "VFs; iperf3 --bidi, median of the 6 values of 3 runs; ping -f -c 10000, median of 3 runs"
)
APPROACHES = {
    "legacy+vlan": "legacy + VLAN",
    "ovs-dpdk+vxlan": "ovs/dpdk + VXLAN",
    "ovs-tc+vxlan": "ovs/tc + VXLAN",
}
"""As the published table calls them."""


class Published(Frozen):
    """One row of the published table, its figures as printed."""

    approach: str
    iperf3_gbps: dict[tuple[int, int], str]
    """By MTU and number of streams."""
    ping_us_mean: str
    ping_us_mdev: str

    @property
    def figures(self) -> tuple[str, ...]:
        """In the order of the table's columns."""
        return (*self.iperf3_gbps.values(), self.ping_us_mean, self.ping_us_mdev)


@cache
def published_rows() -> tuple[Published, ...]:
    """Give the table that this project started from, whole; see docs/published-figures.md."""
    text = (
        files("wirespeed.report").joinpath("published").joinpath("connectx5-sriov.csv").read_text()
    )
    return tuple(
        Published(
            approach=APPROACHES[row["approach"]],
            iperf3_gbps={
                (1500, 2): row["iperf3_mtu1500_t2_gbps"],
                (9000, 2): row["iperf3_mtu9000_t2_gbps"],
                (9000, 6): row["iperf3_mtu9000_t6_gbps"],
            },
            ping_us_mean=row["ping_mean_us"],
            ping_us_mdev=row["ping_mdev_us"],
        )
        for row in csv.DictReader(text.splitlines())
    )
