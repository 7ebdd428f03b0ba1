"""The VF count goes through 0, as the kernel demands, both ways."""

from dataclasses import dataclass

import pytest
from described_files import DescribedFiles
from proof import prove
from pydantic import ValidationError

from wirespeed.apply.planner import planned
from wirespeed.model.capture import Section
from wirespeed.model.observed import Known, Unreadable
from wirespeed.model.step import Step
from wirespeed.steps.vf_count import VfCount

PF = "0000:03:00.0"
PATH = f"/sys/bus/pci/devices/{PF}/sriov_numvfs"
MOST = 8


@dataclass
class DescribedPf(DescribedFiles):
    """Refuses as sriov_numvfs_store() in drivers/pci/iov.c does."""

    def write(self, path: str, text: str) -> str:
        if path != PATH or not text.isdecimal():
            return super().write(path, text)
        now, count = int(self.files[path]), int(text)
        if count > MOST:
            return "Numerical result out of range"
        if now and count and now != count:
            return "Device or resource busy"
        self.files[path] = f"{count}\n"
        return ""


def pf(count: int) -> DescribedPf:
    return DescribedPf({PATH: f"{count}\n"})


def step(count: int) -> VfCount:
    return VfCount(pci_address=PF, num_vfs=count)


@pytest.mark.parametrize(("before", "after"), [(0, 2), (2, 0), (2, 8), (8, 2)])
def test_it_is_set_and_put_back(before: int, after: int):
    prove(step(after), pf(before), pf(after))


def test_undo_restores_zero_when_it_was_zero():
    plan = planned("alpha", step(4), Known({"num_vfs": 0}, "cat"))
    assert [c.line() for c in plan.commands] == [f"echo 4 | tee {PATH}"]
    assert [c.line() for c in plan.undo] == [f"echo 0 | tee {PATH}"]


def test_another_number_goes_through_zero_both_ways():
    plan = planned("alpha", step(4), Known({"num_vfs": 2}, "cat"))
    assert [c.stdin for c in plan.commands] == ["0", "4"]
    assert [c.stdin for c in plan.undo] == ["0", "2"]


def test_more_than_the_card_has_is_refused_by_the_kernel_and_nothing_is_left():
    host = pf(2)
    for command in step(9).change({"num_vfs": 2}, {"num_vfs": 9}):
        answer = host.run(command)
    assert "out of range" in answer.errors
    # Between them: what the executor reads then, and puts back.
    assert host == pf(0)
    for command in step(9).change({"num_vfs": 0}, {"num_vfs": 2}):
        host.run(command)
    assert host == pf(2)


@pytest.mark.parametrize(
    ("output", "errors", "code"),
    [
        ("", f"cat: {PATH}: No such file or directory", 1),
        ("", f"cat: {PATH}: Permission denied", 1),
        ("", "", 0),
        ("two\n", "", 0),
        ("-1\n", "", 0),
        ("1_0\n", "", 0),
        ("2\n3\n", "", 0),
        ("9" * 20, "", 0),
        ("2\n", "", None),
    ],
)
def test_what_is_no_count_is_unreadable(output: str, errors: str, code: int | None):
    one: Step = step(1)
    assert isinstance(one.parse(Section("step", PF, output, errors, code)), Unreadable)


@pytest.mark.parametrize("address", ["03:00.0", "0000:03:00.0/../..", "0000:03:00.8", "--help"])
def test_it_takes_only_addresses(address: str):
    with pytest.raises(ValidationError):
        VfCount(pci_address=address, num_vfs=1)
