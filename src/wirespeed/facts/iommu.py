"""The IOMMU: whether there is one, and how it treats the DMA of each port."""

import re
from dataclasses import dataclass
from typing import ClassVar, Self

from wirespeed.facts.cpu import Cpus
from wirespeed.facts.iommu_domain import domain_of
from wirespeed.facts.kernel import Kernel, is_yes
from wirespeed.model.capture import Capture
from wirespeed.model.fact import Fact, HostFacts
from wirespeed.model.observed import Absent, Known, Observed, Unreadable, read_as

LINE = re.compile(r"(\S+) group=(\S*) type=(\S*)")
PASSTHROUGH = "iommu=pt"
NO_IOMMU = "/sys/module/vfio/parameters/enable_unsafe_noiommu_mode"
VFIO_OPTION = "vfio.enable_unsafe_noiommu_mode"
"""The same on the kernel's command line; modprobe reads it there too (modprobe(8))."""
OPTION_FILES = " ".join(f"{folder}/modprobe.d/*.conf" for folder in ("/etc", "/run", "/usr/lib"))


@dataclass(frozen=True, slots=True)
class IommuGroup:
    """The group that a function is in."""

    number: int
    domain: Observed[str]
    """`DMA` (translated, strict), `DMA-FQ` (translated, invalidated later), `identity`."""
    said: str = ""
    """The kernel's word for it, which until 5.14 is `DMA` for both; empty: it has none."""


@dataclass(frozen=True, slots=True)
class Iommu(Fact):
    """IOMMUs of the host and the groups of its network functions."""

    units: Observed[tuple[str, ...]]
    """`dmar0`, `ivhd0`, `smmu3.0x…`; empty: no IOMMU is in use."""
    groups: Observed[int]
    """How many groups the host has; 0: no device can be passed to a guest."""
    by_function: dict[str, Observed[IommuGroup]]
    """By the PCI address of each physical function. Absent: it is in no group."""
    vfio_goes_without: Observed[bool]
    """vfio accepts a device that is in no group, or will once it is loaded. Absent: it is not
    loaded and has no such option in modprobe.d, or was built without (CONFIG_VFIO_NOIOMMU)."""

    script: ClassVar[str] = f"""\
iommu_list() (
	set +f
	for path in /sys/class/iommu/*; do
		[ -e "$path" ] && printf 'unit %s\\n' "${{path##*/}}"
	done
	set -- /sys/kernel/iommu_groups/*
	[ -e "$1" ] || shift
	printf 'groups %s\\n' "$#"
	if [ -e {NO_IOMMU} ]; then
		answer='?'
		{{ read -r answer <{NO_IOMMU}; }} 2>/dev/null
		printf 'noiommu %s\\n' "$answer"
	else
		sed -n 's/^[[:space:]]*options[[:space:]]\\{{1,\\}}vfio[[:space:]].*'\\
'enable_unsafe_noiommu_mode=\\([[:alnum:]]*\\).*/option \\1/p' {OPTION_FILES} 2>/dev/null
	fi
	for address in $pfs; do
		type=
		real_path "/sys/bus/pci/devices/$address/iommu_group"
		[ -z "$real" ] || {{ read -r type <"$real/type"; }} 2>/dev/null
		printf '%s group=%s type=%s\\n' "$address" "${{real##*/}}" "$type"
	done
)
show iommu - iommu_list
"""

    @classmethod
    def parse(cls, capture: Capture) -> Self:
        """Read the lines of `iommu`: units, groups, vfio's parameter, and one for each function."""
        text = capture.text("iommu", "ls /sys/class/iommu")
        units = read_as(text, lambda lines: tuple(re.findall(r"^unit (\S+)$", lines, re.M)))
        kernel, is_arm = Kernel.parse(capture), _is_arm(units, Cpus.parse(capture))
        by_function: dict[str, Observed[IommuGroup]] = {}
        for line in text.value.splitlines() if isinstance(text, Known) else ():
            if match := LINE.fullmatch(line):
                by_function[match[1]] = _group(*match.groups(), kernel=kernel, is_arm=is_arm)
        return cls(
            units=units,
            groups=read_as(text, _count),
            by_function=by_function,
            vfio_goes_without=_goes_without(text),
        )


def passthrough_parameter(host: HostFacts) -> str:
    """Give what lets the host's own devices bypass the IOMMU, on the kernel's command line.

    `iommu=` is x86's own (early_param of arch/x86/kernel/pci-dma.c); an Arm kernel ignores it, and
    takes `iommu.passthrough=` of drivers/iommu/iommu.c.
    """
    return "iommu.passthrough=1" if _is_arm(host[Iommu].units, host[Cpus]) else PASSTHROUGH


def _is_arm(units: Observed[tuple[str, ...]], cpus: Cpus) -> bool:
    has_smmu = isinstance(units, Known) and any(unit.startswith("smmu") for unit in units.value)
    return has_smmu or cpus.is_arm


def _count(text: str) -> int:
    match = re.search(r"^groups (\d{1,6})$", text, re.M)
    if match is None:
        raise ValueError("it does not say how many groups there are")
    return int(match[1])


def _goes_without(text: Observed[str]) -> Observed[bool]:
    source = f"cat {NO_IOMMU}"
    if not isinstance(text, Known):
        return Unreadable(text.reason, source)
    said = re.search(r"^noiommu (\S*)$", text.value, re.M)
    if said is None and (options := re.findall(r"^option (\w*)$", text.value, re.M)):
        return Known(is_yes(options[-1]), "grep -r enable_unsafe_noiommu_mode /etc/modprobe.d")
    if said is None:
        return Absent(source, "vfio is not loaded, or knows no such mode")
    if said[1] not in ("Y", "N"):
        return Unreadable(f"{said[1][:20]!r} is neither Y nor N", source)
    return Known(said[1] == "Y", source)


def _group(
    address: str, number: str, said: str, *, kernel: Kernel, is_arm: bool
) -> Observed[IommuGroup]:
    link = f"/sys/bus/pci/devices/{address}/iommu_group"
    if not number:
        return Absent(f"readlink {link}", "it is in no IOMMU group")
    if not number.isdecimal() or len(number) > 6:
        return Unreadable(f"{number[:20]!r} is not a group", f"readlink {link}")
    domain = domain_of(said, f"{link}/type", kernel, is_arm=is_arm)
    return Known(IommuGroup(int(number), domain, said), f"readlink {link}")
