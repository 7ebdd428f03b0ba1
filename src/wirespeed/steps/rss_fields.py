"""Which fields of a frame choose its receive queue."""

from typing import ClassVar, Literal

from wirespeed.facts.ethtool import ethtool_answer
from wirespeed.model.capture import Section
from wirespeed.model.command import Command
from wirespeed.model.observed import Known, Observed, Unreadable
from wirespeed.model.step import Phase, State
from wirespeed.steps.ethtool_setting import EthtoolSetting

HEADER = "Hash flow key:"
LETTERS = {
    "L2DA": "m",
    "VLAN tag": "v",
    "L3 proto": "t",
    "IP SA": "s",
    "IP DA": "d",
    "L4 bytes 0 & 1 [TCP/UDP src port]": "f",
    "L4 bytes 2 & 3 [TCP/UDP dst port]": "n",
}
"""What ethtool prints (unparse_rxfhashopts), and the letter that sets it."""


class RssFields(EthtoolSetting):
    """Flows of this kind are told apart by their addresses, or by their ports too.

    A tunnel (VXLAN) has its flows apart in the source port of UDP only. Fragments of one packet
    then go to different queues and come out of order.
    """

    shown_by: ClassVar[str] = "-n"
    set_by: ClassVar[str] = "-N"
    purpose: ClassVar[str] = (
        "All tunnels between two hosts are one flow, on one core, unless ports count."
    )
    phase: ClassVar[Phase | None] = Phase.SPREADING
    step: Literal["rss_fields"] = "rss_fields"
    flow: Literal["udp4", "udp6", "tcp4", "tcp6"]
    fields: Literal["sd", "sdfn"]

    def asked(self) -> State:
        return {self.flow: self.fields}

    def read(self) -> Command:
        """Print the fields of this kind of flow."""
        return Command(argv=("ethtool", self.shown_by, self.netdev, "rx-flow-hash", self.flow))

    def parse(self, section: Section) -> Observed[State]:
        """Read the fields as letters, in ethtool's order."""
        words = ("rx-flow-hash", self.flow)
        capture = self.as_capture(section, "rss-fields")
        answer = ethtool_answer(capture, "rss-fields", self.netdev, self.shown_by, *words)
        if not isinstance(answer, Known):
            return Unreadable(answer.reason, answer.source)
        _, header, text = answer.value.partition(HEADER)
        lines = [line.strip() for line in text.splitlines() if line.strip()]
        if not header or not lines or not set(lines) <= LETTERS.keys():
            return Unreadable("its fields are none that could be set again", answer.source)
        letters = "".join(letter for line, letter in LETTERS.items() if line in lines)
        return Known({self.flow: letters}, answer.source)

    def commands(self, now: State, to: State) -> tuple[Command, ...]:
        argv = ("ethtool", self.set_by, self.netdev, "rx-flow-hash", self.flow)
        return (Command(argv=(*argv, str(to[self.flow]))),)
