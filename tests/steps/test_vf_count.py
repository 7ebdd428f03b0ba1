"""The VF count goes through 0, as the kernel demands, both ways."""

import subprocess
from dataclasses import dataclass
from pathlib import Path

import pytest
from described_files import DescribedFiles
from proof import prove
from pydantic import ValidationError

from wirespeed.apply.planner import planned
from wirespeed.model.capture import Section
from wirespeed.model.observed import Known, Unreadable
from wirespeed.model.step import Step
from wirespeed.steps import vf_count
from wirespeed.steps.vf_count import AWAIT_LAG, VfCount

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


def test_vfs_come_after_the_lag_and_go_without_it():
    one = VfCount(pci_address=PF, num_vfs=2, lag_of=PF, has_representors=True)
    plan = planned("alpha", one, Known({"num_vfs": 0}, "cat"))
    wait, write, named = plan.commands
    assert wait.argv[:3] == ("sh", "-c", AWAIT_LAG)
    assert wait.argv[3] == f"/sys/kernel/debug/mlx5/{PF}/lag/state"
    assert (write.stdin, named.argv[:2]) == ("2", ("udevadm", "settle"))
    assert [c.stdin for c in plan.undo] == ["0", None]


@pytest.mark.parametrize(
    ("state", "returncode", "said"),
    [
        ("active\n", 0, ""),
        ("disabled\n", 1, "VF-LAG is disabled after 60 s, not active"),
        (None, 1, "No such file or directory"),
    ],
)
def test_a_lag_is_awaited_for_so_long_and_then_there_is_a_reason(
    tmp_path: Path, state: str | None, returncode: int, said: str
):
    path = tmp_path / "state"
    if state is not None:
        path.write_text(state)
    quick = AWAIT_LAG.replace(f"seq {vf_count.LAG_S}", "seq 1")
    done = subprocess.run(
        ["/bin/sh", "-c", quick, str(path)], capture_output=True, text=True, timeout=20, check=False
    )
    assert (done.returncode, said in done.stderr) == (returncode, True), done.stderr
