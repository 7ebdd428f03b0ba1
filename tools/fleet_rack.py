"""A fleet of described hosts with planted causes: one capture varied by number. Pure.

Each host has a rack, a switch, a role, a kernel, a firmware, a cable and a CPU by its number, no
two of them by the same rule; each planted cause is of all hosts that share one of these. The same
number gives the same host.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from bench_rack import varied
from wirespeed.fleet.judge import Judged, judge_capture
from wirespeed.fleet.records import InventoryHost
from wirespeed.model.question import Question

PER_RACK = 20
KERNELS = tuple(f"6.12.{minor}+deb13-amd64" for minor in (38, 41, 43, 48, 57))
FIRMWARE = ("22.39.2048", "22.40.1000", "22.41.1000", "22.42.1000", "22.43.1014")
CABLES = ("MCP1650-V001E30", "MCP1650-V00AE30", "MFS1S00-H003V", "MFS1S00-H005V", "C-DQ8-2M")
CPUS = ("AMD EPYC 7763 64-Core Processor", "AMD EPYC 7713 64-Core Processor")
ROLES = ("compute", "storage", "gateway", "login")


@dataclass(frozen=True, slots=True)
class Planted:
    """A cause, and which hosts have it."""

    rule: str
    trait: str
    value: str
    pattern: str
    text: str
    last_only: bool = False
    """Only the last match is replaced: the later of two readings."""

    def into(self, text: str) -> str:
        """Put it into a capture. Raises AssertionError where there is nothing to replace."""
        if self.last_only:
            *_, last = re.finditer(self.pattern, text, re.M)
            return text[: last.start()] + self.text + text[last.end() :]
        found, count = re.subn(self.pattern, self.text, text, flags=re.M)
        if not count:
            raise AssertionError(f"{self.rule}: nothing in the capture matches")
        return found


PLANTED = (
    Planted(
        "kernel.clocksource_not_tsc", "kernel", KERNELS[3],
        r"current_clocksource:tsc", "current_clocksource:hpet",
    ),
    Planted(
        "pcie.width_below_capability", "rack", "r003",
        r"(0000:4[01]:0\d\.\d)/current_link_width:16", r"\1/current_link_width:4",
    ),
    Planted(
        "pcie.speed_below_capability", "rack", "r011",
        r"(0000:4[01]:0\d\.\d)/current_link_speed:16.0", r"\1/current_link_speed:8.0",
    ),
    Planted("link.half_duplex", "switch", "sw07", r"Duplex: Full", "Duplex: Half"),
    Planted(
        "offloads.segmentation_off", "firmware", FIRMWARE[1],
        r"^(tcp-segmentation-offload|\s*tx-tcp6?-segmentation): on", r"\1: off",
    ),
    Planted("offloads.checksum_off", "role", "gateway", r"(rx-checksumming): on", r"\1: off"),
    Planted(
        "offloads.receive_merging_off", "rack", "r020",
        r"(generic-receive-offload): on", r"\1: off",
    ),
    Planted(
        "queues.channels_below_cores", "rack", "r033",
        r"Combined:\t\t63", "Combined:\t\t1", last_only=True,
    ),
    Planted(
        "errors.physical", "cable", CABLES[4],
        r"rx_crc_errors_phy: 2$", "rx_crc_errors_phy: 200002", last_only=True,
    ),
    Planted(
        "errors.port_buffer", "switch", "sw19",
        r"rx_discards_phy: 12$", "rx_discards_phy: 9000012", last_only=True,
    ),
    Planted(
        "errors.pcie_back_pressure", "CPU", CPUS[1],
        r"outbound_pci_stalled_wr: 0$", "outbound_pci_stalled_wr: 50", last_only=True,
    ),
    Planted(
        "cpu.governor_not_performance", "rack", "r041",
        r"scaling_governor:schedutil", "scaling_governor:powersave",
    ),
)  # fmt: skip


def traits_of(number: int) -> dict[str, str]:
    """Give what a host shares with others, by its number."""
    rack = number // PER_RACK
    return {
        "rack": f"r{rack:03}",
        "switch": f"sw{rack // 2:02}",
        "role": ROLES[(number * 7 + rack * 3) % 13 % 4],
        "kernel": KERNELS[(number * 11 + rack) % 17 % 5],
        "firmware": FIRMWARE[(number * 5 + rack * 2) % 19 % 5],
        "cable": CABLES[(number * 3 + rack * 5) % 23 % 5],
        "CPU": CPUS[(number * 13 + rack * 7) % 29 % 6 == 0],
    }


def has(planted: Planted, number: int) -> bool:
    """Tell whether a host has a planted cause."""
    return traits_of(number)[planted.trait] == planted.value


def host_of(number: int) -> InventoryHost:
    """Give a host as an inventory has it."""
    traits = traits_of(number)
    labels = {name: (traits[name],) for name in ("rack", "switch", "role")}
    return InventoryHost(name=name_of(number), reach=f"ssh://{name_of(number)}", labels=labels)


def name_of(number: int) -> str:
    """Name a host."""
    return f"host-{number:05}"


def capture_of(base: str, number: int, plants: Sequence[Planted] = PLANTED) -> str:
    """Give the capture of a host; `base` has the words of the first of each list above."""
    traits = traits_of(number)
    text = varied(base, number)
    for name, first in (("kernel", KERNELS[0]), ("firmware", FIRMWARE[0]), ("CPU", CPUS[0])):
        text = text.replace(first, traits[name])
    text = text.replace(CABLES[0], traits["cable"])
    for one in plants:
        if has(one, number):
            text = one.into(text)
    return text


@dataclass(frozen=True)
class Judge:
    """Judges a host by its number; it can be handed to another process."""

    base: str
    plants: Sequence[Planted] = PLANTED

    def __call__(self, number: int) -> Judged:
        """Give the record of one host."""
        text = capture_of(self.base, number, self.plants)
        return judge_capture(host_of(number), text, Question())
