"""How a run left things: by its last reading, and by the later of two stages."""

import pytest
from described_host import Put

from wirespeed import catalog
from wirespeed.apply.drift import applied_states, drifted
from wirespeed.apply.planner import make_plan
from wirespeed.model.journal import Begun, Entry, Result, Stood, Undone, Verified
from wirespeed.model.observed import Known, Unreadable
from wirespeed.model.plan import Plan

A, B, C = (Put(key=key, value=1) for key in "abc")


@pytest.fixture(autouse=True)
def _only_put(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(catalog, "step_types", lambda: {"put": Put})


def plan_of(*rows: tuple[Put, int]) -> Plan:
    return make_plan(("alpha", step, Known({"value": now}, "get")) for step, now in rows)


def done(number: int, value: int) -> Result:
    return Result(number=number, verdict=Verified.VERIFIED, now={"value": value})


def test_what_a_later_step_of_ours_altered_is_no_drift():
    plan = plan_of((A, 0), (B, 0))
    entries: list[Entry] = [Begun(at="now", plan=plan), done(0, 1), done(1, 1)]
    assert applied_states(plan, entries) == {0: {"value": 1}, 1: {"value": 1}}
    entries.append(Stood(states={0: {"value": 5}, 1: {"value": 1}}))
    left = applied_states(plan, entries)
    assert left == {0: {"value": 5}, 1: {"value": 1}}
    now = {0: Known({"value": 5}, "get"), 1: Known({"value": 1}, "get")}
    assert drifted(plan, left, now) == []
    [found] = drifted(plan, left, now | {0: Known({"value": 1}, "get")})
    assert (found.number, found.left) == (0, {"value": 5})


def test_what_was_so_already_is_compared_as_well():
    plan = plan_of((A, 1), (B, 0))
    entries: list[Entry] = [Begun(at="now", plan=plan), done(1, 1)]
    assert applied_states(plan, entries) == {0: {"value": 1}, 1: {"value": 1}}


def test_what_was_put_back_or_never_begun_is_not():
    plan = plan_of((A, 0), (B, 0), (C, 0))
    back = Undone(number=0, verdict=Verified.VERIFIED, now={"value": 0})
    entries: list[Entry] = [Begun(at="now", plan=plan), done(0, 1), done(1, 1), back]
    assert applied_states(plan, entries) == {1: {"value": 1}}


def test_of_a_step_in_two_stages_the_later_counts():
    plan = plan_of((A, 0), (A, 1))
    assert list(applied_states(plan, [Begun(at="now", plan=plan), done(0, 1)])) == [1]


def test_what_nobody_can_read_has_drifted_for_all_that_is_known():
    plan = plan_of((A, 1))
    [found] = drifted(plan, {0: {"value": 1}}, {0: Unreadable("denied", "get")})
    assert isinstance(found.now, Unreadable)
