"""Prints the JSON schema of a line of `wirespeed doctor --json`, for docs/findings.schema.json."""

import json

from pydantic import TypeAdapter

from wirespeed.model.finding import Diagnosis, Unanswered
from wirespeed.model.pair import PairAnswer


def findings_schema() -> str:
    """Give it as it stands in the file."""
    schema = TypeAdapter(Diagnosis | Unanswered | PairAnswer).json_schema(mode="serialization")
    return json.dumps(schema, indent=1) + "\n"


if __name__ == "__main__":
    print(findings_schema(), end="")
