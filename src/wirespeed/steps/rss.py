"""Over how many receive queues a netdev spreads its flows (RSS)."""

import re
from typing import Annotated, ClassVar, Literal

from pydantic import Field

from wirespeed.facts.ethtool import ethtool_answer
from wirespeed.facts.steering import ENTRIES
from wirespeed.model.capture import Section
from wirespeed.model.command import Command
from wirespeed.model.observed import Known, Observed, Unreadable
from wirespeed.model.step import Phase, State
from wirespeed.steps.ethtool_setting import EthtoolSetting

TABLE = re.compile(r"^RX flow hash indirection table [^\n]*\n((?:[ \t]+\d+:[^\n]*\n?)+)", re.M)
MAX_ENTRIES = 1 << 16


class Rss(EthtoolSetting):
    """The indirection table names the first `queues` receive queues in turn.

    A table is kept as the words with which ethtool makes it: `equal 8`, `start 4 equal 4`,
    `weight 64 64`. One that no words make could not be put back, and is not known. Once a table was
    set, the kernel keeps it as it is when the channels change, after an undo too;
    `ethtool -X NETDEV default` lets it go.
    """

    shown_by: ClassVar[str] = "-x"
    set_by: ClassVar[str] = "-X"
    purpose: ClassVar[str] = (
        "Flows that share few queues share few cores, while the others are idle."
    )
    phase: ClassVar[Phase | None] = Phase.SPREADING
    step: Literal["rss"] = "rss"
    queues: Annotated[int, Field(ge=1, le=4096)]

    def asked(self) -> State:
        return {"table": f"equal {self.queues}"}

    def parse(self, section: Section) -> Observed[State]:
        """Read the table, and nothing of the key that is printed below it."""
        capture = self.as_capture(section, "ethtool-rss")
        answer = ethtool_answer(capture, "ethtool-rss", self.netdev, self.shown_by)
        if not isinstance(answer, Known):
            return Unreadable(answer.reason, answer.source)
        match = TABLE.search(answer.value)
        entries = _entries(match[1]) if match else []
        if not entries:
            return Unreadable("it has no indirection table that makes sense", answer.source)
        words = table_words(entries)
        if not words:
            return Unreadable("no words of ethtool make its table again", answer.source)
        return Known({"table": words}, answer.source)

    def commands(self, now: State, to: State) -> tuple[Command, ...]:
        words = str(to["table"]).split()
        command = Command(argv=("ethtool", self.set_by, self.netdev, *words))
        return (command,)


def table_words(entries: list[int]) -> str:
    """Give the words with which ethtool makes this table (fill_indir_table); empty for none."""
    first = entries[0]
    queues = max(entries) - first + 1
    if entries == [first + at % queues for at in range(len(entries))]:
        return f"equal {queues}" if first == 0 else f"start {first} equal {queues}"
    if entries == sorted(entries):
        # Weights that add up to the size of the table are the entries of each queue, in blocks.
        counts = (entries.count(queue) for queue in range(max(entries) + 1))
        return " ".join(["weight", *map(str, counts)])
    return ""


def _entries(lines: str) -> list[int]:
    """Give the queue of every entry; none where a line is missing or is no such line."""
    entries: list[int] = []
    for line in lines.splitlines():
        match = ENTRIES.fullmatch(line)
        if match is None or int(line.partition(":")[0]) != len(entries):
            return []
        entries += map(int, match[1].split())
        if len(entries) > MAX_ENTRIES:
            return []
    return entries
