"""How a team of Windows chooses a member for each frame: of LBFO, or within a switch (SET)."""

from typing import Annotated, ClassVar, Literal, Self

from pydantic import AfterValidator, model_validator

from wirespeed.model.capture import Section
from wirespeed.model.command import Command
from wirespeed.model.finding import Danger
from wirespeed.model.observed import Observed
from wirespeed.model.powershell import WILDCARDS
from wirespeed.model.step import Phase, Scope, State, Step
from wirespeed.platforms.windows.steps.windows_reading import (
    MAX_NAME,
    Rows,
    powershell,
    properties,
    state_of_rows,
    text_in,
)

ALGORITHMS = {
    "0": "TransportPorts", "2": "IPAddresses", "3": "MacAddresses", "4": "HyperVPort",
    "5": "Dynamic",
}  # fmt: skip
"""Of MSFT_NetLbfoTeam: JSON has the number, a person types the name. SET has the last two."""
OF_SET = ("HyperVPort", "Dynamic")
NOUNS = {"lbfo": "NetLbfoTeam", "set": "VMSwitchTeam"}


def _team(text: str) -> str:
    is_plain = text.isprintable() and not WILDCARDS.search(text) and not text.startswith("-")
    if not 1 <= len(text) <= MAX_NAME or not is_plain:
        raise ValueError(f"{text[:40]!r} is not a name of a team that a command can be given")
    return text


TeamName = Annotated[str, AfterValidator(_team)]
"""Without wildcards: not every cmdlet of teams takes them, or takes them as they stand."""


class WindowsTeamBalancing(Step):
    """The team spreads frames this way.

    No document says whether frames are lost while flows and MAC addresses move to other members, so
    it counts as a change that drops the link.
    """

    scope: ClassVar[Scope] = Scope.OS
    danger: ClassVar[Danger] = Danger.DROPS_LINK
    settle_s: ClassVar[float] = 10
    purpose: ClassVar[str] = (
        "The algorithm decides whether frames for the guests arrive on all members or on one."
    )
    phase: ClassVar[Phase | None] = Phase.GUESTS
    step: Literal["windows_team_balancing"] = "windows_team_balancing"
    of: Literal["lbfo", "set"]
    name: TeamName
    """Of the team; of a switch with an embedded team (`set`), the switch's."""
    algorithm: Literal["TransportPorts", "IPAddresses", "MacAddresses", "HyperVPort", "Dynamic"]

    @model_validator(mode="after")
    def _is_an_algorithm_of_that_kind(self) -> Self:
        if self.of == "set" and self.algorithm not in OF_SET:
            raise ValueError(f"a team within a switch has no {self.algorithm}: {OF_SET}")
        return self

    @property
    def subject(self) -> str:
        return self.name

    def read(self) -> Command:
        shown = properties("Name", "LoadBalancingAlgorithm")
        return powershell(f"Get-{NOUNS[self.of]}", "-Name", self.name, *shown)

    def parse(self, section: Section) -> Observed[State]:
        """Give the algorithm's name."""
        return state_of_rows(section, self.read(), self._state)

    def wanted(self, before: State) -> State:
        return {"algorithm": self.algorithm}

    def commands(self, now: State, to: State) -> tuple[Command, ...]:
        return (
            powershell(
                *(f"Set-{NOUNS[self.of]}", "-Name", self.name),
                *("-LoadBalancingAlgorithm", str(to["algorithm"]), "-Confirm:$false"),
            ),
        )

    def _state(self, rows: Rows) -> State:
        mine = [row for row in rows if text_in(row, "Name").lower() == self.name.lower()]
        if len(mine) != 1:
            raise ValueError(f"{len(mine)} teams of that name")
        said = str(mine[0].values.get("LoadBalancingAlgorithm"))
        algorithm = ALGORITHMS.get(said, said)
        if algorithm not in ALGORITHMS.values():
            raise ValueError(f"LoadBalancingAlgorithm is {said[:40]!r}, which no document lists")
        return {"algorithm": algorithm}
