"""A network function without a driver, or what the kernel refused of one."""

import re
from collections.abc import Iterator

from wirespeed.facts.driver_log import VF_BARS, DriverLog
from wirespeed.facts.module import SYNDROME, UNANSWERED
from wirespeed.facts.ports import Ports
from wirespeed.facts.sriov import Sriov
from wirespeed.model.command import Command
from wirespeed.model.finding import ByHand, Evidence, Finding, Remedy, Severity
from wirespeed.model.observed import Known, known
from wirespeed.model.question import Purpose
from wirespeed.model.rule import DoesNotApplyError, PortExam, PortRule
from wirespeed.model.symptom import Symptom

UNFIT = (
    "the driver and the firmware do not match: use a newer kernel or the vendor's driver, or a "
    "firmware version listed for this driver; in a guest, the host may hide a capability that "
    "the driver needs",
    ByHand.SOFTWARE,
)
REPLACE = (
    "burn the card's firmware again with its maker's tool (nvmupdate64e of Intel, or the package "
    "of the server's maker), then switch the host off and on; if the mode returns, replace the card"
)
MLX5 = "mlx5_core"
ADVICE = {
    ("", re.compile(r"Firmware (?:recovery|rollback) mode")): (REPLACE, ByHand.SOFTWARE),
    ("", re.compile(r"NVM image is newer than expected")): (
        "the driver does not know firmware as new as this card's: use a newer kernel, or the "
        "maker's own driver",
        ByHand.SOFTWARE,
    ),
    ("", re.compile(r"older version of the NVM image|HWRM interface \S+ is older")): (
        "update the card's firmware to the version that its maker lists for this driver, then "
        "switch the host off and on",
        ByHand.SOFTWARE,
    ),
    (MLX5, re.compile(UNANSWERED)): (
        "reset the card's firmware (`devlink dev reload pci/ADDRESS action fw_activate`, or "
        "mstfwreset), or power the host off and on; update the firmware if it recurs",
        ByHand.NO_UNDO,
    ),
    ("", re.compile(r"nsupported (?:SFP|QSFP|module)")): (
        "the driver refuses the card because of its module: use a module that the card's maker "
        "lists, or remove it, and reload the driver; ixgbe alone accepts others with "
        "allow_unsupported_sfp=1, which its maker has not tested",
        ByHand.HARDWARE,
    ),
    ("", re.compile(r"Firmware over \d+ MS|health compromised")): (
        "the card's firmware does not start: power the host off and on (a reboot may not reset the "
        "card), then burn the firmware again",
        ByHand.HARDWARE,
    ),
    (MLX5, re.compile(r"error(?: code)? -16\b")): (
        "the card's firmware does not start: power the host off and on (a reboot may not reset the "
        "card), then burn the firmware again",
        ByHand.HARDWARE,
    ),
    (MLX5, re.compile(r"status (?:no resources|exceed limit)")): (
        "the card ran out of a resource that the command asks for: use fewer VFs, channels or "
        "flow rules, or raise the limit in the firmware's settings (mstconfig)",
        ByHand.FIND_FIRST,
    ),
    (MLX5, re.compile(r"status (?:bad system state|bad res|resource busy)")): (
        "the firmware does not accept the command in its present state: undo what was set before "
        "it (VFs bound, switchdev mode, a bond) and set them in the other order",
        ByHand.FIND_FIRST,
    ),
    (MLX5, re.compile(r"status internal error")): (
        "the firmware reported an internal failure: update it; if it recurs, report the syndrome "
        "to its maker",
        ByHand.SOFTWARE,
    ),
    (MLX5, re.compile(r"hca_cap|error(?: code)? -(?:22|95)\b|status bad (?:op|param|in|out)")): (
        UNFIT
    ),
    ("i40e", re.compile(r"BLANK NVM|error(?: code)? -11\b")): (
        "the driver does not know this card's firmware: use a newer kernel, or Intel's own driver",
        ByHand.SOFTWARE,
    ),
    ("", re.compile(r"VFs \(bus .* out of range")): (
        "the bridge above has no bus numbers left for so many VFs: enable SR-IOV or ARI in the "
        "BIOS, ask for fewer, or add pci=assign-busses to the kernel's command line",
        ByHand.BIOS,
    ),
    ("", re.compile(r"BAR \d+|MMIO resources|error(?: code)? -12\b")): (
        "the BIOS left no room for the card's memory: enable Above 4G Decoding (and SR-IOV) "
        "there, configure fewer VFs in the firmware, or add pci=realloc to the kernel's command "
        "line",
        ByHand.BIOS,
    ),
    ("ice", re.compile(r"DDP package.*(?:not supported|lower|higher|too low|version)")): (
        "the DDP package and the driver do not match: install the package for this driver's "
        "version, and reload the driver",
        ByHand.SOFTWARE,
    ),
    ("ice", re.compile(r"[Ss]afe [Mm]ode|DDP package")): (
        "the driver found no DDP package that it can use: install the linux-firmware package of "
        "this kernel (/lib/firmware/intel/ice/ddp/ice.pkg), in the initramfs too, and load the "
        "driver again",
        ByHand.SOFTWARE,
    ),
}
"""Driver (empty: any) and what was said, and what helps: an error number has another meaning in
each driver. The first that fit; what was refused once is refused again."""
COMMAND = re.compile(SYNDROME)
SILENT = re.compile(UNANSWERED)
SAFE_MODE = re.compile(r"[Ss]afe [Mm]ode")
RECOVERY = re.compile(r"Firmware recovery mode")
FIRMWARE = (
    (RECOVERY,
     "the card's firmware runs in recovery mode: the driver offers little but its replacement, and "
     "the port carries nothing or not what it should"),
    (re.compile(r"Firmware rollback mode"),
     "the newer firmware did not start, and the card runs its former one: functions may be "
     "missing"),
    (re.compile(r"older version of the NVM image|HWRM interface \S+ is older"),
     "the driver finds this firmware too old: what needs newer firmware is off or untested"),
)  # fmt: skip
"""What follows from a state of the firmware that the driver names."""
ELSE = (
    "read the kernel's log of when the driver started on the card, and check which driver "
    "supports the card"
)


