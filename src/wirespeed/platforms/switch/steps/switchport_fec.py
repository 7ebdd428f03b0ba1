"""Forward error correction of a switch's port."""

from typing import ClassVar, Literal

from wirespeed.model.step import State
from wirespeed.platforms.switch.steps.switchport_dialect import FEC_LINES, Topic
from wirespeed.platforms.switch.steps.switchport_setting import SwitchportSetting


class SwitchportFec(SwitchportSetting):
    """The port uses this encoding, as ethtool calls it; the card at its other end needs the same.

    On OS10 `rs` is clause 108, of 25 Gb/s; ports of 100 Gb/s have clause 91, and refuse it.
    """

    topic: ClassVar[Topic] = Topic.FEC
    purpose: ClassVar[str] = (
        "Without the same correction at both ends the link stays down, or loses frames."
    )
    step: Literal["switchport_fec"] = "switchport_fec"
    encoding: Literal["auto", "off", "rs", "baser"]

    def wanted(self, before: State) -> State:
        return {"fec": FEC_LINES[self.kind][self.encoding]}
