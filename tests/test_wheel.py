"""The wheel alone: Python without a compiler, DPDK or the tester."""

import hashlib
import os
import re
import site
import subprocess
import sys
import venv
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src"
CAPTURE = (
    ROOT / "tests/rules/cases/pcie.width_below_capability"
    "/present_x4_where_both_ends_can_do_x16/capture.txt"
)


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    argv = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-input", "--no-deps"]
    argv += ["--disable-pip-version-check", "--no-build-isolation", "--wheel-dir", str(folder)]
    # Nothing of a compiler is within reach.
    env = {**os.environ, "CC": "/bin/false", "PATH": "/nowhere"}
    subprocess.run([*argv, str(ROOT)], check=True, env=env, timeout=120)
    (found,) = folder.glob("*.whl")
    return found


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An environment with the wheel, and what it depends on as this one has it."""
    folder = tmp_path_factory.mktemp("fresh") / "venv"
    venv.create(folder, symlinks=True)
    python = folder / "bin" / "python"
    argv = [sys.executable, "-m", "pip", "--python", str(python), "install", "--quiet"]
    argv += ["--no-input", "--no-deps", "--no-index", "--disable-pip-version-check", str(wheel)]
    subprocess.run(argv, check=True, timeout=120)
    (own,) = folder.glob("lib/python*/site-packages")
    # Behind its own: what is imported of wirespeed is the wheel's.
    (own / "others.pth").write_text("\n".join(site.getsitepackages()) + "\n")
    return folder / "bin"


def run(installed: Path, *argv: str) -> subprocess.CompletedProcess[str]:
    env = {"PATH": "/usr/bin:/bin", "HOME": str(installed.parent), "LC_ALL": "C.UTF-8"}
    return subprocess.run(
        [installed / "wirespeed", *argv],
        capture_output=True, text=True, timeout=120, check=False, env=env, cwd=installed,
    )  # fmt: skip


def test_it_is_for_every_machine_and_has_every_file_of_the_package(wheel: Path):
    assert wheel.name.endswith("-py3-none-any.whl")
    held = {name for name in zipfile.ZipFile(wheel).namelist() if ".dist-info/" not in name}
    files = (path for path in (SOURCE / "wirespeed").rglob("*") if path.is_file())
    ours = {str(path.relative_to(SOURCE)) for path in files if path.suffix != ".pyc"}
    assert held == ours


def test_what_is_imported_is_the_wheels(installed: Path):
    argv = [installed / "python", "-c", "import wirespeed; print(wirespeed.__file__)"]
    done = subprocess.run(argv, capture_output=True, text=True, check=True, cwd="/", env={})
    assert Path(done.stdout.strip()).is_relative_to(installed.parent)


@pytest.mark.parametrize("name", ["doctor", "capture", "plan", "apply", "undo", "ceiling"])
def test_every_command_of_a_host_is_there(installed: Path, name: str):
    done = run(installed, name, "--help")
    assert done.returncode == 0 and done.stdout.startswith(f"Usage: wirespeed {name}"), done.stderr


def test_the_doctor_answers(installed: Path):
    done = run(installed, "doctor", str(CAPTURE))
    assert done.returncode == 1 and "pcie.width_below_capability" in done.stdout, done.stderr
    assert run(installed, "doctor", "here").returncode in (0, 1)


def test_without_the_tester_it_says_how_to_get_it(installed: Path, tmp_path: Path):
    done = run(installed, "measure", "rfc2544", "--demo", "--out", str(tmp_path / "out"))
    assert done.returncode == 2
    assert "tester.not_installed" in done.stderr and "pipx inject" in done.stderr


def test_the_collector_is_the_same_each_time_and_runs_without_wirespeed(
    installed: Path, tmp_path: Path
):
    scripts = {run(installed, "capture", "--script").stdout for _ in range(2)}
    assert len({hashlib.sha256(one.encode()).hexdigest() for one in scripts}) == 1
    script = re.sub(r"\bsleep [0-9]+", "sleep 0", scripts.pop())
    # No PATH but the shell's own tools; no Python.
    done = subprocess.run(
        ["/bin/sh", "-s"], input=script, capture_output=True, text=True, timeout=60, check=True,
        env={"PATH": "/usr/sbin:/usr/bin:/sbin:/bin"},
    )  # fmt: skip
    (tmp_path / "here.txt").write_text(done.stdout)
    answer = run(installed, "doctor", str(tmp_path / "here.txt"))
    assert answer.returncode in (0, 1), answer.stderr
