"""The base of every type that is written to a file or crosses a package."""

from pydantic import BaseModel, ConfigDict


class Frozen(BaseModel):
    """An immutable record that refuses fields it does not know."""

    model_config = ConfigDict(frozen=True, extra="forbid")
