"""A spec from the text of a YAML file. Pure: strict about keys that are there twice or unknown."""

from collections.abc import Hashable
from typing import Any

import yaml
from pydantic import ValidationError

from wirespeed.model.error import InputError
from wirespeed.model.shown import shown
from wirespeed.model.spec import Spec

MAX_SPEC_BYTES = 4 << 20


class _StrictLoader(yaml.SafeLoader):
    """YAML as data only, without aliases (a few of them can fill the memory) and repeated keys."""

    def compose_node(self, parent: yaml.Node | None, index: int) -> yaml.Node | None:
        """Refuse an alias."""
        if self.check_event(yaml.AliasEvent):
            mark = self.peek_event().start_mark  # type: ignore[no-untyped-call]
            raise yaml.constructor.ConstructorError(None, None, "an alias", mark)
        return super().compose_node(parent, index)

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Hashable, Any]:
        """Refuse a key that stands twice: YAML itself would take the last one, silently."""
        seen: set[str] = set()
        for key, _ in node.value:
            if key.value in seen:
                problem = f"the key {key.value!r} stands twice"
                raise yaml.constructor.ConstructorError(None, None, problem, key.start_mark)
            seen.add(key.value)
        return super().construct_mapping(node, deep)


def parse_spec(text: str, where: str) -> Spec:
    """Read a spec. Raises InputError `spec.*` that names the place and what is wrong with it."""
    if len(text) > MAX_SPEC_BYTES:
        raise _refusal("spec.too_long", where, f"{len(text)} characters")
    try:
        data = yaml.load(text, Loader=_StrictLoader)  # noqa: S506 (a SafeLoader)
    except yaml.MarkedYAMLError as error:
        line = f"line {error.problem_mark.line + 1}: " if error.problem_mark else ""
        raise _refusal("spec.not_yaml", where, f"{line}{error.problem}") from None
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise _refusal("spec.not_yaml", where, str(error)) from None
    try:
        return Spec.model_validate(data)
    except ValidationError as error:
        wrong = [
            ".".join(map(str, e["loc"])) + ": " * bool(e["loc"]) + _plain(e["msg"])
            for e in error.errors()[:5]
        ]
        raise _refusal("spec.invalid", where, "\n".join(wrong)) from None


def _plain(message: str) -> str:
    return message.removeprefix("Value error, ")


def _refusal(what: str, where: str, found: str) -> InputError:
    safe = "\n".join(shown(line) for line in found.splitlines())
    return InputError(what, where=where, found=safe, so="no host was asked", next="mend the file")
