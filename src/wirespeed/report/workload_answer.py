"""What is shown of a workload before and after a change, in sentences and as JSON. Pure."""

import json
from dataclasses import asdict

from wirespeed.measure.workload.pair import Pair, Verdict
from wirespeed.model.frozen import ascii_json
from wirespeed.report import format as fmt

NOT_ALONE = (
    "Both were measured one after the other: what else changed between them is in the figures too."
)


def figure(value: float) -> str:
    """Write a figure of the user's: six digits, and no more than it had."""
    text = fmt.significant(value, 6)
    return text.rstrip("0").rstrip(".") if "." in text else text


def direction(pair: Pair) -> str:
    """Say which way is good."""
    return "higher is better" if pair.after.workload.higher_is_better else "lower is better"


def difference(pair: Pair) -> str:
    """`+9.30 tok/s (+10.1 %) between the medians`."""
    if pair.difference is None:
        return "not known: one side has no trial that counts"
    percent = ""
    if pair.difference_percent is not None:
        percent = f" ({_signed(pair.difference_percent, 3)} %)"
    return f"{_signed(pair.difference, 4)} {pair.after.workload.unit}{percent} between the medians"


def spread_sentence(pair: Pair) -> str:
    """Say whether the difference is more than the spread, and how often chance alone does that."""
    before, after = pair.before.workload.label, pair.after.workload.label
    if pair.before_spread is None or pair.after_spread is None:
        return "a figure needs trials that count on both sides"
    if not pair.are_apart:
        return f"trials of {after} lie among those of {before}"
    side = "above" if pair.after_spread.least > pair.before_spread.most else "below"
    return (
        f"every trial of {after} is {side} every trial of {before}; "
        f"if the change did nothing, they are apart in 2 of {pair.orders:,} orders"
    )


def answer(pair: Pair) -> str:
    """Say whether it helped."""
    after = pair.after.workload.label
    if pair.verdict is Verdict.BETTER:
        return f"better: {after} is better, by more than the spread"
    if pair.verdict is Verdict.WORSE:
        return f"worse: {after} is worse, by more than the spread"
    if pair.verdict is Verdict.OVERLAP:
        return "no difference is shown: it is within the spread of the trials"
    return "cannot tell: too few trials to rule out chance; 4 of each are the fewest (-n 5)"


def notes(pair: Pair) -> tuple[str, ...]:
    """Give what a reader must know beside the figures."""
    found = []
    if pair.before.workload.argv != pair.after.workload.argv:
        found.append("The two commands are not the same.")
    if pair.before.workload.figure != pair.after.workload.figure:
        found.append("Their figures were found by different patterns.")
    for side in (pair.before, pair.after):
        failed = sum(trial.figure is None for trial in side.trials)
        if failed:
            label = side.workload.label
            found.append(f"{failed} of {len(side.trials)} trials of {label} failed; none count.")
    return (*found, NOT_ALONE)


def pair_json(pair: Pair) -> str:
    """Give one line; the trials are lines of their own, in both folders."""
    told = json.dumps(
        {
            "kind": "pair",
            "before": pair.before.workload.label,
            "after": pair.after.workload.label,
            "unit": pair.after.workload.unit,
            "higher_is_better": pair.after.workload.higher_is_better,
            "before_spread": asdict(pair.before_spread) if pair.before_spread else None,
            "after_spread": asdict(pair.after_spread) if pair.after_spread else None,
            "difference": pair.difference,
            "difference_percent": pair.difference_percent,
            "are_apart": pair.are_apart,
            "orders": pair.orders,
            "verdict": pair.verdict,
        }
    )
    return ascii_json(told)


def _signed(value: float, digits: int) -> str:
    text = fmt.significant(value, digits)
    return text if value <= 0 else f"+{text}"
