"""Hugepages are added, never taken from others, and counted after."""

from dataclasses import dataclass

import pytest
from described_files import DescribedFiles
from proof import DescribedHands, plan_on, prove

from wirespeed.apply.executor import Executor
from wirespeed.model.capture import Section
from wirespeed.model.error import ApplyError
from wirespeed.model.observed import Unreadable
from wirespeed.steps.hugepages import Hugepages

ON_NODE = "/sys/devices/system/node/node1/hugepages/hugepages-1048576kB/nr_hugepages"
OF_HOST = "/sys/kernel/mm/hugepages/hugepages-2048kB/nr_hugepages"


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


def step(count: int = 16) -> Hugepages:
    return Hugepages(page_kib=1048576, numa_node=1, count=count)


@pytest.mark.parametrize("before", [0, 4])
def test_they_are_added_and_freed_on_one_node(before: int):
    prove(step(), DescribedMemory({ON_NODE: f"{before}\n"}), DescribedMemory({ON_NODE: "16\n"}))


def test_they_are_added_to_the_whole_host():
    whole = Hugepages(page_kib=2048, numa_node=None, count=1024)
    prove(whole, DescribedMemory({OF_HOST: "3\n"}), DescribedMemory({OF_HOST: "1024\n"}))


def test_pages_that_others_count_on_stay():
    plan = plan_on(step(), DescribedMemory({ON_NODE: "64\n"}))
    assert plan.steps[0].no_op == "it is so already: nr_hugepages 64"


def test_fewer_than_asked_for_are_not_called_done_and_are_freed():
    start = DescribedMemory({ON_NODE: "2\n"}, most=10)
    hands = DescribedHands(start)
    run = Executor(plan_on(step(), start), {"alpha": hands}, lambda _: None, lambda: "now")
    with pytest.raises(ApplyError) as caught:
        run.apply()
    assert caught.value.what == "step.contradicted"
    assert hands.host == DescribedMemory({ON_NODE: "2\n"}, most=10)


@pytest.mark.parametrize("output", ["", "x\n", "-4\n", "4 4\n", "٤\n"])
def test_what_is_no_number_is_unreadable(output: str):
    assert isinstance(step().parse(Section("step", "x", output, "", 0)), Unreadable)


def test_a_size_that_the_cpu_does_not_have_is_unreadable():
    missing = Section("step", "x", "", f"cat: {ON_NODE}: No such file or directory", 1)
    assert isinstance(step().parse(missing), Unreadable)
