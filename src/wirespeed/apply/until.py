"""Which step of a plan a user names: by its number, or by kind and subject. Pure."""

from wirespeed.model.error import InputError
from wirespeed.model.plan import Plan


def until_number(plan: Plan, text: str | None) -> int | None:
    """Give its place, from 0; None: nothing is named, or a later stage may have it.

    Raises InputError `until.unknown`, `until.not_one`.
    """
    if text is None:
        return None
    if text.isascii() and text.isdecimal() and len(text) < 7:
        number = int(text) - 1
        found = [number] if 0 <= number < len(plan.steps) else []
    else:
        wanted = " ".join(text.split())
        found = [
            number
            for number, planned in enumerate(plan.steps)
            if wanted in (planned.name, f"{planned.name} on {planned.host}")
        ]
    if len(found) == 1:
        return found[0]
    if not found and plan.later:
        return None
    if found:
        names = ", ".join(f"{n + 1} on {plan.steps[n].host}" for n in found)
        raise InputError(
            "until.not_one",
            where=text,
            found=f"it is {names}",
            next=f"give its number, or `{text} on {plan.steps[found[0]].host}`",
        )
    raise InputError(
        "until.unknown",
        where=text,
        found=f"the plan has steps 1 to {len(plan.steps)}, and none has this name",
        so="nothing was changed",
        next="list them with `wirespeed plan`; give a number, or a kind and a subject as in `mtu "
        "eth0`",
    )
