from collections.abc import Callable

import pytest

from wirespeed.measure.bench.dut import DutCounters, difference
from wirespeed.measure.bench.duts import ON_A_WIRE, start_dut
from wirespeed.measure.bench.eal_side import EalSide
from wirespeed.measure.bench.external import ExternalDut
from wirespeed.measure.bench.kernel_path import KERNEL_DUTS
from wirespeed.model.error import InputError, MeasurementError
from wirespeed.model.port_statistics import MOST, PortStatistics
from wirespeed.model.trial import PortCounters


def port(number: int = 0, **counts: int) -> PortCounters:
    names = PortCounters.model_fields.keys() - {"port", "discards"}
    return PortCounters(port=number, **{name: counts.get(name, 0) for name in names})


def test_a_difference_is_per_counter():
    before = DutCounters(
        ports=(port(ipackets=10, opackets=9),), forward_tx_dropped=1, cpu_run_ns=5, steal_ns=0
    )
    after = DutCounters(
        ports=(port(ipackets=110, opackets=99),), forward_tx_dropped=11, cpu_run_ns=6, steal_ns=0
    )
    reading = difference(before, after)
    assert reading.ports == (port(ipackets=100, opackets=90),)
    assert (reading.forward_tx_dropped, reading.cpu_run_ns, reading.steal_ns) == (10, 1, 0)


def test_what_one_reading_lacks_is_unknown_not_zero():
    reading = difference(DutCounters(), DutCounters(cpu_run_ns=5, forward_tx_dropped=7))
    assert reading.cpu_run_ns is None
    assert reading.forward_tx_dropped is None


def test_counters_that_went_back_show_it():
    reading = difference(
        DutCounters(ports=(port(ipackets=10),)), DutCounters(ports=(port(ipackets=3),))
    )
    assert reading.ports[0].ipackets == -7


def test_cycles_per_packet_are_of_the_packets_in_between():
    before = DutCounters(busy_cycles=1000, busy_packets=1)
    after = DutCounters(busy_cycles=2000, busy_packets=11)
    assert difference(before, after).busy_cycles_per_packet == 100.0
    assert difference(before, before).busy_cycles_per_packet is None


def test_readings_of_different_ports_are_not_compared():
    with pytest.raises(MeasurementError) as error:
        difference(DutCounters(ports=(port(0),)), DutCounters(ports=(port(1),)))
    assert error.value.what == "dut.ports_changed"


def test_an_external_dut_says_nothing_rather_than_zero():
    dut = ExternalDut("router", "routed")
    dut.start_trial()
    reading = difference(dut.read(), dut.read())
    dut.end_trial()
    assert reading.ports == ()
    assert reading.forward_tx_dropped is None
    assert dut.alive()
    assert dut.description.expect == "routed"
    dut.close()


def side(device: str, *, hugepages: bool = False) -> EalSide:
    return EalSide(
        devices=(device,),
        file_prefix="x",
        runtime_folder="/run/x",  # type: ignore[arg-type]
        memory_mib=512,
        hugepages=hugepages,
        control_cpu=0,
        worker_cpus=(3, 2),
    )


def test_a_virtual_device_needs_no_pci_and_a_card_is_allowed_by_its_address():
    assert side("net_null0").arguments()[-2:] == ["--no-pci", "--vdev=net_null0"]
    arguments = side("0000:3b:00.0,mprq_en=1").arguments()
    assert arguments[-2:] == ["-a", "0000:3b:00.0,mprq_en=1"]
    assert "--no-pci" not in arguments


def test_no_huge_and_in_memory_exclude_each_other():
    assert "--no-huge" in side("net_null0").arguments()
    with_pages = side("net_null0", hugepages=True).arguments()
    assert "--in-memory" in with_pages
    assert "--no-huge" not in with_pages


def test_lcores_are_one_per_cpu_control_first():
    assert side("net_null0").lcores() == "0@0,1@3,2@2"
    assert side("net_null0").single_lcore() == "0@3"


def test_an_unknown_dut_is_bad_input_with_the_names_that_are_known():
    with pytest.raises(InputError) as error:
        start_dut("testpmd-teleport", side("net_null0"), flows=1, tester_mac="02:00:00:00:00:01")
    assert error.value.what == "dut.unknown"
    assert "l3fwd-lpm" in error.value.next


