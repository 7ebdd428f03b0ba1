"""Finds every fact, rule and step by its folder: a file there is all that a new one needs.

Found by name, so that nothing below imports what stands above it.
"""

import importlib
import inspect
import pkgutil
from functools import cache
from types import ModuleType
from typing import Any

from wirespeed.model.error import InputError
from wirespeed.model.fact import Fact
from wirespeed.model.rule import HostRule, PortRule, Rule
from wirespeed.model.step import Step


@cache
def facts() -> tuple[type[Fact], ...]:
    """Every fact's type, by the name of its file."""
    return tuple(
        item
        for module in _modules("facts")
        for item in vars(module).values()
        if isinstance(item, type) and issubclass(item, Fact) and item.__module__ == module.__name__
    )


@cache
def rules() -> tuple[Rule, ...]:
    """Every rule, by its slug. Each file of a folder `rules/` has one, called RULE."""
    found = [module.RULE for module in _modules("rules")]
    if not all(isinstance(rule, HostRule | PortRule) for rule in found):
        raise AssertionError("RULE is a HostRule or a PortRule")
    return tuple(sorted(found, key=lambda rule: rule.slug))


@cache
def step_types() -> dict[str, type[Step]]:
    """Every kind of step by the value of its field `step`."""
    return {
        kind_of(item): item
        for module in _modules("steps")
        for item in vars(module).values()
        if isinstance(item, type) and issubclass(item, Step) and not inspect.isabstract(item)
    }


def kind_of(step: type[Step]) -> str:
    """Give the name of a kind of step: the default of its discriminator."""
    return str(step.model_fields["step"].default)


def read_step(data: dict[str, Any]) -> Step:
    """Make a step from a plan's data. Raises InputError `plan.step_unknown`."""
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


def _modules(folder: str) -> list[ModuleType]:
    package = importlib.import_module(f"wirespeed.{folder}")
    names = sorted(info.name for info in pkgutil.iter_modules(package.__path__))
    return [importlib.import_module(f"{package.__name__}.{name}") for name in names]
