"""What the page of a measurement says: rates first, then what they rest on. Pure."""

from collections.abc import Iterator

from markupsafe import Markup

from wirespeed.model.finding import Diagnosis
from wirespeed.report import format as fmt
from wirespeed.report import words
from wirespeed.report.charts.latency import latency as draw_latency
from wirespeed.report.charts.percentiles import percentiles
from wirespeed.report.charts.search import search as draw_search
from wirespeed.report.charts.throughput import compared as draw_compared
from wirespeed.report.charts.throughput import throughput as draw_throughput
from wirespeed.report.diagnosis_blocks import findings_blocks, undetermined_blocks, warning_blocks
from wirespeed.report.document import (
    Block,
    Document,
    Drawing,
    Folded,
    Gallery,
    Heading,
    Items,
    Section,
    Text,
    Tile,
)
from wirespeed.report.grid import Grid
from wirespeed.report.page import (
    Comparison,
    DutSection,
    Headline,
    MachineSection,
    Page,
    Result,
    Run,
)
from wirespeed.report.tables.comparison import comparison_grids
from wirespeed.report.tables.further import further_grids
from wirespeed.report.tables.latency import latency
from wirespeed.report.tables.ledger import ledger
from wirespeed.report.tables.rows import DRAWN_REPEATS, chosen, named, unfinished_name
from wirespeed.report.tables.search import search
from wirespeed.report.tables.setup import setup_grids
from wirespeed.report.tables.throughput import limits, partial_drop, throughput
from wirespeed.report.tables.trials import trials_grid

UNFOLDED_CHARTS = 14
"""Two DUTs at the seven sizes of RFC 2544. Searches that are more than this are folded away."""
SEARCHES = (
    "The load of each trial in the order it was tried, and the part of its frames that it lost. A "
    "dot lost nothing, a ring lost frames, a square confirms, a cross is an invalid trial: the "
    "tester failed, not the DUT, and the trial was repeated. The dashed line is the throughput. Of "
    f"a size that was searched more than {DRAWN_REPEATS} times the median search is drawn."
)


def page_document(page: Page) -> Document:
    """Make the page of one run, or of two with their ratios."""
    is_aborted = any(run.aborted for run in page.runs)
    title = page.title + (" (aborted)" if is_aborted else "")
    in_words = tuple(Text(words.in_words(one)) for one in page.headlines)
    sections = [
        *(_results(run) for run in page.runs),
        Section("searches", "Searches", tuple(_searches(page))),
        Section("setup", "Setup and settings", tuple(_setup(page))),
        Section("trials", "Every trial", tuple(_trials(page))),
    ]
    if page.machine is not None:
        machine = Section(
            "machine",
            "What bounds these measurements here",
            tuple(_machine(page.machine)),
            short="What bounds them",
        )
        sections.insert(len(page.runs), machine)
    if page.comparison is not None:
        sections.insert(0, Section("ratios", "A and B", tuple(_ratios(page.comparison))))
    return Document(
        title=title,
        tab=" · ".join([title, *map(words.sentence, page.headlines)]),
        meta=tuple(map(_meta, page.runs)),
        verdict=Text("Aborted", "alarm") if is_aborted else None,
        lead=in_words or (Text("No search came to a result."),),
        tiles=tuple(map(_tile, page.headlines)),
        warnings=tuple(
            f"{labels}: {note}" if labels else note for note, labels in words.notes(page)
        ),
        sections=tuple(section for section in sections if section.blocks),
        footer=_footer(page),
    )


def bench_sections(page: Page) -> tuple[Section, ...]:
    """Give what a page of another kind says of a bench that it holds."""
    found = (
        *(_results(run) for run in page.runs),
        Section("searches", "Searches", tuple(_searches(page))),
        Section("setup", "Setup and settings", tuple(_setup(page))),
        Section("trials", "Every trial", tuple(_trials(page))),
    )
    return tuple(section for section in found if section.blocks)


def _meta(run: Run) -> str:
    setup = run.setup
    # Its CPUs are a number with a list: that they are CPUs is not seen.
    machine = [
        f"{label} {value}" if label == "usable CPUs" else value
        for label, value in list(setup.machine.items())[:3]
    ]
    said = " · ".join([setup.started_at, *machine, f"wirespeed {setup.wirespeed}"])
    return f"{run.label}: {said}" if run.label else said


def _tile(headline: Headline) -> Tile:
    return Tile(
        headline.dut,
        words.figure(headline),
        (words.condition(headline), words.limited(headline)),
        "other" if headline.run == "B" else "plain",
        beside_title=f"run {headline.run}" if headline.run else "",
        beside_figure=f"at {fmt.frame(headline.frame_label)}",
    )


def _footer(page: Page) -> str:
    windowed = any(run.setup.windowed for run in page.runs)
    return (
        f"Throughput is zero loss only{'' if windowed else ' (RFC 2544 section 26.1)'}. Every "
        "figure on this page follows from the run's trials.jsonl"
        f"{' and findings.json' if page.machine is not None else ''}."
    )


