"""JSON in plain ASCII, so that a terminal can take it as it is. Pure."""

import json
import re


def ascii_json(text: str) -> str:
    r"""Give JSON that says the same: what is not printable ASCII stands as `\u….`; lines stay."""
    return re.sub(r"[^\x20-\x7e\n]+", _escaped, text)


def _escaped(match: re.Match[str]) -> str:
    return json.dumps(match[0])[1:-1].replace("\x7f", "\\u007f")
