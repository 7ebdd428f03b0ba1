"""Finds facts, rules, steps and platforms by their folders: a file there is all that one needs.

Found by name, so that nothing below imports what stands above it.
"""

import importlib
import importlib.util
import pkgutil
from collections.abc import Iterator
from functools import cache
from types import ModuleType
from typing import Any

from wirespeed.model.capture import Capture
from wirespeed.model.error import InputError
from wirespeed.model.fact import Fact
from wirespeed.model.platform import Platform
from wirespeed.model.rule import FigureRule, HostRule, PortRule, Rule
from wirespeed.model.step import Step

PLATFORMS = "wirespeed.platforms"


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
    if not all(isinstance(rule, HostRule | PortRule | FigureRule) for rule in found):
        raise AssertionError("RULE is a HostRule, a PortRule or a FigureRule")
    return tuple(sorted(found, key=lambda rule: rule.slug))


@cache
def step_types() -> dict[str, type[Step]]:
    """Every kind of step by the value of its field `step`."""
    return {
        kind_of(item): item
        for module in _modules("steps")
        for item in vars(module).values()
        if isinstance(item, type) and issubclass(item, Step) and "step" in item.model_fields
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
            so="another release of wirespeed made this plan",
            next="make the plan again",
        )
    return step_types()[kind].model_validate(data)


@cache
def platforms() -> tuple[Platform, ...]:
    """Every kind of host, Linux first: each folder of `platforms/` has one, called PLATFORM."""
    found = [importlib.import_module(f"{name}.platform").PLATFORM for name in _folders(PLATFORMS)]
    return tuple(sorted(found, key=lambda platform: not platform.is_usual))


def accesses() -> Iterator[Any]:
    """Every `Access` to a kind of host, Linux first: each is loaded when it is asked for."""
    for name in sorted(_folders(PLATFORMS), key=lambda name: name != f"{PLATFORMS}.linux"):
        yield importlib.import_module(f"{name}.access").ACCESS


@cache
def platform_of_rule(rule: Rule) -> Platform:
    """Give the kind of host that a rule is about: that of its folder, else Linux."""
    parent = rule.check.__module__.rpartition(".rules.")[0]
    if parent.startswith(f"{PLATFORMS}."):
        found: Platform = importlib.import_module(f"{parent}.platform").PLATFORM
        return found
    return platforms()[0]


@cache
def approaches() -> dict[str, Any]:
    """Every approach (`PlannedBy`) by its name in a spec.

    It is the APPROACH of a file of `approaches/`, or of a platform's `approach.py`.
    """
    modules = _modules("approaches")
    for name in _folders(PLATFORMS):
        if importlib.util.find_spec(f"{name}.approach") is not None:
            modules.append(importlib.import_module(f"{name}.approach"))
    found = [module.APPROACH for module in modules if hasattr(module, "APPROACH")]
    return {one.name: one for one in found}


def _modules(folder: str) -> list[ModuleType]:
    """Give the modules of a folder, and of those so called of every platform, by name."""
    parents = ["wirespeed", *_folders(PLATFORMS)]
    names = [
        f"{package}.{info.name}"
        for package in (f"{parent}.{folder}" for parent in parents)
        if importlib.util.find_spec(package) is not None
        for info in pkgutil.iter_modules(importlib.import_module(package).__path__)
    ]
    return [importlib.import_module(name) for name in sorted(names, key=_last)]


def _folders(package: str) -> list[str]:
    found = pkgutil.iter_modules(importlib.import_module(package).__path__)
    return sorted(f"{package}.{info.name}" for info in found if info.ispkg)


def _last(name: str) -> str:
    return name.rpartition(".")[2]


def platform_of(capture: Capture) -> Platform:
    """Give the kind that claims the capture alone; else Linux.

    A capture of few sections is of Linux too: it is not asked what it has of it.
    """
    usual = next(one for one in platforms() if one.is_usual)
    return next((one for one in platforms() if one.is_alone(capture)), usual)