def _ratios(comparison: Comparison) -> Iterator[Block]:
    ratios, *conditions = comparison_grids(comparison)
    yield ratios
    for dut in comparison.duts:
        caption = f"{dut}: throughput per frame size in runs A and B."
        yield from _drawn(draw_compared(comparison, dut), caption)
    yield from conditions


def _results(run: Run) -> Section:
    anchor = f"results-{run.label.lower()}" if run.label else "results"
    title = f"Run {run.label}: Results" if run.label else "Results"
    return Section(anchor, title, tuple(_of_run(run)))


def _of_run(run: Run) -> Iterator[Block]:
    line = ", beside line rate."
    if run.setup.link_bps is None:
        line = ". There is no line rate to hold it against: the wire is virtual."
    yield from _drawn(draw_throughput(run), f"Throughput per frame size{line}")
    for dut in run.duts:
        yield Heading(dut.name)
        yield from _of_dut(dut) if dut.results else [Text("No result.")]


def _of_dut(dut: DutSection) -> Iterator[Block]:
    answers = (throughput(dut), limits(dut), partial_drop(dut), latency(dut))
    yield from (grid for grid in answers if grid is not None)
    axis = "Each mark is a percentile; the axis is logarithmic."
    yield from _drawn(draw_latency(dut), f"{dut.name}: latency at throughput. {axis}")
    yield from further_grids(dut)
    for name, result in named(dut):
        yield from _further(name, result)
    yield from (ledger(dut), search(dut))


def _further(name: str, result: Result) -> Iterator[Block]:
    """Draw latency by load, and loads, losses and latency over time."""
    proven = result.outcome.throughput_pps or 1.0
    rungs = [t for t in result.further if t.purpose == "ladder"]
    soaked = [t for t in result.further if t.purpose == "soak"]
    by_load = [(fmt.pct(100 * t.intended_load_pps / proven), t) for t in rungs]
    over_time = [(str(number), t) for number, t in enumerate(soaked, 1)]
    for trials, steps, axis, caption in (
        (rungs, by_load, "% of throughput", f"{name}: latency by load"),
        (soaked, over_time, "trial of the soak", f"{name}: latency over the soak"),
    ):
        yield from _drawn(percentiles(caption, axis, steps), f"{caption}. The axis is logarithmic.")
        yield from _drawn(draw_search(name, trials, None), f"{name}: loads and losses of these.")


def _machine(machine: MachineSection) -> Iterator[Block]:
    yield Text(machine.about)
    if machine.limits:
        yield Text("What the results themselves say limited them:")
        yield Items(tuple(map(Text, machine.limits)))
    answer = machine.answer
    if not isinstance(answer, Diagnosis):
        yield Text(f"The doctor gave no answer: {answer.what}, {answer.found}")
        return
    frame_bytes = answer.question.frame_bytes
    yield Text(words.machine(machine))
    yield from findings_blocks(machine.findings, frame_bytes)
    yield from warning_blocks(answer)
    yield from undetermined_blocks(answer)
    if machine.aside:
        yield Folded(
            "Found of ports that these measurements did not use",
            str(len(machine.aside)),
            tuple(findings_blocks(machine.aside, frame_bytes)),
        )


def _searches(page: Page) -> Iterator[Block]:
    """Draw every search that has trials, in the order of the page; of many repeats the median."""
    drawn = tuple(drawing for run in page.runs for dut in run.duts for drawing in _of(run, dut))
    if not drawn:
        return
    gallery = Gallery(SEARCHES, drawn)
    is_long = len(drawn) > UNFOLDED_CHARTS
    yield Folded(f"{len(drawn)} searches", "", (gallery,)) if is_long else gallery


def _of(run: Run, dut: DutSection) -> Iterator[Drawing]:
    for name, result in chosen(dut):
        svg = draw_search(name, result.trials, result.throughput_pps)
        yield from _drawn(svg, _before(run) + name)
    for left in dut.unfinished:
        name = unfinished_name(dut, left)
        yield from _drawn(draw_search(name, left.trials, None), _before(run) + name)


def _setup(page: Page) -> Iterator[Block]:
    for run in page.runs:
        if run.label:
            yield Heading(f"Run {run.label}")
        yield from setup_grids(run)


def _trials(page: Page) -> Iterator[Block]:
    for run in page.runs:
        for dut in run.duts:
            for name, result in named(dut):
                count = len(result.trials)
                outcome = result.outcome
                trials = f"{count} {'trial' if count == 1 else 'trials'}"
                aside = f"{outcome.method}, {trials}, {outcome.invalid_trials} invalid"
                yield Folded(_before(run) + name, aside, (trials_grid(name, result.trials),))
            for left in dut.unfinished:
                name = f"{dut.name}, {fmt.frame(left.mix.label)}"
                grid: Grid = trials_grid(unfinished_name(dut, left), left.trials)
                yield Folded(_before(run) + name, "not finished", (grid,), is_open=True)


def _before(run: Run) -> str:
    return f"Run {run.label}, " if run.label else ""


def _drawn(svg: Markup, caption: str) -> Iterator[Drawing]:
    """Give a drawing, or nothing where there was nothing to draw."""
    if svg:
        yield Drawing(svg, caption)
