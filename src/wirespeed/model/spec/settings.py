"""What a spec wants of ports, and of a Windows, besides networks; the rest stays as it is."""

from enum import StrEnum
from typing import Annotated, Literal

from pydantic import Field, StrictBool, StrictInt

from wirespeed.model.frozen import Frozen


class TuningSpec(Frozen):
    """Settings of every port."""

    rings: Literal["largest"] | None = None
    """As many descriptors as the card has room for, both ways."""
    channels: Annotated[StrictInt, Field(ge=1, le=4096)] | None = None
    """Combined ones."""
    pause: StrictBool | None = None
    """Whether ports obey and send pause frames."""


class WslNetworking(StrEnum):
    """How WSL is joined to the network."""

    MIRRORED = "mirrored"
    """It has the adapters of Windows."""
    BRIDGED = "bridged"
    """It has the adapter of one switch alone: faster, and without LAN and internet on a cable
    between two machines. Deprecated by its makers."""


class WslSpec(Frozen):
    """Of the approach wsl2."""

    networking: WslNetworking = WslNetworking.MIRRORED
    switch: Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9 _.-]{0,63}$")] = (
        "wirespeed-external"
    )
    """External switch on the card; one that is there already is taken, whatever its name."""