def _check(exam: PortExam) -> Iterator[Finding]:
    port = exam.port
    if port.pci_address is None:
        raise DoesNotApplyError("it is not a PCI function")
    said = exam.host[DriverLog].of(port)
    lines = said.value if isinstance(said, Known) else ()
    if port.driver is None:
        yield _without_driver(exam, lines)
        return
    known(exam.host[DriverLog].log, "the kernel's messages about the card")
    if not lines:
        return
    # Before the driver took it: what it refused then is of the past, save room for VFs.
    only_vfs = all(VF_BARS.search(line) for line in lines)
    if only_vfs and _has_vfs(exam):
        return  # the kernel found room at a later attempt
    yield exam.finding(
        _severity(exam, lines, only_vfs=only_vfs),
        tuple(Evidence(found=line, source="dmesg") for line in lines),
        so=_consequence(lines, only_vfs=only_vfs),
        remedies=tuple(_remedies(lines)),
        unpriced="it costs the VFs that cannot be created"
        if only_vfs
        else "the message names what was refused",
    )


def _severity(exam: PortExam, lines: tuple[str, ...], *, only_vfs: bool) -> Severity:
    if _is_in_safe_mode(lines) or any(map(SILENT.search, lines)):
        return Severity.FAULT
    if any(map(RECOVERY.search, lines)):
        return Severity.FAULT
    costs = exam.question.purpose is Purpose.GUESTS and only_vfs
    return Severity.FAULT if costs else Severity.NOTE


