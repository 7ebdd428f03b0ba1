"""Open vSwitch with DPDK, plain and through its own VXLAN, and testpmd: packets and cycles."""

from collections.abc import Callable, Iterator

from bench_figures import Result, Unmeasured
from bench_pairs import DisturbedError, Pairs
from bench_programs import BURST, FLOWS, MAX_AWAY
from wirespeed.lab.bed import VirtualBed
from wirespeed.measure.ovs_programs import find_ovs
from wirespeed.measure.testbed import BedTrial
from wirespeed.measure.tester_protocol import TrialRequest
from wirespeed.model.error import InputError
from wirespeed.model.spec import TUNNEL_BYTES
from wirespeed.model.trial import FrameMix
from wirespeed.model.units import wire_bytes

SECONDS = 0.5
FRAME_BYTES = 64
LINE_BPS = 25e9
NAMES = ("ovs_vxlan_forwarded", "ovs_vxlan_cycles", "ovs_cycles")


def open_vswitch() -> Iterator[Result]:
    """Frames a second that come back at overload, and the polling thread's cycles for each."""
    try:
        find_ovs()
    except InputError as error:
        why = f"{error.where}: {error.next}"
        yield from (Unmeasured(name=name, why=why, excused=True) for name in NAMES)
        return
    through, plain, forwarder = map(_sampled, ("ovs-dpdk-vxlan", "ovs-dpdk", "testpmd-io"))
    tunnel = Pairs(through, plain)
    yield tunnel.result(NAMES[0], _mpps, _mpps, ceiling())
    yield tunnel.result(NAMES[1], _cycles, _cycles, "outer headers added once, taken off once")
    yield Pairs(plain, forwarder).result(NAMES[2], _cycles, _cycles)


def ceiling() -> str:
    """Say what a wire would carry of such frames, with and without outer headers."""
    bare, outer = (
        LINE_BPS / (8 * (wire_bytes(FRAME_BYTES) + added)) / 1e6 for added in (0, TUNNEL_BYTES[4])
    )
    return (
        f"a link of {LINE_BPS / 1e9:.0f} Gb/s carries {bare:.1f} Mpps of {FRAME_BYTES}-byte frames "
        f"and {outer:.1f} Mpps of them in VXLAN over IPv4: above that, no core is to blame"
    )


def _sampled(dut: str) -> Callable[[], BedTrial]:
    # A switch polls from start to end: two at once would share the core.
    return lambda: _sample(dut)


def _sample(dut: str) -> BedTrial:
    bed = VirtualBed(dut, "vhost", flows=FLOWS, frame_bytes_max=1518)
    try:
        made = bed.run(
            TrialRequest(
                number=1,
                mix=FrameMix.parse(str(FRAME_BYTES)),
                flows=FLOWS,
                load_pps=None,
                seconds=SECONDS,
                burst_frames=BURST,
                prime=True,
                expect=bed.dut.expect,
                cpus=bed.cpus,
            )
        )
    finally:
        bed.close()
    if not made.result.valid:
        raise DisturbedError("; ".join(made.result.invalid_reasons))
    away_ns = (made.dut.cpu_wait_ns or 0) + (made.dut.steal_ns or 0)
    if away_ns > MAX_AWAY * made.result.measured_seconds * 1e9:
        raise DisturbedError(f"the core of {dut} was taken away for {away_ns / 1e6:.1f} ms")
    return made


def _mpps(made: BedTrial) -> float:
    back = sum(stream.unique_frames for stream in made.result.streams)
    return back / made.result.measured_seconds / 1e6


def _cycles(made: BedTrial) -> float:
    cycles = made.dut.busy_cycles_per_packet
    if cycles is None:
        raise DisturbedError("it counted no cycles")
    return cycles
