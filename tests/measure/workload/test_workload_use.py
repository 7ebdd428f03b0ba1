"""Counters of a host, by proc(5): what it did between two readings."""

import pytest

from wirespeed.measure.workload.use import Counters, host_use, parse_counters

READING = """\
100.50 190.00
Inter-|   Receive                                                |  Transmit
 face |bytes    packets errs drop fifo frame compressed multicast|bytes    packets errs drop fifo colls carrier compressed
    lo:    5000      50    0    0    0     0          0         0     5000      50    0    0    0     0       0          0
  eth0: 1000000    1000    0    7    0     0          0         0  2000000    1500    0    0    0     0       0          0
eth0.42:     10       1    0    0    0     0          0         0       20       1    0    0    0     0       0          0
Ip: Forwarding DefaultTTL
Ip: 1 64
Tcp: RtoAlgorithm RtoMin RtoMax MaxConn ActiveOpens PassiveOpens AttemptFails EstabResets CurrEstab InSegs OutSegs RetransSegs InErrs OutRsts InCsumErrors
Tcp: 1 200 120000 -1 10 20 0 0 2 500 600 7 0 3 0
Udp: InDatagrams NoPorts
Udp: 1 2
cpu  300 0 100 600 0 0 0 0 0 0
cpu0 200 0 50 250 0 0 0 0 0 0
cpu1 100 0 50 350 0 0 0 0 20 0
intr 5 6 7
"""  # noqa: E501


def test_one_reading_of_four_files():
    assert parse_counters(READING) == Counters(
        uptime_s=100.5,
        ports={"lo": (5000, 5000), "eth0": (1000000, 2000000), "eth0.42": (10, 20)},
        segments=(600, 7),
        cores={0: (250, 500), 1: (150, 500)},
    )


def test_without_a_clock_there_is_nothing_to_divide_by():
    assert parse_counters("") is None
    assert parse_counters(READING.split("\n", 1)[1]) is None


def test_what_is_not_there_is_not_told():
    counters = parse_counters("1.00 1.00\n")
    assert counters is not None
    assert (counters.ports, counters.segments, counters.cores) == ({}, None, {})


def at(seconds: float, eth0: tuple[int, int], busy: int, again: int = 7) -> Counters:
    ticks = int(seconds * 100)
    return Counters(
        seconds, {"eth0": eth0, "idle0": (9, 9)}, (600 + ticks, again), {3: (busy, ticks)}
    )


def test_means_are_over_the_trial_and_peaks_over_its_busiest_interval():
    # 1 s idle, 1 s with 125 MB received (1 Gb/s) and the core all busy, 2 s idle.
    busy = (125_000_000, 0)
    use = host_use(
        "b", [at(10, (0, 0), 0), at(11, (0, 0), 0), at(12, busy, 100), at(14, busy, 100)]
    )
    (port,) = use.ports
    assert (port.netdev, port.received_bps, port.sent_bps) == ("eth0", 0.25e9, 0)
    assert (port.received_bps_peak, port.sent_bps_peak) == (1e9, 0)
    (core,) = use.cores
    assert (core.core, core.busy, core.busy_peak) == (3, 0.25, 1.0)
    assert (use.seconds, use.readings) == (4, 4)


def test_segments_sent_again_are_those_of_the_trial_alone():
    use = host_use("b", [at(10, (0, 0), 0, again=7), at(12, (0, 0), 0, again=19)])
    assert (use.sent_segments, use.retransmitted_segments) == (200, 12)


def test_an_interval_of_a_few_ticks_is_no_peak():
    use = host_use("b", [at(10, (0, 0), 0), at(10.1, (10**6, 0), 10)])
    assert use.ports[0].received_bps == pytest.approx(8e7)
    assert use.ports[0].received_bps_peak is None
    assert use.cores[0].busy_peak is None


def test_counters_that_began_anew_say_nothing():
    use = host_use("b", [at(10, (500, 500), 50, again=9), at(12, (100, 900), 10, again=2)])
    assert (use.ports, use.cores) == ((), ())
    assert use.retransmitted_segments is None


def test_one_reading_is_none():
    use = host_use("b", [at(10, (0, 0), 0)], failed="ssh.lost: away")
    assert (use.seconds, use.failed) == (0, "ssh.lost: away")
    assert host_use("b", [at(10, (0, 0), 0)] * 2).failed
