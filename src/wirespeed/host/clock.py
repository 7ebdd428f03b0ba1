"""The one place that reads the clock, and the one way to bound a wait."""

import time
from datetime import UTC, datetime


def monotonic_ns() -> int:
    """Nanoseconds of a clock that never goes back; its zero means nothing."""
    return time.monotonic_ns()


def monotonic_s() -> float:
    """Seconds of the same clock."""
    return time.monotonic()


def utc_now() -> str:
    """Wall-clock time, UTC, ISO 8601 to the millisecond."""
    return datetime.now(UTC).isoformat(timespec="milliseconds")


def sleep_s(seconds: float) -> None:
    """Do nothing for `seconds`; a negative time is none."""
    time.sleep(max(0.0, seconds))


class Deadline:
    """A moment after which a wait must end with a verdict."""

    def __init__(self, timeout_s: float) -> None:
        self.timeout_s = timeout_s
        self._at = time.monotonic() + timeout_s

    @property
    def remaining_s(self) -> float:
        """Seconds left; never below 0."""
        return max(0.0, self._at - time.monotonic())

    @property
    def expired(self) -> bool:
        """Whether the time is up."""
        return time.monotonic() >= self._at
