"""A sysctl has a value, and the former one again."""

from dataclasses import dataclass

import pytest
from described_files import DescribedFiles
from proof import prove
from pydantic import ValidationError

from wirespeed.model.capture import Section
from wirespeed.model.observed import Known, Unreadable
from wirespeed.steps.sysctl import Sysctl

NUMBERS = "net/ipv4/tcp_rmem"
KNOWN = ("vm/swappiness", "vm/zone_reclaim_mode", "kernel/sched_rt_runtime_us")


@dataclass
class DescribedSysctls(DescribedFiles):
    """proc_dointvec() and proc_dointvec_minmax() of kernel/sysctl.c: numbers, within their bounds.

    Several numbers are separated by tabs when they are read, by any white space when written.
    """

    def write(self, path: str, text: str) -> str:
        name = path.removeprefix("/proc/sys/")
        words = text.split()
        if name == NUMBERS and len(words) == 3 and all(word.isdecimal() for word in words):
            self.files[path] = "\t".join(words) + "\n"
        elif name in KNOWN and len(words) == 1 and words[0].removeprefix("-").isdecimal():
            # sched_rt_handler(): -1 is no limit, and not more than the period of 1 s.
            if name == "kernel/sched_rt_runtime_us" and not -1 <= int(text) <= 1_000_000:
                return "Invalid argument"
            self.files[path] = f"{text}\n"
        else:
            return super().write(path, text)
        return ""


def host(name: str, value: str) -> DescribedSysctls:
    return DescribedSysctls({f"/proc/sys/{name.replace('.', '/')}": f"{value}\n"})


@pytest.mark.parametrize(
    ("name", "before", "value"),
    [
        ("vm.swappiness", "60", "0"),
        ("vm.zone_reclaim_mode", "1", "0"),
        ("kernel.sched_rt_runtime_us", "950000", "-1"),
    ],
)
def test_each_of_the_report_is_set_and_put_back(name: str, before: str, value: str):
    """DPDK 19.08 report of Mellanox, tables 3 and 18: memory, and realtime throttling."""
    prove(Sysctl(name=name, value=value, reason="x"), host(name, before), host(name, value))


def test_three_numbers_are_the_same_with_tabs_and_with_spaces():
    step = Sysctl(name="net.ipv4.tcp_rmem", value="4096  131072\t67108864", reason="x")
    start = host("net.ipv4.tcp_rmem", "4096\t131072\t6291456")
    prove(step, start, host("net.ipv4.tcp_rmem", "4096\t131072\t67108864"))


def test_a_value_of_words_is_read():
    step = Sysctl(name="net.ipv4.tcp_congestion_control", value="bbr", reason="x")
    state = step.parse(Section("step", "x", "cubic\n", "", 0))
    assert isinstance(state, Known) and state.value == {"value": "cubic"}


@pytest.mark.parametrize(
    ("output", "errors", "code"),
    [
        ("", "cat: /proc/sys/vm/swappiness: No such file or directory", 1),
        ("", "cat: /proc/sys/vm/swappiness: Permission denied", 1),
        ("1\n2\n", "", 0),
        ("\x1b[31m1\n", "", 0),
        ("60\n", "", None),
    ],
)
def test_what_is_no_value_is_unreadable(output: str, errors: str, code: int | None):
    step = Sysctl(name="vm.swappiness", value="0", reason="x")
    assert isinstance(step.parse(Section("step", "x", output, errors, code)), Unreadable)


@pytest.mark.parametrize("name", ["fs.suid_dumpable", "vm", "vm..x", "vm./etc", "vm.a b"])
def test_it_takes_only_names_of_the_network_memory_and_kernel(name: str):
    with pytest.raises(ValidationError):
        Sysctl(name=name, value="0", reason="x")


@pytest.mark.parametrize("value", ["", "a\nb", "$(x)", "|/bin/sh"])
def test_it_takes_only_plain_values(value: str):
    with pytest.raises(ValidationError):
        Sysctl(name="kernel.core_pattern", value=value, reason="x")
