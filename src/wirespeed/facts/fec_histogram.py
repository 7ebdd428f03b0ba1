"""How many code words of a link had how many wrong symbols, as the kernel gives it."""

import re
from dataclasses import dataclass
from typing import ClassVar, Self

from wirespeed.facts.ethtool import ethtool_answer
from wirespeed.facts.ports import Ports
from wirespeed.model.capture import Capture
from wirespeed.model.fact import Fact
from wirespeed.model.observed import Absent, Known, Observed

BIN = re.compile(
    r"^[ \t]*fec_(?:symbols?|bit)_err_(\d{1,2})(?:_to_(\d{1,2}))?: (\S{1,40})", re.M | re.A
)
"""netlink/fec.c of ethtool: `fec_symbols_err_4_to_7: 2 [ per_lane: 1, 1 ]`; its first version, and
the words of its second one, have the other two names."""
COUNT = re.compile(r"\d{1,20}", re.A)
SYMBOL_BITS = 10
"""Of each code here: IEEE 802.3 clause 91.5.2.7 has it of RS(528,514) and RS(544,514)."""
BY_CORRECTED = {15: (544, 514), 7: (528, 514)}
"""Symbols that a code corrects, which is the highest bin, to the symbols of its words."""
LOW_LATENCY = (272, 257)
"""Corrects 7, too; ethtool calls it LLRS."""


@dataclass(frozen=True, slots=True)
class FecHistogram:
    """One port, since its counters were cleared last: the kernel does not say when."""

    bins: tuple[tuple[int, int, int | None], ...]
    """Fewest and most wrong symbols, and how many code words had so many; lowest first. None: the
    capture is anonymous, and hides long numbers."""

    @property
    def most(self) -> int:
        """Wrong symbols of the highest bin: what the code corrects."""
        return self.bins[-1][1]

    @property
    def worst(self) -> int:
        """Fewest wrong symbols that the worst code word can have had; 0: none was wrong."""
        return max((low for low, _, count in self.bins if count != 0), default=0)

    def words(self) -> int | None:
        """Give the number of code words; None: not known."""
        counts = [count for _, _, count in self.bins if count is not None]
        return sum(counts) if len(counts) == len(self.bins) else None

    def least_ber(self, word_symbols: int) -> float | None:
        """Give the bit error rate if each wrong symbol has one wrong bit: that, or more.

        None: not known.
        """
        words = self.words()
        if not words:
            return None
        wrong = sum(low * (count or 0) for low, _, count in self.bins)
        return wrong / (words * word_symbols * SYMBOL_BITS)


@dataclass(frozen=True, slots=True)
class FecHistograms(Fact):
    """Every port whose driver has a histogram: Linux 6.18 and an ethtool that prints it."""

    by_netdev: dict[str, Observed[FecHistogram]]

    # Asked apart: an older ethtool refuses -I, and FEC itself would be lost with it. Kernels before
    # 6.18 have no histogram, and one more program for each port would tell nothing there.
    script: ClassVar[str] = """\
release=
{ read -r release </proc/sys/kernel/osrelease; } 2>/dev/null
case $release in
'' | [0-5].* | 6.[0-9].* | 6.1[0-7].*) ;;
*)
	for netdev in $port_netdevs; do
		run ethtool-fec-statistics "$netdev" ethtool -I --show-fec "$netdev"
	done
	;;
esac
"""

    @classmethod
    def parse(cls, capture: Capture) -> Self:
        """Read the bins among the statistics of `ethtool -I --show-fec`."""
        ports = [port.netdev for port in Ports.parse(capture).ports if port.netdev]
        return cls({netdev: _histogram(capture, netdev) for netdev in ports})


def _histogram(capture: Capture, netdev: str) -> Observed[FecHistogram]:
    source = f"ethtool -I --show-fec {netdev}"
    told = ethtool_answer(capture, "ethtool-fec-statistics", netdev, "-I --show-fec")
    if not isinstance(told, Known):
        return told
    bins = sorted(
        (
            int(match[1]),
            int(match[2] or match[1]),
            int(match[3]) if COUNT.fullmatch(match[3]) else None,
        )
        for match in BIN.finditer(told.value)
    )
    if not bins:
        return Absent(source, "the driver, or ethtool, has no histogram")
    return Known(FecHistogram(tuple(bins)), source)
