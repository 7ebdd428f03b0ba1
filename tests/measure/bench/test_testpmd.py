import os
import signal
from collections.abc import Callable
from pathlib import Path

import pytest
from pcap_tester import DUT_MAC, TESTER_MAC, frame, ipv4_checksum, read_pcap

from wirespeed.host import spawn as spawn_module
from wirespeed.host.clock import Deadline, sleep_s
from wirespeed.measure.bench import dpdk_process
from wirespeed.measure.bench.dpdk_process import explain
from wirespeed.measure.bench.dut import difference
from wirespeed.measure.bench.eal_side import EalSide
from wirespeed.measure.bench.testpmd import Ports, Testpmd, Totals, argv
from wirespeed.measure.bench.testpmd_output import Forwarding, parse_forwarding
from wirespeed.model.error import InputError, MeasurementError

DATA = Path(__file__).parent.parent / "data"
PORT_MAC = bytes.fromhex("027063617000")
"""net_pcap's own: 02, "pcap", number of the port."""
Sides = Callable[..., tuple[EalSide, Path]]


def captured(name: str) -> Forwarding:
    return parse_forwarding((DATA / name).read_text().splitlines())


def test_captured_statistics_of_a_stopped_forwarder():
    run = captured("testpmd-stop-dropped.txt")
    (port,) = run.ports
    assert (port.port, port.rx_packets, port.rx_dropped) == (0, 2186368, 0)
    assert (port.tx_packets, port.tx_dropped) == (2186016, 352)
    assert (run.busy_cycles, run.busy_packets, run.tsc_mhz) == (1087379273, 2186368, 2600)


def test_captured_statistics_of_a_running_forwarder():
    assert captured("testpmd-show-fwd-running.txt").tx_dropped == 320


def test_an_idle_forwarder_prints_no_cycles():
    run = captured("testpmd-stop-idle.txt")
    assert run.ports[0].rx_packets == 0
    assert run.busy_cycles is None


def test_cycles_as_dpdk_prints_them_since_23_03():
    """DPDK's commit 99a4974aa5 renames the words; app/test-pmd/testpmd.c of 24.11."""
    text = (DATA / "testpmd-stop-dropped.txt").read_text()
    run = parse_forwarding(text.replace("(total cycles=", "(busy cycles=").splitlines())
    assert run == captured("testpmd-stop-dropped.txt")
    assert run.busy_cycles == 1087379273


def test_output_without_statistics_is_refused():
    with pytest.raises(ValueError, match="no forward statistics"):
        captured("testpmd-stop-twice.txt")


def test_half_a_block_is_refused():
    lines = (DATA / "testpmd-stop-dropped.txt").read_text().splitlines()
    (tx,) = [i for i, line in enumerate(lines[:8]) if "TX-packets" in line]
    with pytest.raises(ValueError, match="no counts for port 0"):
        parse_forwarding(lines[:tx])
    with pytest.raises(ValueError, match="no counts for port 0"):
        parse_forwarding(lines[:tx] + lines[tx + 1 :])


def test_lines_of_drivers_in_between_are_passed_over():
    lines = (DATA / "testpmd-stop-dropped.txt").read_text().splitlines()
    noisy = [text for line in lines for text in (line, "Port 0: link state change event")]
    assert parse_forwarding(noisy) == parse_forwarding(lines)


def test_totals_add_up_over_runs_and_an_idle_run_adds_nothing():
    once = Totals().plus(captured("testpmd-stop-dropped.txt"))
    assert once.plus(captured("testpmd-stop-idle.txt")) == once
    assert once.plus(captured("testpmd-stop-dropped.txt")).tx_dropped == 704


def test_an_unknown_forward_mode_is_bad_input(null_side: Callable[..., EalSide]):
    with pytest.raises(InputError) as error:
        Testpmd(null_side(), "teleport")
    assert error.value.what == "dut.unknown_mode"
    assert "macswap" in error.value.next


