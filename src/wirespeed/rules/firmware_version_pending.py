"""Firmware that was burnt and does not run yet."""

from collections.abc import Iterator

from wirespeed.facts.firmware import RESETS, Firmware
from wirespeed.facts.pci_cards import other_functions
from wirespeed.facts.sriov import physical_function
from wirespeed.model.command import Command
from wirespeed.model.finding import ByHand, Danger, Evidence, Finding, Remedy, Severity, StepCall
from wirespeed.model.observed import Known, known, value_or_none
from wirespeed.model.rule import DoesNotApplyError, PortExam, PortRule
from wirespeed.model.symptom import Symptom


def _check(exam: PortExam) -> Iterator[Finding]:
    pf = physical_function(exam.host, exam.port)
    card = exam.host[Firmware].of(pf.pci_address)
    if value_or_none(card.running) is None or value_or_none(card.stored) is None:
        raise DoesNotApplyError("its driver does not report running and stored firmware separately")
    running = known(card.running, "firmware that runs")
    stored = known(card.stored, "firmware that is stored")
    if running == stored or not isinstance(card.stored, Known):
        return
    reset = RESETS[card.settings_tool]
    yield exam.finding(
        Severity.RISK,
        (Evidence.of(card.stored, f"{running} runs, {stored} is stored"),),
        so="the fixes of the new firmware are not active: it starts at the next reset",
        remedies=(
            Remedy(
                text="reset the card (its links go down and its VFs are removed), or reboot",
                commands=(Command(argv=(reset, "-d", pf.pci_address, "-y", "reset")),),
                danger=Danger.CARD_RESET,
                steps=(
                    StepCall.of(
                        "firmware_reset",
                        pci_address=pf.pci_address,
                        functions=other_functions(exam.ports, pf.pci_address),
                        tool=reset,
                    ),
                ),
            )
            if pf.is_mellanox
            else Remedy(text="reboot", danger=Danger.REBOOT, by_hand=ByHand.REBOOT),
        ),
        unpriced="the release notes of the new version say what it changes",
    )


RULE = PortRule(
    slug="firmware.version_pending",
    title="New firmware pending until a reset",
    why="Burning writes the flash only; the card keeps running the firmware that it has loaded "
    "until it is reset.",
    source="https://docs.kernel.org/networking/devlink/devlink-info.html (running, stored)",
    shows=(Symptom.REBOOT_PENDING,),
    check=_check,
)
