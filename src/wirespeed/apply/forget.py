"""Which steps of a run a user lets go, by their number, or by kind and subject. Pure."""

from collections.abc import Sequence

from wirespeed.apply.record import BEGUN
from wirespeed.model.error import InputError
from wirespeed.model.journal import StepProgress
from wirespeed.model.plan import Plan


def forgotten(plan: Plan, came: Sequence[StepProgress], texts: Sequence[str]) -> list[int]:
    """Give their places, from 0. A name selects the step of every stage that has it.

    Raises InputError `forget.unknown`, `forget.not_one`, `forget.nothing_stands`.
    """
    return sorted({number for text in texts for number in _named(plan, came, text)})


def _named(plan: Plan, came: Sequence[StepProgress], text: str) -> list[int]:
    wanted = " ".join(text.split())
    if wanted.isascii() and wanted.isdecimal() and len(wanted) < 7:
        found = [int(wanted) - 1] if 0 < int(wanted) <= len(plan.steps) else []
    else:
        found = [
            number
            for number, planned in enumerate(plan.steps)
            if wanted in (planned.name, f"{planned.name} on {planned.host}")
        ]
    if not found:
        raise InputError(
            "forget.unknown",
            where=text,
            found=f"the run has steps 1 to {len(plan.steps)}, and none has this name",
            so="nothing was changed",
            next="list them with `wirespeed status`; give a number, or a kind and a subject (mtu "
            "eth0)",
        )
    hosts = list(dict.fromkeys(plan.steps[number].host for number in found))
    if len(hosts) > 1:
        raise InputError(
            "forget.not_one",
            where=text,
            found=f"{', '.join(hosts)} have a step of that name",
            so="nothing was changed",
            next=f"give its number, or `{wanted} on {hosts[0]}`",
        )
    standing = [number for number in found if came[number] in BEGUN]
    if not standing:
        raise InputError(
            "forget.nothing_stands",
            where=text,
            found=f"step {found[0] + 1} is {came[found[0]].value}",
            so="this step has nothing to forget; nothing was changed",
            next="run `wirespeed status` to see which steps are in force",
        )
    return standing
