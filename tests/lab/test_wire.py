import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from pcap_tester import PcapTester, frame

from wirespeed.host import procfs
from wirespeed.host.clock import Deadline, sleep_s
from wirespeed.host.procfs import HugepagePool
from wirespeed.lab import wire as wire_module
from wirespeed.lab.wire import Wire, devices, enough_hugepages, open_wire
from wirespeed.measure.bench.l3fwd import L3fwd
from wirespeed.measure.bench.testpmd import Testpmd
from wirespeed.model.error import InputError, MeasurementError

SIZES = (60, 60, 64, 124, 1514, 2044, 2100, 9000, 9596, 60)
FRAMES = [frame(flow, mbuf_bytes=size) for flow, size in enumerate(SIZES)]


def swapped(f: bytes) -> bytes:
    return f[6:12] + f[:6] + f[12:]


def test_both_ends_of_vhost_name_one_socket_and_the_tester_serves_it():
    tester, dut = devices("vhost", Path("/x/wire"), frame_bytes_max=9600, zero_copy=False)
    assert tester == "net_virtio_user0,path=/x/wire,server=1,queues=1,queue_size=16384"
    assert dut == "net_vhost0,iface=/x/wire,client=1,queues=1"


def test_memif_has_large_rings_and_zero_copy_only_where_it_is_faster():
    tester, dut = devices("memif", Path("/x/wire"), frame_bytes_max=1518, zero_copy=False)
    assert "role=client" in tester
    assert "zero-copy=no" in tester
    assert "rsize=14,bsize=2048" in tester
    assert "role=server" in dut
    tester, _ = devices("memif", Path("/x/wire"), frame_bytes_max=1518, zero_copy=True)
    assert "zero-copy=yes" in tester


def test_of_memif_direct_only_the_dut_has_a_driver():
    tester, dut = devices("memif-direct", Path("/x/wire"), frame_bytes_max=1518, zero_copy=True)
    assert tester == "own_memif0,socket=/x/wire,rsize=14,bsize=2048"
    assert (
        dut == "net_memif0,role=server,id=0,socket-abstract=no,socket=/x/wire,rsize=14,bsize=2048"
    )


@pytest.mark.parametrize(("frame_bytes", "buffer"), [(2048, 2048), (2049, 2112), (9600, 9600)])
def test_memif_buffers_hold_the_largest_frame(frame_bytes: int, buffer: int):
    for device in devices("memif", Path("/x"), frame_bytes_max=frame_bytes, zero_copy=False):
        assert f"bsize={buffer}" in device


def test_hugepages_are_used_only_if_enough_of_one_size_are_free():
    small = HugepagePool(page_kib=2048, total=1000, free=768)
    large = HugepagePool(page_kib=1048576, total=2, free=2)
    assert enough_hugepages([small], [512, 1024])
    assert not enough_hugepages([small], [513, 1024])
    assert enough_hugepages([large], [512, 1024])
    assert not enough_hugepages([large], [512, 1025])
    assert not enough_hugepages([], [1, 1])


def test_an_unknown_wire_is_bad_input():
    with pytest.raises(InputError) as error:
        open_wire("string")
    assert error.value.what == "wire.unknown"
    assert "vhost" in error.value.next


