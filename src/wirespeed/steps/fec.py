"""Forward error correction of a port."""

from typing import ClassVar, Literal

from wirespeed.facts.ethtool import ethtool_answer
from wirespeed.model.capture import Section
from wirespeed.model.command import Command
from wirespeed.model.finding import Danger
from wirespeed.model.observed import Known, Observed, Unreadable
from wirespeed.model.step import Phase, State
from wirespeed.steps.ethtool_setting import EthtoolSetting
from wirespeed.steps.marks import lines

ENCODINGS = ("auto", "off", "rs", "baser", "llrs")
LINES = ("Supported/Configured FEC encodings", "Configured FEC encodings")
"""As ethtool 6.0 and later call it, and before."""


class Fec(EthtoolSetting):
    """The port is told to use this encoding; both ends of the link need the same.

    What is in use shows once the link is up again. Some drivers print all that they support in
    place of what is configured (ethtool's own words: *Supported/Configured*; ice_get_fecparam of
    ice_ethtool.c, nfp_port_get_fecparam): then what to put back is not known, and nothing is set.
    """

    danger: ClassVar[Danger] = Danger.DROPS_LINK
    shown_by: ClassVar[str] = "--show-fec"
    set_by: ClassVar[str] = "--set-fec"
    purpose: ClassVar[str] = (
        "Without the correction that the cable needs, frames are lost to bit errors."
    )
    phase: ClassVar[Phase | None] = Phase.LINK
    step: Literal["fec"] = "fec"
    encoding: Literal["auto", "off", "rs", "baser", "llrs"]

    def asked(self) -> State:
        return {"encoding": self.encoding}

    @property
    def mark(self) -> str:
        return lines(f"^({'|'.join(LINES)})")

    def parse(self, section: Section) -> Observed[State]:
        """Read the encoding that is configured; of several that are printed none is known to be."""
        capture = self.as_capture(section, "ethtool-fec")
        answer = ethtool_answer(capture, "ethtool-fec", self.netdev, self.shown_by)
        if not isinstance(answer, Known):
            return Unreadable(answer.reason, answer.source)
        lines = (line.partition(":") for line in answer.value.splitlines())
        found = [after.lower().split() for name, _, after in lines if name in LINES]
        if len(found) != 1 or not found[0] or not set(found[0]) <= set(ENCODINGS):
            return Unreadable("it does not say what is configured", answer.source)
        if len(found[0]) > 1:
            several = f"it prints several encodings ({', '.join(sorted(found[0]))})"
            return Unreadable(f"{several}: which one is configured is not known", answer.source)
        return Known({"encoding": found[0][0]}, answer.source)

    def commands(self, now: State, to: State) -> tuple[Command, ...]:
        """Set it."""
        word = str(to["encoding"])
        return (Command(argv=("ethtool", self.set_by, self.netdev, "encoding", word)),)
