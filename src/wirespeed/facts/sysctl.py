"""Sysctls that bear on the network, read from /proc/sys by their names."""

from dataclasses import dataclass
from typing import ClassVar, Self

from wirespeed.model.capture import Capture
from wirespeed.model.command import Command
from wirespeed.model.fact import Fact
from wirespeed.model.finding import Remedy, StepCall
from wirespeed.model.observed import Absent, Known, Observed, Unreadable, read_as

NAMES = (
    "net.core.rmem_max", "net.core.wmem_max", "net.core.rmem_default", "net.core.wmem_default",
    "net.core.netdev_max_backlog", "net.core.netdev_budget", "net.core.netdev_budget_usecs",
    "net.core.default_qdisc", "net.core.busy_poll", "net.core.busy_read",
    "net.ipv4.tcp_rmem", "net.ipv4.tcp_wmem", "net.ipv4.tcp_congestion_control",
    "net.ipv4.tcp_available_congestion_control", "net.ipv4.tcp_mtu_probing",
    "net.ipv4.tcp_window_scaling", "net.ipv4.tcp_sack", "net.ipv4.tcp_moderate_rcvbuf",
    "net.ipv4.tcp_adv_win_scale", "net.ipv4.ip_forward", "net.ipv4.neigh.default.gc_thresh3",
    "net.netfilter.nf_conntrack_count", "net.netfilter.nf_conntrack_max",
    "vm.swappiness", "vm.zone_reclaim_mode",
    "kernel.numa_balancing", "kernel.sched_rt_runtime_us", "kernel.sched_rt_period_us",
    "kernel.watchdog", "kernel.watchdog_cpumask",
)  # fmt: skip

WINDOW_SCALING = "net.ipv4.tcp_window_scaling"


@dataclass(frozen=True, slots=True)
class Sysctls(Fact):
    """Values by name, as `net.core.rmem_max`. Absent: this kernel, or network namespace, has none.

    A container's network namespace hides most of `net.core`: they are then the host's to read.
    """

    values: dict[str, Observed[str]]

    script: ClassVar[str] = f"""\
show sysctl - grep -H '' {" ".join(f"/proc/sys/{name.replace('.', '/')}" for name in NAMES)}
"""

    def text(self, name: str) -> Observed[str]:
        """Give one value as it stands. A name that is not in NAMES is a KeyError."""
        return self.values[name]

    def number(self, name: str) -> Observed[int]:
        """Give one value that is a number."""
        return read_as(self.values[name], int)

    def numbers(self, name: str) -> Observed[tuple[int, int, int]]:
        """Give the least, default and greatest value of `net.ipv4.tcp_rmem` or `tcp_wmem`."""
        return read_as(self.values[name], _three)

    @property
    def scales_no_window(self) -> bool:
        """Whether TCP windows end at 16 bits, as far as that is known."""
        scaling = self.number(WINDOW_SCALING)
        return isinstance(scaling, Known) and not scaling.value

    @classmethod
    def parse(cls, capture: Capture) -> Self:
        """Read the small files of `sysctl`."""
        files = capture.files("sysctl", {name.rpartition(".")[2] for name in NAMES})
        return cls({name: _named(name, files[_path(name)]) for name in NAMES})


def sysctl_remedy(text: str, *settings: tuple[str, str]) -> Remedy:
    """Make the remedy that sets sysctls, each a name and its value, until the next boot."""
    lines = " and ".join(f"`{name} = {value}`" for name, value in settings)
    return Remedy(
        text=f"{text}; {lines} in a file of /etc/sysctl.d keeps it after the next boot"
        if settings
        else text,
        commands=tuple(
            Command(argv=("sysctl", "-w", f"{name}={value}")) for name, value in settings
        ),
        steps=tuple(
            StepCall.of("sysctl", name=name, value=value, reason=f"{text[0].upper()}{text[1:]}.")
            for name, value in settings
        ),
    )


def _path(name: str) -> str:
    return "/proc/sys/" + name.replace(".", "/")


def _named(name: str, text: Observed[str]) -> Observed[str]:
    """The source is what an administrator types: `sysctl net.core.rmem_max`."""
    if isinstance(text, Absent):
        return Absent(f"sysctl {name}", "this kernel, or this network namespace, has none")
    if isinstance(text, Unreadable):
        return Unreadable(text.reason, f"sysctl {name}")
    return type(text)(text.value.strip(), f"sysctl {name}")


def _three(text: str) -> tuple[int, int, int]:
    numbers = [int(word) for word in text.split()]
    if len(numbers) != 3:
        raise ValueError(f"{text[:40]!r} is not three numbers")
    return numbers[0], numbers[1], numbers[2]
