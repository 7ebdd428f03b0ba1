"""A card whose firmware offers no VFs, on a host that is to lend some to guests."""

from collections.abc import Callable, Iterator

from wirespeed.ceilings.bounds import SOFTWARE_SWITCH_FORMULA, software_switch_bounds
from wirespeed.facts.firmware import CardFirmware, Firmware, FirmwareSetting
from wirespeed.facts.link import best_bps
from wirespeed.facts.sriov import SriovPf, physical_function
from wirespeed.model.command import Command
from wirespeed.model.finding import Danger, Evidence, Finding, Remedy, Severity, StepCall
from wirespeed.model.observed import CannotTellError, Known, Observed, value_or_none
from wirespeed.model.question import Purpose
from wirespeed.model.rule import DoesNotApplyError, PortExam, PortRule
from wirespeed.model.symptom import Symptom

VFS = 8
"""Each VF takes memory space of the host's PCI bridges: with many, some hosts do not boot."""


def _check(exam: PortExam) -> Iterator[Finding]:
    pf = physical_function(exam.host, exam.port)
    if value_or_none(pf.total_vfs):
        return
    found = "0 VFs offered" if isinstance(pf.total_vfs, Known) else "no SR-IOV capability"
    if not pf.is_mellanox:
        raise CannotTellError(
            f"{found}: because of the card's firmware, the BIOS or the card itself",
            f"lspci -vvs {pf.pci_address}",
        )
    card = exam.host[Firmware].of(pf.pci_address)
    if _is_on(card, lambda setting: setting.current):
        raise CannotTellError(
            f"{found}, although the firmware is set to offer VFs: because of the BIOS, a "
            "hypervisor above this host, or a card that has to be switched off and on",
            f"lspci -vvs {pf.pci_address}",
        )
    if _is_on(card, lambda setting: setting.next_boot):
        raise DoesNotApplyError("SR-IOV is switched on and waits for a reboot")
    evidence = [Evidence(found=found, source=pf.total_vfs.source), *_settings(exam, pf)]
    yield exam.finding(
        Severity.FAULT,
        tuple(evidence),
        so="no guest can get a VF of this port: its traffic goes through a software switch",
        remedies=(
            Remedy(
                text="switch SR-IOV on in the firmware, then reboot; set only as many VFs as you "
                "need, since the host's PCI bridges must have address space for each",
                commands=(
                    Command(
                        argv=(
                            card.settings_tool,
                            "-d",
                            pf.pci_address,
                            "set",
                            "SRIOV_EN=1",
                            f"NUM_OF_VFS={VFS}",
                        )
                    ),
                ),
                danger=Danger.FIRMWARE,
                steps=(
                    StepCall.of(
                        "firmware_settings",
                        pci_address=pf.pci_address,
                        tool=card.settings_tool,
                        settings={"SRIOV_EN": 1, "NUM_OF_VFS": VFS},
                    ),
                ),
            ),
        ),
        bounds=software_switch_bounds(best_bps(exam.host, (exam.port,)), exam.question.frame_bytes),
        unpriced="the cost depends on the software path that the guests use: measure it with and "
        "without VFs",
    )


def _is_on(card: CardFirmware, value: Callable[[FirmwareSetting], Observed[str]]) -> bool:
    """Whether each setting that VFs need is known to be on, now or at the next boot."""
    settings = card.settings.value if isinstance(card.settings, Known) else {}
    own = [value(settings[name]) for name in ("SRIOV_EN", "NUM_OF_VFS") if name in settings]
    return bool(own) and all(isinstance(o, Known) and not _is_off(o.value) for o in own)


def _is_off(value: str) -> bool:
    return value in ("0", "False(0)")


def _settings(exam: PortExam, pf: SriovPf) -> Iterator[Evidence]:
    card = exam.host[Firmware].of(pf.pci_address)
    settings = card.settings.value if isinstance(card.settings, Known) else {}
    for name in ("SRIOV_EN", "NUM_OF_VFS"):
        if name not in settings:
            continue
        now, next_boot = settings[name].current, settings[name].next_boot
        was = f", {now.value} now" if isinstance(now, Known) else ""
        if isinstance(next_boot, Known):
            yield Evidence.of(next_boot, f"{name} {next_boot.value} at next boot{was}")


RULE = PortRule(
    slug="sriov.off_in_firmware",
    title="SR-IOV disabled in the card's firmware",
    why="A card offers VFs only if its firmware is set to, and their maximum number is fixed "
    "when the host boots. Without VFs, guests share the port through a software switch, "
    "which uses CPU cores and limits the packet rate.",
    source="https://docs.nvidia.com/networking/display/mlnxofedv24103250lts/"
    "Single+Root+IO+Virtualization+(SR-IOV); kernel, drivers/pci/iov.c (sriov_init: no capability "
    "where TotalVFs is 0)",
    purposes=frozenset({Purpose.GUESTS}),
    price=SOFTWARE_SWITCH_FORMULA,
    explains=(Symptom.NO_VFS,),
    check=_check,
)
