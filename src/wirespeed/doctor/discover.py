"""Finds every fact and every rule: a file in its folder is all that a new one needs."""

import importlib
import pkgutil
from functools import cache
from types import ModuleType

import wirespeed.facts
import wirespeed.rules
from wirespeed.model.fact import Fact
from wirespeed.model.rule import HostRule, PortRule, Rule


@cache
def facts() -> tuple[type[Fact], ...]:
    """Every fact's type, by the name of its file."""
    return tuple(
        item
        for module in _modules(wirespeed.facts)
        for item in vars(module).values()
        if isinstance(item, type) and issubclass(item, Fact) and item.__module__ == module.__name__
    )


@cache
def rules() -> tuple[Rule, ...]:
    """Every rule, by its slug. Each file of `rules/` has one, called RULE."""
    found = [module.RULE for module in _modules(wirespeed.rules)]
    if not all(isinstance(rule, HostRule | PortRule) for rule in found):
        raise AssertionError("RULE is a HostRule or a PortRule")
    return tuple(sorted(found, key=lambda rule: rule.slug))


def _modules(package: ModuleType) -> list[ModuleType]:
    names = sorted(info.name for info in pkgutil.iter_modules(package.__path__))
    return [importlib.import_module(f"{package.__name__}.{name}") for name in names]
