"""How to add the libraries of an extra to the environment that wirespeed runs in.

wirespeed is installed from a clone: `pip install 'wirespeed[switch]'` would look for it in an
index of packages, and would not reach the environment that pipx or uv made.
"""

import shlex
import sys
from collections.abc import Sequence
from importlib.metadata import PackageNotFoundError, requires
from importlib.util import find_spec
from pathlib import Path


def how_to_add(extra: str) -> str:
    """Give the command that adds the libraries of `extra` to this environment."""
    return how_to_add_packages(*packages_of(extra))


def how_to_add_packages(*packages: str) -> str:
    """Give the command that adds packages to this environment."""
    return command_for(
        packages,
        prefix=Path(sys.prefix),
        python=sys.executable,
        has_pip=find_spec("pip") is not None,
    )


def packages_of(extra: str) -> tuple[str, ...]:
    """Give what `pyproject.toml` says of the extra, such as `netmiko<5,>=4.8`."""
    try:
        told = requires("wirespeed") or []
    except PackageNotFoundError:
        told = []
    parts = (one.partition(";") for one in told)
    return tuple(
        package.strip() for package, _, marker in parts if f'extra == "{extra}"' in marker
    ) or (f"wirespeed[{extra}]",)


def command_for(packages: Sequence[str], *, prefix: Path, python: str, has_pip: bool) -> str:
    """Give the command for an environment at `prefix`; the Debian package's own takes no others."""
    by_pipx = shlex.join(["pipx", "inject", "wirespeed", *packages])
    if "pipx" in prefix.parts:
        return by_pipx
    if has_pip:
        return shlex.join([python, "-m", "pip", "install", *packages])
    if "uv" in prefix.parts:
        return shlex.join(["uv", "pip", "install", "--python", python, *packages])
    return f"install wirespeed by pipx, as this environment has no pip; then {by_pipx}"
