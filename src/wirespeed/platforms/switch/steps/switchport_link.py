"""The speed of a switch's port, or that it negotiates."""

from typing import Annotated, ClassVar, Literal

from pydantic import Field

from wirespeed.model.step import State
from wirespeed.platforms.switch.steps.switchport_dialect import Topic, forced
from wirespeed.platforms.switch.steps.switchport_setting import SwitchportSetting


class SwitchportLink(SwitchportSetting):
    """The port has this speed and does not negotiate; None: it negotiates.

    It says what the port is set to. Whether the link comes up is for the other end to say, once
    that is set too: `approaches.link_speed` has both.
    """

    topic: ClassVar[Topic] = Topic.LINK
    step: Literal["switchport_link"] = "switchport_link"
    link_mbit_per_s: Annotated[int, Field(ge=1000, le=800_000)] | None

    @property
    def why(self) -> str:
        if self.link_mbit_per_s is None:
            return "Two ports that negotiate find the best that both can do."
        return "Where negotiation ends below what both can do, both ends are set to it by hand."

    def wanted(self, before: State) -> State:
        return forced(self.kind, self.link_mbit_per_s, before)