@pytest.mark.parametrize("name", KERNEL_DUTS)
def test_a_dut_of_the_kernel_is_joined_by_no_wire_in_memory(name: str):
    with pytest.raises(InputError) as error:
        start_dut(name, side("net_null0"), flows=1, tester_mac="02:00:00:00:00:01")
    assert (error.value.what, error.value.where) == ("dut.device", name)


@pytest.mark.dpdk
@pytest.mark.parametrize("name", ON_A_WIRE)
def test_every_dut_starts_under_its_name_and_can_be_read(
    name: str, null_side: Callable[..., EalSide]
):
    dut = start_dut(name, null_side(), flows=8192, tester_mac="02:00:00:00:00:01")
    try:
        dut.start_trial()
        assert dut.description.name == name
        assert dut.read().ports[0].port == 0
        dut.end_trial()
    finally:
        dut.close()
    assert not dut.alive()


def test_what_a_far_duts_driver_counts_beside_is_kept_if_it_rose_loss_first():
    before = {
        "rx_good_packets": 5,
        "rx_q0_packets": 5,
        "rx_q1_packets": 0,
        "rx_q1_errors": 2,
        "rx_out_of_buffer": 0,
        "rx_priority0_xon": 3,
        "rx_gone": 1,
    }
    after = {
        "rx_good_packets": 1005,
        "rx_q0_packets": 605,
        "rx_q1_packets": 400,
        "rx_q1_errors": 9,
        "rx_out_of_buffer": 30,
        "rx_priority0_xon": 3,
        "rx_new": 1,
    }
    reading = difference(
        DutCounters(statistics={0: before, 1: before}), DutCounters(statistics={0: after, 2: after})
    )
    (port,) = reading.statistics
    assert port.port == 0
    assert list(port.rose.items()) == [
        ("rx_out_of_buffer", 30),
        ("rx_q1_errors", 7),
        ("rx_q0_packets", 600),
        ("rx_q1_packets", 400),
    ]
    assert (port.of_loss, port.left_out) == ({"rx_out_of_buffer": 30, "rx_q1_errors": 7}, 0)


def test_of_a_card_with_many_queues_what_tells_of_loss_is_kept_and_the_rest_is_counted():
    names = [f"rx_q{queue}_packets" for queue in range(200)]
    before = dict.fromkeys([*names, "rx_phy_discard_packets"], 0)
    after = {name: 1000 + at for at, name in enumerate(names)} | {"rx_phy_discard_packets": 1}
    (port,) = difference(
        DutCounters(statistics={0: before}), DutCounters(statistics={0: after})
    ).statistics
    assert len(port.rose) == MOST
    assert next(iter(port.rose)) == "rx_phy_discard_packets"
    assert "rx_q199_packets" in port.rose
    assert "rx_q0_packets" not in port.rose
    assert port.left_out == 201 - MOST


def risen_by_4(*names: str) -> PortStatistics:
    (port,) = difference(
        DutCounters(statistics={0: dict.fromkeys(names, 0)}),
        DutCounters(statistics={0: dict.fromkeys(names, 4)}),
    ).statistics
    return port


def test_what_a_host_was_not_meant_to_receive_tells_of_no_loss():
    port = risen_by_4("rx_management_dropped", "hairpin_out_of_buffer")
    assert (len(port.rose), port.of_loss) == (2, {})


def test_an_82599_that_finds_no_checksum_in_udp_lost_nothing():
    """Its errata, in ixgbe_ethdev.c of DPDK: it may mark such frames; the tester's have none."""
    assert risen_by_4("rx_l3_l4_xsum_error").of_loss == {}


@pytest.mark.parametrize(
    "name",
    # net/bnxt, net/ena, net/mlx5, net/vmxnet3, net/igc of DPDK 24.11.
    ["rx_fcs_err_frames", "rx_pcs_symbol_err", "bw_in_allowance_exceeded",
     "outbound_pci_buffer_overflow", "rx_q0_drop_total", "rx_align_errors"],
)  # fmt: skip
def test_names_of_other_drivers_tell_of_loss(name: str):
    assert risen_by_4(name, "interrupt_assert_count").of_loss == {name: 4}
