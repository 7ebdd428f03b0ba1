"""Firmware with a fault that a later one mends, as its maker's release notes say."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from wirespeed.facts.firmware import Firmware
from wirespeed.facts.link import Links
from wirespeed.facts.sriov import physical_function
from wirespeed.model.finding import ByHand, Danger, Evidence, Finding, Remedy, Severity
from wirespeed.model.observed import CannotTellError, Known, Observed, read_as
from wirespeed.model.rule import DoesNotApplyError, PortExam, PortRule

Version = tuple[int, int, int]
NOTES = "https://docs.nvidia.com/networking/display/"
VERSION = re.compile(r"(\d{1,3})\.(\d{1,3})\.(\d{1,5})\b.*")


@dataclass(frozen=True, slots=True)
class Fix:
    """A line of a release note. The first number of a version is the card's family."""

    since: Version
    """Where the notes say that it was discovered: what is older is not judged."""
    fixed: Version
    number: str
    what: str
    notes: str


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
)  # fmt: skip


def _check(exam: PortExam) -> Iterator[Finding]:
    pf = physical_function(exam.host, exam.port)
    if isinstance(pf.vendor, Known) and not pf.is_mellanox:
        raise DoesNotApplyError("no fixes of this maker's firmware are listed")
    running = _running(exam, pf.pci_address)
    if not isinstance(running, Known):
        raise CannotTellError(f"version of the firmware: {running.reason}", running.source)
    for fix in FIXES:
        if not fix.since <= running.value < fix.fixed:
            continue
        fixed = ".".join(map(str, fix.fixed))
        yield exam.finding(
            Severity.NOTE,
            (
                Evidence.of(running, f"firmware {'.'.join(map(str, running.value))}"),
                Evidence(found=f"fixed in {fixed} ({fix.number}): {fix.what}", source=fix.notes),
            ),
            so="a symptom that looks like a network fault may be this firmware fault",
            remedies=(
                Remedy(
                    text=f"burn firmware {fixed} or later for the card's PSID, then reset the card",
                    danger=Danger.FIRMWARE,
                    by_hand=ByHand.SOFTWARE,
                ),
            ),
            unpriced="it costs only when this case occurs",
        )


def _running(exam: PortExam, address: str) -> Observed[Version]:
    found = exam.host[Firmware].of(address).running
    link = exam.host[Links].by_netdev.get(exam.port.netdev or "")
    if not isinstance(found, Known) and link is not None:
        found = link.driver.firmware_version
    return read_as(found, _version)


def _version(text: str) -> Version:
    """`16.35.4554`, and `16.35.4554 (MT_0000000012)` as ethtool prints it."""
    match = VERSION.fullmatch(text)
    if match is None:
        raise ValueError(f"{text[:40]!r} is not a version")
    return int(match[1]), int(match[2]), int(match[3])


RULE = PortRule(
    slug="firmware.older_than_fix",
    title="Firmware older than a known fix",
    why="This rule knows only fixes that a release note names, for the versions between the one "
    "with the fault and the one with the fix. No finding does not mean that a version has no "
    "faults.",
    source="https://docs.nvidia.com/networking/ (firmware release notes: bug fixes)",
    check=_check,
)
