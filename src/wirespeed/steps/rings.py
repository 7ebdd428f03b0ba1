"""How many descriptors the rings of a netdev have."""

from typing import Annotated, ClassVar, Literal, Self

from pydantic import Field, model_validator

from wirespeed.facts.queues import Queues
from wirespeed.model.capture import Section
from wirespeed.model.finding import Danger
from wirespeed.model.observed import Observed
from wirespeed.model.step import Phase, State
from wirespeed.steps.ethtool_setting import EthtoolSetting, as_state, only_given

Descriptors = Annotated[int, Field(ge=1, le=1 << 16)]


class Rings(EthtoolSetting):
    """Every receive ring has `rx` descriptors, every transmit ring `tx`.

    The drivers make the rings anew: igb, ixgbe and others take the link down for it, for seconds.
    A driver that rounds the number (mlx5 to a power of two) is found to contradict it.
    """

    danger: ClassVar[Danger] = Danger.DROPS_LINK
    shown_by: ClassVar[str] = "-g"
    set_by: ClassVar[str] = "-G"
    purpose: ClassVar[str] = "Larger rings hold the frames of a burst until a core comes to them."
    phase: ClassVar[Phase | None] = Phase.RINGS
    step: Literal["rings"] = "rings"
    rx: Descriptors | None = None
    tx: Descriptors | None = None

    @model_validator(mode="after")
    def _asks_for_something(self) -> Self:
        if not self.asked():
            raise ValueError("neither rx nor tx is given")
        return self

    def asked(self) -> State:
        return only_given({"rx": self.rx, "tx": self.tx})

    def parse(self, section: Section) -> Observed[State]:
        queues = Queues.parse(self.as_capture(section, "ethtool-rings")).of(self.netdev)
        found = {"rx": queues.rx_ring_descriptors, "tx": queues.tx_ring_descriptors}
        return as_state({key: found[key] for key in self.asked()})
