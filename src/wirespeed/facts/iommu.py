"""The IOMMU: whether there is one, and how it treats the DMA of each port."""

import re
from dataclasses import dataclass
from typing import ClassVar, Self

from wirespeed.model.capture import Capture
from wirespeed.model.fact import Fact
from wirespeed.model.observed import Absent, Known, Observed, Unreadable, read_as

LINE = re.compile(r"(\S+) group=(\S*) type=(\S*)")
TYPES = ("DMA", "DMA-FQ", "identity", "blocked", "auto")


@dataclass(frozen=True, slots=True)
class IommuGroup:
    """The group that a function is in."""

    number: int
    domain: Observed[str]
    """`DMA` (translated, strict), `DMA-FQ` (translated, invalidated later), `identity`."""


@dataclass(frozen=True, slots=True)
class Iommu(Fact):
    """IOMMUs of the host and the groups of its network functions."""

    units: Observed[tuple[str, ...]]
    """`dmar0`, `ivhd0`, `smmu3.0x…`; empty: no IOMMU is in use."""
    groups: Observed[int]
    """How many groups the host has; 0: no device can be passed to a guest."""
    by_function: dict[str, Observed[IommuGroup]]
    """By the PCI address of each physical function. Absent: it is in no group."""

    script: ClassVar[str] = """\
iommu_list() (
	set +f
	for path in /sys/class/iommu/*; do
		[ -e "$path" ] && printf 'unit %s\\n' "${path##*/}"
	done
	set -- /sys/kernel/iommu_groups/*
	[ -e "$1" ] || shift
	printf 'groups %s\\n' "$#"
	for address in $pfs; do
		type=
		real_path "/sys/bus/pci/devices/$address/iommu_group"
		[ -z "$real" ] || { read -r type <"$real/type"; } 2>/dev/null
		printf '%s group=%s type=%s\\n' "$address" "${real##*/}" "$type"
	done
)
show iommu - iommu_list
"""

    @classmethod
    def parse(cls, capture: Capture) -> Self:
        """Read the lines of `iommu`: units, how many groups, and one for each function."""
        text = capture.text("iommu", "ls /sys/class/iommu")
        by_function: dict[str, Observed[IommuGroup]] = {}
        for line in text.value.splitlines() if isinstance(text, Known) else ():
            if match := LINE.fullmatch(line):
                by_function[match[1]] = _group(*match.groups())
        return cls(
            units=read_as(text, lambda lines: tuple(re.findall(r"^unit (\S+)$", lines, re.M))),
            groups=read_as(text, _count),
            by_function=by_function,
        )


def _count(text: str) -> int:
    match = re.search(r"^groups (\d{1,6})$", text, re.M)
    if match is None:
        raise ValueError("it does not say how many groups there are")
    return int(match[1])


def _group(address: str, number: str, domain: str) -> Observed[IommuGroup]:
    link = f"/sys/bus/pci/devices/{address}/iommu_group"
    if not number:
        return Absent(f"readlink {link}", "it is in no IOMMU group")
    if not number.isdecimal() or len(number) > 6:
        return Unreadable(f"{number[:20]!r} is not a group", f"readlink {link}")
    observed: Observed[str] = Known(domain, f"cat {link}/type")
    if domain not in TYPES:
        reason = f"{domain[:20]!r} is not a type" if domain else "kernels before 5.11 do not say"
        observed = Unreadable(reason, f"cat {link}/type")
    return Known(IommuGroup(int(number), observed), f"readlink {link}")
