"""The rest of a run is guarded as its plan was: what came to own a port meanwhile is seen."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import ClassVar, Literal

import pytest
from click.testing import CliRunner, Result
from described_host import Put
from rebooting_host import RebootingHost, dies_at, use_hosts, write_spec

from wirespeed import catalog
from wirespeed.approaches.traits import RequestedStep
from wirespeed.commands.apply import apply
from wirespeed.commands.persist import persist
from wirespeed.commands.undo import undo
from wirespeed.facts.lockdown import PATH
from wirespeed.model.capture import Capture, Section
from wirespeed.model.error import InputError, LeftChangedError
from wirespeed.model.observed import Observed
from wirespeed.model.step import State, Step
from wirespeed.runs import persist_run

PORT = "0000:03:00.0"
STEPS = 40
OWNED = Section("port-owners", "", f"operator {PORT} no\n", "", 0)
LOCKED = Section("lockdown", "", f"{PATH}:none [integrity] confidentiality\n", "", 0)


class PutRegister(Put):
    """It writes a card past its driver."""

    writes_card: ClassVar[bool] = True
    step: Literal["put_register"] = "put_register"  # type: ignore[assignment]


class GuardedHost(RebootingHost):
    """It says of itself what stands in `sections`."""

    sections: Sequence[Section] = ()

    def capture(
        self, collector: str, steps: Sequence[Step]
    ) -> tuple[Capture, list[Observed[State]]]:
        super().capture(collector, steps)
        return Capture(self.sections, complete=True), self.read(steps)


@pytest.fixture
def spec(tmp_path: Path) -> Path:
    write_spec(tmp_path / "spec.yaml", "alpha")
    return tmp_path / "spec.yaml"


@pytest.fixture
def host(monkeypatch: pytest.MonkeyPatch) -> GuardedHost:
    host = GuardedHost({f"file{number}": 0 for number in range(STEPS)})
    wanted = [RequestedStep(PutRegister(key=key, value=1)) for key in host.values]
    use_hosts(monkeypatch, {"alpha": host}, wanted)
    monkeypatch.setattr(catalog, "step_types", lambda: {"put_register": PutRegister})
    return host


def call(command: object, *arguments: object) -> Result:
    return CliRunner().invoke(command, [str(a) for a in arguments], standalone_mode=False)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("section", "why"), [(OWNED, "plan.port_of_operator"), (LOCKED, "plan.locked_down")]
)
def test_a_resumed_guard_refuses_what_a_new_plan_is_refused_for(
    spec: Path, host: GuardedHost, section: Section, why: str
):
    host.sections = (section,)
    error = call(apply, spec, "--yes").exception
    assert isinstance(error, InputError) and error.what == why
    assert set(host.values.values()) == {0}

    host.sections = ()
    assert call(apply, spec, "--yes", "--until", "5").return_value == 0
    assert sum(host.values.values()) == 5

    host.sections = (section,)
    host.ran = []
    error = call(apply, spec, "--yes").exception
    assert isinstance(error, LeftChangedError), "steps of the run are in place: exit code 3"
    assert error.what == "run.interrupted" and error.found.startswith(why)
    assert "5 of 40 steps are in place" in error.so
    assert (host.ran, sum(host.values.values())) == ([], 5)

    host.sections = ()
    assert call(apply, spec, "--yes").return_value == 0
    assert sum(host.values.values()) == STEPS


def test_a_resumed_guard_does_not_stand_in_the_way_back(spec: Path, host: GuardedHost):
    assert call(apply, spec, "--yes", "--until", "5").return_value == 0
    host.sections = (OWNED, LOCKED)
    assert call(undo, spec).return_value == 0
    assert sum(host.values.values()) == 0


@pytest.mark.parametrize(
    ("section", "why"), [(OWNED, "plan.port_of_operator"), (LOCKED, "plan.locked_down")]
)
def test_a_resumed_guard_is_asked_of_what_each_boot_would_do_again(
    spec: Path, host: GuardedHost, monkeypatch: pytest.MonkeyPatch, section: Section, why: str
):
    @contextmanager
    def controls_of(_: object) -> Iterator[dict[str, GuardedHost]]:
        yield {"alpha": host}

    files = ("kept.script", "kept.unit")
    host.values |= dict.fromkeys(files, 0)
    steps = [PutRegister(key=key, value=1) for key in files]
    monkeypatch.setattr(persist_run, "controls_of", controls_of)
    monkeypatch.setattr(persist_run, "persist_steps", lambda *_: steps)
    assert call(apply, spec, "--yes").return_value == 0

    def refused() -> bool:
        host.sections, before = (section,), dict(host.values)
        error = call(persist, spec, "--yes").exception
        host.sections = ()
        return isinstance(error, InputError) and error.what == why and host.values == before

    assert refused(), "a new one"
    with dies_at(monkeypatch, 3, written=False):
        CliRunner().invoke(persist, [str(spec), "--yes"], standalone_mode=False)
        raise AssertionError("it was to die")
    assert host.values["kept.script"] == 1 and host.values["kept.unit"] == 0
    assert refused(), "the rest of one"
    assert call(persist, spec, "--yes").return_value == 0
    assert host.values["kept.unit"] == 1

    # The way back asks no guard, and leaves alone what a colleague wrote.
    host.sections, host.values["kept.script"] = (section,), 7
    error = call(persist, spec, "--remove").exception
    assert isinstance(error, LeftChangedError) and error.what == "host.changed_by_others"
    assert "kept.script" in error.where
    assert (host.values["kept.script"], host.values["kept.unit"]) == (7, 0)
