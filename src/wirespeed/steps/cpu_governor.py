"""What governs the clock of the CPUs."""

from typing import Annotated, ClassVar, Literal

from pydantic import Field

from wirespeed.model.capture import Section
from wirespeed.model.command import Command
from wirespeed.model.observed import Known, Observed, Unreadable
from wirespeed.model.step import Phase, Scope, State, Step
from wirespeed.steps.readings import files_of

FOLDER = "/sys/devices/system/cpu/cpufreq"
GOVERNOR = r"^[a-z_]{1,15}$"
"""At most CPUFREQ_NAME_LEN."""


class CpuGovernor(Step):
    """Every one of these frequency policies (CPUs whose clock is set together) has this governor.

    intel_pstate and amd_pstate force the energy preference to `performance` meanwhile, and restore
    it themselves with the governor.
    """

    scope: ClassVar[Scope] = Scope.BOOT
    purpose: ClassVar[str] = (
        "A clock that has to rise first costs frames at the start of every burst."
    )
    phase: ClassVar[Phase | None] = Phase.HOST
    step: Literal["cpu_governor"] = "cpu_governor"
    policies: Annotated[
        tuple[Annotated[int, Field(ge=0, le=8191)], ...], Field(min_length=1, max_length=8192)
    ]
    """Numbers of /sys/devices/system/cpu/cpufreq/policy*."""
    governor: Annotated[str, Field(pattern=GOVERNOR)] = "performance"

    @property
    def subject(self) -> str:
        if len(self.policies) == 1:
            return f"clock of policy {self.policies[0]}"
        return (
            f"clock of {len(self.policies)} policies, {min(self.policies)} to {max(self.policies)}"
        )

    def _path(self, policy: str) -> str:
        return f"{FOLDER}/{policy}/scaling_governor"

    @property
    def _names(self) -> tuple[str, ...]:
        return tuple(f"policy{number}" for number in self.policies)

    def read(self) -> Command:
        return Command(argv=("grep", "-H", "", *map(self._path, self._names)))

    def parse(self, section: Section) -> Observed[State]:
        """Give the governor by policy; unreadable where one has none."""
        source = self.read().line()
        files = files_of(section, map(self._path, self._names))
        state: State = {}
        for name in self._names:
            governor = files[self._path(name)]
            if not isinstance(governor, Known):
                return Unreadable(f"{name}: {governor.reason}", source)
            if not governor.value.isidentifier() or not governor.value.isascii():
                return Unreadable(f"{name}: {governor.value[:40]!r} is not a governor", source)
            state[name] = governor.value
        return Known(state, source)

    def wanted(self, before: State) -> State:
        return dict.fromkeys(self._names, self.governor)

    def commands(self, now: State, to: State) -> tuple[Command, ...]:
        """Write each governor to all policies that are to have it, in one command."""
        policies: dict[str, list[str]] = {}
        for name, governor in to.items():
            if now[name] != governor:
                policies.setdefault(str(governor), []).append(name)
        return tuple(
            Command(argv=("tee", *map(self._path, names)), stdin=governor)
            for governor, names in policies.items()
        )
