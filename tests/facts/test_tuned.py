"""tuned's own files: that of its PID (`tuned -P`), and that of its active profile."""

import pytest

from wirespeed.facts.tuned import Tuned
from wirespeed.model.capture import Capture, Section
from wirespeed.model.observed import Absent, Known, Unreadable

PID = "/run/tuned/tuned.pid:1043\n"
ACTIVE = "/etc/tuned/active_profile:"


def tuned(output: str, errors: str = "") -> Tuned:
    section = Section("tuned", "", output, errors, 2 if errors else 0)
    return Tuned.parse(Capture([section], complete=True))


@pytest.mark.parametrize(
    ("said", "names"),
    [
        ("balanced", ("balanced",)),
        ("virtual-guest network-latency", ("virtual-guest", "network-latency")),
        ("openshift-node-performance-worker.v2", ("openshift-node-performance-worker.v2",)),
    ],
)
def test_its_profiles(said: str, names: tuple[str, ...]):
    assert tuned(f"{PID}{ACTIVE}{said}\n").profiles == Known(names, f"cat {ACTIVE[:-1]}")


def test_without_its_process_a_profile_is_not_in_force():
    errors = "grep: /run/tuned/tuned.pid: No such file or directory\n"
    assert isinstance(tuned(f"{ACTIVE}balanced\n", errors).profiles, Absent)


@pytest.mark.parametrize("said", ["$(reboot)", "a/b", "-x", "x" * 65])
def test_what_is_no_name_is_not_shown(said: str):
    assert isinstance(tuned(f"{PID}{ACTIVE}{said}\n").profiles, Unreadable)


def test_no_profile_is_none():
    assert isinstance(tuned(f"{PID}{ACTIVE}\n").profiles, Absent)


def test_an_older_capture_cannot_tell_and_partitions_nothing():
    found = Tuned.parse(Capture([], complete=True))
    assert isinstance(found.profiles, Unreadable)
    assert not found.partitions_cpus


@pytest.mark.parametrize(
    ("name", "partitions"), [("cpu-partitioning", True), ("realtime", False), ("balanced", False)]
)
def test_which_profile_keeps_other_threads_off(name: str, partitions: bool):
    assert tuned(f"{PID}{ACTIVE}{name}\n").partitions_cpus is partitions
