"""/proc/stat by proc_stat(5)."""

import pytest

from wirespeed.measure.network.host_cpu import CpuTicks, parse_cpu_ticks, spent

#         user nice system idle iowait irq softirq steal guest guest_nice
BEFORE = "cpu  100 10 200 5000 50 1 30 7 60 5\ncpu0 50 5 1 1 1 1 1 1 1 1\ncpu1 9 9 9 9 9 9 9 9\n"


def test_idle_waiting_and_stolen_time_is_not_busy_and_guests_count_once():
    ticks = parse_cpu_ticks(BEFORE + "intr 5 6 7\n")
    assert ticks == CpuTicks(busy=100 + 10 + 200 + 1 + 30, total=5398, cores=2)


def test_busy_cores_are_the_share_of_all():
    after = CpuTicks(busy=341 + 150, total=5398 + 200, cores=2)
    cpu = spent("alpha", parse_cpu_ticks(BEFORE), after)
    assert cpu is not None
    # 150 of 200 ticks of two cores.
    assert cpu.busy_cores == pytest.approx(1.5)
    assert (cpu.host, cpu.cores) == ("alpha", 2)
    # A tick is 10 ms.
    assert cpu.window_s == pytest.approx(1.0)


@pytest.mark.parametrize("text", ["", "cpu  1 2 3\ncpu0 1 2 3\n", "cpu  1 2 3 4 5 6 7 8\n", "x"])
def test_what_makes_no_sense_is_no_reading(text: str):
    assert parse_cpu_ticks(text) is None


def test_there_is_no_share_without_two_readings_that_differ():
    ticks = parse_cpu_ticks(BEFORE)
    assert spent("alpha", ticks, ticks) is None
    assert spent("alpha", None, ticks) is None
    assert spent("alpha", ticks, None) is None


def test_a_line_that_is_no_line_of_ticks_is_told_at_once():
    # A pattern that tries every split of the digits would take years.
    assert parse_cpu_ticks("cpu " + "1" * 5000 + "x\ncpu0 1 2 3 4 5 6 7 8\n") is None
