"""Who writes the rules of a card's embedded switch: its firmware (dmfs) or the driver (smfs)."""

import re
from dataclasses import dataclass
from typing import ClassVar, Self

from wirespeed.facts.json_text import JsonObject, json_of, object_in, objects_in
from wirespeed.facts.sriov import Sriov
from wirespeed.model.capture import Capture
from wirespeed.model.fact import Fact
from wirespeed.model.observed import Absent, Known, Observed, Unreadable

NAME = "flow_steering_mode"
RUNTIME = "runtime"
UNKNOWN = "kernel answers: Invalid argument"
"""What devlink says of a parameter that the driver does not have (EINVAL)."""
FILE = re.compile(r"^(/sys/class/net/([^/:\n]+)/compat/devlink/steering_mode):", re.M)
"""Of a driver of the vendor."""


@dataclass(frozen=True, slots=True)
class SteeringMode(Fact):
    """Of every port that mlx5_core drives."""

    by_devlink: dict[str, Observed[str]]
    """By PCI address: `dmfs`, `smfs`, `hmfs`. Absent: this driver has no such parameter."""
    by_file: dict[str, Observed[str]]
    """By netdev: the same in a file of the vendor's driver, `compat/devlink/steering_mode`."""

    script: ClassVar[str] = f"""\
for address in $pfs; do
	[ -e "/sys/bus/pci/drivers/mlx5_core/$address" ] || continue
	run devlink-steering "$address" devlink -j dev param show "pci/$address" name {NAME}
done
steering_files() (
	for netdev in $port_netdevs; do
		path=/sys/class/net/$netdev/compat/devlink/steering_mode
		[ ! -e "$path" ] || printf '%s\\0' "$path"
	done
)
steering_files | files mlx5-steering -
"""

    @classmethod
    def parse(cls, capture: Capture) -> Self:
        """Read what devlink says of each port, and the vendor's files."""
        files = capture.section("mlx5-steering")
        read = capture.files("mlx5-steering", ("steering_mode",))
        paths = FILE.findall(files.output) if files is not None else []
        return cls(
            by_devlink={
                address: steering_mode(
                    capture.text("devlink-steering", source_of(address), address), address
                )
                for address in Sriov.parse(capture).pfs
            },
            by_file={netdev: read[path] for path, netdev in paths},
        )


def source_of(address: str) -> str:
    """Give the command that reads it by devlink."""
    return f"devlink -j dev param show pci/{address} name {NAME}"


def steering_mode(text: Observed[str], address: str) -> Observed[str]:
    """Read the value that is in force of what devlink printed as JSON."""
    said = json_of(text)
    if isinstance(said, Unreadable) and UNKNOWN in said.reason:
        return Absent(said.source, f"the driver has no parameter {NAME}")
    if not isinstance(said, Known):
        return said
    found: JsonObject = said.value if isinstance(said.value, dict) else {}
    for param in objects_in(object_in(found, "param"), f"pci/{address}"):
        if param.get("name") != NAME:
            continue
        for value in objects_in(param, "values"):
            mode = value.get("value")
            if value.get("cmode") == RUNTIME and isinstance(mode, str):
                return Known(mode, said.source)
        return Unreadable("devlink shows no value of it that is in force", said.source)
    return Absent(said.source, f"the driver has no parameter {NAME}")
