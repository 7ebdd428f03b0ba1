"""Templates in a host's variables, filled in without running anything.

Ansible's are programs: a lookup runs commands and reads files. Here a template may join text and
variables of its host, and no more:

    "{{ inventory_hostname }}.mgmt"    "sw-{{ rack | default('none') }}"    "{{ a ~ '-' ~ b }}"

Pure. Linear in the length of the templates: each is filled in once, and is short.
"""

import re
from collections.abc import Callable, Mapping
from typing import Any

from jinja2 import Environment, TemplateError, nodes

from wirespeed.host.inventory_program import Literal

MAX_CHARACTERS = 4096
MAX_DEPTH = 5
TEMPLATE = re.compile(r"\{[{%#]")
FILTERS: dict[str, Callable[[str], str]] = {
    "lower": str.lower,
    "upper": str.upper,
    "trim": str.strip,
}
DEFAULTS = ("default", "d")
MORE = "it does more than join variables of its host"
Plain = str | int | float | bool


class UnfilledError(Exception):
    """A template is left as it is: the message says why."""


class Templates:
    """What fills in the templates of one host."""

    def __init__(self, variables: Mapping[str, Any]) -> None:
        self._variables = variables
        self._filled: dict[str, Plain] = {}
        self._within: list[str] = []

    def fill(self, text: str) -> Plain:
        """Give `text` filled in; a template that is one variable alone gives what that is.

        Raises UnfilledError.
        """
        if isinstance(text, Literal) or not TEMPLATE.search(text):
            return str(text)
        if len(text) > MAX_CHARACTERS:
            raise UnfilledError(f"it has more than {MAX_CHARACTERS} characters")
        try:
            body = _PARSER.parse(text).body
            parts = [self._value(part) for node in body for part in _parts(node)]
        except (TemplateError, RecursionError, ValueError) as error:
            raise UnfilledError(f"it is not a template: {error}") from None
        return parts[0] if len(parts) == 1 else _joined(parts)

    def variable(self, name: str) -> Plain:
        """Give a variable that is text, a number, yes or no. Raises UnfilledError."""
        if name not in self._variables:
            raise UnfilledError(f"its host has no variable {name}")
        if name in self._within or len(self._within) >= MAX_DEPTH:
            raise UnfilledError(f"it needs {name}, which needs others without end")
        if name not in self._filled:
            value = self._variables[name]
            if not isinstance(value, str | int | float | bool):
                raise UnfilledError(f"{name} is not text or a number")
            self._within.append(name)
            try:
                self._filled[name] = self.fill(value) if isinstance(value, str) else value
            finally:
                self._within.pop()
        return self._filled[name]

    def _value(self, node: nodes.Node) -> Plain:
        match node:
            case nodes.TemplateData(data=str(text)):
                return text
            case nodes.Const(value=str() | int() | float() as value):
                return value
            case nodes.Name(name=name):
                return self.variable(name)
            case nodes.Concat(nodes=parts):
                return _joined([self._value(part) for part in parts])
            case nodes.Filter(node=nodes.Expr() as of, name=name, args=args, kwargs=[]):
                return self._filtered(of, name, args)
            case _:
                raise UnfilledError(MORE)

    def _filtered(self, of: nodes.Expr, name: str, args: list[nodes.Expr]) -> Plain:
        if name in FILTERS and not args:
            return FILTERS[name](str(self._value(of)))
        if name not in DEFAULTS or len(args) > 1:
            raise UnfilledError(MORE)
        if isinstance(of, nodes.Name) and of.name not in self._variables:
            return self._value(args[0]) if args else ""
        return self._value(of)


def _parts(node: nodes.Node) -> list[nodes.Expr]:
    if not isinstance(node, nodes.Output):
        raise UnfilledError(MORE)
    return node.nodes


def _joined(parts: list[Plain]) -> str:
    text = "".join(map(str, parts))
    if len(text) > MAX_CHARACTERS:
        raise UnfilledError(f"it makes more than {MAX_CHARACTERS} characters")
    return text


_PARSER = Environment(keep_trailing_newline=True, autoescape=False)  # noqa: S701 - never rendered
