"""JSON that somebody else wrote: read in one way, with one error. Pure."""

import json
from typing import Any


def read_json(text: str | bytes, **options: Any) -> Any:
    """Read one value. Raises ValueError, also where it is nested deeper than can be followed.

    `options` as `json.loads` takes them.
    """
    try:
        return json.loads(text, **options)
    except RecursionError:
        raise ValueError("the JSON is nested too deeply to be read") from None
