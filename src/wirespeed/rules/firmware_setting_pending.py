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


def _check(exam: PortExam) -> Iterator[Finding]:
    pf = physical_function(exam.host, exam.port)
    card = exam.host[Firmware].of(pf.pci_address)
    if isinstance(card.settings, Absent):
        raise DoesNotApplyError("the card's settings are not of a kind that is read")
    if card.settings_read_at != pf.pci_address:
        raise DoesNotApplyError(f"settings are of the whole card: see {card.settings_read_at}")
    settings = known(card.settings, "the firmware's settings").values()
    if not any(isinstance(one.current, Known) for one in settings):
        raise CannotTellError(
            "the card does not show apart what is in force and what is stored",
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
        so="what was set is not in force until the next reset or reboot, whenever that is",
        remedies=(
            Remedy(
                text="reset the card (its links go down, its VFs go away); what changes its PCI "
                "functions, as SR-IOV does, needs a reboot of the host",
                commands=(Command(argv=(reset, "-d", pf.pci_address, "-y", "reset")),),
                danger=Danger.FIRMWARE,
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
        unpriced="what a setting does depends on which it is",
    )


RULE = PortRule(
    slug="firmware.setting_pending",
    title="Firmware setting pending until a reboot",
    why="mstconfig and mlxconfig write what the next start of the firmware reads. Until then the "
    "card works as before, and the setting looks as if it did nothing.",
    source="https://docs.nvidia.com/networking/display/mftv4301113lts/examples+of+mlxconfig+usage "
    "(Default, Current, Next Boot)",
    price=f"SR-IOV for guests alone: {SOFTWARE_SWITCH_FORMULA}",
    check=_check,
)
