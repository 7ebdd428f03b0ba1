"""CPUs, their nodes and cores: files of sysfs and /proc, as real kernels print them."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wirespeed.facts.cpu import PARTITIONS, Cpus
from wirespeed.facts.cpu_list import cpu_list_text, parse_cpu_list, parse_cpu_mask
from wirespeed.model.capture import Capture, Section
from wirespeed.model.observed import Absent, CannotTellError, Known, Unreadable

SAMPLES = Path(__file__).parent / "samples"
SYSFS = "/sys/devices/system"


def cpus(*lines: str, errors: str = "", cpuinfo: str = "") -> Cpus:
    return Cpus.parse(
        Capture(
            [
                Section("cpu", "", "\n".join(lines), errors, 2 if errors else 0),
                Section("cpuinfo", "", cpuinfo, "", 0),
            ],
            complete=True,
        )
    )


def topology(number: int, siblings: str, package: int = 0) -> list[str]:
    folder = f"{SYSFS}/cpu/cpu{number}/topology"
    return [
        f"{folder}/core_id:{number % 2}",
        f"{folder}/physical_package_id:{package}",
        f"{folder}/thread_siblings_list:{siblings}",
    ]


TWO_SOCKETS = [
    f"{SYSFS}/cpu/online:0-7",
    f"{SYSFS}/cpu/isolated:2-3,6-7",
    f"{SYSFS}/node/node0/cpulist:0-1,4-5",
    f"{SYSFS}/node/node1/cpulist:2-3,6-7",
    *(line for n in range(8) for line in topology(n, f"{n % 4},{n % 4 + 4}", n % 4 // 2)),
    f"{SYSFS}/cpu/cpu0/cpufreq/cpuinfo_max_freq:3700000",
]


@pytest.mark.parametrize(
    ("partition", "isolated", "source"),
    [
        ("", {2, 3, 6, 7}, f"cat {SYSFS}/cpu/isolated"),
        ("2", {2, 3, 6, 7}, f"cat {SYSFS}/cpu/isolated"),
        ("4-5", {2, 3, 4, 5, 6, 7}, f"cat {SYSFS}/cpu/isolated {PARTITIONS}"),
    ],
)
def test_cpus_of_an_isolated_partition_are_isolated(
    partition: str, isolated: set[int], source: str
):
    # admin-guide/cgroup-v2.rst, cpuset.cpus.isolated: in the root alone.
    found = cpus(*TWO_SOCKETS, f"{PARTITIONS}:{partition}")
    assert found.isolated == Known(frozenset(isolated), source)
    boot = Known(frozenset({2, 3, 6, 7}), f"cat {SYSFS}/cpu/isolated")
    assert found.isolated_at_boot == boot


def test_threads_of_a_core_count_as_one_core():
    assert cpus(*TWO_SOCKETS).cores() == 4


def test_a_cpu_knows_its_node_its_package_and_its_siblings():
    cpu = cpus(*TWO_SOCKETS).by_number[6]
    assert isinstance(cpu.numa_node, Known)
    assert cpu.numa_node.value == 1
    assert cpu.package == Known(1, f"cat {SYSFS}/cpu/cpu6/topology/physical_package_id")
    assert isinstance(cpu.smt_siblings, Known)
    assert cpu.smt_siblings.value == {2, 6}


def test_cpus_of_a_node_and_of_none():
    found = cpus(*TWO_SOCKETS)
    assert found.of_node(1) == Known(frozenset({2, 3, 6, 7}), f"cat {SYSFS}/node/node1/cpulist")
    assert isinstance(found.of_node(-1), Absent)
    assert isinstance(found.of_node(2), Absent)


def test_a_kernel_without_nodes_has_none_rather_than_one():
    why = f"grep: {SYSFS}/node/node0/cpulist: No such file or directory"
    found = cpus(f"{SYSFS}/cpu/online:0-1", *topology(0, "0"), *topology(1, "1"), errors=why)
    assert isinstance(found.nodes, Absent)
    assert isinstance(found.of_node(0), Absent)
    assert isinstance(found.by_number[0].numa_node, Absent)


def test_a_node_of_memory_alone_has_no_cpus():
    found = cpus(*TWO_SOCKETS, f"{SYSFS}/node/node2/cpulist:")
    assert found.of_node(2) == Known(frozenset(), f"cat {SYSFS}/node/node2/cpulist")


@pytest.mark.parametrize("text", ["", " (null)"])
def test_no_tickless_cpu_is_known_to_be_none(text: str):
    assert cpus(f"{SYSFS}/cpu/nohz_full:{text}").nohz_full == Known(
        frozenset(), f"cat {SYSFS}/cpu/nohz_full"
    )


def test_a_clock_is_in_hertz_and_missing_where_there_is_no_cpufreq():
    path = f"{SYSFS}/cpu/cpu1/cpufreq/cpuinfo_max_freq"
    found = cpus(*TWO_SOCKETS, errors=f"grep: {path}: No such file or directory")
    assert isinstance(found.by_number[0].max_hz, Known)
    assert found.by_number[0].max_hz.value == 3_700_000_000
    assert isinstance(found.by_number[1].max_hz, Absent)


def test_an_offline_cpu_is_not_there():
    assert list(cpus(f"{SYSFS}/cpu/online:0,2", *topology(0, "0")).by_number) == [0, 2]


def test_siblings_that_could_not_be_read_leave_the_cores_untold():
    with pytest.raises(CannotTellError):
        cpus(f"{SYSFS}/cpu/online:0", errors="grep: x: Permission denied").cores()


def test_another_architecture_has_other_names():
    """As in https://marcin.juszkiewicz.com.pl/2022/11/08/ (…) Arm CPU features table."""
    found = cpus(cpuinfo=(SAMPLES / "proc/cpuinfo_aarch64.txt").read_text())
    assert isinstance(found.flags, Known)
    assert "asimd" in found.flags.value
    assert isinstance(found.model_name, Absent)
    assert isinstance(found.current_hz, Absent)


@pytest.mark.parametrize("mhz", ["inf", "nan", "0.000", "-1", "1e9", "9" * 400])
def test_a_clock_that_makes_no_sense_is_unreadable(mhz: str):
    assert isinstance(cpus(cpuinfo=f"cpu MHz\t\t: {mhz}").current_hz, Unreadable)


def test_nothing_read_is_nothing_known():
    found = Cpus.parse(Capture([], complete=False))
    assert isinstance(found.online, Unreadable)
    assert isinstance(found.isolated, Unreadable)
    assert found.by_number == {}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", set()),
        ("0", {0}),
        ("0-3,8", {0, 1, 2, 3, 8}),
        ("0-7:2/4\n", {0, 1, 4, 5}),  # two of each four: kernel-parameters, cpu lists
    ],
)
def test_a_list_is_read_as_the_kernel_writes_it(text: str, expected: set[int]):
    assert parse_cpu_list(text) == expected


@pytest.mark.parametrize("text", ["3-", "a", "0-4294967295", "0,,1", "-1", "\u0661"])
def test_what_is_no_list_is_refused(text: str):
    with pytest.raises(ValueError, match="is not a CPU"):
        parse_cpu_list(text)


def test_a_mask_is_read_from_its_lowest_bit():
    assert parse_cpu_mask("00000001,80000003\n") == {0, 1, 31, 32}


@given(st.frozensets(st.integers(0, 8191), max_size=40))
def test_a_list_that_is_written_is_read_back(numbers: frozenset[int]):
    assert parse_cpu_list(cpu_list_text(numbers)) == numbers
