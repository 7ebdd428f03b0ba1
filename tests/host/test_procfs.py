import os
import threading
from pathlib import Path

import pytest

from wirespeed.host import procfs
from wirespeed.model.error import MeasurementError


def test_schedstat_is_run_wait_slices():
    times = procfs.parse_schedstat("1569339269 740233 25\n")
    assert (times.run_ns, times.wait_ns, times.slices) == (1569339269, 740233, 25)


def test_a_command_with_parentheses_and_blanks_does_not_shift_the_fields():
    rest = ["R", *(str(n) for n in range(4, 53))]
    stat = procfs.parse_stat(f"42 (a) b (c) {' '.join(rest)}\n")
    assert (stat.tid, stat.comm, stat.state) == (42, "a) b (c", "R")
    assert (stat.last_cpu, stat.started_ticks) == (39, 22)


def test_steal_is_the_eighth_number_of_each_cpu():
    text = "cpu  9 9 9 9 9 9 9 99 0 0\ncpu0 1 2 3 4 5 6 7 8 0 0\ncpu11 1 2 3 4 5 6 7 12 0 0\n"
    assert procfs.parse_steal_ticks(text) == {0: 8, 11: 12}


def test_a_cpu_without_a_model_name_has_none():
    assert procfs.parse_cpu_model("processor\t: 0\nBogoMIPS\t: 50.00\n") is None
    assert procfs.parse_cpu_model("processor : 0\nmodel name\t: AMD EPYC\n") == "AMD EPYC"


def test_cpu_lists_have_ranges():
    assert procfs.parse_cpu_list("0-2,8\n") == (0, 1, 2, 8)


def test_own_threads_are_found_with_their_times():
    ready, leave = threading.Event(), threading.Event()
    thread = threading.Thread(target=lambda: (ready.set(), leave.wait()))
    thread.start()
    ready.wait()
    try:
        tids = [t.tid for t in procfs.read_threads(os.getpid())]
        assert thread.native_id in tids
        assert procfs.read_thread_times(os.getpid(), tids[0]).run_ns > 0
    finally:
        leave.set()
        thread.join()


def test_a_thread_that_is_gone_is_an_error_with_the_file_not_zero(tmp_path: Path):
    with pytest.raises(MeasurementError) as error:
        procfs.read_thread_times(1, 2, root=tmp_path)
    assert error.value.what == "host.unreadable"
    assert error.value.where.endswith("1/task/2/schedstat")


def test_a_thread_that_ends_while_we_list_them_is_left_out(tmp_path: Path):
    (tmp_path / "7/task/7").mkdir(parents=True)
    (tmp_path / "7/task/8").mkdir()
    rest = " ".join(["S", *(["0"] * 49)])
    (tmp_path / "7/task/7/stat").write_text(f"7 (x) {rest}\n")
    assert [t.tid for t in procfs.read_threads(7, root=tmp_path)] == [7]


def test_rubbish_is_an_error_with_the_file(tmp_path: Path):
    (tmp_path / "stat").write_text("cpu0 1 2\n")
    with pytest.raises(MeasurementError) as error:
        procfs.read_steal_ns(0, root=tmp_path)
    assert error.value.where == str(tmp_path / "stat")


def test_steal_of_a_cpu_that_does_not_exist_is_an_error():
    with pytest.raises(MeasurementError):
        procfs.read_steal_ns(100_000)


def test_hugepages_by_size(tmp_path: Path):
    for size, total, free in ((2048, 10, 4), (1048576, 1, 0)):
        pool = tmp_path / f"kernel/mm/hugepages/hugepages-{size}kB"
        pool.mkdir(parents=True)
        (pool / "nr_hugepages").write_text(f"{total}\n")
        (pool / "free_hugepages").write_text(f"{free}\n")
    pools = {p.page_kib: (p.total, p.free) for p in procfs.read_hugepages(tmp_path)}
    assert pools == {2048: (10, 4), 1048576: (1, 0)}


def test_a_kernel_without_hugepages_has_no_pool(tmp_path: Path):
    assert procfs.read_hugepages(tmp_path) == ()


def test_this_host_can_be_read():
    cpu = procfs.usable_cpus()[0]
    assert cpu in procfs.read_topology(cpu).siblings
    assert procfs.read_steal_ns(cpu) >= 0
    assert procfs.read_available_mib() > 0
    assert procfs.kernel_release()
    procfs.read_cpu_model()


def test_cpus_near_each_other_share_the_cache_of_the_highest_level(tmp_path: Path):
    cpu = tmp_path / "devices/system/cpu/cpu4"
    (cpu / "topology").mkdir(parents=True)
    (cpu / "topology/physical_package_id").write_text("0\n")
    (cpu / "topology/thread_siblings_list").write_text("4,12\n")
    assert procfs.read_topology(4, tmp_path).near == ()
    # As on an EPYC with four cores a complex: 1d, 1i, 2 and 3.
    for index, (level, shared) in enumerate(
        ((1, "4,12"), (1, "4,12"), (2, "4,12"), (3, "4-7,12-15"))
    ):
        cache = cpu / f"cache/index{index}"
        cache.mkdir(parents=True)
        (cache / "level").write_text(f"{level}\n")
        (cache / "shared_cpu_list").write_text(f"{shared}\n")
    assert procfs.read_topology(4, tmp_path).near == (4, 5, 6, 7, 12, 13, 14, 15)
