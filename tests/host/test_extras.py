"""A library that is missing is added to the environment that wirespeed runs in, and to no other."""

import shlex
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from wirespeed.host.extras import command_for, how_to_add, packages_of

ROOT = Path(__file__).parent.parent.parent
NETMIKO = ("netmiko<5,>=4.8",)


@pytest.mark.parametrize(("prefix", "has_pip", "expected"), [
    ("/opt/share/pipx/venvs/wirespeed", True,
     "pipx inject wirespeed 'netmiko<5,>=4.8'"),
    ("/src/wirespeed/.venv", True, "/v/python -m pip install 'netmiko<5,>=4.8'"),
    ("/opt/share/uv/tools/wirespeed", False,
     "uv pip install --python /v/python 'netmiko<5,>=4.8'"),
    ("/usr/lib/wirespeed", False,
     "install wirespeed by pipx, as this environment has no pip; then pipx inject wirespeed "
     "'netmiko<5,>=4.8'"),
])  # fmt: skip
def test_the_command_is_of_the_environment(prefix: str, has_pip: bool, expected: str):
    said = command_for(NETMIKO, prefix=Path(prefix), python="/v/python", has_pip=has_pip)
    assert said == expected


def test_the_packages_are_those_of_the_project_file():
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"][
        "optional-dependencies"
    ]
    for extra, packages in extras.items():
        assert {name(p) for p in packages_of(extra)} == {name(p) for p in packages}, extra


def name(package: str) -> str:
    for end in "<>=!~ ":
        package = package.partition(end)[0]
    return package


def test_the_command_for_here_is_one_that_pip_takes():
    command = how_to_add("switch")
    assert command.startswith(f"{sys.executable} -m pip install")
    argv = [*shlex.split(command), "--dry-run", "--no-index", "--quiet"]
    done = subprocess.run(argv, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