def test_missing_testpmd_names_the_package(
    null_side: Callable[..., EalSide], monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(dpdk_process, "find_program", lambda _: None)
    with pytest.raises(InputError) as error:
        Testpmd(null_side(), "io")
    assert error.value.where == "dpdk-testpmd"
    assert error.value.next == "run `apt-get install dpdk-dev`"


def test_the_command_line_has_all_that_matters(null_side: Callable[..., EalSide]):
    line = argv(
        null_side(), "mac", ports=Ports(peer_macs=("02:00:00:00:00:01",)), mbufs=1000, burst=64
    )
    assert line[0] == "dpdk-testpmd"
    assert "--forward-mode=mac" in line
    assert "--eth-peer=0,02:00:00:00:00:01" in line
    assert line.index("--no-huge") < line.index("--") < line.index("--burst=64")


def assert_frames_come_back(
    pcap_side: Sides, mode: str, change: Callable[[bytes], bytes], **options: str
) -> None:
    sent = [frame(0), frame(8191), frame(70000, ttl=1), frame(5, mbuf_bytes=1514)]
    # Without an end, because testpmd throws away what it finds when forwarding starts.
    side, out = pcap_side(sent, options=",infinite_rx=1")
    with Testpmd(side, mode, **options) as dut:  # type: ignore[arg-type]
        dut.start_trial()
        before = dut.read()
        deadline = Deadline(5)
        while not difference(before, dut.read()).ports[0].opackets and not deadline.expired:
            sleep_s(0.01)
        dut.end_trial()
    assert set(read_pcap(out)) == {change(f) for f in sent}


@pytest.mark.parametrize(
    "said",
    # lib/eal/linux/eal.c and eal_hugepage_info.c of DPDK 22.11 and 24.11.
    [
        "EAL: FATAL: Cannot get hugepage information.",
        "EAL: No free 2048 kB hugepages reported on node 0",
        "EAL: No available 1048576 kB hugepages reported",
    ],
)
def test_a_forwarder_without_hugepages_lacks_memory(said: str):
    died = MeasurementError("dut.died", where="testpmd", found=said, next="look")
    assert explain(died).what == "dut.memory"


@pytest.mark.dpdk
def test_a_port_that_no_driver_took_is_named_before_any_trial(null_side: Callable[..., EalSide]):
    """testpmd warns and starts without it (app/test-pmd/testpmd.c, main)."""
    with pytest.raises(InputError) as error:
        Testpmd(null_side(), "io", ports=Ports(count=2))
    assert error.value.what == "dut.device"
    assert error.value.found.startswith("testpmd has 1 of 2 ports; it last said:")


@pytest.mark.dpdk
def test_io_returns_frames_as_they_are(pcap_side: Sides):
    assert_frames_come_back(pcap_side, "io", lambda f: f)


@pytest.mark.dpdk
def test_macswap_exchanges_mac_addresses_and_nothing_else(pcap_side: Sides):
    assert_frames_come_back(pcap_side, "macswap", lambda f: f[6:12] + f[:6] + f[12:])


@pytest.mark.dpdk
def test_mac_writes_the_peer_and_its_own_address(pcap_side: Sides):
    peer = bytes.fromhex("02aaaaaaaaaa")
    assert_frames_come_back(
        pcap_side,
        "mac",
        lambda f: peer + PORT_MAC + f[12:],
        ports=Ports(peer_macs=("02:aa:aa:aa:aa:aa",)),
    )


@pytest.mark.dpdk
def test_5tswap_exchanges_macs_addresses_and_ports_and_no_checksum(pcap_side: Sides):
    def change(f: bytes) -> bytes:
        swapped = f[30:34] + f[26:30] + f[36:38] + f[34:36]
        return f[6:12] + f[:6] + f[12:26] + swapped + f[38:]

    changed = change(frame(1))
    assert changed[:12] == TESTER_MAC + DUT_MAC
    assert ipv4_checksum(changed[14:34]) == 0
    assert_frames_come_back(pcap_side, "5tswap", change)


@pytest.mark.dpdk
def test_counts_of_stopped_runs_are_kept(pcap_side: Sides):
    side, _ = pcap_side([frame(1)], options=",infinite_rx=1")
    with Testpmd(side, "io") as dut:
        readings = [dut.read()]
        for _ in range(3):
            dut.start_trial()
            dut.start_trial()
            sleep_s(0.05)
            dut.end_trial()
            dut.end_trial()
            readings.append(dut.read())
        packets = [r.busy_packets for r in readings]
        assert packets[0] == 0
        assert packets == sorted(set(packets))  # type: ignore[type-var]
        reading = difference(readings[-2], readings[-1])
        assert reading.ports[0].opackets == packets[-1] - packets[-2]  # type: ignore[operator]
        assert reading.busy_cycles_per_packet
        assert reading.cpu_run_ns


@pytest.mark.dpdk
def test_description_says_what_runs(null_side: Callable[..., EalSide]):
    with Testpmd(null_side(), "macswap") as dut:
        told = dut.description
        assert told.name == "testpmd-macswap"
        assert told.version.startswith("DPDK ")
        assert "--forward-mode=macswap" in told.command_line
        assert told.expect == "macswap"
        assert dict(told.details)["device"] == "net_null0"


@pytest.mark.dpdk
def test_a_dut_that_dies_in_mid_trial_is_noticed(null_side: Callable[..., EalSide]):
    with Testpmd(null_side(), "io") as dut:
        dut.start_trial()
        assert dut.alive()
        os.kill(dut.pid, signal.SIGSEGV)
        deadline = Deadline(5)
        while dut.alive() and not deadline.expired:
            sleep_s(0.01)
        assert not dut.alive()
        for call in (dut.read, dut.end_trial):
            with pytest.raises(MeasurementError) as error:
                call()
            assert error.value.what == "dut.died"
            assert "SIGSEGV" in error.value.found
        assert dut.death().what == "dut.died"


@pytest.mark.dpdk
def test_too_little_memory_is_bad_input(null_side: Callable[..., EalSide]):
    with pytest.raises(InputError) as error:
        Testpmd(null_side(memory_mib=32), "io")
    assert error.value.what == "dut.memory"


@pytest.mark.dpdk
def test_a_device_that_does_not_exist_is_bad_input(null_side: Callable[..., EalSide]):
    with pytest.raises(InputError) as error:
        Testpmd(null_side("net_nonsense0"), "io")
    assert error.value.what == "dut.device"


@pytest.mark.dpdk
def test_a_failed_start_leaves_no_process(
    null_side: Callable[..., EalSide], monkeypatch: pytest.MonkeyPatch
):
    started = []
    genuine = spawn_module.spawn

    def remember(*args: object, **options: object) -> object:
        started.append(genuine(*args, **options))  # type: ignore[arg-type]
        return started[-1]

    monkeypatch.setattr("wirespeed.host.process.spawn", remember)
    with pytest.raises(InputError):
        Testpmd(null_side(memory_mib=32), "io")
    assert [process.returncode is not None for process in started] == [True]
