"""Forwarders on another host: what they are told, and how their counters come back."""

import contextlib
import json
import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import cast

import pytest
from test_telemetry import CAPTURED, served

from wirespeed.host import guest_telemetry
from wirespeed.host.local import LocalRunner
from wirespeed.host.runner import Completed, Runner
from wirespeed.measure.bench import far_dut
from wirespeed.measure.bench.eal_side import EalSide
from wirespeed.measure.bench.far_dut import FarDut, l3fwd_options, start_far_dut
from wirespeed.measure.bench.l3fwd_rules import em_ipv4, lpm_ipv4
from wirespeed.measure.bench.program_host import FarHost, FarTelemetry, devices_of
from wirespeed.measure.bench.telemetry import Telemetry
from wirespeed.measure.bench.tester import find_tester
from wirespeed.measure.bench.testpmd import Ports, argv
from wirespeed.measure.bench.two_hosts_bed import End
from wirespeed.model.error import InputError, MeasurementError

PCI = ("0000:01:00.0", "0000:02:00.0")
MACS = ("02:00:00:00:00:0a", "02:00:00:00:00:0b")
SIDE = EalSide(
    devices=PCI,
    file_prefix="dut",
    runtime_folder=Path("/run/far"),
    memory_mib=256,
    hugepages=True,
    control_cpu=0,
    worker_cpus=(2, 3),
    inside=("reach", "there"),
    is_far=True,
)


def test_testpmd_takes_both_ports_their_queues_and_the_testers_addresses():
    setup = Ports(count=2, queues=2, rx_descriptors=512, tx_descriptors=1024, peer_macs=MACS)
    line = argv(SIDE, "mac", ports=setup, mbufs=32768, burst=64, program="/run/far/testpmd")
    assert line[0] == "/run/far/testpmd"
    assert line[line.index("-a") + 1] == PCI[0]
    assert "--lcores=0@0,1@2,2@3" in line
    after = line[line.index("--") + 1 :]
    assert {"--nb-cores=2", "--rxq=2", "--txq=2", "--rxd=512", "--txd=1024"} <= set(after)
    assert {f"--eth-peer=0,{MACS[0]}", f"--eth-peer=1,{MACS[1]}"} <= set(after)
    assert "--port-topology=loop" not in after


def test_testpmd_sends_back_by_the_same_port_where_there_are_two():
    line = argv(SIDE, "io", ports=Ports(count=2, same=True), mbufs=32768, burst=32)
    assert "--port-topology=loop" in line


def test_frames_above_the_usual_size_are_asked_for_and_fit_one_buffer():
    """A port drops what is longer than its MTU; a frame in two buffers cannot be sent by all
    drivers. igb and ixgbe use whole KiB of a buffer, i40e and ice multiples of 128 bytes."""
    setup = Ports(count=2, frame_bytes_max=9018)
    line = argv(SIDE, "io", ports=setup, mbufs=32768, burst=32)
    assert "--max-pkt-len=9018" in line
    (room,) = (int(word.removeprefix("--mbuf-size=")) for word in line if "--mbuf-size" in word)
    assert (room - 128) // 1024 * 1024 >= 9018
    assert "--max-pkt-len=9018" in l3fwd_options(SIDE, "lpm", setup, ["a", "b"])
    usual = argv(SIDE, "io", ports=Ports(), mbufs=32768, burst=32)
    usual += l3fwd_options(SIDE, "lpm", Ports(), ["a", "b"])
    assert not [word for word in usual if "max-pkt-len" in word or "mbuf-size" in word]


@pytest.mark.parametrize(
    ("queues", "descriptors", "filled"),
    [(1, None, 2 * 1 * 2048), (4, 4096, 2 * 4 * 8192), (64, 32768, 2 * 64 * 65536)],
)
def test_testpmd_has_more_buffers_than_its_rings_and_cores_hold(
    queues: int, descriptors: int | None, filled: int
):
    """mempool's cache of a core is 250, and it may grow by half of that (rte_mempool.c)."""
    rings = {"rx_descriptors": descriptors, "tx_descriptors": descriptors}
    setup = Ports(count=2, queues=queues, **rings)
    assert setup.mbufs(3) > filled + 3 * 375
    assert Ports().mbufs(2) == 32768


