"""Finds every step, and reads them from a plan again: a file in `steps/` is all that one needs."""

import importlib
import inspect
import pkgutil
from functools import cache
from typing import Any

import wirespeed.steps
from wirespeed.model.error import InputError
from wirespeed.model.step import Step


@cache
def step_types() -> dict[str, type[Step]]:
    """Every kind of step by the value of its field `step`."""
    names = sorted(info.name for info in pkgutil.iter_modules(wirespeed.steps.__path__))
    modules = [importlib.import_module(f"wirespeed.steps.{name}") for name in names]
    found: dict[str, type[Step]] = {}
    for module in modules:
        for item in vars(module).values():
            if isinstance(item, type) and issubclass(item, Step) and not inspect.isabstract(item):
                found[kind_of(item)] = item
    return found


def kind_of(step: type[Step]) -> str:
    """Give the name of a kind of step: the default of its discriminator."""
    return str(step.model_fields["step"].default)


def read_step(data: dict[str, Any]) -> Step:
    """Make a step of what a plan holds. Raises InputError `plan.step_unknown`."""
    kind = str(data.get("step"))
    if kind not in step_types():
        raise InputError(
            "plan.step_unknown",
            where=kind,
            found="no step of that name",
            so="this plan was made by another wirespeed",
            next="make it again",
        )
    return step_types()[kind].model_validate(data)
