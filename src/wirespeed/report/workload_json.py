"""The comparison of two labels as a JSON line. Pure."""

import json
from dataclasses import asdict

from wirespeed.measure.workload.pair import Pair
from wirespeed.model.frozen import ascii_json


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
