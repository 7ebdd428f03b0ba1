"""A trial's length is refused before the search, where the tester would refuse it after."""

from typing import Any

import pytest
from pydantic import ValidationError

from wirespeed.measure.bench.plan import Plan
from wirespeed.model.frame_mix import FrameMix


@pytest.mark.parametrize("field", ["confirm_seconds", "trial_seconds"])
def test_a_trial_that_the_tester_does_not_take_is_no_plan(field: str) -> None:
    plan: dict[str, Any] = {"duts": ("external",), "mixes": (FrameMix.parse("64"),)}
    plan["confirm_seconds"] = 3600
    assert Plan(**plan).confirm_seconds == 3600
    for seconds in (0.0009, 3601, 4000):
        with pytest.raises(ValidationError, match=rf"(?s){field}\n.*(greater|less) than or equal"):
            Plan(**{**plan, field: seconds})
