"""The Python packages that `make setup` installs: pinned, hashed, and refused where they differ."""

import base64
import hashlib
import os
import re
import shutil
import subprocess
import tomllib
import zipfile
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parent.parent
LOCK, DEV_LOCK = "scripts/python-packages.lock", "scripts/python-packages-dev.lock"
RUN_LOCK = "scripts/python-packages-run.lock"
PIN = re.compile(r"([a-z0-9-]+)==(\S+)(?: ; [^\\]+)? \\")
HASH = re.compile(r"    --hash=sha256:[0-9a-f]{64}(?: \\)?")
NAME = "wirespeed_lock_trial"


def pins(path: str) -> dict[str, str]:
    """Name and version of each package of a lock file, which has nothing else than these."""
    found: dict[str, str] = {}
    after_pin = False
    for line in (ROOT / path).read_text().splitlines():
        if match := PIN.fullmatch(line):
            found[match[1]] = match[2]
        elif HASH.fullmatch(line):
            after_pin = False
            continue
        else:
            # No option and no address: where packages come from is each machine's own.
            assert re.fullmatch(r" +# .*", line), f"{path}: {line}"
            assert not after_pin, f"{path}: no hash before {line}"
        after_pin = match is not None
    return found


def asked(*extras: str) -> list[Requirement]:
    with (ROOT / "pyproject.toml").open("rb") as file:
        data = tomllib.load(file)
    rows = data["build-system"]["requires"] + data["project"]["dependencies"]
    for extra in extras:
        rows += data["project"]["optional-dependencies"][extra]
    return [Requirement(row) for row in rows]


@pytest.mark.parametrize(("path", "extras"), [(LOCK, ()), (DEV_LOCK, ("dev",))])
def test_every_package_that_is_asked_for_is_locked_within_its_range(
    path: str, extras: tuple[str, ...]
):
    locked = pins(path)
    for requirement in asked(*extras):
        version = locked.get(canonicalize_name(requirement.name), "none")
        assert requirement.specifier.contains(version), f"{path}: {requirement} is {version}"


def test_tests_run_with_the_versions_that_are_installed_without_them():
    assert pins(LOCK).items() <= pins(DEV_LOCK).items()


def test_a_debian_package_has_the_same_versions_and_nothing_that_builds():
    built_by = {"flit-core", "meson", "meson-python", "ninja", "packaging", "pyproject-metadata"}
    assert "click" in pins(RUN_LOCK)
    assert pins(RUN_LOCK).items() == {
        (name, version) for name, version in pins(LOCK).items() if name not in built_by
    }


def test_every_extra_is_tested_as_locked():
    locked = pins(DEV_LOCK)
    for requirement in asked("esxi", "fleet", "parquet", "postgresql", "switch", "windows"):
        assert requirement.specifier.contains(locked[canonicalize_name(requirement.name)])


def test_no_script_installs_a_package_that_has_no_hash():
    """Save tools, in environments of their own: what they write is what is kept."""
    for script in (ROOT / "scripts").glob("*.sh"):
        text = script.read_text().replace("\\\n", " ")
        for line in re.findall(r"^[^#\n]*\bpip\b[^\n]*\binstall\b.*", text, re.M):
            hashed = "--require-hashes" in line or "--no-deps --no-build-isolation" in line
            tools = ("lock.sh", "dist.sh", "sbom-tool.sh")
            assert hashed or script.name in tools, f"{script.name}: {line}"


def make_wheel(folder: Path) -> str:
    """Make a package of one empty file; give the SHA-256 of its wheel."""
    path = folder / f"{NAME}-1.0-py3-none-any.whl"
    info = f"{NAME}-1.0.dist-info"
    with zipfile.ZipFile(path, "w") as wheel:
        wheel.writestr(f"{NAME}.py", "")
        wheel.writestr(f"{info}/METADATA", f"Metadata-Version: 2.1\nName: {NAME}\nVersion: 1.0\n")
        wheel.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nGenerator: a\nRoot-Is-Purelib: true\n")
        digest = base64.urlsafe_b64encode(hashlib.sha256(b"").digest()).rstrip(b"=").decode()
        wheel.writestr(f"{info}/RECORD", f"{NAME}.py,sha256={digest},0\n")
    return hashlib.sha256(path.read_bytes()).hexdigest()


def test_what_differs_from_its_hash_or_has_none_is_not_installed(tmp_path: Path):
    """By the script itself and a real pip, with no registry."""
    (tmp_path / "scripts").mkdir()
    for name in ("install-python.sh", "find-python.sh"):
        shutil.copy(ROOT / "scripts" / name, tmp_path / "scripts" / name)
    right = make_wheel(tmp_path)
    lines = {
        "": "",
        "wrong": f"{NAME}==1.0 --hash=sha256:{'0' * 64}\n",
        "bare": f"{NAME}==1.0\n",
        "right": f"{NAME}==1.0 --hash=sha256:{right}\n",
    }
    environment = {**os.environ, "PIP_NO_INDEX": "1", "PIP_FIND_LINKS": str(tmp_path)}
    installed = {}
    for kind, text in lines.items():
        suffix = f"-{kind}" if kind else ""
        (tmp_path / f"scripts/python-packages{suffix}.lock").write_text(text)
        done = subprocess.run(
            [tmp_path / "scripts/install-python.sh", *([kind] if kind else [])],
            cwd=tmp_path,
            env=environment,
            capture_output=True,
            text=True,
            timeout=240,
        )
        is_there = bool(list((tmp_path / ".venv").glob(f"lib/python3*/site-packages/{NAME}.py")))
        installed[kind] = (done.returncode == 0, is_there)
        if kind == "wrong":
            assert "DO NOT MATCH THE HASHES" in done.stderr
        if kind == "bare":
            assert "Hashes are required" in done.stderr
    assert installed == {
        "": (True, False),
        "wrong": (False, False),
        "bare": (False, False),
        "right": (True, True),
    }
