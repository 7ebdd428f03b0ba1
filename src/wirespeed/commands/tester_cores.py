"""`wirespeed measure tester-cores`: how many cores the tester needs for a line rate."""

from collections.abc import Iterator

import click

from wirespeed.commands.described import Described
from wirespeed.commands.quantities import FiniteRange
from wirespeed.model.units import MAX_FRAME_BYTES, MIN_FRAME_BYTES
from wirespeed.runs.tester_cores import TesterCycles, tester_cycles
from wirespeed.terminal import echo


@click.command(
    name="tester-cores",
    cls=Described,
    reads="nothing: it computes from measured cycles",
    changes="nothing",
    codes={0: "computed", 2: "bad input"},
)
@click.option("--frame-bytes", default=64, show_default=True,
              type=click.IntRange(MIN_FRAME_BYTES, MAX_FRAME_BYTES),
              help="Frame size, with FCS.")  # fmt: skip
@click.option("--driver-cycles", default=0.0, show_default=True, type=FiniteRange(min=0),
              help="TSC cycles that your card's driver takes to send and receive a frame."
              )  # fmt: skip
@click.option("--json", "as_json", is_flag=True, help="Print one line of JSON.")
def tester_cores(*, frame_bytes: int, driver_cycles: float, as_json: bool) -> int:
    """Work out how many cores the tester needs for 100, 200 and 400 Gb/s.

    wirespeed measures the CPU cycles that the tester needs on this machine to build, send and check
    a frame, over a ring in memory: five trials, some two seconds. The cycles of your card's driver
    are not included: add them with --driver-cycles.
    """
    found = tester_cycles(frame_bytes, driver_cycles)
    if as_json:
        echo(found.model_dump_json())
    else:
        for line in lines_of(found):
            echo(line)
    return 0


def lines_of(found: TesterCycles) -> Iterator[str]:
    """Give the calculation, a line for each line rate."""
    cycles = found.cycles_per_frame
    yield (
        f"{found.typical - found.driver_cycles:.1f} TSC cycles a frame of {found.frame_bytes} B "
        f"({min(cycles):.1f} to {max(cycles):.1f}), CPU {found.cpu}, {found.tsc_hz / 1e6:.0f} MHz"
    )
    if found.driver_cycles:
        yield f"{found.driver_cycles:.1f} more for the card's driver, as you say"
    yield f"{'line':<14}{'Mpps':>8}  cores = Mpps x cycles / MHz"
    for one in found.needed():
        product = one.pps * one.cycles_per_frame / found.tsc_hz
        yield f"{one.line:<14}{one.pps / 1e6:>8.1f}  {one.cores} ({product:.2f})"
    if not found.driver_cycles:
        yield "The card's driver is not included: add it with --driver-cycles."
