"""Sysctls as files of /proc/sys."""

import pytest

from wirespeed.facts.sysctl import NAMES, Sysctls
from wirespeed.model.capture import Capture, Section
from wirespeed.model.observed import Absent, Known, Unreadable


def sysctls(*lines: str, errors: str = "") -> Sysctls:
    section = Section("sysctl", "", "\n".join(lines), errors, 2 if errors else 0)
    return Sysctls.parse(Capture([section], complete=True))


def test_three_numbers_are_parted_by_tabs():
    found = sysctls("/proc/sys/net/ipv4/tcp_rmem:4096\t131072\t33554432")
    source = "sysctl net.ipv4.tcp_rmem"
    assert found.numbers("net.ipv4.tcp_rmem") == Known((4096, 131072, 33554432), source)


def test_a_number_may_be_negative():
    found = sysctls("/proc/sys/kernel/sched_rt_runtime_us:-1")
    assert found.number("kernel.sched_rt_runtime_us") == Known(
        -1, "sysctl kernel.sched_rt_runtime_us"
    )


def test_what_a_container_does_not_see_is_absent():
    found = sysctls(
        "/proc/sys/vm/swappiness:60",
        errors="grep: /proc/sys/net/core/rmem_max: No such file or directory",
    )
    assert isinstance(found.number("net.core.rmem_max"), Absent)


def test_what_is_denied_is_not_absent():
    found = sysctls(errors="grep: /proc/sys/vm/swappiness: Permission denied")
    assert isinstance(found.number("vm.swappiness"), Unreadable)


@pytest.mark.parametrize("text", ["", "4096 131072", "a b c", "1 2 3 4"])
def test_what_is_not_three_numbers_is_unreadable(text: str):
    found = sysctls(f"/proc/sys/net/ipv4/tcp_rmem:{text}")
    assert isinstance(found.numbers("net.ipv4.tcp_rmem"), Unreadable)


def test_every_name_is_read_by_the_script():
    for name in NAMES:
        assert f" /proc/sys/{name.replace('.', '/')}" in Sysctls.script
