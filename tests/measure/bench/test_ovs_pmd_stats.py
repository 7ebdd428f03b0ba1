"""Counters of a polling thread, as Open vSwitch 3.1 prints them."""

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


@pytest.mark.parametrize(
    ("text", "cpu"),
    [
        (SHOWN, 0),
        (SHOWN, 11),
        ("", 1),
        (SHOWN.replace("  processing cycles: 100000 (10.00%)\n", ""), 1),
        (SHOWN.replace("packets received: 6000", "packets received: many"), 1),
    ],
)
def test_what_it_does_not_say_is_not_made_up(text: str, cpu: int):
    with pytest.raises(ValueError, match=f"polling thread on CPU {cpu}$"):
        parse_pmd_stats(text, cpu)
