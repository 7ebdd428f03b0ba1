"""Whatever stands in a run's trials.jsonl, `report` makes its page or names the line."""

import json
from functools import reduce
from operator import getitem
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from wirespeed.measure.bench.run_folder import TRIALS
from wirespeed.model.error import InputError
from wirespeed.runs.run_pages import write_reports

from .records import end, mix, outcome, setup, trial

RUN = [
    json.loads(record.model_dump_json())
    for record in (
        setup(duts=("testpmd macswap",), link_bps=10**10),
        trial(1, load_pps=2e6, missing=7),
        trial(2, load_pps=1e6, purpose="confirm"),
        outcome(frames=mix(64), confirmed_trial=2, ledger_trial=1),
        end(),
    )
]
ABSURD = [
    float("inf"), float("-inf"), float("nan"), 0, -1, 1, 10**15, 10**18, 2**64, 10**400, -(10**400),
    1e308, -1e308, 1e-308, 5e-324, 1e18, 0.5, "inf", None, True, [], {}, "",
]  # fmt: skip


def places(value: Any, way: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """The way to every leaf."""
    if isinstance(value, dict):
        return [place for key, one in value.items() for place in places(one, (*way, key))]
    if isinstance(value, list):
        return [place for n, one in enumerate(value) for place in places(one, (*way, n))]
    return [way]


PLACES = places(RUN)
NUMBERS = [way for way in PLACES if type(reduce(getitem, way, RUN)) in (int, float)]


def written(folder: Path, way: tuple[Any, ...], value: Any) -> None:
    run = json.loads(json.dumps(RUN))
    at = run
    for key in way[:-1]:
        at = at[key]
    at[way[-1]] = value
    lines = "".join(f"{json.dumps(record)}\n" for record in run)
    (folder / TRIALS).write_text(lines)


def test_the_run_itself_has_its_page(tmp_path: Path):
    written(tmp_path, (0, "kind"), RUN[0]["kind"])
    write_reports(tmp_path)
    assert "testpmd macswap" in (tmp_path / "report.md").read_text()


@pytest.mark.parametrize("turn", range(3))
def test_an_absurd_number_is_shown_or_its_line_is_named(turn: int, tmp_path: Path):
    for number, way in enumerate(NUMBERS):
        value = ABSURD[(number + turn * 7) % len(ABSURD)]
        written(tmp_path, way, value)
        try:
            write_reports(tmp_path)
        except InputError as error:
            assert error.what == "run.not_readable", way
            assert f"line {way[0] + 1}" in error.where
        except Exception as error:
            raise AssertionError(f"{way} = {value!r}: {error!r}") from error


def test_infinity_is_never_taken(tmp_path: Path):
    written(tmp_path, (1, "intended_load_pps"), float("inf"))
    with pytest.raises(InputError) as caught:
        write_reports(tmp_path)
    assert caught.value.what == "run.not_readable"


def test_a_link_of_no_speed_and_an_infinite_duration_are_refused(tmp_path: Path):
    for way, value in (((0, "link_bps"), 0), ((0, "full_method_seconds"), "inf")):
        written(tmp_path, way, value)
        with pytest.raises(InputError) as caught:
            write_reports(tmp_path)
        assert caught.value.what == "run.not_readable"


SAME_FOLDER = [HealthCheck.function_scoped_fixture]
ANY = st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=30))


@settings(max_examples=30, deadline=None, suppress_health_check=SAME_FOLDER)
@given(st.sampled_from(PLACES), ANY)
def test_any_value_is_shown_or_its_line_is_named(tmp_path: Path, way: tuple[Any, ...], value: Any):
    written(tmp_path, way, value)
    try:
        write_reports(tmp_path)
    except InputError as error:
        assert error.what == "run.not_readable"
