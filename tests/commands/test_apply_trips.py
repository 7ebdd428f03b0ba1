"""How often a host is asked: by a runner that counts, with the real hands on this machine."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import ClassVar, Literal

import pytest
from click.testing import CliRunner

from described.approach import planned_by
from wirespeed import catalog
from wirespeed.apply import control_script
from wirespeed.apply.control_posix import PosixControl
from wirespeed.approaches.traits import RequestedStep
from wirespeed.commands import apply as apply_command
from wirespeed.commands.apply import apply
from wirespeed.host.local import LocalRunner
from wirespeed.host.runner import Completed
from wirespeed.model.capture import Section
from wirespeed.model.command import Command
from wirespeed.model.observed import Known, Observed
from wirespeed.model.spec.spec import Spec
from wirespeed.model.step import Scope, State, Step

SPEC = """
hosts:
  alpha: {reach: here, ports: ["0000:03:00.0"]}
  beta: {reach: here, ports: ["0000:03:00.0"]}
approach: legacy-vlan
failover: none
underlay: {subnet: 192.168.9.0/24, mtu: 9000}
networks: {}
guests: {}
"""


class Touch(Step):
    """A file is there."""

    scope: ClassVar[Scope] = Scope.OS
    step: Literal["touch"] = "touch"
    path: str

    @property
    def subject(self) -> str:
        return self.path

    @property
    def why(self) -> str:
        return "for a test"

    def read(self) -> Command:
        return Command(argv=("ls", "-d", self.path))

    def parse(self, section: Section) -> Observed[State]:
        return Known({"is_there": section.returncode == 0}, "ls")

    def wanted(self, before: State) -> State:
        return {"is_there": True}

    def commands(self, now: State, to: State) -> tuple[Command, ...]:
        verb = ("touch",) if to["is_there"] else ("rm", "-f")
        return () if now == to else (Command(argv=(*verb, self.path)),)


class Counting:
    """The runner of this machine, and what it was sent."""

    def __init__(self) -> None:
        self.scripts: list[str] = []
        self._runner = LocalRunner()

    def run(
        self,
        argv: Sequence[str],
        *,
        timeout_s: float = 60.0,
        stdin: str | None = None,
        max_bytes: int = 64 << 20,
    ) -> Completed:
        self.scripts.append(stdin or "")
        return self._runner.run(argv, timeout_s=timeout_s, stdin=stdin, max_bytes=max_bytes)


@pytest.fixture
def runners(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> dict[str, Counting]:
    runners = {"alpha": Counting(), "beta": Counting()}

    @contextmanager
    def controls_of(_: Spec) -> Iterator[dict[str, PosixControl]]:
        yield {name: PosixControl(name, runner) for name, runner in runners.items()}

    def approach(_spec: Spec, host: str, _facts: object) -> Iterator[RequestedStep]:
        yield from (RequestedStep(Touch(path=str(tmp_path / f"{host}{n}"))) for n in range(20))

    monkeypatch.setattr(apply_command, "controls_of", controls_of)
    monkeypatch.setattr(catalog, "approaches", planned_by({"legacy-vlan": approach}))
    monkeypatch.setattr(catalog, "step_types", lambda: {"touch": Touch})
    # Both hosts are this machine: each would find it taken by the other's name.
    monkeypatch.setattr(control_script, "LOCK", str(tmp_path / "lock"))
    return runners


def test_an_applied_spec_asks_each_host_once(runners: dict[str, Counting], tmp_path: Path):
    spec = tmp_path / "spec.yaml"
    spec.write_text(SPEC)
    done = CliRunner().invoke(apply, [str(spec), "--yes"], standalone_mode=False)
    assert done.return_value == 0, (done.output, done.exception)
    for runner in runners.values():
        runner.scripts.clear()
    again = CliRunner().invoke(apply, [str(spec), "--yes"], standalone_mode=False)
    assert again.return_value == 0, (again.output, again.exception)
    assert "0 of 40 steps to do" in again.output
    assert [len(runner.scripts) for runner in runners.values()] == [1, 1]


@pytest.mark.usefixtures("runners")
def test_what_was_changed_since_is_seen_by_that_one_question(tmp_path: Path):
    spec = tmp_path / "spec.yaml"
    spec.write_text(SPEC)
    CliRunner().invoke(apply, [str(spec), "--yes"], standalone_mode=False)
    (tmp_path / "beta7").unlink()
    again = CliRunner().invoke(apply, [str(spec), "--yes"], standalone_mode=False)
    assert "1 of 40 steps to do" in again.output
    assert getattr(again.exception, "what", "") == "run.applied_before"
