"""The frame sizes that a trial sends: one, or several in their weights."""

from typing import Annotated

from pydantic import Field

from wirespeed.model.frozen import Finite
from wirespeed.model.units import MAX_FRAME_BYTES, MIN_FRAME_BYTES, wire_bytes


class FrameShare(Finite):
    """One frame size of a mix; `weight` frames of it in every round of the mix."""

    frame_bytes: Annotated[int, Field(ge=MIN_FRAME_BYTES, le=MAX_FRAME_BYTES)]
    weight: Annotated[int, Field(ge=1, le=64)] = 1


class FrameMix(Finite):
    """The frame sizes of a trial: one size, or an IMIX."""

    shares: Annotated[tuple[FrameShare, ...], Field(min_length=1, max_length=16)]

    @classmethod
    def parse(cls, label: str) -> "FrameMix":
        """Read what `label` gives: `64`, or `64x7+594x4+1518x1`. Raises ValueError."""
        shares = []
        for part in label.split("+"):
            frame_bytes, _, weight = part.partition("x")
            shares.append(FrameShare(frame_bytes=int(frame_bytes), weight=int(weight or 1)))
        return cls(shares=tuple(shares))

    @property
    def label(self) -> str:
        """`64` for one size; `64x7+594x4+1518x1` for a mix."""
        if len(self.shares) == 1:
            return str(self.shares[0].frame_bytes)
        return "+".join(f"{s.frame_bytes}x{s.weight}" for s in self.shares)

    @property
    def mean_frame_bytes(self) -> float:
        """Mean frame size over one round of the mix, with FCS."""
        frames = sum(s.weight for s in self.shares)
        return sum(s.frame_bytes * s.weight for s in self.shares) / frames

    @property
    def mean_wire_bytes(self) -> float:
        """Mean wire bytes of a frame over one round of the mix, with FCS, preamble and gap."""
        frames = sum(s.weight for s in self.shares)
        return sum(wire_bytes(s.frame_bytes) * s.weight for s in self.shares) / frames
