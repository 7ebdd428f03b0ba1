"""A hugetlbfs is mounted and unmounted; what another has mounted there stays."""

from dataclasses import dataclass, field

import pytest
from proof import Answer, UnknownCommandError, prove
from pydantic import ValidationError
from samples import sample, section_of, state_of

from wirespeed.model.command import Command
from wirespeed.model.observed import Unreadable
from wirespeed.steps.hugepage_mount import HugepageMount

STEP = HugepageMount(page_size="1G")
FOLDER = "/dev/hugepages-1G"
USUAL = "hugetlbfs /dev/hugepages hugetlbfs rw,relatime,pagesize=2M 0 0"


@dataclass
class DescribedMounts:
    """`mkdir -p`, `mount -t hugetlbfs`, `umount`: mount(8), whose code for a failure is 32."""

    lines: list[str] = field(default_factory=lambda: ["proc /proc proc rw 0 0", USUAL])
    folders: set[str] = field(default_factory=set, compare=False)

    def run(self, command: Command) -> Answer:
        assert command.stdin is None
        match command.argv:
            case ("cat", "/proc/self/mounts"):
                return Answer("\n".join(self.lines) + "\n")
            case ("mkdir", "-p", folder):
                self.folders.add(folder)
            case ("mount", "-t", "hugetlbfs", "-o", size, "nodev", folder):
                if folder not in self.folders:
                    return Answer("", f"mount: {folder}: mount point does not exist.\n", 32)
                self.lines.append(f"nodev {folder} hugetlbfs rw,relatime,{size} 0 0")
            case ("umount", folder):
                mine = [line for line in self.lines if line.split()[1] == folder]
                if not mine:
                    return Answer("", f"umount: {folder}: not mounted.\n", 32)
                self.lines.remove(mine[-1])
            case _:
                raise UnknownCommandError(command.line())
        return Answer()


def test_it_is_mounted_and_unmounted():
    goal = DescribedMounts()
    goal.lines.append(f"nodev {FOLDER} hugetlbfs rw,relatime,pagesize=1G 0 0")
    prove(STEP, DescribedMounts(), goal)


def test_real_output_of_other_mounts():
    assert state_of(STEP, sample("proc/mounts_hugetlbfs")) == {"is_mounted": False}


@pytest.mark.parametrize(
    "line",
    [
        f"nodev {FOLDER} hugetlbfs rw,pagesize=2M 0 0",
        f"nodev {FOLDER} hugetlbfs rw 0 0",
        f"tmpfs {FOLDER} tmpfs rw,pagesize=1G 0 0",
        f"nodev {FOLDER} hugetlbfs rw,pagesize=1G 0 0\nnodev {FOLDER} hugetlbfs rw,pagesize=1G 0 0",
    ],
)
def test_another_mount_at_the_folder_is_left_alone(line: str):
    assert isinstance(STEP.parse(section_of(f"{USUAL}\n{line}\n")), Unreadable)


def test_a_list_that_was_not_given_is_unreadable():
    assert isinstance(STEP.parse(section_of("")), Unreadable)
    assert isinstance(STEP.parse(section_of(USUAL, code=None)), Unreadable)
    assert isinstance(STEP.parse(section_of("", "cat: Permission denied", 1)), Unreadable)


@pytest.mark.parametrize("size", ["0M", "1K", "2m", "../x", "1G/"])
def test_it_takes_only_sizes_as_the_kernel_prints_them(size: str):
    with pytest.raises(ValidationError):
        HugepageMount(page_size=size)
