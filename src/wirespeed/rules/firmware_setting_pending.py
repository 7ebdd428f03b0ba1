"""A firmware setting that was made and is not in force until the next reset."""

from collections.abc import Iterator

from wirespeed.ceilings.bounds import SOFTWARE_SWITCH_FORMULA, software_switch_bounds
from wirespeed.facts.firmware import RESETS, Firmware
from wirespeed.facts.link import best_bps
from wirespeed.facts.pci_cards import other_functions
from wirespeed.facts.sriov import physical_function
from wirespeed.model.command import Command
from wirespeed.model.finding import Danger, Evidence, Finding, Remedy, Severity, StepCall
from wirespeed.model.observed import Absent, CannotTellError, Known, known
from wirespeed.model.question import Purpose
from wirespeed.model.rule import DoesNotApplyError, PortExam, PortRule
from wirespeed.model.symptom import Symptom


def _check(exam: PortExam) -> Iterator[Finding]:
    pf = physical_function(exam.host, exam.port)
    card = exam.host[Firmware].of(pf.pci_address)
    if isinstance(card.settings, Absent):
        raise DoesNotApplyError("wirespeed cannot read the firmware settings of this kind of card")
    if card.settings_read_at != pf.pci_address:
        raise DoesNotApplyError(f"settings apply to the whole card: see {card.settings_read_at}")
    settings = known(card.settings, "the firmware's settings").values()
    if not any(isinstance(one.current, Known) for one in settings):
        raise CannotTellError(
            "the card does not report active and stored settings separately",
            f"{card.settings_tool} -d {pf.pci_address} -e q",
        )
    pending = [
        (one.name, one.current, one.next_boot)
        for one in settings
        if isinstance(one.current, Known)
        and isinstance(one.next_boot, Known)
        and one.current.value != one.next_boot.value
    ]
    if not pending:
        return
    # What guests are to be given is not there, and looks as if it had been made.
    is_for_guests = exam.question.purpose is Purpose.GUESTS
    reset = RESETS[card.settings_tool]
    costs = is_for_guests and bool({"SRIOV_EN", "NUM_OF_VFS"} & {name for name, _, _ in pending})
    yield exam.finding(
        Severity.FAULT if costs else Severity.RISK,
        tuple(
            Evidence.of(after, f"{name}: {now.value} now, {after.value} at next boot")
            for name, now, after in pending[:8]
        ),
        so="the new setting takes effect only at the next reset or reboot",
        remedies=(
            Remedy(
                text="reset the card (its links go down and its VFs are removed); a setting that "
                "changes its PCI functions, such as SR-IOV, needs a reboot of the host",
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
            ),
        ),
        bounds=software_switch_bounds(best_bps(exam.host, (exam.port,)), exam.question.frame_bytes)
        if costs
        else (),
        unpriced="the cost depends on the setting",
    )


RULE = PortRule(
    slug="firmware.setting_pending",
    title="Firmware setting pending until a reboot",
    why="mstconfig and mlxconfig store settings that the firmware reads when it next starts. "
    "Until then the card works as before, and the setting seems to have no effect.",
    source="https://docs.nvidia.com/networking/display/mftv4301113lts/examples+of+mlxconfig+usage "
    "(Default, Current, Next Boot)",
    price=f"only for SR-IOV with guests: {SOFTWARE_SWITCH_FORMULA}",
    shows=(Symptom.REBOOT_PENDING,),
    check=_check,
)
