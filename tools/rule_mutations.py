"""Single changes of what a rule says, each made in the rule's source: a text, a figure, a remedy.

Only what reaches a person is changed: what decides whether a condition is there is not, but for
numbers, which are also printed. The rule's own title, reason and source are not said of a host.
"""

import ast
import copy
import inspect
import types
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from wirespeed.model.finding import ByHand, Danger, Severity
from wirespeed.model.rule import FigureRule, HostRule, PortRule, Rule

DECLARED = {"HostRule", "PortRule", "FigureRule"}
SAID = {"so", "text", "unpriced", "of", "formula", "found"}
"""Arguments that are shown as they are, whatever they look like."""
DROPPED = {
    "remedies": "remedy", "steps": "remedy", "commands": "remedy", "danger": "remedy",
    "changes": "price", "bounds": "price", "unpriced": "price",
}  # fmt: skip
"""Argument that may be left out, and what is lost then."""
ENUMS = {"ByHand": ByHand, "Danger": Danger, "Severity": Severity}


@dataclass(frozen=True)
class Mutation:
    """One change of one rule."""

    kind: str
    """`text`, `figure`, `command`, `price`, `remedy`, `severity`."""
    line: int
    what: str
    """What was changed, in the words of the source."""
    tree: ast.Module

    def rule(self, of: types.ModuleType) -> Rule:
        """Make the changed rule. Raises whatever the changed module raises while it is loaded."""
        module = types.ModuleType(of.__name__)
        module.__file__ = of.__file__
        exec(compile(self.tree, of.__file__ or "", "exec"), module.__dict__)  # noqa: S102
        rule = module.RULE
        if not isinstance(rule, HostRule | PortRule | FigureRule):
            raise TypeError(f"RULE of {of.__name__}")
        return rule


Edit = Callable[[Any], ast.AST | None]
"""A copy of a node to what stands in its place; None: the edit was made in the copy."""


def mutations(module: types.ModuleType) -> Iterator[Mutation]:
    """Every change of one rule's file."""
    tree = ast.parse(inspect.getsource(module))
    for path, node in _said_nodes(tree):
        for kind, what, edit in _edits(node, path):
            yield Mutation(kind, getattr(node, "lineno", 0), what, _edited(tree, node, edit))


def _said_nodes(tree: ast.Module) -> Iterator[tuple[tuple[ast.AST, ...], ast.AST]]:
    """Each node with those above it, nearest last; docstrings, imports and RULE are left out."""

    def walk(
        node: ast.AST, above: tuple[ast.AST, ...]
    ) -> Iterator[tuple[tuple[ast.AST, ...], ast.AST]]:
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.Import | ast.ImportFrom) or _is_docstring(child):
                continue
            if isinstance(child, ast.Call) and _called(child) in DECLARED:
                continue
            yield (*above, node), child
            yield from walk(child, (*above, node))

    yield from walk(tree, ())


def _is_docstring(node: ast.AST) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def _called(call: ast.Call) -> str:
    function = call.func
    if isinstance(function, ast.Attribute):
        owner = function.value.id if isinstance(function.value, ast.Name) else ""
        return f"{owner}.{function.attr}" if owner else function.attr
    return function.id if isinstance(function, ast.Name) else ""


def _edits(node: ast.AST, above: tuple[ast.AST, ...]) -> Iterator[tuple[str, str, Edit]]:
    match node:
        case ast.Constant(value=str() as text) if _is_text(text, above):
            yield "text", repr(text), lambda _: ast.Constant("X")
        case ast.FormattedValue():
            yield "figure", ast.unparse(node.value), lambda _: ast.Constant("?")
        case ast.Constant(value=bool()):
            pass
        case ast.Constant(value=int() | float() as number) if not _is_index(above):
            yield "figure", str(number), lambda _: ast.Constant(number * 2 + 1)
        case ast.Call():
            yield from _call_edits(node)
        case ast.Attribute(value=ast.Name(id=enum), attr=name) if enum in ENUMS and _is_given(
            above
        ):
            other = next(one.name for one in ENUMS[enum] if one.name != name)
            kind = "severity" if enum == "Severity" else "remedy"
            yield (
                kind,
                f"{enum}.{name}",
                lambda _: ast.Attribute(ast.Name(enum, ast.Load()), other, ast.Load()),
            )


