"""Time by the measure of this machine at this moment: a plain loop takes twice as long on a slow
day, and so may the work."""

from time import process_time

COUNT = 2_000_000


def loop_s() -> float:
    """Give the CPU time of a loop that adds two million numbers: some 0.1 s."""
    started, total = process_time(), 0
    for number in range(COUNT):
        total += number
    return process_time() - started


def is_quick(seconds: float, *, loops: float) -> bool:
    """Whether work of so many seconds of CPU time took at most as long as so many loops."""
    return seconds < 0.5 or seconds < loops * loop_s()
