"""The DUTs that can be started by name, such as `testpmd-macswap`."""

from typing import get_args

from wirespeed.measure.bench.dut import Dut
from wirespeed.measure.bench.eal_side import EalSide
from wirespeed.measure.bench.kernel_path import KERNEL_DUTS
from wirespeed.measure.bench.l3fwd import L3fwd, Lookup
from wirespeed.measure.bench.ovs_dpdk import OVS_DUTS, OvsDpdk
from wirespeed.measure.bench.testpmd import FORWARD_MODES, Ports, Testpmd
from wirespeed.model.error import InputError

ON_A_WIRE = (
    *(f"testpmd-{mode}" for mode in FORWARD_MODES),
    *(f"l3fwd-{lookup}" for lookup in get_args(Lookup)),
    *OVS_DUTS,
)
"""Those that a wire in memory joins to the tester."""
DUT_NAMES = (*ON_A_WIRE, *KERNEL_DUTS)


def start_dut(
    name: str, side: EalSide, *, flows: int, tester_mac: str, frame_bytes_max: int = 1518
) -> Dut:
    """Start the DUT called `name`; close it before the tester leaves the wire.

    `flows` is how many it must know, `tester_mac` where it sends frames whose addresses it writes,
    `frame_bytes_max` the largest frame with FCS, for those that must be told.
    Raises InputError `dut.unknown`, `dut.not_installed`, `dut.memory`, `dut.device`, `l3fwd.*`.
    """
    if name not in DUT_NAMES:
        raise InputError(
            "dut.unknown",
            where=name,
            found="no DUT of that name",
            next=f"one of {', '.join(DUT_NAMES)}",
        )
    if name in KERNEL_DUTS:
        raise InputError(
            "dut.device",
            where=name,
            found="this DUT is in this machine's kernel, and no wire in memory connects it to "
            "the tester",
            next="it has its own testbed: wirespeed measure rfc2544 --dut kernel-vxlan",
        )
    if name in OVS_DUTS:
        return OvsDpdk(side, OVS_DUTS[name], frame_bytes_max=frame_bytes_max)
    program, _, mode = name.partition("-")
    if program == "testpmd":
        return Testpmd(side, mode, ports=Ports(peer_macs=(tester_mac,)))
    return L3fwd(side, mode, flows=flows, next_hop_mac=tester_mac)
