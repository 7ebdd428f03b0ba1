"""A trial's length is refused before the search, where the tester would refuse it after."""

from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from pydantic import ValidationError

from wirespeed.commands.prove import prove
from wirespeed.measure.bench.plan import Plan
from wirespeed.model.error import InputError
from wirespeed.model.frame_mix import FrameMix
from wirespeed.runs.hosts_of_spec import read_spec


@pytest.mark.parametrize("field", ["confirm_seconds", "trial_seconds"])
def test_a_trial_that_the_tester_does_not_take_is_no_plan(field: str) -> None:
    plan: dict[str, Any] = {"duts": ("external",), "mixes": (FrameMix.parse("64"),)}
    plan["confirm_seconds"] = 3600
    assert Plan(**plan).confirm_seconds == 3600
    for seconds in (0.0009, 3601, 4000):
        with pytest.raises(ValidationError, match=rf"(?s){field}\n.*(greater|less) than or equal"):
            Plan(**{**plan, field: seconds})


SPEC = """\
hosts:
  alpha: {reach: ssh://root@alpha, ports: ["0000:03:00.0"]}
approach: none
measure:
  rfc2544: {seconds: 4000}
"""


def test_a_spec_with_such_a_trial_is_read_for_an_undo_and_not_proven(tmp_path: Path) -> None:
    """A journal of an older release may hold one."""
    spec = tmp_path / "spec.yaml"
    spec.write_text(SPEC)
    assert read_spec(spec).measure.rfc2544.seconds == 4000
    result = CliRunner().invoke(prove, [str(spec), "--yes"])
    assert isinstance(result.exception, InputError)
    assert result.exception.what == "spec.trial_seconds"
