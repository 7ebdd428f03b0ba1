"""What a spec wants of ESXi hosts: parameters of the driver, and guests that have cards.

esxi:
parameters: {max_vfs: "1,1", supported_num_ports: "8"}
guests:
"7": {reserve_memory: true, affinity: 25-47, numa_node: 1, latency_sensitivity: high}
"""

import re
from typing import Annotated, Literal, Self

from pydantic import BeforeValidator, Field, StrictBool, StrictInt, model_validator

from wirespeed.model.frozen import Frozen
from wirespeed.model.vsphere import NUMBER

PARAMETER = r"^[A-Za-z][A-Za-z0-9_]{0,54}$"
VALUE = r"^[A-Za-z0-9_.,:-]{1,200}$"
RANGE = re.compile(r"([0-9]{1,4})(?:-([0-9]{1,4}))?")
MAX_CPU = 4096


def cpus(text: object) -> str:
    """Name each CPU of `25-27,30`, in order: `25,26,27,30`. Raises ValueError."""
    found: set[int] = set()
    for word in str(text).split(","):
        match = RANGE.fullmatch(word.strip())
        first = int(match[1]) if match else -1
        last = int(match[2] or match[1]) if match else -1
        if not 0 <= first <= last < MAX_CPU:
            raise ValueError(f"{word!r} is neither a CPU nor a range of them")
        found.update(range(first, last + 1))
    return ",".join(map(str, sorted(found)))


class EsxiGuestSpec(Frozen):
    """A guest; what is not named stays as it is."""

    reserve_memory: StrictBool = False
    """All of it, locked."""
    reserve_cpu_mhz: Annotated[StrictInt, Field(ge=0, le=10**7)] | None = None
    """ESXi wants the cores' full clock of a guest with latency sensitivity *high*."""
    affinity: Annotated[str, BeforeValidator(cpus)] | None = None
    """Logical CPUs of the host: `25-47`."""
    numa_node: Annotated[StrictInt, Field(ge=0, le=63)] | None = None
    latency_sensitivity: Literal["low", "normal", "medium", "high"] | None = None


class EsxiSpec(Frozen):
    """Of the approach esxi."""

    parameters: dict[
        Annotated[str, Field(pattern=PARAMETER)], Annotated[str, Field(pattern=VALUE)]
    ] = Field(default_factory=dict)
    """Of nmlx5_core; a host that is reached by esxi:// gets them."""
    guests: dict[Annotated[str, Field(pattern=NUMBER)], EsxiGuestSpec] = Field(default_factory=dict)
    """By their number in `vim-cmd vmsvc/getallvms`; a host that is reached by vsphere:// has them.
    """

    @model_validator(mode="after")
    def _wants_something(self) -> Self:
        if not self.parameters and not self.guests:
            raise ValueError("neither parameters nor guests are wanted")
        for number, guest in self.guests.items():
            if guest == EsxiGuestSpec():
                raise ValueError(f"guest {number}: nothing is wanted of it")
        return self