def _consequence(lines: tuple[str, ...], *, only_vfs: bool) -> str:
    if only_vfs:
        return "no VF of this port can be created: there is no address space for them"
    if _is_in_safe_mode(lines):
        return (
            "the driver runs the port in Safe Mode: one queue, without RSS, offloads, SR-IOV and "
            "flow rules"
        )
    if any(map(SILENT.search, lines)):
        return (
            "the firmware did not answer a command: the program that asked waited a minute, and "
            "whether it took effect is not known"
        )
    for pattern, so in FIRMWARE:
        if any(map(pattern.search, lines)):
            return so
    if all(COMMAND.search(line) for line in lines):
        return (
            "the firmware refused commands of the driver: what they set is not in force, and "
            "repeating them does not help"
        )
    return "the kernel refused the card or a part of it; the card has a driver now"


def _is_in_safe_mode(lines: tuple[str, ...]) -> bool:
    return any(SAFE_MODE.search(line) for line in lines)


def _has_vfs(exam: PortExam) -> bool:
    pf = exam.host[Sriov].pfs.get(exam.port.pci_address or "")
    return pf is not None and isinstance(pf.num_vfs, Known) and pf.num_vfs.value > 0


def _without_driver(exam: PortExam, lines: tuple[str, ...]) -> Finding:
    asked = {exam.port.netdev, exam.port.pci_address} & set(exam.question.ports)
    others = [p for p in exam.host[Ports].ports if p is not exam.port and p.driver is not None]
    evidence = [Evidence(found="no driver", source=f"lspci -nnks {exam.port.pci_address}")]
    evidence += [Evidence(found=line, source="dmesg") for line in lines]
    severity = Severity.FAULT if asked or lines else Severity.RISK
    if not asked and not lines and others:
        severity = Severity.NOTE  # a port that is kept unused looks alike
    return exam.finding(
        severity,
        tuple(evidence),
        so="the kernel's driver refused this card: it has no netdev and carries nothing"
        if lines
        else "this network card has no driver: it has no netdev and carries nothing",
        remedies=tuple(_remedies(lines)),
        unpriced="without a driver, what the port could carry is not known",
    )


def _remedies(lines: tuple[str, ...]) -> Iterator[Remedy]:
    found = dict.fromkeys(
        remedy
        for (driver, pattern), remedy in ADVICE.items()
        for line in lines
        if driver in line and pattern.search(line)
    )
    for advice, by_hand in list(found)[:1] or [(ELSE, ByHand.FIND_FIRST)]:
        yield Remedy(
            text=advice,
            commands=(Command(argv=("dmesg", "-T")),),
            by_hand=by_hand,
        )


RULE = PortRule(
    slug="driver.refused",
    title="Network card without a driver, or refused by its driver",
    why="A card whose driver cannot start it has no netdev: it is missing from every list of "
    "ports, and only the kernel's log gives the reason. Usual reasons are firmware that does "
    "not start, capabilities unknown to the driver, an unsupported module, and too little "
    "address space from the BIOS. The messages from boot may have been rotated out of the "
    "log.",
    source="drivers/net/ethernet/intel/i40e/i40e_main.c, i40e_check_recovery_mode; "
    "drivers/net/ethernet/intel/ice/ice_controlq.c, ice_aq_ver_check; "
    "drivers/net/ethernet/broadcom/bnxt/bnxt.c, bnxt_hwrm_ver_get; "
    "https://github.com/pocopico/rp-ext/issues/129 (handle_hca_cap failed, -22); "
    "https://docs.kernel.org/networking/device_drivers/ethernet/intel/ice.html (Safe Mode); "
    "drivers/net/ethernet/mellanox/mlx5/core/cmd.c (status and syndrome); "
    "https://github.com/Mellanox/mstflint/issues/448 (BAR 7: no space); "
    "https://github.com/mwrnd/innova2_flex_xcku15p_notes/issues/8 (Firmware over 120000 MS, -16)",
    explains=(Symptom.NO_LINK,),
    check=_check,
)
