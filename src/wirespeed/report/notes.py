"""What a reader must know before the figures."""

from collections.abc import Sequence

from wirespeed.model.trial import TRIALS_ARE, Setup
from wirespeed.report import format as fmt
from wirespeed.report.page import DutSection

FULL_TRIAL_SECONDS = 60
"""RFC 2544 section 24: a trial lasts at least 60 seconds."""


def build_notes(
    setups: Sequence[Setup], duts: Sequence[DutSection], aborted: str
) -> tuple[str, ...]:
    """In order of weight; `aborted` says why the run is not whole, or is empty."""
    setup, notes = setups[0], []
    stopped = [(d.name, u) for d in duts for u in d.unfinished]
    if aborted:
        notes.append(f"This run was aborted: {aborted}.")
    if stopped:
        where = ", ".join(
            f"{name} at {fmt.frame(u.mix.label)} ({len(u.trials)} "
            f"{'trial' if len(u.trials) == 1 else 'trials'})"
            for name, u in stopped
        )
        notes.append(
            f"No result for: {where}. Their trials are listed; no throughput is claimed from them."
        )
    unmeasured = [d.name for d in duts if not d.results and not d.unfinished]
    if unmeasured:
        notes.append(f"Set up and never measured: {', '.join(unmeasured)}.")
    if setup.windowed:
        notes.append(
            f"Trials were {setup.settings[TRIALS_ARE]}: zero loss over the sum of "
            "short windows, without those in which the tester or the DUT did not have its core. "
            "That is not RFC 2544's throughput, whose trials are continuous."
        )
    if setup.confirm_seconds < FULL_TRIAL_SECONDS:
        notes.append(
            f"Trials were short: {fmt.seconds(setup.trial_seconds)} to search, "
            f"{fmt.seconds(setup.confirm_seconds)} to confirm. RFC 2544 asks for "
            f"{FULL_TRIAL_SECONDS} s; the same run with such trials would take about "
            f"{fmt.seconds(setup.full_method_seconds)}. Loss that is rarer than a trial is long "
            "was not looked for."
        )
    else:
        notes.append(
            f"Trials lasted {fmt.seconds(setup.trial_seconds)} to search and "
            f"{fmt.seconds(setup.confirm_seconds)} to confirm; the full method takes about "
            f"{fmt.seconds(setup.full_method_seconds)}."
        )
    if setup.link_bps is None:
        notes.append("The wire is virtual and has no line rate, so no figure is given in % of it.")
    if len(setups) > 1:
        changed = any(_conditions(s) != _conditions(setup) for s in setups[1:])
        notes.append(
            f"The run was resumed {len(setups) - 1} time(s)"
            + (", on a setup that had changed: the first is shown." if changed else ".")
        )
    return tuple(notes)


def _conditions(setup: Setup) -> Setup:
    """Leave the date out of a setup, to tell whether a resumed run met the same conditions."""
    return setup.model_copy(update={"started_at": ""})
