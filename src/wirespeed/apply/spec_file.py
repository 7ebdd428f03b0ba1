"""A spec from the text of a YAML file. Pure: what is wrong is named by field, finding and form."""

from collections.abc import Iterator
from typing import Any

import yaml
from pydantic import ValidationError
from pydantic_core import ErrorDetails

from wirespeed import catalog
from wirespeed.apply.spec_yaml import MAX_BYTES, load_yaml
from wirespeed.model.error import InputError
from wirespeed.model.shown import shown
from wirespeed.model.spec.members import read_spec_data
from wirespeed.model.spec.spec import Spec
from wirespeed.model.subnet import unusable

MUST_BE = {
    "int_type": "a whole number",
    "bool_type": "true or false",
    "float_type": "a number",
    "finite_number": "a number that is finite",
    "string_type": "text: put it in quotes",
    "subnet_form": "an address and a length, such as 192.168.9.0/24",
}
"""By pydantic's name of the error."""
WORDS = {"missing": "it is missing", "extra_forbidden": "there is no field of that name"}
TAG_ERRORS = ("union_tag_invalid", "union_tag_not_found")
SAYS_ALL = ("value_error", "subnet_value")


def parse_spec(text: str, where: str) -> Spec:
    """Read a spec. Raises InputError `spec.*` that names the place and what is wrong with it."""
    if len(text) > MAX_BYTES:
        raise _refusal("spec.too_long", where, f"{len(text)} characters")
    try:
        data = load_yaml(text)
    except yaml.MarkedYAMLError as error:
        line = f"line {error.problem_mark.line + 1}: " if error.problem_mark else ""
        raise _refusal("spec.not_yaml", where, f"{line}{error.problem}") from None
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise _refusal("spec.not_yaml", where, str(error)) from None
    try:
        spec = read_spec_data(data)
    except ValidationError as error:
        wrong = [_place(e) + _finding(e) for e in error.errors()[:5]]
        raise _refusal("spec.invalid", where, "\n".join(wrong)) from None
    if refused := list(_unusable_subnets(spec)):
        raise _refusal("spec.invalid", where, "\n".join(refused))
    return spec


def _unusable_subnets(spec: Spec) -> Iterator[str]:
    """Name the subnets that no host can use.

    It is asked of files alone: the journal of a run that has such a one must be read to undo it.
    """
    for name, subnet in spec.subnets().items():
        if kind := unusable(subnet, assigned=spec.gives_addresses):
            yield f"{name}.subnet: found {subnet}, in which there is {kind}; it must have none"


def _place(error: ErrorDetails) -> str:
    """Give the field; pydantic puts the approach before it."""
    way = error["loc"]
    if error["type"] in TAG_ERRORS:
        way = ("approach",)
    elif way and way[0] in catalog.approaches():
        way = way[1:]
    return ".".join(map(str, way)) + ": " * bool(way)


def _finding(error: ErrorDetails) -> str:
    if error["type"] in TAG_ERRORS:
        return _of_approach(error["input"])
    if must := MUST_BE.get(error["type"]):
        return f"found {_words(error['input'])}; it must be {must}"
    if error["type"] == "extra_forbidden" and (others := _with_field(error)):
        return f"it belongs to approach: {others}"
    if words := WORDS.get(error["type"]):
        return words
    said = error["msg"].removeprefix("Value error, ")
    return said if error["type"] in SAYS_ALL else f"found {_words(error['input'])}; {said}"


def _with_field(error: ErrorDetails) -> str:
    """Name the approaches whose specs have a field that another approach's lacks."""
    if len(error["loc"]) != 2:
        return ""
    field = error["loc"][1]
    return ", ".join(n for n, one in catalog.approaches().items() if field in one.spec.model_fields)


def _of_approach(data: Any) -> str:
    known = ", ".join(sorted(catalog.approaches()))
    if not isinstance(data, dict) or "approach" not in data:
        return f"it is missing; it must be one of {known}"
    return f"found {_words(data['approach'])}; it must be one of {known}"


def _words(value: Any) -> str:
    """Give a value as YAML has it, and its kind where that may be the fault."""
    if value is None:
        return "nothing"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        return f"the text {shown(value, 80)!r}"
    if isinstance(value, list | dict):
        return "a list" if isinstance(value, list) else "fields"
    return shown(str(value), 80)


def _refusal(what: str, where: str, found: str) -> InputError:
    safe = "\n".join(shown(line) for line in found.splitlines())
    so, then = "no host was asked", "correct the file"
    return InputError(what, where=where, found=safe, so=so, next=then)
