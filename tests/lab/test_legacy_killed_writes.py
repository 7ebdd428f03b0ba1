"""A controller that is killed at lines of its journal: the next one finishes, or takes back.

With WIRESPEED_KILLS=1000, at each of them: 11 minutes.
"""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from namespace_story import (
    PORTS,
    SMALL,
    assert_as_before,
    assert_start_or_goal_where_killed,
    standing,
    written,
)

from wirespeed.lab.machines import Machines

pytestmark = [pytest.mark.machines, pytest.mark.timeout(900)]


@pytest.fixture(scope="module")
def lab() -> Iterator[Machines]:
    with Machines(name=f"test-{os.getpid()}-writes") as lab:
        yield lab


@pytest.mark.rare
@pytest.mark.timeout(3600)
def test_legacy_apply_killed_at_journal_writes_ends_in_start_or_goal(lab: Machines, tmp_path: Path):
    """One port and one guest; MTUs as found, for each change resets the port: time is dear."""
    spec = written(lab, tmp_path / "spec.yaml", SMALL, {"alpha": PORTS[:1]})
    before = standing(lab)
    assert_start_or_goal_where_killed(spec, tmp_path, usual=12)
    assert_as_before(lab, before)
