"""The sentences of a page: the headline of each DUT."""

from wirespeed.report import format as fmt
from wirespeed.report.diagnosis_view import above_note
from wirespeed.report.page import Headline, MachineSection, Missing, Page


def figure(headline: Headline) -> str:
    """`14.2 Mpps`, or `not proven`."""
    if isinstance(headline.throughput, Missing):
        return headline.throughput.shown
    return f"{fmt.significant(headline.throughput.median_pps / 1e6, 3)} Mpps"


def condition(headline: Headline) -> str:
    """How the figure was proven, or why there is none."""
    spread = headline.throughput
    if isinstance(spread, Missing):
        return spread.reason
    proven = f"zero loss in {fmt.seconds(headline.confirmed_seconds)}"
    if spread.searches == 1:
        return proven
    return (
        f"{proven}; median of {spread.proven} of {spread.searches} searches, "
        f"{fmt.mpps(spread.lowest_pps)} to {fmt.mpps(spread.highest_pps)} Mpps"
    )


def sentence(headline: Headline) -> str:
    """Say the whole answer in one line."""
    run = f" (run {headline.run})" if headline.run else ""
    return (
        f"{headline.dut}{run}: {figure(headline)} at {fmt.frame(headline.frame_label)}, "
        f"{condition(headline)}, {limited(headline)}"
    )


IN_WORDS = {
    "DUT core busy": "Its processor core was busy all the time: that kept it from more.",
    "DUT core taken away": "The machine gave its core to others: on a quiet one it may do more.",
    "tester": "The tester could send no more: it may do more.",
    "line rate": "That is all that the line carries.",
    "wire": "Of more, frames were lost on the wire.",
    "loss floor": "Of any load it loses a share.",
    "cannot tell": "No counter shows what kept it from more.",
}
"""What limited a rate, for whoever reads such a page for the first time."""


def in_words(headline: Headline) -> str:
    """Give the answer to whoever reads such a page for the first time."""
    run = f" (run {headline.run})" if headline.run else ""
    spread = headline.throughput
    frames = frames_in_words(headline.frame_label)
    if isinstance(spread, Missing):
        return (
            f"How many {frames} a second {headline.dut}{run} forwards without losing one "
            f"is not proven: {spread.reason}."
        )
    millions = fmt.significant(spread.median_pps / 1e6, 3)
    return (
        f"{headline.dut}{run} forwards {millions} million {frames} a second without losing one. "
        f"{IN_WORDS.get(headline.limited_by, '')}"
    ).rstrip()


def frames_in_words(label: str) -> str:
    """`frames of 64 bytes`; of a mix its name."""
    return f"frames of {label} bytes" if label.isdigit() else f"frames of {fmt.frame(label)}"


def notes(page: Page) -> tuple[tuple[str, str], ...]:
    """Gather every run's notes once, each with the runs that it holds for: `A and B`."""
    held: dict[str, list[str]] = {}
    for run in page.runs:
        for note in run.notes:
            held.setdefault(note, []).append(run.label)
    return tuple((note, " and ".join(filter(None, labels))) for note, labels in held.items())


def limited(headline: Headline) -> str:
    """Say what limited it, also where that is not known."""
    if headline.limited_by == "cannot tell":
        return "what limited it: cannot tell"
    return f"limited by {headline.limited_by}"


def machine(section: MachineSection) -> str:
    """What the doctor found of the machine that bears upon the run."""
    asked = "wirespeed doctor --for dpdk, asked of this machine before the run:"
    above = above_note(section.findings)
    if not above:
        return f"{asked} nothing found that bears upon these measurements."
    return f"{asked} {len(above)} found that may bear upon these measurements."
