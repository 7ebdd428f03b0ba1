"""Where the kernel modules of Mellanox cards come from: the kernel itself, or the vendor."""

from dataclasses import dataclass
from typing import ClassVar, Self

from wirespeed.model.capture import Capture
from wirespeed.model.fact import Fact
from wirespeed.model.observed import Observed, Unreadable


@dataclass(frozen=True, slots=True)
class LoadedModule:
    """One module that is loaded."""

    name: str
    version: Observed[str]
    """Absent in the kernel's own since 5.8 or so; the vendor's have one, `25.07-0.9.7`."""
    source_version: Observed[str]
    is_out_of_tree: Observed[bool]
    """The kernel marks it with O, whatever the vendor says."""


@dataclass(frozen=True, slots=True)
class DriverOrigin(Fact):
    """The modules of the mlx5 stack."""

    loaded: dict[str, LoadedModule]
    """By name; empty where there is no mlx5_core."""
    installed_file: Observed[str]
    """File that `modprobe mlx5_core` would load now."""
    installed_source_version: Observed[str]
    symbol_errors: Observed[tuple[str, ...]]
    """Lines of the kernel log about symbols that did not fit, of mlx modules; newest last."""

    script: ClassVar[str] = ""

    @classmethod
    def parse(cls, capture: Capture) -> Self:  # noqa: ARG003
        """Read /sys/module, modinfo and the kernel log."""
        why = Unreadable("not parsed", "modinfo mlx5_core")
        return cls({}, why, why, why)
