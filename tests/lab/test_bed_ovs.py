"""Open vSwitch with DPDK between tester and tester: plain, and through its own tunnel."""

import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from patience import patiently_measured

from wirespeed.host.local import LocalRunner
from wirespeed.lab.bed import VirtualBed
from wirespeed.measure.bench.ovs_dpdk import OvsDpdk
from wirespeed.measure.bench.trial_maker import TrialMaker, TrialSettings
from wirespeed.measure.search.ledger import build_ledger
from wirespeed.model.error import InputError
from wirespeed.model.frame_mix import FrameMix
from wirespeed.model.trial import Trial

pytestmark = pytest.mark.dpdk

LOAD_PPS = 20_000


@pytest.fixture(autouse=True)
def temporary(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A short temporary folder, empty afterwards."""
    with tempfile.TemporaryDirectory(prefix="ws-ovs-", dir="/tmp") as path:
        monkeypatch.setenv("TMPDIR", path)
        monkeypatch.setattr(tempfile, "tempdir", None)
        yield Path(path)
        assert list(Path(path).iterdir()) == []
        # Switch and database have the folder's name in their arguments.
        assert path not in LocalRunner().run(["ps", "-eo", "args"]).output


@pytest.mark.parametrize(("dut", "passes"), [("ovs-dpdk", 1), ("ovs-dpdk-vxlan", 2)])
def test_what_goes_out_comes_back_as_switch_and_port_count_it(
    dut: str, passes: int, monkeypatch: pytest.MonkeyPatch
):
    """Each frame has one lookup, and one more where it came out of the tunnel."""
    polled: list[tuple[int, int]] = []
    read = OvsDpdk.read

    def noted(self: OvsDpdk) -> object:
        stats = self.polling()
        polled.append((stats.packets, stats.packets + stats.recirculations))
        return read(self)

    monkeypatch.setattr(OvsDpdk, "read", noted)
    bed = VirtualBed(dut, "vhost", flows=64, frame_bytes_max=9600)
    try:
        assert bed.dut.name == dut
        trials: list[Trial] = []
        maker = TrialMaker(
            lambda: bed,
            TrialSettings(search=1, mix=FrameMix.parse("64x7+594x4+9600x1"), flows=64),
            next_number=lambda: len(trials) + 1,
            record=trials.append,
        )
        sample = patiently_measured(maker, LOAD_PPS, 0.05)
    finally:
        bed.close()
    trial = trials[-1]
    assert sample.missing_frames == 0
    assert trial.offered_frames > 0
    assert trial.dut_reading is not None
    (port,) = trial.dut_reading.ports
    assert (port.ipackets, port.opackets) == (trial.offered_frames, trial.offered_frames)
    before, after = polled[-2:]
    assert after[0] - before[0] == trial.offered_frames
    assert after[1] - before[1] == trial.offered_frames * passes
    assert trial.dut_reading.cpu_run_ns
    assert trial.dut_reading.busy_cycles_per_packet
    assert build_ledger(trial).lost == ()
    # The outer headers went as they came: each frame is as it was sent.
    assert trial.streams[0].corrupted_frames == trial.streams[0].misdelivered_frames == 0


def test_a_memif_is_refused_before_anything_starts():
    with pytest.raises(InputError) as error:
        VirtualBed("ovs-dpdk", "memif", flows=1, frame_bytes_max=1518)
    assert error.value.what == "dut.device"
    assert "vhost" in error.value.next
