"""What two readings of a port's counters say: expected figures are computed by hand."""

import pytest

from wirespeed.doctor.port_watch import Standing, parse_standings, watched
from wirespeed.model.ceiling import Band, Ceiling, Direction, Ledger
from wirespeed.report.watch_text import ago, watch_head, watch_line

# 1514 bytes without FCS are 1538 on the wire: 12,304 bits.
FRAMES = 8_127_438
WIRE_GBPS = 100.0


def standing(uptime_s: float, frames: int = 0, **more: str | int) -> Standing:
    counts = {
        "rx_bytes": frames * 1514, "rx_packets": frames, "tx_bytes": 0, "tx_packets": 0,
        "carrier_changes": 1, "rx_missed_errors": 0, "rx_dropped": 0,
    }  # fmt: skip
    states = {"operstate": "up", "mtu": "1500", "speed": "100000"}
    counts |= {key: value for key, value in more.items() if isinstance(value, int)}
    states |= {key: value for key, value in more.items() if isinstance(value, str)}
    return Standing(uptime_s, counts, states)


def ledger(receive_gbps: float) -> Ledger:
    def ceiling(direction: Direction, element: str, gbps: float) -> Ceiling:
        load_pps = gbps * 1e9 / 12_304
        band = Band(low=load_pps, high=load_pps)
        return Ceiling(
            element=element, direction=direction, frame_bytes=1518, load_pps=band, formula="",
            inputs=(),
        )  # fmt: skip

    rows = (
        ceiling(Direction.RECEIVE, "pcie 0000:3b:00.0", receive_gbps),
        ceiling(Direction.RECEIVE, "ethernet", 400.0),
        ceiling(Direction.TRANSMIT, "ethernet", 400.0),
    )
    return Ledger(port="eth0", frame_bytes=1518, ceilings=rows)


def test_a_rate_is_of_the_wire_and_its_share_is_of_the_lowest_ceiling():
    seen = watched(standing(10.0), standing(12.0, 2 * FRAMES), ledger(200.0))
    assert seen is not None
    assert seen.receive.bps_l1 / 1e9 == pytest.approx(WIRE_GBPS, rel=1e-6)
    assert seen.receive.share == pytest.approx(0.5, rel=1e-6)
    assert (seen.transmit.bps_l1, seen.transmit.share) == (0.0, 0.0)
    assert seen.limited_by == "the traffic"


@pytest.mark.parametrize(("ceiling_gbps", "limit"), [(112.0, "the traffic"), (111.0, "pcie")])
def test_an_element_limits_from_nine_tenths_of_its_ceiling(ceiling_gbps: float, limit: str):
    seen = watched(standing(1.0), standing(2.0, FRAMES), ledger(ceiling_gbps))
    assert seen is not None and seen.limited_by.startswith(limit)


def test_frames_that_the_host_lost_are_the_limit_before_any_ceiling():
    after = standing(3.0, FRAMES, rx_missed_errors=500, rx_dropped=600)
    seen = watched(standing(1.0), after, ledger(50.0))
    assert seen is not None and seen.limited_by == "rx_missed_errors 250/s"


@pytest.mark.parametrize(
    ("frames", "dropped", "limit"),
    [
        # A switch's STP every 2 s, LLDP every 30 s: all that an idle port receives.
        (1, 1, "the traffic"),
        (FRAMES, 150, "the traffic"),
        # 1 % of the frames: the backlog of a CPU is full.
        (FRAMES, 81_274, "rx_dropped 8.13e+04/s"),
    ],
)
def test_frames_of_a_protocol_that_nothing_takes_limit_no_port(
    frames: int, dropped: int, limit: str
):
    """Red Hat solution 657483: rx_dropped rises for unregistered protocols, as designed."""
    seen = watched(standing(1.0), standing(2.0, frames, rx_dropped=dropped), ledger(400.0))
    assert seen is not None and seen.limited_by == limit


def test_without_a_ceiling_no_share_is_given():
    seen = watched(standing(1.0), standing(2.0, FRAMES), None)
    assert seen is not None and seen.receive.share is None
    assert seen.limited_by == "ceiling not known"


def test_what_changed_is_told_with_both_values_and_a_short_loss_of_link_too():
    seen = watched(standing(1.0), standing(2.0, mtu="9000", speed="25000"), None)
    assert seen is not None
    assert seen.changes == ("speed 100000 -> 25000", "MTU 1500 -> 9000")
    seen = watched(standing(1.0), standing(2.0, carrier_changes=5), None)
    assert seen is not None and seen.changes == ("link changed 4 times",)
    down = watched(standing(1.0), standing(2.0, operstate="down"), ledger(100.0))
    assert down is not None and down.limited_by == "link down"


def test_a_counter_that_went_back_or_a_time_that_stood_gives_no_rate():
    assert watched(standing(1.0, 100), standing(2.0, 50), None) is None
    assert watched(standing(1.0), standing(1.0, 50), None) is None


def test_lines_that_make_no_sense_are_no_counters():
    text = (
        "rx_bytes 5\nnetdev eth0\nuptime 12.34\nrx_bytes 7\ntx_bytes \u0667\nspeed 25000\n"
        "\x1b[2J 1\n"
        "netdev eth1\nuptime now\nrx_bytes 1\n"
    )
    found = parse_standings(text)
    assert list(found) == ["eth0"]
    assert found["eth0"] == Standing(12.34, {"rx_bytes": 7}, {"speed": "25000"})


@pytest.mark.parametrize("time", ["", "12:00:01"])
def test_every_line_fits_80_columns_and_stands_below_its_head(time: str):
    seen = watched(standing(1.0), standing(2.0, FRAMES), ledger(105.0))
    line = watch_line("enp193s0f1np1-long", seen, ago("MTU 1500 -> 9000; link changed", 7300), time)
    head = watch_head(time)
    assert len(line) <= 80 and len(head) <= 80
    assert line.index("pcie") == head.index("limited by")
    assert line.index("2 h: MTU") == head.index("changed last")
    assert " 100.0  95%" in line


def test_what_a_host_named_is_harmless():
    line = watch_line("\x1b[31m", None, "\x1b]0;a\x07", "")
    assert "\x1b" not in line and "\x07" not in line
