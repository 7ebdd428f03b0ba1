"""Firmware is written only where that is asked for, and what has no way back on its own. Pure.

A card whose firmware fails is a card in a parcel, and settings that are stored wrongly can keep a
server from booting: neither is undone by a journal alone.
"""

from collections.abc import Iterator

from wirespeed.model.error import InputError
from wirespeed.model.finding import Danger
from wirespeed.model.plan import Plan, PlannedStep

OF_FIRMWARE = (Danger.CARD_RESET, Danger.FIRMWARE)


def refuse_firmware(plan: Plan) -> None:
    """Raise InputError `plan.writes_firmware` for a step that writes, or restarts, firmware."""
    for planned in _of_firmware(plan):
        raise InputError(
            "plan.writes_firmware",
            where=f"{planned.subject} on {planned.host}",
            found=f"{planned.step['step']} {planned.danger}: "
            + "; ".join(command.line() for command in planned.commands),
            so="if this fails, a card or a host may not come up again; nothing was changed",
            next="read this step in the plan; to carry it out, give --allow-firmware to `apply` "
            "or `remedy`",
        )


def refuse_no_way_back(plan: Plan) -> None:
    """Raise InputError `plan.no_way_back` for a step of firmware that no undo leads back from."""
    for planned in _of_firmware(plan):
        if not planned.undo:
            raise InputError(
                "plan.no_way_back",
                where=f"{planned.subject} on {planned.host}",
                found=f"{planned.step['step']}: {planned.why}",
                so="`wirespeed undo` could not undo this step; nothing was changed",
                next="provide what undo needs (the former image), or give --allow-no-undo",
            )


def _of_firmware(plan: Plan) -> Iterator[PlannedStep]:
    """Give the steps that have something to do to firmware."""
    for planned in plan.steps:
        if planned.danger in OF_FIRMWARE and not planned.no_op:
            yield planned
