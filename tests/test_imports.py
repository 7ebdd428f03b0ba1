"""The contracts in pyproject.toml hold: which package may import which, and who may touch what."""

import tomllib
from pathlib import Path

import pytest
from importlinter import cli

ROOT = Path(__file__).parent.parent


@pytest.fixture(name="contracts", scope="module")
def _contracts() -> dict[str, dict[str, list[str]]]:
    with (ROOT / "pyproject.toml").open("rb") as file:
        rows = tomllib.load(file)["tool"]["importlinter"]["contracts"]
    return {row["name"]: row for row in rows}


def test_import_contracts_hold(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.syspath_prepend(str(ROOT / "src"))
    code = cli.lint_imports(config_filename=str(ROOT / "pyproject.toml"), no_cache=True)
    assert code == cli.EXIT_STATUS_SUCCESS, capsys.readouterr().out


def test_every_package_but_host_is_under_the_contract_that_leaves_commands_to_it(
    contracts: dict[str, dict[str, list[str]]],
) -> None:
    named = contracts["Only host touches a command, a socket or the clock"]["source_modules"]
    packages = {p.parent.name for p in (ROOT / "src/wirespeed").glob("*/__init__.py")}
    assert {f"wirespeed.{package}" for package in packages - {"host"}} <= set(named)
