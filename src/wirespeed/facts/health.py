"""What drivers report of their own health: reporters of `devlink health`."""

from dataclasses import dataclass
from typing import ClassVar, Self

from wirespeed.facts.json_text import json_of, object_in
from wirespeed.model.capture import Capture
from wirespeed.model.fact import Fact
from wirespeed.model.observed import Absent, Known, Observed, Unreadable, known
from wirespeed.model.port import Port

SOURCE = "devlink health show"
NAME_LENGTH = 40


@dataclass(frozen=True, slots=True)
class Reporter:
    """One part that a driver watches, since the driver was loaded."""

    handle: str
    """Of devlink: `pci/0000:03:00.0`, with `/65535` behind it where a port is meant."""
    name: str
    """The driver's own: `tx`, `rx`, `fw`, `fw_fatal`, `mdd`, …"""
    is_in_error: bool
    """The last error was not recovered from."""
    errors: int
    recoveries: int


@dataclass(frozen=True, slots=True)
class Health(Fact):
    """Reporters by the PCI address of their function."""

    by_address: Observed[dict[str, tuple[Reporter, ...]]]

    script: ClassVar[str] = "run devlink-health - devlink -j health show\n"

    @classmethod
    def parse(cls, capture: Capture) -> Self:
        """Read the list; what is no reporter in it is left out."""
        text = capture.text("devlink-health", SOURCE)
        if isinstance(text, Known) and not text.value.strip():
            return cls(Absent(SOURCE, "no driver reports its health"))
        decoded = json_of(text)
        if not isinstance(decoded, Known):
            return cls(decoded)
        if not isinstance(decoded.value, dict):
            return cls(Unreadable("it is not an object", SOURCE))
        found: dict[str, tuple[Reporter, ...]] = {}
        for handle, rows in object_in(decoded.value, "health").items():
            words = handle.split("/")
            if words[0] != "pci" or len(words) < 2 or not isinstance(rows, list):
                continue
            some = (_reporter(handle, row) for row in rows)
            of = tuple(one for one in some if one is not None)
            found[words[1]] = (*found.get(words[1], ()), *of)
        return cls(Known(found, SOURCE))

    def of(self, port: Port) -> tuple[Reporter, ...]:
        """Give the reporters of a port's function. Raises CannotTellError."""
        if isinstance(self.by_address, Absent):
            return ()
        return known(self.by_address, "what drivers report of their health").get(
            port.pci_address or "", ()
        )


def _reporter(handle: str, row: object) -> Reporter | None:
    if not isinstance(row, dict):
        return None
    name, state = row.get("reporter"), row.get("state")
    errors, recoveries = row.get("error"), row.get("recover")
    if not isinstance(name, str) or not isinstance(errors, int) or not isinstance(recoveries, int):
        return None
    return Reporter(handle, name[:NAME_LENGTH], state == "error", errors, recoveries)