def test_too_little_memory_is_bad_input(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(wire_module.procfs, "read_available_mib", lambda: 100)
    monkeypatch.setattr(wire_module.procfs, "read_hugepages", lambda: ())
    with pytest.raises(InputError) as error:
        open_wire()
    assert error.value.what == "wire.memory"
    assert "100 MiB" in error.value.found


def test_a_path_that_no_socket_can_have_is_bad_input(tmp_path: Path):
    with pytest.raises(InputError) as error:
        open_wire(folder=tmp_path / ("x" * 100))
    assert error.value.what == "wire.path_too_long"


def test_two_testers_on_one_socket_exclude_each_other(tmp_path: Path):
    with open_wire(folder=tmp_path / "w"):
        with pytest.raises(InputError) as error:
            open_wire(folder=tmp_path / "w")
        assert error.value.what == "folder.in_use"


def test_wires_of_one_user_share_nothing():
    with open_wire() as one, open_wire() as two:
        assert one.socket != two.socket
        assert one.tester.file_prefix != two.tester.file_prefix
        assert one.tester.runtime_folder.stat().st_mode & 0o777 == 0o700
    assert not one.socket.parent.exists()


def test_dut_and_tester_have_cpus_of_their_own_where_there_are_two():
    with open_wire() as wire:
        if len(procfs.usable_cpus()) > 1:
            assert set(wire.dut.worker_cpus).isdisjoint(wire.tester.worker_cpus)
            assert wire.warnings == () or "siblings" in wire.warnings[0]
        else:
            assert wire.warnings


def pcap_tester(wire: Wire, folder: Path) -> PcapTester:
    return PcapTester(wire, folder, FRAMES)


@pytest.mark.dpdk
def test_vhost_returns_every_frame_of_every_size_through_duts_that_come_and_go(tmp_path: Path):
    with open_wire(frame_bytes_max=9600) as wire, pcap_tester(wire, tmp_path) as tester:
        with Testpmd(wire.dut, "macswap") as first:
            first.start_trial()
            os.kill(first.pid, signal.SIGKILL)
        with L3fwd(wire.dut, "lpm", flows=1) as second:
            second.start_trial()
        with Testpmd(wire.dut, "macswap") as third:
            third.start_trial()
            assert tester.exchange() == [swapped(f) for f in FRAMES]
            third.end_trial()
            counters = third.read().ports[0]
            assert (counters.ipackets, counters.opackets) == (len(FRAMES), len(FRAMES))


@pytest.mark.dpdk
def test_memif_returns_every_frame_of_every_size(tmp_path: Path):
    with (
        open_wire("memif", frame_bytes_max=9600) as wire,
        Testpmd(wire.dut, "macswap") as dut,
        pcap_tester(wire, tmp_path) as tester,
    ):
        dut.start_trial()
        assert tester.exchange() == [swapped(f) for f in FRAMES]
        dut.end_trial()


@pytest.mark.dpdk
def test_a_tester_that_died_can_be_replaced(tmp_path: Path):
    with (
        open_wire(frame_bytes_max=9600) as wire,
        pcap_tester(wire, tmp_path) as first,
        Testpmd(wire.dut, "macswap") as dut,
    ):
        dut.start_trial()
        dut.end_trial()
        os.kill(first.child.pid, signal.SIGKILL)
        first.child.close()
        wire.forget_tester()
        with pcap_tester(wire, tmp_path) as second:
            dut.start_trial()
            assert second.exchange() == [swapped(f) for f in FRAMES]


@pytest.mark.dpdk
def test_without_a_tester_the_link_is_down_and_that_is_said(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("wirespeed.measure.bench.testpmd._LINK_S", 0.3)
    with open_wire() as wire, Testpmd(wire.dut, "io") as dut:
        with pytest.raises(MeasurementError) as error:
            dut.start_trial()
        assert error.value.what == "dut.link_down"


def is_running(pid: int) -> bool:
    """A process that nobody has reaped yet keeps its folder in /proc, but not its memory."""
    try:
        return bool(Path(f"/proc/{pid}/maps").read_text())
    except OSError:
        return False


@pytest.fixture
def short_folder() -> Iterator[Path]:
    """A folder whose path leaves room for sockets, unlike pytest's own."""
    with tempfile.TemporaryDirectory(dir="/tmp") as path:
        yield Path(path)


@pytest.mark.dpdk
def test_a_killed_wirespeed_leaves_no_dut_and_its_folder_goes_with_the_next(
    short_folder: Path, monkeypatch: pytest.MonkeyPatch
):
    script = (
        "from wirespeed.lab.wire import open_wire\n"
        "from wirespeed.measure.bench.testpmd import Testpmd\n"
        "import time\n"
        "wire = open_wire()\n"
        "dut = Testpmd(wire.dut, 'io')\n"
        "print(dut.pid, flush=True)\n"
        "time.sleep(600)\n"
    )
    environment = {"PYTHONPATH": os.pathsep.join(sys.path), "TMPDIR": str(short_folder)}
    parent = subprocess.Popen(
        [sys.executable, "-c", script],
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, **environment},
    )
    assert parent.stdout
    with parent.stdout:
        pid = int(parent.stdout.readline())
        parent.kill()
        parent.wait()
    deadline = Deadline(5)
    while is_running(pid):
        assert not deadline.expired
        sleep_s(0.01)
    (orphan,) = short_folder.glob("wirespeed-*")
    monkeypatch.setattr("tempfile.tempdir", str(short_folder))
    with open_wire():
        assert not orphan.exists()
    assert list(short_folder.glob("wirespeed-*")) == []
