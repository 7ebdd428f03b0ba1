"""tc filters of ports of an eswitch: how many the card took."""

from dataclasses import dataclass
from typing import ClassVar, Self

from wirespeed.model.capture import Capture
from wirespeed.model.fact import Fact
from wirespeed.model.observed import Known, Observed, Unreadable

MOST_NETDEVS = 16


@dataclass(frozen=True, slots=True)
class TcFilters:
    """Filters on the ingress of one netdev."""

    in_hw: int
    not_in_hw: int


@dataclass(frozen=True, slots=True)
class Tc(Fact):
    """By netdev, for at most 16 of the netdevs that have a switch id."""

    ingress: dict[str, TcFilters]
    problem: Unreadable | None
    """Why some of them could not be read."""

    script: ClassVar[str] = """\
tc_filters() {
	count=0
	for netdev in $netdevs; do
		id=
		{ read -r id <"/sys/class/net/$netdev/phys_switch_id"; } 2>/dev/null
		[ -n "$id" ] && [ "$count" -lt 16 ] || continue
		count=$((count + 1))
		printf 'netdev %s\\n' "$netdev"
		tc filter show dev "$netdev" ingress | grep -owE 'in_hw|not_in_hw' | head -n 10000
	done
}
show tc-filters - tc_filters
"""

    @classmethod
    def parse(cls, capture: Capture) -> Self:
        """Count the words that say where each filter is."""
        section = capture.section("tc-filters")
        source = "tc -s filter show dev NETDEV ingress"
        if section is None:
            return cls({}, Unreadable("the capture has no such section", source))
        counts: dict[str, list[str]] = {}
        words: list[str] = []
        for line in section.output.splitlines():
            if line.startswith("netdev "):
                words = counts.setdefault(line.removeprefix("netdev "), [])
            else:
                words.append(line)
        said = section.errors.strip().splitlines()
        problem = Unreadable(said[0][:200], source) if said else None
        if section.returncode is None:
            problem = Unreadable("the capture ends within this section", source)
        return cls(
            {
                netdev: TcFilters(words.count("in_hw"), words.count("not_in_hw"))
                for netdev, words in counts.items()
            },
            problem,
        )

    def of(self, netdev: str) -> Observed[TcFilters]:
        """Give the counts of one netdev."""
        source = f"tc -s filter show dev {netdev} ingress"
        if netdev in self.ingress and self.problem is None:
            return Known(self.ingress[netdev], source)
        return self.problem or Unreadable("its filters were not asked for", source)
