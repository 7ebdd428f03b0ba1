"""A VF asked for what the PF's driver does not allow it."""

import re
from collections.abc import Iterator

from wirespeed.facts.driver_log import DriverLog
from wirespeed.facts.netstack import NetStack, VfSettings, named_plainly
from wirespeed.model.command import Command
from wirespeed.model.finding import ByHand, Evidence, Finding, Remedy, Severity, StepCall
from wirespeed.model.observed import Known, value_or_none
from wirespeed.model.port import PortKind
from wirespeed.model.question import Purpose
from wirespeed.model.rule import DoesNotApplyError, PortExam, PortRule

VF = re.compile(r"\bVF[- ]?(\d{1,4})\b")
SET_BY_HOST = re.compile(r"administratively")


def _check(exam: PortExam) -> Iterator[Finding]:
    netdev = exam.port.netdev
    if netdev is None or exam.port.kind is not PortKind.PHYSICAL:
        raise DoesNotApplyError("it is not a physical function with a netdev")
    log = exam.host[DriverLog].of_vfs(exam.port)
    lines = value_or_none(log)
    if lines is None:
        return
    named = {int(match[1]) for line in lines if (match := VF.search(line))}
    vfs = [vf for vf in exam.host[NetStack][netdev].vfs if not named or vf.index in named]
    untrusted = [vf for vf in vfs if isinstance(vf.is_trusted, Known) and not vf.is_trusted.value]
    source = f"ip link show {netdev}"
    now = ", ".join(str(vf.index) for vf in untrusted[:8])
    yield exam.finding(
        _severity(exam, untrusted),
        (
            *(Evidence(found=line, source="dmesg") for line in lines),
            *([Evidence(found=f"not trusted now: VF {now}", source=source)] if untrusted else []),
        ),
        so="what the guest asked for is not in force: frames for the MAC addresses and VLANs that "
        "it added do not reach it, and the guest is not told"
        if untrusted
        else "no VF that it is about is untrusted now: it is of the past, or the host set the "
        "address or VLAN itself",
        remedies=tuple(_remedies(netdev, lines, untrusted)),
        unpriced="which frames of the guest are lost is not known on this side",
    )


def _severity(exam: PortExam, untrusted: list[VfSettings]) -> Severity:
    if not untrusted:
        return Severity.NOTE
    return Severity.FAULT if exam.question.purpose is Purpose.GUESTS else Severity.RISK


def _remedies(netdev: str, lines: tuple[str, ...], untrusted: list[VfSettings]) -> Iterator[Remedy]:
    if untrusted:
        is_plain = named_plainly(netdev)
        yield Remedy(
            text="trust the VF, if its guest may use any MAC address, VLAN and promiscuous mode; "
            "else have the guest use no more addresses than the driver leaves an untrusted VF "
            "(a bridge or containers in the guest need one for each)",
            commands=tuple(
                Command(argv=("ip", "link", "set", "dev", netdev, "vf", str(vf.index), "trust",
                              "on"))
                for vf in untrusted
            )
            if is_plain
            else (),
            steps=tuple(
                StepCall.of("vf_settings", netdev=netdev, vf=vf.index, trust=True)
                for vf in untrusted
            )
            if is_plain
            else (),
            by_hand=None if is_plain else ByHand.NO_NAME,
        )  # fmt: skip
    if any(SET_BY_HOST.search(line) for line in lines):
        yield Remedy(
            text="set in the guest the MAC address and VLAN that the host gave the VF, and load "
            "the guest's VF driver again",
            commands=(Command(argv=("ip", "link", "show", netdev)),),
            by_hand=ByHand.WORKLOAD,
        )


RULE = PortRule(
    slug="sriov.vf_refused",
    title="VF refused what its guest asked for",
    why="The PF's driver decides what a VF may set. Without trust a VF has a few MAC addresses and "
    "VLANs and no promiscuous mode; an address that the host set is not overridden. ice takes the "
    "request without a word to the guest, whose frames are then missing. Only the host's log says "
    "so.",
    source="drivers/net/ethernet/intel/i40e/i40e_virtchnl_pf.c (i40e_check_vf_permission); "
    "ice_virtchnl.c; ixgbe_sriov.c; "
    "https://github.com/nvandamme/systemd-networkd-i40e/issues/1 (IPv6 of a guest with containers "
    "is lost); https://github.com/cisco-system-traffic-generator/trex-core/issues/635",
    check=_check,
)
