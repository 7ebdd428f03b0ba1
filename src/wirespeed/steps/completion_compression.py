"""Whether a port of Mellanox or NVIDIA writes several completions as one, under the kernel."""

from typing import ClassVar, Literal

from wirespeed.facts.offloads import Offloads
from wirespeed.model.capture import Section
from wirespeed.model.finding import Danger
from wirespeed.model.observed import Known, Observed, Unreadable
from wirespeed.model.step import Phase, State
from wirespeed.steps.ethtool_setting import EthtoolSetting

FLAG = "rx_cqe_compress"


class CompletionCompression(EthtoolSetting):
    """The driver's flag `rx_cqe_compress` is on or off.

    It is about the kernel's own queues; DPDK goes by CQE_COMPRESSION of the card's firmware, which
    `firmware_settings` stores. The queues are opened again. With hardware time stamps of received
    frames the driver refuses it.
    """

    danger: ClassVar[Danger] = Danger.DROPS_LINK
    shown_by: ClassVar[str] = "--show-priv-flags"
    set_by: ClassVar[str] = "--set-priv-flags"
    purpose: ClassVar[str] = (
        "Completions of many frames go over the slot as one write; "
        "the CPU spends cycles to tell them apart."
    )
    phase: ClassVar[Phase | None] = Phase.RINGS
    step: Literal["completion_compression"] = "completion_compression"
    is_on: bool = True

    def asked(self) -> State:
        return {FLAG: self.is_on}

    def parse(self, section: Section) -> Observed[State]:
        """Read the flag; unreadable where the driver has none of that name."""
        source = self.read().line()
        capture = self.as_capture(section, "ethtool-private-flags")
        flag = Offloads.parse(capture).of(self.netdev).private_flag(FLAG)
        if not isinstance(flag, Known):
            return Unreadable(flag.reason, source)
        return Known({FLAG: flag.value}, source)
