"""A run on disk is read wherever it was cut, and gone on with only if it is the same run."""

from pathlib import Path

import pytest
from described_bed import DescribedBed
from trial_builder import build_trial

from wirespeed.host.jsonl import JsonlWriter
from wirespeed.measure.bench.campaign import Campaign
from wirespeed.measure.bench.plan import Plan
from wirespeed.measure.bench.run_folder import TRIALS, merged, read_records, resumable
from wirespeed.model.error import InputError
from wirespeed.model.frame_mix import FrameMix
from wirespeed.model.trial import End, Outcome, Record, Setup, Started, Trial

PLAN = Plan(
    duts=("described",),
    mixes=(FrameMix.parse("64"),),
    flows=8,
    relative_width=0.1,
    trial_seconds=0.5,
    confirm_seconds=1.0,
)
SETTINGS = PLAN.settings(wire="described", bidirectional=False)


class Silent:
    """A listener that does not."""

    def __getattr__(self, _: str) -> object:
        return lambda *_: None


def setup(settings: dict[str, str] | None = None) -> Setup:
    return Setup(
        wirespeed="0",
        started_at="2026-01-01T00:00:00+00:00",
        machine={},
        duts={},
        tester={"lcores": "1"},
        settings=settings or SETTINGS,
        link_bps=None,
        full_method_seconds=1,
        trial_seconds=0.5,
        confirm_seconds=1,
        planned=1,
    )


def write(folder: Path, *records: Record) -> None:
    writer = JsonlWriter(folder / TRIALS)
    for record in records:
        writer.append(record.model_dump_json())
    writer.close()


def go_on(folder: Path) -> list[Outcome]:
    """Measure what is missing, as the command line does."""
    writer = JsonlWriter(folder / TRIALS)
    try:
        recorded = resumable(folder, SETTINGS, resume=True)
        if not recorded:
            writer.clear()
            writer.append(setup().model_dump_json())
        return Campaign(
            PLAN,
            lambda _: DescribedBed(),
            lambda record: writer.append(record.model_dump_json()),
            Silent(),  # type: ignore[arg-type]
            recorded,
        ).run()
    finally:
        writer.close()


def trials(folder: Path) -> list[dict[str, object]]:
    return [
        r.model_dump(exclude={"started_at"}) for r in read_records(folder) if isinstance(r, Trial)
    ]


def test_a_run_that_was_cut_at_any_byte_is_read_and_gone_on_with(tmp_path: Path):
    expected = [o.model_dump(exclude={"seconds"}) for o in go_on(tmp_path)]
    whole, all_trials = (tmp_path / TRIALS).read_bytes(), trials(tmp_path)
    lines = whole.split(b"\n")
    ends = [sum(len(line) + 1 for line in lines[:n]) for n in range(len(lines))]
    # Reading is tried at every byte, measuring around the end of each line and within it.
    for cut in range(len(whole)):
        (tmp_path / TRIALS).write_bytes(whole[:cut])
        kept = trials(tmp_path)
        assert kept == all_trials[: len(kept)]
        if any(abs(cut - end) < 2 for end in ends) or cut % 997 == 0:
            assert [o.model_dump(exclude={"seconds"}) for o in go_on(tmp_path)] == expected
            assert trials(tmp_path) == all_trials


def test_there_is_nothing_in_a_folder_without_a_run(tmp_path: Path):
    assert read_records(tmp_path) == []
    assert resumable(tmp_path, SETTINGS, resume=False) == []


@pytest.mark.parametrize("line", ["{", "", "[]", '{"kind":"verdict"}', '{"kind":"end"}', "\x00"])
def test_a_line_that_is_no_record_is_refused_by_its_number(tmp_path: Path, line: str):
    write(tmp_path, setup())
    with (tmp_path / TRIALS).open("a") as file:
        file.write(line + "\n")
    with pytest.raises(InputError) as error:
        read_records(tmp_path)
    assert error.value.what == "run.not_readable"
    assert error.value.where.endswith(f"{TRIALS}, line 2")


def test_a_run_is_not_mixed_with_another_unless_asked_to(tmp_path: Path):
    write(tmp_path, setup(), build_trial())
    with pytest.raises(InputError) as error:
        resumable(tmp_path, SETTINGS, resume=False)
    assert error.value.what == "run.exists"
    assert len(resumable(tmp_path, SETTINGS, resume=True)) == 2


def test_a_run_with_other_settings_is_not_gone_on_with(tmp_path: Path):
    write(tmp_path, setup(), build_trial())
    other = PLAN.model_copy(update={"flows": 9, "max_load_pps": 1000001.5})
    with pytest.raises(InputError) as error:
        resumable(tmp_path, other.settings(wire="described", bidirectional=False), resume=True)
    assert error.value.what == "run.differs"
    assert error.value.found == (
        "flows: 8 then, 9 now; highest load: what the tester can send then, 1000001.5 pps now"
    )


def test_a_run_that_measured_nothing_is_in_nobodys_way(tmp_path: Path):
    write(tmp_path, setup({"flows": "7"}), End(finished_at="", completed=False, reason="no"))
    assert resumable(tmp_path, SETTINGS, resume=False) == []


def test_what_was_found_out_about_a_dut_goes_into_the_setup(tmp_path: Path):
    started = Started(dut="described", details={"version": "2"}, tester={"DPDK": "22"})
    write(tmp_path, setup(), started, build_trial(), started)
    page = merged(read_records(tmp_path))
    assert [record.kind for record in page] == ["setup", "trial"]
    assert isinstance(page[0], Setup)
    assert page[0].duts == {"described": {"version": "2"}}
    assert page[0].tester == {"lcores": "1", "DPDK": "22"}
