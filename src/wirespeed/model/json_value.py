"""JSON that somebody else wrote: read in one way, with one error, within bounds. Pure.

A limit of bytes bounds no memory: `{},` takes 70 bytes and more, and each fault of a record some
hundreds.
"""

import json
from collections.abc import Hashable
from functools import lru_cache
from typing import Any, TypeVar, cast

from pydantic import TypeAdapter, ValidationError
from pydantic_core import InitErrorDetails, PydanticCustomError, SchemaValidator

Read = TypeVar("Read")

MOST_VALUES = 1_000_000
"""Of signs that a value begins with or follows. The fullest record in the tests has 5,288."""
MOST_FIELDS = 20_000
"""Of one object in a record: each that is not known is a fault. Runs have one for each step."""
_MANY_FAULTS = 100
_NO_SCHEMA = ("default", "metadata")
_COLLECTIONS = ("list", "tuple", "set", "frozenset", "dict")


def read_json(text: str | bytes, **options: Any) -> Any:
    """Read one value. Raises ValueError, also where it is nested deeper than can be followed.

    `options` as `json.loads` takes them.
    """
    if why := too_full(text):
        raise ValueError(why)
    try:
        return json.loads(text, **options)
    except RecursionError:
        raise ValueError("the JSON is nested too deeply to be read") from None


def read_record(kind: type[Read] | TypeAdapter[Read], text: str | bytes, **options: Any) -> Read:
    """Read one record of ours. Raises ValidationError: of each list, the first fault alone.

    `options` as `json.loads` takes them, but for `object_hook`.

    It is read as JSON first: pydantic's own reader copies an object for each field that it lacks.
    """
    try:
        read: Read = _validator(cast(Hashable, kind)).validate_python(
            read_json(text, object_hook=_narrow, **options)
        )
    except ValidationError as error:
        if error.error_count() <= _MANY_FAULTS:
            raise
        first = error.errors(include_url=False, include_context=False, include_input=False)[0]
        raise _fault(first["msg"], first["loc"]) from None
    except ValueError as error:
        raise _fault(str(error), ()) from None
    return read


def too_full(text: str | bytes) -> str:
    """Say why JSON that is to be written could not be read again; nothing where it could."""
    if isinstance(text, bytes):
        found = text.count(b"{") + text.count(b"[") + text.count(b",")
    else:
        found = text.count("{") + text.count("[") + text.count(",")
    if found <= MOST_VALUES:
        return ""
    return f"the JSON has about {found} values; at most {MOST_VALUES} are read"


def _narrow(value: dict[str, Any]) -> dict[str, Any]:
    if len(value) > MOST_FIELDS:
        raise ValueError(f"an object has {len(value)} fields; at most {MOST_FIELDS} are read")
    return value


def _fault(why: str, where: tuple[int | str, ...]) -> ValidationError:
    # What stands in braces would be taken from a context.
    kind = PydanticCustomError("not_readable", "{why}", {"why": why})
    fault = InitErrorDetails(type=kind, loc=where, input=None)
    return ValidationError.from_exception_data("JSON", [fault])


@lru_cache
def _validator(kind: Any) -> SchemaValidator:
    """Give one that leaves a list at its first fault, as pydantic's FailFast does for one field.

    Without `_use_prebuilt`, the validators that the classes have would be used for their parts.
    """
    adapter = kind if isinstance(kind, TypeAdapter) else TypeAdapter(kind)
    return SchemaValidator(_failing_fast(adapter.core_schema), _use_prebuilt=False)


def _failing_fast(schema: Any) -> Any:
    if isinstance(schema, list | tuple):
        return type(schema)(map(_failing_fast, schema))
    if not isinstance(schema, dict):
        return schema
    found = {
        key: value if key in _NO_SCHEMA else _failing_fast(value) for key, value in schema.items()
    }
    return {**found, "fail_fast": True} if found.get("type") in _COLLECTIONS else found