def test_l3fwd_is_built_for_the_burst_that_the_spec_asks_for(monkeypatch: pytest.MonkeyPatch):
    asked = []

    def built(*, burst: int) -> Path:
        asked.append(burst)
        raise InputError("l3fwd.build", found="as far as this test goes")

    monkeypatch.setattr(far_dut, "build_l3fwd", built)
    place = FarHost("ssh://far", cast("Runner", Folders()))
    end = End(
        reach="ssh://far", devices=PCI, macs=MACS, control_cpu=0, worker_cpus=(2,), memory_mib=256
    )
    with pytest.raises(InputError, match=r"l3fwd\.build"):
        start_far_dut(place, FarDut(forwarder="l3fwd-lpm", burst=64), end)
    assert asked == [64]


class Folders:
    """A host that makes a folder, and is asked for nothing else."""

    def run(self, argv: Sequence[str], **_: object) -> Completed:
        name = "/run/wirespeed-dpdk-abcdefgh\n"
        return Completed(argv=tuple(argv), output=name, errors="", returncode=0, duration_s=0.0)


class Waiting:
    """A forwarder whose second port has no link."""

    command_line = ""

    def __init__(self, *_: object, **__: object) -> None:
        self.telemetry = self
        self.version = "DPDK 22.11.11"
        self.child = self

    def greeting(self) -> "Waiting":
        return self

    def read_until(self, *_: object) -> list[str]:
        return []

    def close(self) -> None:
        pass

    def await_link(self, _: float, port: int = 0) -> None:
        if port == 1:
            raise MeasurementError("dut.link_down", where=PCI[1], found="down", next="look")


def test_l3fwd_does_not_forward_before_every_port_has_its_link(monkeypatch: pytest.MonkeyPatch):
    """By itself it forwards after 9 s without one, and what it routes there is lost."""
    monkeypatch.setattr(far_dut, "DpdkProcess", Waiting)
    telemetry = cast("Telemetry", None)
    one = far_dut.FarL3fwd("l3fwd", SIDE, "lpm", FarDut(forwarder="l3fwd-lpm"), telemetry)
    one.start_trial()
    wanted = FarDut(forwarder="l3fwd-lpm", ports=Ports(count=2))
    with pytest.raises(MeasurementError, match=r"dut\.link_down"):
        far_dut.FarL3fwd("l3fwd", SIDE, "lpm", wanted, telemetry).start_trial()


def test_l3fwd_deals_queues_to_cores_and_routes_all_to_the_other_port():
    setup = Ports(count=2, queues=2, rx_descriptors=4096, tx_descriptors=4096, peer_macs=MACS)
    options = l3fwd_options(SIDE, "lpm", setup, ["/run/far/ipv4", "/run/far/ipv6"])
    assert options[0] == "--lcores=0@2,1@3"
    assert {"-p", "0x3", "-P", "-L", "--parse-ptype"} <= set(options)
    assert "--config=(0,0,0),(0,1,1),(1,0,0),(1,1,1)" in options
    assert {"--rx-queue-size=4096", f"--eth-dest=1,{MACS[1]}"} <= set(options)
    assert {rule.split()[-1] for rule in lpm_ipv4(1).splitlines()} == {"1"}
    assert {rule.split()[-1] for rule in em_ipv4(3, 1).splitlines()} == {"1"}


def test_options_for_a_driver_stand_behind_each_port():
    assert devices_of(PCI, "mprq_en=1,rxqs_min_mprq=1") == tuple(
        f"{port},mprq_en=1,rxqs_min_mprq=1" for port in PCI
    )


def test_a_far_program_gets_its_environment_there_and_not_here():
    assert SIDE.environment == {}


HERE = CAPTURED | {"greeting": json.dumps(json.loads(CAPTURED["greeting"]) | {"pid": 1})}
"""The greeting names a process: this machine's first has threads to read."""


@contextlib.contextmanager
def asked_there(path: Path) -> Iterator[FarTelemetry]:
    telemetry = FarTelemetry(path, [])
    try:
        yield telemetry
    finally:
        telemetry.close()


def test_counters_come_back_by_the_script_that_runs_there(tmp_path: Path):
    with (
        served(tmp_path / "s", HERE, connections=2),
        asked_there(tmp_path / "s") as telemetry,
    ):
        (port,) = telemetry.counters()
        assert (port.port, port.ipackets, port.opackets) == (0, 2186368, 2186016)
        assert telemetry.threads
        assert telemetry.statistics[0]["rx_q0_errors"] == 0
        assert telemetry.statistics[0]["tx_q0_packets"] == 2186016


