"""The small ceilings, against figures that were computed elsewhere."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wirespeed.ceilings.cpu import cores_ceiling, measured_cores_ceiling
from wirespeed.ceilings.devices import TCP_FRAME_HEADER_BYTES
from wirespeed.ceilings.encapsulation import Encapsulation, encapsulation_ceiling
from wirespeed.ceilings.ethernet import ethernet_ceiling
from wirespeed.ceilings.tcp import (
    FRAME_HEADER_BYTES,
    goodput_bps,
    tcp_payload_bytes,
    tcp_window_ceiling,
)
from wirespeed.ceilings.vswitch import vswitch_ceiling
from wirespeed.model.ceiling import Band, Ceiling, Direction, Ledger

RECEIVE = Direction.RECEIVE


def test_ethernet_is_the_published_line_rate():
    # RFC 2544 appendix B has the rates of 10 Mb/s; 14880.95 for 64 bytes, scaled.
    assert ethernet_ceiling(10**10, 64, RECEIVE, "t").load_pps.low == pytest.approx(14880952.38)


@pytest.mark.parametrize(
    ("frame_bytes", "gbps"),
    [(1518, 9.41), (9018, 9.90)],  # what iperf3 shows on an idle 10 Gb/s link
)
def test_goodput_of_a_full_line_is_what_iperf3_shows(frame_bytes: int, gbps: float):
    pps = ethernet_ceiling(10**10, frame_bytes, RECEIVE, "t").load_pps.low
    assert goodput_bps(pps, frame_bytes) / 1e9 == pytest.approx(gbps, abs=0.006)


def test_a_full_frame_of_1518_bytes_has_1448_of_payload():
    assert tcp_payload_bytes(1518) == 1448
    assert tcp_payload_bytes(64) == 0
    assert FRAME_HEADER_BYTES == TCP_FRAME_HEADER_BYTES


def test_one_core_of_33_cycles_at_3_4_ghz():
    found = cores_ceiling(1, 3.4e9, 33, 64, RECEIVE, "t")
    assert found.load_pps.low == found.load_pps.high == pytest.approx(103.03e6, rel=1e-4)


def test_the_published_range_of_cycles_gives_a_band():
    found = cores_ceiling(2, 3.4e9, 37, 64, RECEIVE, "t", fewest_cycles_per_packet=30, assumed=True)
    assert found.load_pps.low == pytest.approx(183.8e6, rel=1e-3)
    assert found.load_pps.high == pytest.approx(226.7e6, rel=1e-3)
    assert [i.assumed for i in found.inputs] == [False, False, True]


def test_cores_whose_load_was_measured():
    found = measured_cores_ceiling(2, Band(low=4.5e9, high=5e9), 1518, RECEIVE, "t")
    assert found.load_bps_l1.low == pytest.approx(9e9 * 1538 / 1518)


def test_a_window_of_64_kib_over_10_ms_is_52_mbit():
    # The textbook case: 65535 x 8 / 0.01 s.
    found = tcp_window_ceiling(65535, 0.01, 1518, RECEIVE, "t")
    assert goodput_bps(found.load_pps.high, 1518) == pytest.approx(52.428e6)


def test_a_frame_without_payload_has_no_window():
    with pytest.raises(ValueError, match="no room"):
        tcp_window_ceiling(65535, 0.01, 64, RECEIVE, "t")


def test_vxlan_costs_50_bytes_a_frame():
    # RFC 7348 section 5: outer Ethernet 14, IPv4 20, UDP 8, VXLAN 8.
    found = encapsulation_ceiling(10**11, 1518, Encapsulation.VXLAN, RECEIVE, "t")
    assert found.load_pps.low == pytest.approx(1e11 / 8 / (1518 + 20 + 14 + 20 + 8 + 8))


@given(st.integers(64, 9600), st.integers(10**6, 10**12))
def test_a_virtual_switch_has_no_wire_at_the_high_end(frame_bytes: int, link_bps: int):
    virtual = vswitch_ceiling(link_bps, frame_bytes, RECEIVE, "t").load_pps
    wire = ethernet_ceiling(link_bps, frame_bytes, RECEIVE, "t").load_pps
    assert virtual.low == wire.low < virtual.high


@given(st.sampled_from(tuple(Encapsulation)), st.integers(64, 9600))
def test_encapsulation_never_carries_more_than_the_bare_link(kind: Encapsulation, frame_bytes: int):
    inner = encapsulation_ceiling(10**10, frame_bytes, kind, RECEIVE, "t").load_pps.high
    assert inner < ethernet_ceiling(10**10, frame_bytes, RECEIVE, "t").load_pps.low


def ledger(**bands: tuple[float, float]) -> Ledger:
    return Ledger(
        port="eth0",
        frame_bytes=64,
        ceilings=tuple(
            Ceiling(
                element=element,
                direction=RECEIVE,
                frame_bytes=64,
                load_pps=Band(low=low, high=high),
                formula="",
                inputs=(),
            )
            for element, (low, high) in bands.items()
        ),
    )


@pytest.mark.parametrize(
    ("bands", "may", "surely"),
    [
        ({"ethernet": (8, 8), "pcie": (9, 11)}, ("ethernet",), "ethernet"),
        ({"ethernet": (8, 8), "pcie": (7, 11)}, ("pcie", "ethernet"), "ethernet"),
        ({"ethernet": (8, 8), "pcie": (6, 7)}, ("pcie",), "pcie"),
        ({"ethernet": (8, 8), "pcie": (8, 11)}, ("ethernet",), "ethernet"),
        ({"cores": (3, 9), "pcie": (5, 7), "ethernet": (8, 8)}, ("cores", "pcie"), "pcie"),
        ({}, (), None),
    ],
)
def test_an_element_may_bound_a_path_when_its_band_reaches_below_the_lowest_high_end(
    bands: dict[str, tuple[float, float]], may: tuple[str, ...], surely: str | None
):
    found = ledger(**bands)
    assert tuple(c.element for c in found.may_bound(RECEIVE)) == may
    for element in bands:
        assert found.may_be_bound_by(element) == (element in may)
        assert found.is_bound_by(element) == (element == surely)
    assert found.may_be_bound_by("something that is not known")
