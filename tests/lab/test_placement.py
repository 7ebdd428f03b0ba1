import pytest

from wirespeed.host.procfs import CpuTopology
from wirespeed.lab.placement import place
from wirespeed.model.error import InputError


def cpus(*cores: tuple[int, ...], package: int = 0) -> list[CpuTopology]:
    """CPUs by core: those of one tuple are siblings."""
    topology = [CpuTopology(cpu=c, package=package, siblings=core) for core in cores for c in core]
    return sorted(topology, key=lambda t: t.cpu)


def test_two_cpus_are_one_each_and_control_is_with_the_tester():
    placed = place(cpus((0,), (1,)))
    assert (placed.dut_cpu, placed.tester_cpus, placed.control_cpu) == (1, (0,), 0)
    assert placed.warnings == ()


def test_four_cpus_leave_one_for_control():
    placed = place(cpus((0,), (1,), (2,), (3,)))
    assert (placed.dut_cpu, placed.tester_cpus, placed.control_cpu) == (3, (0,), 2)


def test_the_tester_keeps_off_the_core_of_the_dut():
    placed = place(cpus((0, 2), (1, 3)))
    assert (placed.dut_cpu, placed.tester_cpus, placed.control_cpu) == (3, (0,), 1)
    assert placed.warnings == ()


def test_siblings_are_warned_of_when_there_is_nothing_else():
    placed = place(cpus((0, 1)))
    assert (placed.dut_cpu, placed.tester_cpus) == (1, (0,))
    assert "siblings" in placed.warnings[0]


def test_the_package_of_the_dut_is_preferred():
    placed = place(cpus((0,), (1,)) + cpus((2,), (3,), package=1))
    assert placed.tester_cpus == (2,)
    assert place(cpus((0,)) + cpus((1,), package=1)).warnings


def test_one_cpu_works_with_a_warning():
    placed = place(cpus((4,)))
    assert (placed.dut_cpu, placed.tester_cpus, placed.control_cpu) == (4, (4,), 4)
    assert "only CPU 4" in placed.warnings[0]


@pytest.mark.parametrize(("available", "workers"), [(1, 2), (2, 2), (4, 4)])
def test_more_workers_than_cpus_is_bad_input(available: int, workers: int):
    with pytest.raises(InputError) as error:
        place(cpus(*((c,) for c in range(available))), workers)
    assert error.value.what == "cpus.too_few"
    assert f"{available} CPUs" in error.value.found


def complexes(*sizes: int) -> list[CpuTopology]:
    """CPUs of one package with a cache for each complex, as on EPYC; no two share a core."""
    found: list[CpuTopology] = []
    for size in sizes:
        near = tuple(range(len(found), len(found) + size))
        found += [CpuTopology(cpu=c, package=0, siblings=(c,), near=near) for c in near]
    return found


def test_the_tester_shares_the_last_level_cache_of_the_dut():
    placed = place(complexes(4, 4))
    assert (placed.dut_cpu, placed.tester_cpus, placed.control_cpu) == (7, (4,), 3)
    assert placed.warnings == ()


def test_cores_without_a_common_cache_are_warned_of():
    (warning,) = place(complexes(1, 1)).warnings
    assert warning.startswith("no usable CPU shares a last-level cache with the DUT's CPU 1")
