"""docs/tester-protocol.schema.json, as validators of one message."""

import json
from functools import cache
from typing import Any

from jsonschema import Draft202012Validator
from tester_programs import SCHEMA


@cache
def _validator(kind: str) -> Draft202012Validator:
    schema = json.loads(SCHEMA.read_text())
    Draft202012Validator.check_schema(schema)
    return Draft202012Validator({**schema, "oneOf": [{"$ref": f"#/$defs/{kind}"}]})


def accepts_request(message: Any) -> bool:
    """Whether the schema knows such a request."""
    return bool(_validator("request").is_valid(message))


def check_reply(message: dict[str, Any]) -> None:
    """Fail where the schema does not know such a reply, with what is wrong in it."""
    _validator(f"{message['event']}_reply").validate(message)
