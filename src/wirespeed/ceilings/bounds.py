"""Limits of what a condition costs, where its cost depends on what cannot be read. Pure."""

from wirespeed.ceilings.ethernet import WIRES
from wirespeed.model.bound import Bound, BoundUnit, Limit
from wirespeed.model.ceiling import Direction, Input, Ledger
from wirespeed.model.observed import Known, Observed
from wirespeed.model.units import WIRE_OVERHEAD_BYTES, line_rate_pps

USERSPACE_SWITCH_PPS = 12.97e6
"""Frames of 64 bytes that one polling core forwarded at best, through Open vSwitch with DPDK and
nothing to encapsulate: the best of all runs of ovs_vxlan_forwarded (docs/benchmarks.md has the
last one, which may be lower). No guest's copy is in it."""
USERSPACE_SWITCH_SOURCE = (
    "make bench, ovs_vxlan_forwarded: 12.97 Mpps, plain, the best of all runs; docs/benchmarks.md "
    "has the last run"
)
KERNEL_SWITCH_PPS = 1.88e6
"""The same of Open vSwitch in the kernel, between two cards: Emmerich et al., Performance
Characteristics of Virtual Switching, IEEE CloudNet 2014, one core of 3.3 GHz."""
KERNEL_SWITCH_SOURCE = "Emmerich et al., https://doi.org/10.1109/CloudNet.2014.6968979"
SOFTWARE_SWITCH_FORMULA = (
    "at least: line rate of the port / 12.97 Mpps, which one polling core of Open vSwitch with "
    "DPDK forwarded at best (make bench); beside it / 1.88 Mpps, which one core of the "
    "kernel's switched (Emmerich et al., CloudNet 2014)"
)


def software_switch_bounds(link_bps: Known[int] | None, frame_bytes: int) -> tuple[Bound, ...]:
    """Cores that a full port takes of a host whose guests are joined to it by software.

    At the least: the best figure is of a switch in user space that hands nothing to a guest. Where
    the kernel joins frames of one connection to larger ones first, it switches fewer. None is given
    where the speed of the port is not known.
    """
    if link_bps is None:
        return ()
    pps = float(line_rate_pps(link_bps.value, frame_bytes))
    kernel = pps / KERNEL_SWITCH_PPS
    bound = Bound(
        limit=Limit.AT_LEAST,
        value=pps / USERSPACE_SWITCH_PPS,
        unit=BoundUnit.CORES,
        of="of the host for a full port whose frames are switched one by one, by a switch in user "
        f"space; {kernel:.3g} by one in the kernel",
        formula="line rate / frames that one core switches",
        inputs=(
            _link_speed(link_bps),
            Input(
                name="a core in user space",
                shown=f"{USERSPACE_SWITCH_PPS / 1e6:g} Mpps",
                source=USERSPACE_SWITCH_SOURCE,
                assumed=True,
            ),
            Input(
                name="a core in the kernel",
                shown=f"{KERNEL_SWITCH_PPS / 1e6:g} Mpps",
                source=KERNEL_SWITCH_SOURCE,
                assumed=True,
            ),
        ),
    )
    return (bound,)


def absence_bounds(
    descriptors: Observed[int] | None, link_bps: Observed[int] | None, frame_bytes: int
) -> tuple[Bound, ...]:
    """Time that a core may be away from a ring at line rate before a frame finds no descriptor.

    None is given where the ring or the speed of the port is not known.
    """
    if not isinstance(descriptors, Known) or not isinstance(link_bps, Known):
        return ()
    pps = float(line_rate_pps(link_bps.value, frame_bytes))
    bound = Bound(
        limit=Limit.AT_MOST,
        value=descriptors.value / pps,
        unit=BoundUnit.SECONDS,
        of=f"away from a ring of {descriptors.value} costs nothing; each ms beyond that costs up "
        f"to {pps / 1e3:,.0f} frames",
        formula="descriptors / line rate",
        inputs=(
            Input(name="descriptors", shown=f"{descriptors.value}", source=descriptors.source),
            _link_speed(link_bps),
        ),
    )
    return (bound,)


def without_link_bounds(ledger: Ledger) -> tuple[Bound, ...]:
    """What a port without a link would carry at the most: the best speed that it supports.

    None is given where that is not known.
    """
    found = [c for d in Direction if (c := ledger.bound(d)) is not None]
    if not found or all(c.element not in WIRES for c in ledger.ceilings):
        return ()
    best = max(found, key=lambda bound: bound.load_pps.high)
    bound = Bound(
        limit=Limit.AT_MOST,
        value=best.load_pps.high,
        unit=BoundUnit.LOAD_PPS,
        of=f"each way: {best.element} at the best speed that the port supports",
        formula=f"{best.formula}; 0 now",
        inputs=best.inputs,
    )
    return (bound,)


def second_port_bounds(link_bps: Known[int] | None, frame_bytes: int) -> tuple[Bound, ...]:
    """What the other port of a bond would carry, to a VF that has only one."""
    if link_bps is None:
        return ()
    bound = Bound(
        limit=Limit.AT_MOST,
        value=float(line_rate_pps(link_bps.value, frame_bytes)),
        unit=BoundUnit.LOAD_PPS,
        of="each way: the other port",
        formula="link speed of the other port / (8 x (frame + 20 bytes))",
        inputs=(_link_speed(link_bps),),
    )
    return (bound,)


def cut_in_two_bound(outer_bytes: int, source: str) -> Bound:
    """Wire time that goes when each packet of `outer_bytes` travels as two fragments.

    The second one has an Ethernet header, a check sum, a gap and an IPv4 header of its own.
    """
    around = 14 + 4 + WIRE_OVERHEAD_BYTES
    again = around + 20
    return Bound.of_share(
        Limit.AT_LEAST,
        again / (outer_bytes + around + again),
        "of the wire for full packets that are cut in two, and all of those that are dropped",
        "(headers and gap of a second fragment) / (wire time of both)",
        Input(name="packet", shown=f"{outer_bytes} bytes", source=source),
    )


def _link_speed(link_bps: Known[int]) -> Input:
    return Input(name="link speed", shown=f"{link_bps.value / 1e9:g} Gb/s", source=link_bps.source)
