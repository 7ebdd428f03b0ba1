"""Records to a page. Pure: no file, no clock, and no verdict that the records do not hold."""

from collections.abc import Iterable, Sequence

from wirespeed.model.error import InputError
from wirespeed.model.finding import Diagnosis, Unanswered
from wirespeed.model.frame_mix import FrameMix
from wirespeed.model.trial import Bursts, End, Outcome, Record, Setup, Trial
from wirespeed.report.headline import headlines
from wirespeed.report.machine_section import machine_section
from wirespeed.report.notes import build_notes
from wirespeed.report.page import DutSection, Page, Result, Run, Unfinished
from wirespeed.report.result import build_result

FURTHER = ("line", "ladder", "burst", "soak", "reset", "recovery")
"""Purposes of trials that are no part of a search."""
Searches = dict[int, tuple[Trial, ...]]
"""The trials of each search by its number, in the order of the run."""


def build_page(records: Iterable[Record], answer: Diagnosis | Unanswered | None = None) -> Page:
    """Make the page of one run. Raises InputError when the records hold no setup.

    `answer` is what the doctor said of the machine, None for a run that did not ask it.
    """
    run = build_run(tuple(records), label="")
    return Page(
        title="Zero-loss throughput",
        headlines=headlines(run),
        runs=(run,),
        machine=None if answer is None else machine_section(run, answer),
    )


def build_run(records: Sequence[Record], label: str) -> Run:
    """One run's records, sorted by DUT and frame size, repeated searches by their number."""
    setups = [r for r in records if isinstance(r, Setup)]
    if not setups:
        raise InputError(
            "report.no_setup",
            where="trials.jsonl",
            found=f"{len(records)} records, none of kind `setup`",
            so="what the figures were measured on is not known",
            next="use the run folder of a measurement that was started by `wirespeed measure`",
        )
    setup = setups[0]
    outcomes = _outcomes(records)
    searches = _searches(records, outcomes)
    by_number = {r.number: r for r in records if isinstance(r, Trial)}
    names = dict.fromkeys(
        [*setup.duts, *(r.dut for r in records if isinstance(r, Trial | Outcome))]
    )
    closed = sorted(outcomes.values(), key=lambda o: _order(o.mix, o.search))
    open_trials = sorted(
        (trials for number, trials in searches.items() if number not in outcomes),
        key=lambda trials: _order(trials[0].mix, trials[0].search),
    )
    duts = tuple(
        DutSection(
            name=name,
            facts=tuple(setup.duts.get(name, {}).items()),
            results=tuple(
                _with_further(
                    build_result(
                        o,
                        tuple(t for t in searches.get(o.search, ()) if t.purpose not in FURTHER),
                        by_number,
                        setup.link_bps,
                    ),
                    records,
                )
                for o in closed
                if o.dut == name
            ),
            unfinished=tuple(
                Unfinished(mix=trials[0].mix, trials=trials)
                for trials in open_trials
                if trials[0].dut == name
            ),
        )
        for name in names
    )
    aborted = _why_aborted(records, len(outcomes))
    return Run(
        label=label,
        setup=setup,
        aborted=bool(aborted),
        notes=build_notes(setups, duts, aborted),
        duts=duts,
    )


def _with_further(result: Result, records: Sequence[Record]) -> Result:
    """Add what was measured after the search."""
    number = result.outcome.search
    trials = [r for r in records if isinstance(r, Trial) and r.search == number]
    bursts = [r for r in records if isinstance(r, Bursts) and r.search == number]
    return result.model_copy(
        update={
            "further": tuple(t for t in trials if t.purpose in FURTHER),
            "bursts": bursts[-1] if bursts else None,
        }
    )


def _outcomes(records: Sequence[Record]) -> dict[int, Outcome]:
    """Each search's outcome. Raises InputError when one search has two."""
    found: dict[int, Outcome] = {}
    for record in records:
        if isinstance(record, Outcome) and found.setdefault(record.search, record) is not record:
            raise _contradiction(record.search, "has two outcomes")
    return found


def _searches(records: Sequence[Record], outcomes: dict[int, Outcome]) -> Searches:
    """Each search's trials. Raises InputError when they are of another DUT or mix than the rest."""
    found: Searches = {}
    for record in records:
        if isinstance(record, Trial):
            trials = (*found.get(record.search, ()), record)
            subject = outcomes.get(record.search, trials[0])
            if (subject.dut, subject.mix) != (record.dut, record.mix):
                raise _contradiction(
                    record.search,
                    f"is about {subject.dut} at {subject.mix.label}, its trial {record.number} "
                    f"about {record.dut} at {record.mix.label}",
                )
            found[record.search] = trials
    return found


def _contradiction(search: int, found: str) -> InputError:
    return InputError(
        "report.search_contradicts_itself",
        where=f"trials.jsonl, search {search}",
        found=f"search {search} {found}",
        so="which trials a result is based on is not known",
        next="make one report per run folder; compare two runs as A and B",
    )


def _order(mix: FrameMix, search: int) -> tuple[bool, float, int]:
    """Smallest frames first, mixes last."""
    return len(mix.shares) > 1, mix.mean_frame_bytes, search


def _why_aborted(records: Sequence[Record], outcomes: int) -> str:
    """Say why this is less than a whole run; empty when it is one. A resumed run ends anew."""
    planned, end = 0, None
    for record in records:
        if isinstance(record, Setup):
            planned, end = record.planned, None
        elif isinstance(record, End):
            end = record
    came = f"{outcomes} of {planned} planned searches came to an outcome"
    if end is None:
        return f"it has no closing record, so it was killed or still goes on; {came}"
    if not end.completed:
        return f"{end.reason}; {came}"
    return came if outcomes < planned else ""
