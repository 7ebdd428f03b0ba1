"""The MTU of a switch's port."""

from typing import Annotated, ClassVar, Literal

from pydantic import Field

from wirespeed.model.step import State
from wirespeed.platforms.switch.steps.switchport_dialect import LINES, Topic
from wirespeed.platforms.switch.steps.switchport_setting import SwitchportSetting


class SwitchportMtu(SwitchportSetting):
    """The port takes frames of up to `mtu` bytes, as the switch counts them.

    Dell and Cisco switches count the Ethernet header too: 9216 has room for 9000 of a host and its
    tags. Of OS6 the MTU is the whole switch's (`system jumbo mtu`), and a switched port of EOS
    takes jumbo frames as it is: neither has this step.
    """

    topic: ClassVar[Topic] = Topic.MTU
    purpose: ClassVar[str] = "A frame longer than the port's MTU is lost there without a word."
    step: Literal["switchport_mtu"] = "switchport_mtu"
    mtu: Annotated[int, Field(ge=1280, le=9999)]

    def wanted(self, before: State) -> State:
        """Give the line, or the number where the kind has no lines."""
        return {"mtu": f"mtu {self.mtu}" if self.kind in LINES else str(self.mtu)}
