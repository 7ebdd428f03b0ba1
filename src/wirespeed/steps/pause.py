"""Flow control of a port by pause frames."""

from typing import ClassVar, Literal, Self

from pydantic import model_validator

from wirespeed.facts.ethtool import ethtool_answer, on_or_off, word_of
from wirespeed.model.capture import Section
from wirespeed.model.finding import Danger
from wirespeed.model.observed import Observed
from wirespeed.model.step import Phase, State
from wirespeed.steps.ethtool_setting import EthtoolSetting, as_state, only_given
from wirespeed.steps.marks import lines


class Pause(EthtoolSetting):
    """It obeys pause frames (`rx`), sends them (`tx`), or leaves both to negotiation (`autoneg`).

    With `autoneg` on, some drivers take no `rx` and `tx` (igb): turn it off with them. What is
    advertised changes, so the link is negotiated anew.
    """

    danger: ClassVar[Danger] = Danger.DROPS_LINK
    again_s: ClassVar[float] = 3
    shown_by: ClassVar[str] = "-a"
    set_by: ClassVar[str] = "-A"
    phase: ClassVar[Phase | None] = Phase.RINGS
    step: Literal["pause"] = "pause"
    autoneg: bool | None = None
    rx: bool | None = None
    tx: bool | None = None

    @model_validator(mode="after")
    def _asks_for_something(self) -> Self:
        if not self.asked():
            raise ValueError("none of autoneg, rx and tx is given")
        return self

    @property
    def why(self) -> str:
        if self.rx or self.tx:
            return "Pause frames keep a sender from filling the buffers of a slower port."
        return "A port that obeys pause frames waits with all its traffic for one slow receiver."

    def asked(self) -> State:
        return only_given({"autoneg": self.autoneg, "rx": self.rx, "tx": self.tx})

    @property
    def mark(self) -> str:
        return lines("^(Autonegotiate|RX|TX):")

    def parse(self, section: Section) -> Observed[State]:
        """Read what is set; what was negotiated stands in other lines."""
        capture = self.as_capture(section, "ethtool-a")
        answer = ethtool_answer(capture, "ethtool-a", self.netdev, "-a")
        names = {"autoneg": "Autonegotiate", "rx": "RX", "tx": "TX"}
        return as_state({key: on_or_off(word_of(answer, names[key])) for key in self.asked()})
