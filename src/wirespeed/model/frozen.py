"""The base of every type that is written to a file or crosses a package."""

import json
import re
from typing import Any

from pydantic import BaseModel, ConfigDict


class Frozen(BaseModel):
    """An immutable record that refuses fields it does not know."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    def model_dump_json(self, **options: Any) -> str:
        """Give it as JSON in plain ASCII: it may hold what a host printed."""
        return ascii_json(super().model_dump_json(**options))


class Finite(Frozen):
    """A record of what was measured: infinity and `nan` are no number in it."""

    model_config = ConfigDict(allow_inf_nan=False)


def ascii_json(text: str) -> str:
    r"""Give JSON that says the same: what is not printable ASCII stands as `\u….`; lines stay."""
    return re.sub(r"[^\x20-\x7e\n]+", _escaped, text)


def _escaped(match: re.Match[str]) -> str:
    return json.dumps(match[0])[1:-1].replace("\x7f", "\\u007f")
