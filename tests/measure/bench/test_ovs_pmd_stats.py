"""Counters of a polling thread, as Open vSwitch 3.1 and 4.0 print them."""

import pytest

from wirespeed.measure.bench.ovs_pmd_stats import PmdStats, parse_pmd_stats

# `ovs-appctl dpif-netdev/pmd-stats-show` of ovs-vswitchd-dpdk 3.1.0, a tunnel's traffic on CPU 1.
SHOWN = """\
pmd thread numa_id 0 core_id 1:
  packets received: 6000
  packet recirculations: 5999
  avg. datapath passes per packet: 2.00
  phwol hits: 0
  mfex opt hits: 0
  simple match hits: 0
  emc hits: 8000
  smc hits: 0
  megaflow hits: 3996
  avg. subtable lookups per megaflow hit: 1.00
  miss with success upcall: 2
  miss with failed upcall: 1
  avg. packets per output batch: 1.00
  idle cycles: 900000 (90.00%)
  processing cycles: 100000 (10.00%)
  avg cycles per packet: 166.67 (1000000/6000)
  avg processing cycles per packet: 16.67 (100000/6000)
main thread:
  packets received: 7
  packet recirculations: 7
  miss with success upcall: 7
  miss with failed upcall: 7
"""

# The same of 4.0, in the form of pmd_info_show_perf (lib/dpif-netdev.c) and
# pmd_perf_format_overall_stats (lib/dpif-netdev-perf.c).
SHOWN_SINCE_4_0 = """\

Time: 12:00:00.123
Measurement duration: 10.000 s

pmd thread numa_id 0 core_id 1:

  Iterations:               100000  (100.00 us/it)
  - Used TSC cycles:       1000000  (100.0 % of total cycles)
  - idle iterations:         99000  ( 90.0 % of used cycles)
  - busy iterations:          1000  ( 10.0 % of used cycles)
  - sleep iterations:            0  (  0.0 % of iterations)
  Sleep time (us):               0  (  0 us/iteration avg.)
  Rx packets:                 6000  (1 Kpps, 17 cycles/pkt)
  Datapath passes:           11999  (2.00 passes/pkt)
  - PHWOL hits:                  0  (  0.0 %)
  - Simple Match hits:           0  (  0.0 %)
  - EMC hits:                 8000  ( 66.7 %)
  - SMC hits:                    0  (  0.0 %)
  - Megaflow hits:            3996  ( 33.3 %, 1.00 subtbl lookups/hit)
  - Upcalls:                     2  (  0.0 %, 30.0 us/upcall)
  - Lost upcalls:                1  (  0.0 %)
  Tx packets:                 6000  (1 Kpps)
  Tx batches:                 6000  (1.00 pkts/batch)

Time: 12:00:00.123
Measurement duration: 10.000 s

pmd thread numa_id 0 core_id 2:

  Iterations:               100000  (100.00 us/it)
  - Used TSC cycles:       1000000  (100.0 % of total cycles)
  - idle iterations:        100000  (100.0 % of used cycles)
  - busy iterations:             0  (  0.0 % of used cycles)
  - sleep iterations:            0  (  0.0 % of iterations)
  Sleep time (us):               0  (  0 us/iteration avg.)
  Rx packets:                    0
  Tx packets:                    0


Time: 12:00:00.123
Measurement duration: 10.000 s

main thread:

  Rx packets:                    7  (0 Kpps)
  Datapath passes:              14  (2.00 passes/pkt)
"""


def test_the_thread_on_a_cpu_is_read():
    assert parse_pmd_stats(SHOWN, 1) == PmdStats(
        packets=6000,
        recirculations=5999,
        processing_cycles=100000,
        idle_cycles=900000,
        upcalls=3,
    )


def test_a_sum_below_zero_is_no_number_of_cycles():
    # As seen: 37632 packets, 490187714493969 cycles each, which is 2^64 in all.
    shown = SHOWN.replace(
        "processing cycles: 100000 (", "processing cycles: 18446744073709551000 ("
    )
    stats = parse_pmd_stats(shown, 1)
    assert stats.processing_cycles is None
    assert stats.packets == 6000


def test_the_newer_form_gives_no_sum_of_cycles():
    assert parse_pmd_stats(SHOWN_SINCE_4_0, 1) == PmdStats(
        packets=6000,
        recirculations=5999,
        processing_cycles=None,
        idle_cycles=None,
        upcalls=3,
    )


def test_a_thread_that_took_no_packet_yet_has_no_further_pass():
    stats = parse_pmd_stats(SHOWN_SINCE_4_0, 2)
    assert (stats.packets, stats.recirculations, stats.upcalls) == (0, 0, 0)


@pytest.mark.parametrize(
    ("text", "cpu"),
    [
        (SHOWN, 0),
        (SHOWN, 11),
        ("", 1),
        (SHOWN_SINCE_4_0, 3),
        (SHOWN_SINCE_4_0.replace("  - Lost upcalls:                1  (  0.0 %)\n", ""), 1),
        (SHOWN.replace("  processing cycles: 100000 (10.00%)\n", ""), 1),
        (SHOWN.replace("packets received: 6000", "packets received: many"), 1),
    ],
)
def test_what_it_does_not_say_is_not_made_up(text: str, cpu: int):
    with pytest.raises(ValueError, match=f"polling thread on CPU {cpu}$"):
        parse_pmd_stats(text, cpu)
