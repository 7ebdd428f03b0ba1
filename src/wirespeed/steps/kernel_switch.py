"""Switches of the kernel in sysfs that have no tool of their own."""

import re
from typing import Annotated, ClassVar, Literal

from pydantic import AfterValidator, Field

from wirespeed.model.capture import Section
from wirespeed.model.command import Command
from wirespeed.model.observed import Known, Observed, Unreadable
from wirespeed.model.step import Phase, Scope, State, Step
from wirespeed.steps.readings import files_of

PCI = r"/sys/bus/pci/devices/[0-9a-f]{4,8}:[0-9a-f]{2}:[01][0-9a-f]\.[0-7]"
CPU = r"/sys/devices/system/cpu"
SWITCHES = tuple(
    re.compile(pattern)
    for pattern in (
        r"/sys/kernel/mm/transparent_hugepage/(enabled|defrag)",
        r"/sys/kernel/mm/ksm/run",
        rf"{CPU}/intel_pstate/no_turbo",
        rf"{CPU}/cpufreq/boost",
        rf"{CPU}/cpufreq/policy\d{{1,4}}/(scaling_(min|max)_freq|energy_performance_preference)",
        rf"{CPU}/cpu\d{{1,4}}/cpuidle/state\d{{1,2}}/disable",
        r"/sys/kernel/debug/sched/fair_server/cpu\d{1,4}/runtime",
        rf"{PCI}/sriov_drivers_autoprobe",
        rf"{PCI}"
        r"/link/(clkpm|l0s_aspm|l1_aspm|l1_1_aspm|l1_2_aspm|l1_1_pcipm|l1_2_pcipm)",
    )
)
"""Files that can be written again as they are read."""
VALUE = re.compile(r"[A-Za-z0-9_+-]{1,40}")
CHOSEN = re.compile(r"\[([^\[\]]+)\]")


def _switch(path: str) -> str:
    if not any(switch.fullmatch(path) for switch in SWITCHES):
        raise ValueError(f"{path!r} is not one of the switches that undo can restore")
    return path


class KernelSwitch(Step):
    """Each of these files has this value: hugepages, KSM, turbo, idle states, fair servers, ASPM.

    Of a list the value in brackets counts, as in `always [madvise] never`.
    """

    scope: ClassVar[Scope] = Scope.BOOT
    phase: ClassVar[Phase | None] = Phase.HOST
    step: Literal["kernel_switch"] = "kernel_switch"
    paths: Annotated[
        tuple[Annotated[str, AfterValidator(_switch)], ...], Field(min_length=1, max_length=8192)
    ]
    value: Annotated[str, Field(pattern=rf"^{VALUE.pattern}$")]
    reason: str

    @property
    def subject(self) -> str:
        more = f" and {len(self.paths) - 1} more" if len(self.paths) > 1 else ""
        return self.paths[0] + more

    @property
    def why(self) -> str:
        """As the maker of the step gives it."""
        return self.reason

    def read(self) -> Command:
        return Command(argv=("grep", "-H", "", *self.paths))

    def parse(self, section: Section) -> Observed[State]:
        """Give the value by path; unreadable where this kernel or CPU has no such switch."""
        source = self.read().line()
        files = files_of(section, self.paths)
        state: State = {}
        for path in self.paths:
            text = files[path]
            if not isinstance(text, Known):
                return Unreadable(f"{path}: {text.reason}", source)
            chosen = CHOSEN.search(text.value)
            value = chosen[1] if chosen else text.value
            if not VALUE.fullmatch(value):
                return Unreadable(f"{path}: {value[:40]!r} is not a value", source)
            state[path] = value
        return Known(state, source)

    def wanted(self, before: State) -> State:
        return dict.fromkeys(self.paths, self.value)

    def commands(self, now: State, to: State) -> tuple[Command, ...]:
        """Write each value to all files that are to have it, in one command."""
        paths: dict[str, list[str]] = {}
        for path, value in to.items():
            if now[path] != value:
                paths.setdefault(str(value), []).append(path)
        return tuple(Command(argv=("tee", *of), stdin=value) for value, of in paths.items())
