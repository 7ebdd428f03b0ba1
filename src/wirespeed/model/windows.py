"""What a windowed trial was made of: short windows, each drained before the next one starts."""

from typing import Annotated

from pydantic import Field

from wirespeed.model.frozen import Finite

Count = Annotated[int, Field(ge=0)]
Seconds = Annotated[float, Field(ge=0)]


class Windows(Finite):
    """The windows of one trial. Its counts are sums over the valid ones alone."""

    window_seconds: Annotated[float, Field(gt=0)]
    """Length of the shortest: windows get shorter where most are void."""
    valid: Count
    void: Count
    """Windows in which tester, DUT or machine was away or the tester failed: they do not count."""
    void_reasons: dict[str, Count]
    """Slug of the reason to the number of void windows that give it."""
    valid_seconds: Seconds
    seconds: Seconds
    """From the first to the last departure of each window, void ones too, and the drains."""
    drain_seconds: Seconds
    """Sum over the valid windows: from the last departure to the last frame that came back."""
    late_frames: Count
    """Frames that came back after their window, longer than a DUT that keeps up needs: its queue
    took them in and it was slower than the load. They are no loss, and the load did not pass."""
    void_offered_frames: Count
    void_missing_frames: Count
    """Missing in void windows. Never more than arrives while the DUT is kept from its core: a
    window that lost more counts."""

    @property
    def void_share(self) -> float:
        """Share of all windows that are void; 0 where there was none."""
        return self.void / (self.valid + self.void) if self.valid + self.void else 0.0

    def __str__(self) -> str:
        """`windowed: 1.00 s valid of 1.37 s, 41 windows, 3 void (tester.stalled_often 3)`."""
        said = f"windowed: {self.valid_seconds:.2f} s valid of {self.seconds:.2f} s, "
        said += f"{self.valid + self.void} windows"
        if not self.void:
            return said
        reasons = ", ".join(f"{slug} {count}" for slug, count in self.void_reasons.items())
        return f"{said}, {self.void} void ({reasons})"
