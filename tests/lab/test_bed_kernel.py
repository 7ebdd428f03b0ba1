"""The kernel's bridge and VXLAN between two ports of the tester; without root it says why not."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from wirespeed.host.local import LocalRunner
from wirespeed.lab.kernel_bed import KernelBed
from wirespeed.measure.bench.tester_protocol import StreamRequest, TrialRequest
from wirespeed.model.error import InputError
from wirespeed.model.frame_mix import FrameMix

pytestmark = pytest.mark.dpdk


def namespaces() -> set[str]:
    """Every network namespace that a process is in."""
    found = set()
    for path in Path("/proc").glob("[0-9]*/ns/net"):
        try:
            found.add(str(path.readlink()))
        except OSError:
            # It ended meanwhile.
            continue
    return found


@pytest.fixture(autouse=True)
def _nothing_is_left() -> Iterator[None]:
    before = LocalRunner().run(["ip", "-o", "link"]).output
    yield
    assert LocalRunner().run(["ip", "-o", "link"]).output == before


@pytest.mark.parametrize("dut", ["kernel-bridge", "kernel-vxlan"])
def test_what_goes_out_comes_back_at_the_other_port_as_the_kernel_counts_it(dut: str):
    # Root in a container may not either.
    if LocalRunner().run(["unshare", "--net", "--mount", "true"]).returncode != 0:
        with pytest.raises(InputError) as refused:
            KernelBed(dut, frame_bytes_max=1518)
        assert refused.value.what == "dut.needs_root"
        return
    found = namespaces()
    bed = KernelBed(dut, frame_bytes_max=1518)
    try:
        assert len(namespaces() - found) == 2
        made = bed.run(
            TrialRequest(
                number=1,
                mix=FrameMix.parse("64x7+594x4+1518x1"),
                flows=64,
                load_pps=2000,
                streams=tuple(StreamRequest(tx_port=t, rx_port=r) for t, r in bed.streams),
                seconds=0.5,
                expect=bed.dut.expect,
            )
        )
        (crossed,) = json.loads(
            LocalRunner().run([*bed.inside, "ip", "-j", "-s", "link", "show", "u0"]).output
        )
    finally:
        bed.close()
        bed.close()
    (stream,) = made.result.streams
    assert stream.offered_frames > 0
    # The outer headers went as they came: each frame is as it was sent, once.
    assert stream.unique_frames == stream.offered_frames
    assert stream.corrupted_frames == stream.misdelivered_frames == stream.duplicated_frames == 0
    sent, back = made.dut.ports
    # Before the trial, some frames more tell whether there is a way at all.
    assert sent.ipackets >= stream.offered_frames
    assert back.opackets == sent.ipackets
    assert sent.imissed == 0
    # Between the ends each frame is longer by what RFC 7348 adds; there is a little ARP besides.
    outer = crossed["stats64"]["tx"]
    more, added = outer["packets"] - sent.ipackets, (50 if dut == "kernel-vxlan" else 0)
    assert 0 <= more <= 8
    assert 0 <= outer["bytes"] - sent.ibytes - added * sent.ipackets <= 100 * more


def test_a_frame_that_its_ring_cannot_hold_is_refused_before_anything_starts():
    with pytest.raises(InputError) as refused:
        KernelBed("kernel-vxlan", frame_bytes_max=9018)
    assert (refused.value.what, refused.value.where) == ("dut.device", "kernel-vxlan")
