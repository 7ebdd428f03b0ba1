"""A step by its kind and parameters: how a rule names what mends, without knowing any step."""

from pydantic import JsonValue

from wirespeed.model.frozen import Frozen


class StepCall(Frozen):
    """`StepCall.of("rings", netdev="eth0", rx=8192)`; `catalog` makes the step of it."""

    kind: str
    """As the step calls itself: `rings`."""
    parameters: dict[str, JsonValue]

    @classmethod
    def of(cls, kind: str, **parameters: object) -> "StepCall":
        """Name a step; its parameters are what JSON has: numbers, text, lists."""
        return cls.model_validate({"kind": kind, "parameters": parameters})

    @property
    def data(self) -> dict[str, JsonValue]:
        """Give it as a plan holds a step."""
        return {"step": self.kind, **self.parameters}

    def __hash__(self) -> int:
        """Findings that are alike are told once: they are counted by their hash."""
        return hash(self.model_dump_json())
