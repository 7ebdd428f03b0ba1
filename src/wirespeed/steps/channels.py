"""How many channels a netdev has: queues with an interrupt of their own."""

from typing import Annotated, ClassVar, Literal, Self

from pydantic import Field, model_validator

from wirespeed.facts.queues import Queues
from wirespeed.model.capture import Section
from wirespeed.model.finding import Danger
from wirespeed.model.observed import Observed
from wirespeed.model.step import Phase, State
from wirespeed.steps.ethtool_setting import EthtoolSetting, as_state, only_given

Count = Annotated[int, Field(ge=0, le=4096)]


class Channels(EthtoolSetting):
    """It has this many channels: `combined`, or of one direction with the drivers that split them.

    All queues are created again; several drivers take the link down for it. Steps that set queues
    of this netdev (XPS, RSS, interrupts) come after it: it may renumber them, and fewer channels
    are refused while an indirection table or a filter of the administrator names a higher one.
    """

    danger: ClassVar[Danger] = Danger.DROPS_LINK
    shown_by: ClassVar[str] = "-l"
    set_by: ClassVar[str] = "-L"
    purpose: ClassVar[str] = (
        "Each channel is served by one core: too few leave cores idle, too many share them."
    )
    phase: ClassVar[Phase | None] = Phase.QUEUES
    step: Literal["channels"] = "channels"
    combined: Count | None = None
    rx: Count | None = None
    tx: Count | None = None

    @model_validator(mode="after")
    def _leaves_a_channel(self) -> Self:
        if not any(self.asked().values()):
            raise ValueError("no channel is asked for")
        return self

    def asked(self) -> State:
        return only_given({"combined": self.combined, "rx": self.rx, "tx": self.tx})

    def parse(self, section: Section) -> Observed[State]:
        queues = Queues.parse(self.as_capture(section, "ethtool-channels")).of(self.netdev)
        found = {
            "combined": queues.combined_channels,
            "rx": queues.rx_channels,
            "tx": queues.tx_channels,
        }
        return as_state({key: found[key] for key in self.asked()})
