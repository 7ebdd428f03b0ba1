"""`--far-end` of the doctor: the switch whose port a netdev's cable is in."""

from collections.abc import Sequence

from wirespeed.host.capture_request import Captured
from wirespeed.platforms.switch.far_end import far_end_place, with_far_end
from wirespeed.runs.captures import collect


def with_far_ends(text: str, far_ends: Sequence[str], seconds: int = 0) -> str:
    """Add to a host's capture what its switches say; what is counted twice, `seconds` apart.

    Raises InputError `far_end.invalid`, and what a switch cannot be reached for.
    """
    for far_end in far_ends:
        (captured,) = collect([far_end_place(far_end)], interval_s=seconds)
        if not isinstance(captured, Captured):
            raise captured.error
        text = with_far_end(text, captured.text)
    return text
