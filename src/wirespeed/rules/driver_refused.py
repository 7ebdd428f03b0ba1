"""A network function without a driver, or what the kernel refused of one."""

import re
from collections.abc import Iterator

from wirespeed.ceilings.bounds import SOFTWARE_SWITCH_FORMULA, software_switch_bounds
from wirespeed.facts.driver_log import VF_BARS, DriverLog
from wirespeed.facts.link import best_bps
from wirespeed.facts.module import SYNDROME, UNANSWERED
from wirespeed.facts.pci import Pci
from wirespeed.facts.pci_cards import MELLANOX
from wirespeed.facts.ports import Ports
from wirespeed.facts.sriov import Sriov
from wirespeed.model.bound import Bound, Limit
from wirespeed.model.command import Command
from wirespeed.model.finding import ByHand, Danger, Evidence, Finding, Remedy, Severity
from wirespeed.model.observed import Known, known
from wirespeed.model.port import PortKind
from wirespeed.model.question import Purpose
from wirespeed.model.rule import DoesNotApplyError, PortExam, PortRule
from wirespeed.model.symptom import Symptom

UNFIT = Remedy(
    text="the driver and the firmware do not match: use a newer kernel or the vendor's driver, or "
    "a firmware version listed for this driver; in a guest, the host may hide a capability that "
    "the driver needs",
    by_hand=ByHand.SOFTWARE,
    danger=Danger.REBOOT,
)
REPLACE = Remedy(
    text="burn the card's firmware again with its maker's tool (nvmupdate64e of Intel, or the "
    "package of the server's maker), then switch the host off and on; if the mode returns, "
    "replace the card",
    by_hand=ByHand.SOFTWARE,
    danger=Danger.FIRMWARE,
)
DEAD = Remedy(
    text="the card's firmware does not start: power the host off and on (a reboot may not reset "
    "the card); if it still does not start, burn the firmware again",
    by_hand=ByHand.HARDWARE,
    danger=Danger.FIRMWARE,
)
MLX5 = "mlx5_core"
ADVICE = {
    ("", re.compile(r"Firmware (?:recovery|rollback) mode")): REPLACE,
    ("", re.compile(r"NVM image is newer than expected")): Remedy(
        text="the driver does not know firmware as new as this card's: use a newer kernel, or the "
        "maker's own driver",
        by_hand=ByHand.SOFTWARE,
        danger=Danger.REBOOT,
    ),
    ("", re.compile(r"older version of the NVM image|HWRM interface \S+ is older")): Remedy(
        text="update the card's firmware to the version that its maker lists for this driver, then "
        "switch the host off and on",
        by_hand=ByHand.SOFTWARE,
        danger=Danger.FIRMWARE,
    ),
    (MLX5, re.compile(UNANSWERED)): Remedy(
        text="reset the card's firmware (`devlink dev reload pci/ADDRESS action fw_activate`, or "
        "`mstfwreset -d ADDRESS reset`), or power the host off and on; update the firmware if it "
        "recurs",
        by_hand=ByHand.NO_UNDO,
        danger=Danger.CARD_RESET,
    ),
    ("", re.compile(r"nsupported (?:SFP|QSFP|module)")): Remedy(
        text="the driver refuses the card because of its module: use a module that the card's "
        "maker lists, or remove it, and reload the driver; ixgbe alone accepts others with "
        "allow_unsupported_sfp=1, which its maker has not tested",
        by_hand=ByHand.HARDWARE,
        danger=Danger.DROPS_LINK,
    ),
    ("", re.compile(r"Firmware over \d+ MS|health compromised")): DEAD,
    (MLX5, re.compile(r"error(?: code)? -16\b")): DEAD,
    (MLX5, re.compile(r"status (?:no resources|exceed limit)")): Remedy(
        text="the card ran out of a resource that the command asks for: use fewer VFs, channels or "
        "flow rules, or raise the limit in the firmware's settings (mstconfig)",
        by_hand=ByHand.FIND_FIRST,
    ),
    (MLX5, re.compile(r"status (?:bad system state|bad res|resource busy)")): Remedy(
        text="the firmware does not accept the command in its present state: undo what was set "
        "before it (VFs bound, switchdev mode, a bond) and set them in the other order",
        by_hand=ByHand.FIND_FIRST,
    ),
    (MLX5, re.compile(r"status internal error")): Remedy(
        text="the firmware reported an internal failure: update it; if it recurs, report the "
        "syndrome to its maker",
        by_hand=ByHand.SOFTWARE,
        danger=Danger.FIRMWARE,
    ),
    (MLX5, re.compile(r"hca_cap|error(?: code)? -(?:22|95)\b")): UNFIT,
    (MLX5, re.compile(r"status bad (?:op|param|in|out)")): Remedy(
        text="the firmware does not know this command, or not as it was given: nothing has to be "
        "done if all that you use works; if not, update the firmware, and the driver or the "
        "program that gave the command",
        by_hand=ByHand.FIND_FIRST,
    ),
    ("i40e", re.compile(r"error(?: code)? -11\b")): Remedy(
        text="the driver does not know this card's firmware: use a newer kernel, or Intel's own "
        "driver",
        by_hand=ByHand.SOFTWARE,
        danger=Danger.REBOOT,
    ),
    ("", re.compile(r"VFs \(bus .* out of range")): Remedy(
        text="the bridge above has no bus numbers left for so many VFs: enable SR-IOV or ARI in "
        "the BIOS, ask for fewer, or add pci=assign-busses to the kernel's command line",
        by_hand=ByHand.BIOS,
        danger=Danger.REBOOT,
    ),
    ("", re.compile(r"BAR \d+|MMIO resources")): Remedy(
        text="the BIOS left no room for the card's memory: enable Above 4G Decoding (and SR-IOV) "
        "there, configure fewer VFs in the firmware, or add pci=realloc to the kernel's command "
        "line",
        by_hand=ByHand.BIOS,
        danger=Danger.REBOOT,
    ),
    ("", re.compile(r"error(?: code)? -12\b")): Remedy(
        text="the driver got no memory (ENOMEM): either the BIOS left no room for the card's, then "
        "the log of the boot has `BAR` and `no space` (enable Above 4G Decoding), or the host "
        "itself was short of memory",
        by_hand=ByHand.FIND_FIRST,
    ),
    ("ice", re.compile(r"DDP package.*(?:not supported|lower|higher|too low|version)")): Remedy(
        text="the DDP package and the driver do not match: install the package for this driver's "
        "version, and reload the driver",
        by_hand=ByHand.SOFTWARE,
        danger=Danger.DROPS_LINK,
    ),
    ("ice", re.compile(r"[Ss]afe [Mm]ode|DDP package")): Remedy(
        text="the driver found no DDP package that it can use: install the linux-firmware package "
        "of this kernel (/lib/firmware/intel/ice/ddp/ice.pkg), in the initramfs too, and load the "
        "driver again",
        by_hand=ByHand.SOFTWARE,
        danger=Danger.DROPS_LINK,
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
ELSE = Remedy(
    text="read the kernel's log of when the driver started on the card, and check which driver "
    "supports the card",
    by_hand=ByHand.FIND_FIRST,
)
BUS_NUMBERS = re.compile(r"VFs \(bus")


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
        remedies=(_remedy(exam, lines),),
        bounds=software_switch_bounds(best_bps(exam.host, (port,)), exam.question.frame_bytes)
        if only_vfs
        else (),
        unpriced="it costs the VFs that cannot be created"
        if only_vfs
        else "its cost depends on what was refused: measure before and after",
    )


def _severity(exam: PortExam, lines: tuple[str, ...], *, only_vfs: bool) -> Severity:
    if _is_in_safe_mode(lines) or any(map(SILENT.search, lines)):
        return Severity.FAULT
    if any(map(RECOVERY.search, lines)):
        return Severity.FAULT
    costs = exam.question.purpose is Purpose.GUESTS and only_vfs
    return Severity.FAULT if costs else Severity.NOTE


def _consequence(lines: tuple[str, ...], *, only_vfs: bool) -> str:
    if all(map(BUS_NUMBERS.search, lines)):
        return "so many VFs of this port cannot be created: there are no bus numbers for them"
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
            "the firmware refused commands of the driver: what they ask for was not done, and is "
            "refused again while nothing else changes"
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
    synthetic = [p.name for p in others if p.kind is PortKind.HYPERV]
    if not asked and not lines and others and not synthetic:
        severity = Severity.NOTE  # a port that is kept unused looks alike
    return exam.finding(
        severity,
        tuple(evidence),
        so="the kernel's driver refused this card: it has no netdev and carries nothing"
        if lines
        else f"this network card has no driver, so the Hyper-V adapter {synthetic[0]} carries all "
        "traffic, through the host's switch"
        if synthetic
        else "this network card has no driver: it has no netdev and carries nothing",
        remedies=(_remedy(exam, lines),),
        bounds=(
            Bound.of_share(
                Limit.EXACTLY, 1, "of what the port would carry with a driver", "0 packets now"
            ),
        ),
    )


def _remedy(exam: PortExam, lines: tuple[str, ...]) -> Remedy:
    address = exam.port.pci_address or ""
    if not lines:
        function = exam.host[Pci].functions.get(address)
        vendor = function.vendor if function is not None else None
        is_mellanox = isinstance(vendor, Known) and vendor.value == MELLANOX
        named = " (mlx5_core; mlx4_core of a ConnectX-3)" if is_mellanox else ""
        return Remedy(
            text="see which `Kernel modules` the kernel has for the card, and load one with "
            f"modprobe{named}; where there is none, install the maker's driver or a newer kernel",
            commands=(Command(argv=("lspci", "-nnks", address)),),
            by_hand=ByHand.FIND_FIRST,
        )
    fit = (
        remedy
        for (driver, pattern), remedy in ADVICE.items()
        for line in lines
        if driver in line and pattern.search(line)
    )
    remedy = next(fit, ELSE)
    return Remedy(
        text=remedy.text.replace("ADDRESS", address),
        commands=(Command(argv=("dmesg", "-T")),),
        danger=remedy.danger,
        by_hand=remedy.by_hand,
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
    price="exactly: all that the port would carry with a driver, where it has none; for VFs that "
    f"cannot be created {SOFTWARE_SWITCH_FORMULA}",
    explains=(Symptom.NO_LINK,),
    check=_check,
)
