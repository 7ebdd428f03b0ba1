"""The base of every type that is written to a file or crosses a package."""

from typing import Any

from pydantic import BaseModel, ConfigDict

from wirespeed.model.ascii_json import ascii_json


class Frozen(BaseModel):
    """An immutable record that refuses fields it does not know."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    def model_dump_json(self, **options: Any) -> str:
        """Give it as JSON in plain ASCII: it may hold what a host printed."""
        return ascii_json(super().model_dump_json(**options))


class Finite(Frozen):
    """A record of what was measured: infinity and `nan` are no number in it."""

    model_config = ConfigDict(allow_inf_nan=False)
