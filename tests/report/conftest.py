"""A command of ours, called as from a shell."""

import sys
from collections.abc import Callable

import pytest

from wirespeed import cli

Call = Callable[..., tuple[int, str, str]]
"""Gives exit code, standard output and standard error."""


@pytest.fixture
def call(monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Call:
    def run(*arguments: object) -> tuple[int, str, str]:
        capfd.readouterr()
        monkeypatch.setattr(sys, "argv", ["wirespeed", *map(str, arguments)])
        with pytest.raises(SystemExit) as ended:
            cli.main()
        out, err = capfd.readouterr()
        return (ended.value.code if isinstance(ended.value.code, int) else 0), out, err

    return run
