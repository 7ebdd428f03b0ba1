"""Firmware with a fault that a later one fixes, as its maker's notes say."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from wirespeed.facts.firmware import Firmware
from wirespeed.facts.link import Links
from wirespeed.facts.sriov import MELLANOX, SriovPf, physical_function
from wirespeed.model.finding import ByHand, Danger, Evidence, Finding, Remedy, Severity
from wirespeed.model.observed import CannotTellError, Known, Observed, read_as
from wirespeed.model.rule import DoesNotApplyError, PortExam, PortRule
from wirespeed.model.symptom import Symptom

Version = tuple[int, ...]
NOTES = "https://docs.nvidia.com/networking/display/"


@dataclass(frozen=True, slots=True)
class Maker:
    """Cards whose firmware is numbered alike."""

    vendor: int
    devices: frozenset[int] | None
    """PCI device numbers; None: all of them, as the version itself tells them apart."""
    version: re.Pattern[str]
    """As devlink or `ethtool -i` prints it; its groups are the numbers."""
    remedy: str
    """`{}` is the version with the fix."""


NVIDIA = Maker(
    MELLANOX,
    None,
    re.compile(r"(\d{1,3})\.(\d{1,3})\.(\d{1,5})\b.*"),
    "burn firmware {} or later for the card's PSID, then reset the card",
)
"""`16.35.4554`, and `16.35.4554 (MT_0000000012)`. The first number is the card's family."""
INTEL_700 = Maker(
    0x8086,
    frozenset({0x1572, 0x1574, 0x158A, 0x158B, 0x15FF, 0x104E, 0x104F, *range(0x1580, 0x158A)}),
    re.compile(r"(\d{1,2})\.(\d{2}) 0x[0-9a-f]{8}\b.*"),
    "update the NVM to {} or later (nvmupdate64e of Intel, or the package of the server's maker), "
    "then switch the host off and on",
)
"""`5.05 0x80002892 1.1568.0`: the NVM's version (i40e_nvm_version_str). X722 counts otherwise.
The maker's page names the firmware's version, 5.0; that came with NVM 5.00."""
CHELSIO = Maker(
    0x1425,
    None,
    re.compile(r"(\d{1,2})\.(\d{1,3})\.(\d{1,3})\.(\d{1,3}), TP .*"),
    "install firmware {} or later: cxgb4 writes the one of linux-firmware when it loads, cxgbtool "
    "loadfw any other; then load the driver again",
)
"""`1.25.6.0, TP 0.1.23.2`, of T5 and T6: doc/guides/nics/cxgbe.rst of DPDK."""
MAKERS = (NVIDIA, INTEL_700, CHELSIO)


@dataclass(frozen=True, slots=True)
class Fix:
    """A line of a release note."""

    since: Version
    """Where the notes say that it was discovered: what is older is not judged."""
    fixed: Version
    number: str
    """The maker's own; empty where it gives none."""
    what: str
    notes: str
    maker: Maker = NVIDIA


FIXES = (
    Fix(
        (16, 35, 2000), (16, 35, 3502), "3673153",
        "ConnectX-5: the symmetric RSS hash of TCP over IPv4 was reported as valid when it was "
        "not",
        NOTES + "connectx5firmwarev16353502lts/bug+fixes+in+this+firmware+version",
    ),
    Fix(
        (20, 35, 2000), (20, 35, 3006), "3331009",
        "ConnectX-6: packets that reach the host through a LAG of its ports were not counted",
        NOTES + "connectx6firmwarev20354030lts/bug+fixes+history",
    ),
    Fix(
        (22, 30, 1004), (22, 31, 1014), "2598906",
        "ConnectX-6 Dx: toggling one port may take down the link of the second",
        NOTES + "ConnectX6DxFirmwarev22321010/Bug+Fixes+History",
    ),
    Fix(
        (22, 30, 1004), (22, 31, 1014), "2580788",
        "ConnectX-6 Dx: a link forced to 100 Gb/s stays down with some cables",
        NOTES + "ConnectX6DxFirmwarev22321010/Bug+Fixes+History",
    ),
    Fix(
        (4, 0), (5, 0), "",
        "X710, XL710, XXV710: the card does not recognize packets with MPLS labels",
        "https://doc.dpdk.org/guides/nics/i40e.html#mpls-packet-classification",
        INTEL_700,
    ),
    Fix(
        (1, 25, 6, 0), (1, 26, 0, 0), "",
        "T5, T6: the type of the module in a port may be read wrongly",
        "https://reviews.freebsd.org/rG3c900106ea7aab69690945ad885b4df1095c1504",
        CHELSIO,
    ),
)  # fmt: skip


def _check(exam: PortExam) -> Iterator[Finding]:
    pf = physical_function(exam.host, exam.port)
    maker = _maker(pf)
    if maker is None:
        raise DoesNotApplyError("no fixes of this card's firmware are listed")
    running = _running(exam, pf.pci_address, maker)
    if not isinstance(running, Known):
        raise CannotTellError(f"version of the firmware: {running.reason}", running.source)
    for fix in FIXES:
        if fix.maker is not maker or not fix.since <= running.value < fix.fixed:
            continue
        fixed = _shown(fix.fixed, maker)
        number = f" ({fix.number})" if fix.number else ""
        yield exam.finding(
            Severity.NOTE,
            (
                Evidence.of(running, f"firmware {_shown(running.value, maker)}"),
                Evidence(found=f"fixed in firmware {fixed}{number}: {fix.what}", source=fix.notes),
            ),
            so="a symptom that looks like a network fault may be this firmware fault",
            remedies=(
                Remedy(
                    text=maker.remedy.format(fixed),
                    danger=Danger.FIRMWARE,
                    by_hand=ByHand.SOFTWARE,
                ),
            ),
            unpriced="it costs only when this case occurs",
        )


def _maker(pf: SriovPf) -> Maker | None:
    """Whose card it is; where that could not be read, NVIDIA's, so that the version decides."""
    if not isinstance(pf.vendor, Known):
        return NVIDIA
    for maker in MAKERS:
        is_listed = maker.devices is None or (
            isinstance(pf.device, Known) and pf.device.value in maker.devices
        )
        if maker.vendor == pf.vendor.value and is_listed:
            return maker
    return None


def _running(exam: PortExam, address: str, maker: Maker) -> Observed[Version]:
    found = exam.host[Firmware].of(address).running
    link = exam.host[Links].by_netdev.get(exam.port.netdev or "")
    if not isinstance(found, Known) and link is not None:
        found = link.driver.firmware_version

    def version(text: str) -> Version:
        match = maker.version.fullmatch(text)
        if match is None:
            raise ValueError(f"{text!r} is not a version")
        return tuple(map(int, match.groups()))

    return read_as(found, version)


def _shown(version: Version, maker: Maker) -> str:
    """Intel writes two digits after the point: 5.05."""
    if maker is INTEL_700:
        return f"{version[0]}.{version[1]:02}"
    return ".".join(map(str, version))


RULE = PortRule(
    slug="firmware.older_than_fix",
    title="Firmware older than a known fix",
    why="This rule knows only fixes that a release note names, for the versions between the one "
    "with the fault and the one with the fix. No finding does not mean that a version has no "
    "faults.",
    source="https://docs.nvidia.com/networking/ (firmware release notes: bug fixes); "
    "https://doc.dpdk.org/guides/nics/i40e.html (limitations by firmware); release notes of "
    "Chelsio Unified Wire 3.14.0.4, as FreeBSD's commit gives them",
    explains=(Symptom.LOW_FIGURE,),
    check=_check,
)
