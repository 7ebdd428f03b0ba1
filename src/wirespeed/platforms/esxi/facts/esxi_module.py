"""Parameters of the driver of ConnectX-4 and later on ESXi: what it was told for the next boot."""

from dataclasses import dataclass
from typing import ClassVar, Self

from wirespeed.facts.json_text import objects_of
from wirespeed.model.capture import Capture
from wirespeed.model.fact import EsxiFact
from wirespeed.model.observed import Known, Observed, read_as

MODULE = "nmlx5_core"
SOURCE = f"esxcli system module parameters list -m {MODULE}"


@dataclass(frozen=True, slots=True)
class EsxiModule(EsxiFact):
    """Of nmlx5_core, as its documentation calls them; an empty value is the driver's default."""

    parameters: Observed[dict[str, str]]

    esxi: ClassVar[str] = """\
run esxi-module - esxcli --formatter=json system module parameters list -m nmlx5_core
"""

    @classmethod
    def parse(cls, capture: Capture) -> Self:
        """Read name and value of each."""
        rows = objects_of(capture.text("esxi-module", SOURCE))
        if not isinstance(rows, Known):
            return cls(rows)
        return cls(
            Known(
                {
                    row["Name"]: str(row.get("Value", "")).strip()
                    for row in rows.value
                    if isinstance(row.get("Name"), str)
                },
                SOURCE,
            )
        )

    def numbers(self, name: str) -> Observed[tuple[int, ...]]:
        """Give a list of numbers, one for each port; none where it is not set."""
        return read_as(self.parameters, lambda all_: _numbers(all_, name))


def _numbers(parameters: dict[str, str], name: str) -> tuple[int, ...]:
    if name not in parameters:
        raise ValueError(f"the driver has no parameter {name}")
    text = parameters[name]
    return tuple(int(word) for word in text.split(",")) if text else ()
