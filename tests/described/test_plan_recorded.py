"""`wirespeed plan` of hosts that are captures in files."""

from pathlib import Path

import pytest

from described.planned import after, before, call, commands, planned, spec_of
from wirespeed.model.error import HostError, InputError
from wirespeed.runs import recorded_hosts
from wirespeed.runs.reach import recorded_text

GUESTS = {
    "ceph-1": {"host": "alpha", "networks": ["storage"]},
    "gpu-1": {"host": "beta", "networks": ["storage", "public"]},
}


def refused(spec: Path) -> InputError:
    error = call(spec).exception
    assert isinstance(error, InputError), error
    return error


def test_hosts_that_nobody_can_reach_are_planned_from_their_captures(tmp_path: Path):
    steps = planned(spec_of(tmp_path, {"alpha": before(), "beta": before()}, GUESTS)).steps
    assert {step.host for step in steps} == {"alpha", "beta"}
    mtu = next(step for step in steps if step.step["step"] == "mtu")
    assert (mtu.before, mtu.goal) == ({"mtu": 1500}, {"mtu": 9080})
    counts = {step.host: step.goal for step in steps if step.step["step"] == "vf_count"}
    assert counts == {"alpha": {"num_vfs": 1}, "beta": {"num_vfs": 2}}


def test_what_a_capture_shows_as_done_is_not_done_again(tmp_path: Path):
    spec = spec_of(tmp_path, {"alpha": before(), "beta": after()}, GUESTS)
    beta = [step for step in planned(spec).steps if step.host == "beta"]
    done = {step.step["step"] for step in beta if step.no_op}
    assert {"mtu", "link_up", "vf_count"} <= done
    # The document sets no MAC, lets vfio-pci take every function of the kind, and the host's driver
    # each VF first.
    assert {step.step["step"] for step in beta if not step.no_op} == {
        "vf_settings",
        "driver_override",
        "kernel_switch",
    }


def test_a_script_of_one_host_has_its_commands(tmp_path: Path):
    spec = spec_of(tmp_path, {"alpha": before(), "beta": before()}, GUESTS)
    script = call(spec, "--shell", "alpha").output.splitlines()
    assert script[0] == "#!/bin/sh"
    own = [line for line in script if line and not line.startswith(("#", "set "))]
    assert own == commands(spec, "alpha")


def test_what_a_capture_does_not_hold_cannot_be_told_and_the_command_that_would_is_named(
    tmp_path: Path,
):
    text = before()
    start = text.index("case begin modules -")
    end = text.index("case end", start)
    older = text[:start] + text[text.index("\n", end) + 1 :]
    error = refused(spec_of(tmp_path, {"alpha": older, "beta": before()}, GUESTS))
    assert (error.what, error.where) == ("plan.cannot_tell", "alpha")
    assert error.next == "ls -d /sys/module/vfio_pci"


def test_a_capture_that_was_cut_off_is_not_planned(tmp_path: Path):
    text = before()
    torn = text[: text.index("/sys/bus/pci/devices/0000:03:00.1/sriov_numvfs")]
    error = call(spec_of(tmp_path, {"alpha": torn, "beta": before()}, GUESTS)).exception
    assert isinstance(error, HostError)
    assert error.what == "host.half_read"


def test_a_capture_that_is_not_there_is_named(tmp_path: Path):
    spec = spec_of(tmp_path, {"alpha": before(), "beta": before()}, GUESTS)
    (tmp_path / "beta.txt").unlink()
    error = refused(spec)
    assert (error.what, error.where) == ("file.unreadable", str(tmp_path / "beta.txt"))


def test_every_capture_is_read_once_and_only_when_its_host_is_planned(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    read: list[str] = []

    def counted(path: Path) -> str:
        read.append(path.stem)
        return recorded_text(path)

    monkeypatch.setattr(recorded_hosts, "recorded_text", counted)
    planned(spec_of(tmp_path, {"alpha": before(), "beta": before()}, GUESTS))
    assert read == ["alpha", "beta"]


@pytest.mark.parametrize("kind", ["none", "namespace"])
def test_both_kinds_of_guests_are_planned(tmp_path: Path, kind: str):
    guests = {name: {**guest, "kind": kind} for name, guest in GUESTS.items()}
    spec = spec_of(tmp_path, {"alpha": before(), "beta": before()}, guests)
    kinds = {str(step.step["step"]) for step in planned(spec).steps}
    assert ("driver_override" in kinds) == (kind == "none")
    assert ("vf_in_namespace" in kinds) == (kind == "namespace")
