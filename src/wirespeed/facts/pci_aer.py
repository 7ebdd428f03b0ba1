"""Errors that PCI Express functions counted: since boot, and while the capture was made."""

from dataclasses import dataclass
from typing import ClassVar, Self

from wirespeed.model.capture import Capture, Files
from wirespeed.model.fact import Fact
from wirespeed.model.observed import Known, Observed, Unreadable

SYSFS = "/sys/bus/pci/devices"
ATTRIBUTES = ("aer_dev_correctable", "aer_dev_nonfatal", "aer_dev_fatal")
LINK_ERRORS = frozenset({
    "RxErr", "BadTLP", "BadDLLP", "Rollover", "Timeout",
    "Receiver Error", "Bad TLP", "Bad DLLP", "RELAY_NUM Rollover", "Replay Timer Timeout",
})  # fmt: skip
"""Correctable errors of the link itself, as drivers/pci/pcie/aer.c and its ABI document name them:
what was sent is sent again. The others (advisory, internal) are no sign of a bad link."""
TOTAL = "TOTAL_ERR_"
MAX_COUNT = 2**64 - 1


@dataclass(frozen=True, slots=True)
class Aer:
    """One function's counts since boot.

    Absent: it reports no errors, or the kernel is older than 4.19.
    """

    link_errors: Observed[int]
    """Corrected by sending again."""
    nonfatal: Observed[int]
    fatal: Observed[int]
    link_errors_rise: Observed[int]
    """Between the two readings of one capture."""


@dataclass(frozen=True, slots=True)
class PciAer(Fact):
    """Counts of every function on the way from a network card to its root port."""

    by_address: dict[str, Aer]

    script: ClassVar[str] = """\
pci_aer_files() {
	for address in $hops; do
		for attribute in ATTRIBUTES; do
			printf '%s\\0' "/sys/bus/pci/devices/$address/$attribute"
		done
	done
}
[ -z "$hops" ] || pci_aer_files | files pci-aer -
""".replace("ATTRIBUTES", " ".join(ATTRIBUTES))
    script_again: ClassVar[str] = """\
[ -z "$hops" ] || pci_aer_files | files pci-aer-again -
"""

    @classmethod
    def parse(cls, capture: Capture) -> Self:
        """Read the counters of both readings."""
        first = capture.files("pci-aer", ATTRIBUTES)
        again = capture.files("pci-aer-again", ATTRIBUTES)
        addresses = dict.fromkeys(path.split("/")[-2] for path in first.paths() if "/" in path)
        return cls({address: _aer(address, first, again) for address in addresses})


def _aer(address: str, first: Files, again: Files) -> Aer:
    path = f"{SYSFS}/{address}/"
    before = _link_errors(first[f"{path}aer_dev_correctable"])
    after = _link_errors(again[f"{path}aer_dev_correctable"])
    return Aer(
        link_errors=before,
        nonfatal=_total(first[f"{path}aer_dev_nonfatal"]),
        fatal=_total(first[f"{path}aer_dev_fatal"]),
        link_errors_rise=_rise(before, after),
    )


def _rise(before: Observed[int], after: Observed[int]) -> Observed[int]:
    if not isinstance(before, Known):
        return before
    if not isinstance(after, Known):
        return after
    if after.value < before.value:
        return Unreadable("the counter was reset between the readings", after.source)
    return Known(after.value - before.value, after.source)


def _counts(text: Observed[str]) -> Observed[dict[str, int]]:
    """Read lines of a name, which may hold spaces, and a count."""
    if not isinstance(text, Known):
        return text
    counts: dict[str, int] = {}
    for line in text.value.splitlines():
        name, _, count = line.strip().rpartition(" ")
        if not name or not count.isascii() or not count.isdecimal() or len(count) > 20:
            return Unreadable(f"{line[:40]!r} is not a count of errors", text.source)
        counts[name.strip()] = min(int(count), MAX_COUNT)
    if not counts:
        return Unreadable("the file is empty", text.source)
    return Known(counts, text.source)


def _link_errors(text: Observed[str]) -> Observed[int]:
    counts = _counts(text)
    if not isinstance(counts, Known):
        return counts
    found = [count for name, count in counts.value.items() if name in LINK_ERRORS]
    if not found:
        return Unreadable("it names none of the link's errors", text.source)
    return Known(sum(found), text.source)


def _total(text: Observed[str]) -> Observed[int]:
    counts = _counts(text)
    if not isinstance(counts, Known):
        return counts
    return Known(
        sum(count for name, count in counts.value.items() if not name.startswith(TOTAL)),
        text.source,
    )