def _is_text(text: str, above: tuple[ast.AST, ...]) -> bool:
    """A sentence, a part of one, or what is given where a text is shown."""
    if not any(letter.isalpha() for letter in text):
        return False
    nearest = above[-1]
    if isinstance(nearest, ast.JoinedStr):
        return not isinstance(above[-2], ast.FormattedValue)
    if isinstance(nearest, ast.Compare | ast.Subscript):
        return False
    given = isinstance(nearest, ast.keyword) and nearest.arg in SAID
    return " " in text or given


def _is_index(above: tuple[ast.AST, ...]) -> bool:
    """Of a list or slice, or how a figure is written: `{rate:.1f}`."""
    nearest = above[-1]
    if isinstance(nearest, ast.UnaryOp):
        nearest = above[-2]
    return isinstance(nearest, ast.Subscript | ast.Slice) or any(
        isinstance(one, ast.FormattedValue) and one.format_spec in above for one in above
    )


def _is_given(above: tuple[ast.AST, ...]) -> bool:
    """Handed on, and not compared with."""
    return not any(isinstance(one, ast.Compare) for one in above[-2:])


def _call_edits(call: ast.Call) -> Iterator[tuple[str, str, Edit]]:
    name = _called(call)
    for nth, keyword in enumerate(call.keywords):
        if keyword.arg in DROPPED and name != "StepCall.of":
            yield DROPPED[keyword.arg], f"{keyword.arg}= left out", _without(nth)
        if name == "Evidence" and keyword.arg == "source":
            yield "command", ast.unparse(keyword.value), _with(nth, "cat X")
        if name == "StepCall.of" and not isinstance(keyword.value, ast.Constant):
            yield "remedy", f"{keyword.arg}={ast.unparse(keyword.value)}", _with(nth, "X")
        if name == "StepCall.of" and isinstance(keyword.value, ast.Constant):
            if isinstance(keyword.value.value, bool):
                yield "remedy", ast.unparse(keyword), _with(nth, not keyword.value.value)
            elif isinstance(keyword.value.value, str) and " " not in keyword.value.value:
                yield "remedy", ast.unparse(keyword), _with(nth, "X")
    if name == "Evidence.of":
        yield "command", ast.unparse(call.args[0]), _evidence_without_its_source


def _without(nth: int) -> Edit:
    def edit(node: Any) -> None:
        del node.keywords[nth]

    return edit


def _with(nth: int, value: str | bool) -> Edit:
    def edit(node: Any) -> None:
        node.keywords[nth].value = ast.Constant(value)

    return edit


def _evidence_without_its_source(node: Any) -> ast.AST:
    found = node.args[1] if len(node.args) > 1 else node.keywords[0].value
    keywords = [ast.keyword("found", found), ast.keyword("source", ast.Constant("cat X"))]
    return ast.Call(ast.Name("Evidence", ast.Load()), [], keywords)


def _edited(tree: ast.Module, node: ast.AST, edit: Edit) -> ast.Module:
    """Copy the tree with one node of it changed."""
    memo: dict[int, Any] = {}
    changed = copy.deepcopy(tree, memo)
    twin = memo[id(node)]
    put = edit(twin)
    if put is not None:
        _Replace(twin, put).visit(changed)
    return ast.fix_missing_locations(changed)


class _Replace(ast.NodeTransformer):
    def __init__(self, old: ast.AST, new: ast.AST) -> None:
        self.old, self.new = old, new

    def visit(self, node: ast.AST) -> ast.AST:
        if node is self.old:
            return self.new
        return self.generic_visit(node)
