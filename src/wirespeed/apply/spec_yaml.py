"""YAML of a spec as plain data: what a word without quotes means is YAML 1.2's core schema.

PyYAML reads YAML 1.1, by which `yes` is a truth, `010` is 8, `1:30` is 90 and `0000:03:00.0` is
180.0. Its parser serves both versions; the meaning of words is here (YAML 1.2.2, section 10.3.2).
Neither aliases nor tags nor merged keys are read, and a key is text that stands once.
"""

import re
from collections.abc import Hashable
from typing import Any

import yaml
from yaml.constructor import ConstructorError

TAG = "tag:yaml.org,2002:"
NULL = re.compile(r"(?:null|Null|NULL|~|)\Z")
BOOL = re.compile(r"(?:true|True|TRUE|false|False|FALSE)\Z")
INT = re.compile(r"(?:[-+]?[0-9]+|0o[0-7]+|0x[0-9a-fA-F]+)\Z")
FLOAT = re.compile(
    r"(?:[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?"
    r"|[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN))\Z"
)
MAX_BYTES = 2 << 20
MAX_VALUES = 100_000
"""Keys, texts, lists and the like: PyYAML takes 25 microseconds and 1 kB for each. A spec of a
thousand guests has 8,000, a state of nmstate of 500 netdevs 60,000."""
OLD_LINE_ENDS = re.compile("[\x85\u2028\u2029]")
"""Line ends by YAML 1.1 alone: what an editor shows as a comment would be read as data."""


def load_yaml(text: str) -> Any:
    """Give the data of one document. Raises yaml.YAMLError, ValueError, RecursionError."""
    _refuse_old_line_ends(text)
    return yaml.load(text, Loader=CoreLoader)  # noqa: S506 (a SafeLoader)


def load_every_yaml(text: str) -> list[Any]:
    """Give the data of each document. Raises yaml.YAMLError, ValueError, RecursionError."""
    _refuse_old_line_ends(text)
    return list(yaml.load_all(text, Loader=CoreLoader))


def _refuse_old_line_ends(text: str) -> None:
    if end := OLD_LINE_ENDS.search(text):
        line = text.count("\n", 0, end.start()) + 1
        code = f"U+{ord(end[0]):04X}"
        raise ValueError(f"line {line}: a line end that YAML 1.2 does not know, {code}")


class CoreLoader(yaml.SafeLoader):
    """YAML 1.2 as data only."""

    yaml_implicit_resolvers = {}  # noqa: RUF012 - PyYAML's own name, filled below
    yaml_constructors = {}  # noqa: RUF012
    values = 0

    def compose_document(self) -> yaml.Node | None:
        """Refuse a document that says it is of another version."""
        version = self.peek_event().version  # type: ignore[no-untyped-call]
        if version not in (None, (1, 2)):
            said = ".".join(map(str, version))
            raise _refused(self, f"it says that it is YAML {said}; it is read as YAML 1.2")
        return super().compose_document()

    def compose_node(self, parent: yaml.Node | None, index: int) -> yaml.Node | None:
        """Refuse an alias, as a few of them can fill the memory, a tag, and too many values."""
        event = self.peek_event()  # type: ignore[no-untyped-call]
        if isinstance(event, yaml.AliasEvent):
            raise _refused(self, "an alias")
        if event.tag is not None:
            raise _refused(self, "a tag: write the value alone")
        self.values += 1
        if self.values > MAX_VALUES:
            raise _refused(self, f"more than {MAX_VALUES} values")
        return super().compose_node(parent, index)

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Hashable, Any]:
        """Refuse a key that is not text or appears twice: YAML would silently use the last one."""
        seen: set[str] = set()
        for key, _ in node.value:
            if not isinstance(key, yaml.ScalarNode):
                raise ConstructorError(None, None, "a key is one word", key.start_mark)
            problem = ""
            if key.tag != f"{TAG}str":
                problem = f"the key {key.value} is not text: it needs quotes"
            elif key.value in seen:
                problem = f"the key {key.value!r} appears twice"
            if problem:
                raise ConstructorError(None, None, problem, key.start_mark)
            seen.add(key.value)
        return super().construct_mapping(node, deep)


def _refused(loader: CoreLoader, problem: str) -> ConstructorError:
    mark = loader.peek_event().start_mark  # type: ignore[no-untyped-call]
    return ConstructorError(None, None, problem, mark)


def _int(loader: yaml.SafeLoader, node: yaml.ScalarNode) -> int:
    text = loader.construct_scalar(node)
    return int(text[2:], {"0o": 8, "0x": 16}[text[:2]]) if text[:2] in ("0o", "0x") else int(text)


def _float(loader: yaml.SafeLoader, node: yaml.ScalarNode) -> float:
    return float(
        loader.construct_scalar(node).lower().replace(".inf", "inf").replace(".nan", "nan")
    )


for _kind, _form, _read in (
    ("null", NULL, lambda _loader, _node: None),
    ("bool", BOOL, lambda loader, node: loader.construct_scalar(node).lower() == "true"),
    ("int", INT, _int),
    ("float", FLOAT, _float),
):
    CoreLoader.add_implicit_resolver(TAG + _kind, _form, None)
    CoreLoader.add_constructor(TAG + _kind, _read)
for _kind, _take in (
    ("str", lambda loader, node: loader.construct_scalar(node)),
    ("seq", lambda loader, node: loader.construct_sequence(node, deep=True)),
    ("map", lambda loader, node: loader.construct_mapping(node, deep=True)),
):
    CoreLoader.add_constructor(TAG + _kind, _take)
