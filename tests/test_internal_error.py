"""A mistake of our own: an error that says so, and an exit code that is no answer."""

import sys
from collections.abc import Callable

import pytest
from pydantic_core import SchemaValidator, core_schema

from wirespeed import cli


@pytest.mark.parametrize(
    "fault", [StopIteration(), KeyError("x"), RecursionError("deep"), OSError(5, "\x1b[31mbad")]
)
def test_a_fault_of_ours_is_no_answer(
    fault: Exception, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
):
    def fail(**_: object) -> None:
        raise fault

    monkeypatch.setattr(cli.cli, "main", fail)
    monkeypatch.setattr(sys, "argv", ["wirespeed", "plan", "spec.yaml"])
    with pytest.raises(SystemExit) as ended:
        cli.main()
    assert ended.value.code == 70
    assert ended.value.__cause__ is fault, "who debugs sees where it came from"
    out, err = capfd.readouterr()
    assert out == ""
    assert err.startswith(f"ERROR internal.error plan\n  found   {type(fault).__name__}:")
    assert "Traceback" in err and "in fail" in err
    assert "\x1b" not in err


class Interrupting:
    """A value whose text cannot be made, and that cannot be named: ^C comes meanwhile."""

    def __repr__(self) -> str:
        raise KeyboardInterrupt

    def __set_name__(self, owner: type, name: str) -> None:
        raise KeyboardInterrupt


def makes_a_schema(**_: object) -> None:
    """pydantic makes an error of its own of what comes while it makes a type."""
    SchemaValidator(core_schema.literal_schema([Interrupting()]))


def makes_a_class(**_: object) -> None:
    """So does Python before 3.12."""
    type("Made", (), {"named": Interrupting()})


@pytest.mark.parametrize("loads", [makes_a_schema, makes_a_class])
def test_a_stop_while_modules_are_loaded_is_a_stop(
    loads: Callable[..., None],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
):
    monkeypatch.setattr(cli.cli, "main", loads)
    monkeypatch.setattr(sys, "argv", ["wirespeed", "measure"])
    with pytest.raises(SystemExit) as ended:
        cli.main()
    assert ended.value.code == 130
    assert capsys.readouterr().err.startswith("stopped; the trials are kept")
