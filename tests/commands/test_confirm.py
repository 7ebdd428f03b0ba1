"""`confirm`, and `apply --try` where a host cannot take a run back by itself."""

from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from wirespeed.apply.planner import make_plan
from wirespeed.apply.run import open_run
from wirespeed.commands.confirm import confirm
from wirespeed.commands.status import status
from wirespeed.host.local import LocalRunner
from wirespeed.model.error import InputError
from wirespeed.model.journal import Begun, Ended
from wirespeed.model.observed import Known
from wirespeed.platforms.windows.control import WindowsControl
from wirespeed.runs.run_hosts import apply_plan
from wirespeed.steps.mtu import Mtu

PLAN = make_plan([("alpha", Mtu(netdev="eth0", mtu=9000), Known({"mtu": 1500}, "cat"))])


def call(command: object, *arguments: object) -> Result:
    return CliRunner().invoke(command, [str(a) for a in arguments], standalone_mode=False)  # type: ignore[arg-type]


def begun(folder: Path, *ends: str) -> None:
    with open_run(folder) as run:
        run.write(Begun(at="now", plan=PLAN, try_s=77))
        for end in ends:
            run.write(Ended(at="now", outcome=end))  # type: ignore[arg-type]


@pytest.mark.parametrize("ends", [(), ("applied",), ("undone",), ("unconfirmed", "applied")])
def test_what_does_not_wait_cannot_be_confirmed(tmp_path: Path, ends: tuple[str, ...]):
    begun(tmp_path / "run", *ends)
    error = call(confirm, tmp_path / "run").exception
    assert isinstance(error, InputError) and error.what == "try.nothing_waits"


def test_status_of_a_run_that_waits_says_what_happens(tmp_path: Path):
    begun(tmp_path / "run", "unconfirmed")
    said = call(status, tmp_path / "run")
    assert said.return_value == 1
    assert "unconfirmed: 0 of 1 steps are in place" in said.output
    assert "undoes it 77 s after its last step" in said.output


def test_a_host_that_has_no_such_timer_is_refused_before_anything_is_done(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    control = WindowsControl("alpha", LocalRunner())
    monkeypatch.setattr(control, "lock", lambda _: "boot")
    monkeypatch.setattr(control, "unlock", lambda _: None)
    with open_run(tmp_path / "run") as run, pytest.raises(InputError, match=r"try\.not_there"):
        apply_plan(run, PLAN, {"alpha": control}, try_s=60)
