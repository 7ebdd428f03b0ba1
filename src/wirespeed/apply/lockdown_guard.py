"""Refuses what a locked down kernel would refuse in the midst of a plan. Pure."""

from collections.abc import Mapping

from wirespeed import catalog
from wirespeed.facts.lockdown import Lockdown
from wirespeed.model.error import InputError
from wirespeed.model.fact import HostFacts
from wirespeed.model.observed import Known
from wirespeed.model.plan import Plan, PlannedStep


def refuse_locked_down(plan: Plan, facts: Mapping[str, HostFacts]) -> None:
    """Raise InputError `plan.locked_down` where a step writes a card past a kernel that forbids it.

    A host whose lockdown could not be read is not refused: the kernel says so when it is due.
    """
    for planned in plan.steps:
        if not planned.commands or not _writes_card(planned):
            continue
        host = facts.get(planned.host)
        if host is None:
            continue
        lockdown = host[Lockdown].mode
        if not isinstance(lockdown, Known) or lockdown.value == "none":
            continue
        secure_boot = host[Lockdown].secure_boot
        is_secure = isinstance(secure_boot, Known) and secure_boot.value
        cause = ", as Secure Boot makes it" if is_secure else ""
        raise InputError(
            "plan.locked_down",
            where=f"{planned.name} on {planned.host}",
            found=f"the kernel is locked down: {lockdown.value}{cause} ({lockdown.source})",
            so="the kernel does not let a program write to a card without its driver, as "
            f"{planned.commands[0].argv[0]} does; nothing is changed",
            next="switch Secure Boot off in the BIOS for this change and on again afterwards, or "
            "leave this step out",
        )


def _writes_card(planned: PlannedStep) -> bool:
    return catalog.step_types()[str(planned.step["step"])].writes_card
