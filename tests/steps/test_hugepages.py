"""Hugepages are added, never taken from others, and counted after."""

from dataclasses import dataclass

import pytest
from described_files import DescribedFiles
from proof import DescribedControl, plan_on, prove

from wirespeed.apply.executor import Executor
from wirespeed.model.capture import Section
from wirespeed.model.error import ApplyError
from wirespeed.model.observed import Known, Observed, Unreadable
from wirespeed.model.step import State
from wirespeed.steps.hugepages import Hugepages

ON_NODE = "/sys/devices/system/node/node1/hugepages/hugepages-1048576kB/nr_hugepages"
OF_HOST = "/sys/kernel/mm/hugepages/hugepages-2048kB/nr_hugepages"
MEMORY_ON_NODE = "/sys/devices/system/node/node1/meminfo"
GIB = 1 << 20
MEMORY = {
    MEMORY_ON_NODE: f"Node 1 MemTotal:       {32 * GIB} kB\nNode 1 MemFree:        1 kB\n",
    "/proc/meminfo": f"MemTotal:       {64 * GIB} kB\nMemFree:        1 kB\n",
}
"""In kB, as the kernel prints it."""


@dataclass
class DescribedMemory(DescribedFiles):
    """Gives at most what is free, and says nothing: Documentation/admin-guide/mm/hugetlbpage.rst.

    Those in use stay when the number is lowered: they become surplus, and are counted.
    """

    most: int = 4096
    in_use: int = 0

    def write(self, path: str, text: str) -> str:
        assert text.isdecimal()
        self.files[path] = f"{max(self.in_use, min(int(text), self.most))}\n"
        return ""


def memory(pages: dict[str, str], most: int = 4096) -> DescribedMemory:
    return DescribedMemory(MEMORY | pages, most=most)


def step(count: int = 16) -> Hugepages:
    return Hugepages(page_kib=1048576, numa_node=1, count=count)


@pytest.mark.parametrize("before", [0, 4])
def test_they_are_added_and_freed_on_one_node(before: int):
    prove(step(), memory({ON_NODE: f"{before}\n"}), memory({ON_NODE: "16\n"}))


def test_they_are_added_to_the_whole_host():
    whole = Hugepages(page_kib=2048, numa_node=None, count=1024)
    prove(whole, memory({OF_HOST: "3\n"}), memory({OF_HOST: "1024\n"}))


def test_pages_that_others_count_on_stay():
    plan = plan_on(step(), memory({ON_NODE: "64\n"}))
    assert plan.steps[0].commands == () and "64" in plan.steps[0].no_op


def test_fewer_than_asked_for_are_not_called_done_and_are_freed():
    start = memory({ON_NODE: "2\n"}, most=10)
    control = DescribedControl(start)
    run = Executor(plan_on(step(), start), {"alpha": control}, lambda _: None, lambda: "now")
    with pytest.raises(ApplyError) as caught:
        run.apply()
    assert caught.value.what == "step.contradicted"
    assert control.host == memory({ON_NODE: "2\n"}, most=10)


def state_of(pages: str, total: str = f"{32 * GIB} kB", count: int = 16) -> Observed[State]:
    output = f"{ON_NODE}:{pages}\n{MEMORY_ON_NODE}:Node 1 MemTotal:       {total}\n"
    return step(count).parse(Section("step", "x", output, "", 0))


def test_an_eighth_of_the_memory_is_left_to_all_else():
    """32 pages of 1 GiB of 32 GiB, and 28: seven eighths."""
    assert isinstance(state_of("0", count=28), Known)
    state = state_of("0", count=29)
    assert isinstance(state, Unreadable)
    assert state.reason == "of 32768 MiB at most 28 such pages can be spared"


def test_a_small_host_keeps_256_mib():
    step_of = [Hugepages(page_kib=2048, numa_node=None, count=count) for count in (128, 129)]
    output = f"{OF_HOST}:0\n/proc/meminfo:MemTotal:  {512 << 10} kB\n"
    states = [one.parse(Section("step", "x", output, "", 0)) for one in step_of]
    assert isinstance(states[0], Known) and isinstance(states[1], Unreadable)


@pytest.mark.parametrize("pages", ["", "x", "-4", "4 4", "٤"])
def test_what_is_no_number_is_unreadable(pages: str):
    assert isinstance(state_of(pages), Unreadable)


@pytest.mark.parametrize("total", ["", "x kB", "5 MB", "9" * 99])
def test_without_its_memory_nothing_is_planned(total: str):
    assert isinstance(state_of("4", total), Unreadable)


def test_a_size_that_the_cpu_does_not_have_is_unreadable():
    errors = f"grep: {ON_NODE}: No such file or directory\n"
    output = f"{MEMORY_ON_NODE}:Node 1 MemTotal:       {32 * GIB} kB\n"
    assert isinstance(step().parse(Section("step", "x", output, errors, 2)), Unreadable)
    assert isinstance(step().parse(Section("step", "x", output, "", None)), Unreadable)