def test_the_clock_of_a_threads_core_is_what_its_kernel_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    thread = tmp_path / "task"
    thread.mkdir()
    # proc(5): the name, the state, and the CPU as the 39th field.
    fields = ["R", *map(str, range(4, 39)), "17", "0"]
    (thread / "stat").write_text(f"8 (rte-worker 1) x) {' '.join(fields)}\n")
    asked = []

    def read_text(path: Path) -> str:
        if path.name == "stat":
            return read(path)
        asked.append(str(path))
        return "2399876\n"

    read = Path.read_text
    monkeypatch.setattr(Path, "read_text", read_text)
    assert guest_telemetry.clock_hz(thread) == 2_399_876_000
    assert asked == ["/sys/devices/system/cpu/cpu17/cpufreq/scaling_cur_freq"]
    monkeypatch.undo()
    assert guest_telemetry.clock_hz(tmp_path / "gone") is None


def test_a_driver_without_extended_statistics_tells_none_and_its_counters_are_read(tmp_path: Path):
    without = HERE | {"/ethdev/xstats,0": '{"/ethdev/xstats":null}'}
    with (
        served(tmp_path / "s", without, connections=2),
        asked_there(tmp_path / "s") as telemetry,
    ):
        (port,) = telemetry.counters()
        assert (port.ipackets, telemetry.statistics) == (2186368, {})


def test_extended_statistics_that_are_no_numbers_are_an_error_and_no_zero(tmp_path: Path):
    odd = HERE | {"/ethdev/xstats,0": '{"/ethdev/xstats":{"rx_q0_packets":"12"}}'}
    with (
        served(tmp_path / "s", odd, connections=2),
        asked_there(tmp_path / "s") as telemetry,
        pytest.raises(MeasurementError, match="not a table of numbers"),
    ):
        telemetry.counters()


def test_a_program_that_does_not_answer_is_an_error_and_no_zero(tmp_path: Path):
    with asked_there(tmp_path / "nothing") as telemetry:
        with pytest.raises(MeasurementError) as caught:
            telemetry.counters()
        assert caught.value.what == "telemetry.failed"
        assert "FileNotFoundError" in caught.value.found


class DescribedHost:
    """Has a `forwarder` in its PATH, makes folders, and keeps what it was asked."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, ...]] = []

    def run(self, argv: Sequence[str], **_: object) -> Completed:
        self.asked.append(tuple(argv))
        output = ""
        if argv[0] == "mktemp":
            output = f"/run/wirespeed-dpdk-{len(self.asked):08}\n"
        elif "command -v" in argv[2]:
            output = "/usr/bin/forwarder\n"
        return Completed(argv=tuple(argv), output=output, errors="", returncode=0, duration_s=0)


def test_a_second_place_on_a_host_has_what_the_first_was_sent_and_found():
    host = DescribedHost()
    first = FarHost("ssh://there", host)
    first.send({"rules": "a rule"})
    assert first.program("forwarder") == "/usr/bin/forwarder"
    second = FarHost("ssh://there", host)
    del host.asked[:]
    second.like(first)
    assert second.program("forwarder") == "/usr/bin/forwarder"
    assert host.asked == [("cp", "-p", "--", f"{first.folder}/rules", second.folder)]
    assert first.folder != second.folder


def test_what_compiled_a_program_is_read_of_the_program_itself():
    program = str(find_tester())
    place = FarHost("ssh://here", Here())
    ((label, said),) = place.compiler(program)
    assert label == "compiler"
    # The same section as binutils print it.
    readelf = ("readelf", "-p", ".comment", program)
    assert said in subprocess.run(readelf, capture_output=True, text=True, check=True).stdout
    ((_, told),) = place.compiler("/etc/passwd")
    assert told.startswith("not told")
    assert place.compiler("forwarder-without-a-path") == ()


class Here(Folders):
    """This machine, but for its folder."""

    def run(self, argv: Sequence[str], **options: object) -> Completed:
        if argv[0] == "mktemp":
            return super().run(argv, **options)
        return LocalRunner().run(argv)
