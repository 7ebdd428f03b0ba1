"""Hugepages and swap. Mounts are lines of real /proc/mounts; sizes are sysfs' own."""

from pathlib import Path

from wirespeed.facts.memory import HugepageMount, Memory
from wirespeed.model.capture import Capture, Section
from wirespeed.model.observed import Absent, Known, Unreadable

SAMPLES = Path(__file__).parent / "samples"
GIB = 1 << 30
POOLS = "/sys/kernel/mm/hugepages"
NODE1 = "/sys/devices/system/node/node1"


def memory(*lines: str, **sections: str) -> Memory:
    return Memory.parse(
        Capture(
            [
                Section("memory", "", "\n".join(lines), "", 0),
                *(
                    Section(name.replace("_", "-"), "", text, "", 0)
                    for name, text in sections.items()
                ),
            ],
            complete=True,
        )
    )


def test_pools_are_told_by_size_and_node():
    found = memory(
        f"{POOLS}/hugepages-1048576kB/nr_hugepages:16",
        f"{POOLS}/hugepages-1048576kB/free_hugepages:3",
        f"{NODE1}/hugepages/hugepages-2048kB/nr_hugepages:0",
        f"{NODE1}/hugepages/hugepages-2048kB/free_hugepages:0",
    )
    host, node = found.pools
    assert (host.page_bytes, host.numa_node) == (GIB, None)
    assert host.free == Known(3, f"cat {POOLS}/hugepages-1048576kB/free_hugepages")
    assert (node.page_bytes, node.numa_node) == (2 << 20, 1)
    assert node.total == Known(0, f"cat {NODE1}/hugepages/hugepages-2048kB/nr_hugepages")
    assert found.pools_of(1) == (node,)


def test_meminfo_of_the_host_and_of_a_node():
    found = memory(
        "/proc/meminfo:MemTotal:       24684092 kB",
        "/proc/meminfo:SwapTotal:             0 kB",
        "/proc/meminfo:Hugepagesize:       2048 kB",
        f"{NODE1}/meminfo:Node 1 MemTotal:       98304000 kB",
    )
    assert found.total_bytes == Known(24684092 << 10, "grep MemTotal /proc/meminfo")
    assert found.swap_bytes == Known(0, "grep SwapTotal /proc/meminfo")
    assert isinstance(found.available_bytes, Absent)
    assert found.default_page_bytes == Known(2 << 20, "grep Hugepagesize /proc/meminfo")
    assert found.node_bytes == {1: Known(98304000 << 10, f"grep MemTotal {NODE1}/meminfo")}


def test_mounts_say_their_page_size_where_it_is_not_the_default():
    found = memory(hugepage_mounts=(SAMPLES / "proc/mounts_hugetlbfs.txt").read_text())
    assert isinstance(found.mounts, Known)
    assert found.mounts.value == (
        HugepageMount("/dev/hugepages", 2 << 20),
        HugepageMount("/hugepages", GIB),
        HugepageMount("/mnt/huge", None),
    )


def test_the_choice_in_brackets_is_what_is_set():
    found = memory("/sys/kernel/mm/transparent_hugepage/enabled:always [madvise] never")
    assert isinstance(found.transparent, Known)
    assert found.transparent.value == "madvise"


def test_pages_swapped_in_are_the_difference_of_two_readings():
    again = {"swapped": "pswpin 7\npswpout 9", "swapped_again": "pswpin 19\npswpout 9"}
    assert memory(**again).swapped_in_pages == Known(12, "grep '^pswpin' /proc/vmstat")
    assert isinstance(memory(swapped="pswpin 7").swapped_in_pages, Unreadable)
    back = {"swapped": "pswpin 7", "swapped_again": "pswpin 3"}
    assert isinstance(memory(**back).swapped_in_pages, Unreadable)
