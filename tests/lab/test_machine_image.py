"""The image is made once and whole; builds here have a cache of their own."""

import os
import signal
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from program import await_none_with, processes_with, start

from wirespeed.host.build_cache import build_once
from wirespeed.host.clock import Deadline, sleep_s
from wirespeed.host.runner import Completed
from wirespeed.lab import machine_image
from wirespeed.lab.machine_image import PREFIX, lab_image
from wirespeed.model.error import InputError, MeasurementError

INDEX = """\
https://mirror.example/debian/ bookworm main
https://mirror.example/debian/ bookworm-updates main
https://mirror.example/debian/ bookworm main
https://mirror.example/security/ bookworm-security main
https://mirror.example/debian/ bookworm-backports main
https://tools.example/apt/ stable main
https://flat.example/ ./
"""
KERNELS = """\
Package: linux-image-amd64
Depends: linux-image-6.1.192-2-amd64 (= 6.1.192-2)

Package: linux-image-amd64
Depends: linux-image-6.12.95+deb12-amd64 (= 6.12.95-1~bpo12+1)
"""
CONFIG = """\
Acquire "";
Acquire::http "";
Acquire::http::Proxy "http://proxy.example:3142";
Acquire::http::Proxy::local.example "DIRECT";
Acquire::Check-Valid-Until "false";
APT::Install-Recommends "1";
"""


class Apt:
    """Answers as apt does, and builds as `build` says."""

    def __init__(self, returncode: int = 0, **told: str) -> None:
        self.returncode = returncode
        self.told = {"show": KERNELS, "indextargets": INDEX, "dump": CONFIG, **told}
        self.builds: list[tuple[tuple[str, ...], str]] = []

    def run(
        self,
        argv: Sequence[str],
        *,
        timeout_s: float = 60.0,
        stdin: str | None = None,
        max_bytes: int = 0,
    ) -> Completed:
        output, returncode = self.told.get(argv[1], ""), 0
        if argv[0] == "sh":
            (Path(argv[2]) / "vmlinux").touch()
            self.builds.append((tuple(argv), stdin or ""))
            returncode = self.returncode
        return Completed(
            argv=tuple(argv),
            output=output,
            errors="E: no network" if returncode else "",
            returncode=returncode,
            duration_s=0.1,
        )


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(machine_image, "_suite", lambda _runner=None: "bookworm")
    monkeypatch.setattr(machine_image, "NEEDS", {})
    return tmp_path / "wirespeed"


@pytest.mark.usefixtures("cache")
def test_the_packages_come_from_where_this_machine_gets_its_own():
    apt = Apt()
    image = lab_image(apt)
    assert image.name.startswith("lab-image-6.12.95+deb12-amd64-")
    [(argv, sources)] = apt.builds
    assert argv[3:5] == ("bookworm", "linux-image-6.12.95+deb12-amd64")
    assert sources.splitlines() == [
        "deb https://mirror.example/debian/ bookworm main",
        "deb https://mirror.example/debian/ bookworm-updates main",
        "deb https://mirror.example/security/ bookworm-security main",
    ]
    assert argv[6:] == (
        '--aptopt=Acquire::http::Proxy "http://proxy.example:3142";',
        '--aptopt=Acquire::http::Proxy::local.example "DIRECT";',
        '--aptopt=Acquire::Check-Valid-Until "false";',
    )


@pytest.mark.usefixtures("cache")
def test_an_image_is_used_until_the_recipe_changes(monkeypatch: pytest.MonkeyPatch):
    apt = Apt()
    first = lab_image(apt)
    assert lab_image(apt) == first
    newer = Apt(show=KERNELS.replace("6.12.95", "6.12.99"))
    assert lab_image(newer) == first
    assert not newer.builds
    monkeypatch.setattr(machine_image, "RECIPE", machine_image.RECIPE[:2])
    assert lab_image(apt) != first
    assert len(apt.builds) == 2


@pytest.mark.usefixtures("cache")
def test_a_kernel_of_the_series_is_taken_and_the_images_of_others_stay():
    newest, older = lab_image(Apt()), lab_image(Apt(), "6.1")
    assert older.name.startswith("lab-on-6.1-6.1.192-2-amd64-")
    assert newest.is_dir() and older.is_dir()
    # The one that was built last is not the newest kernel's.
    assert lab_image(Apt()) == newest
    assert lab_image(Apt(), "6.1") == older
    with pytest.raises(InputError, match=r"apt has 6\.1 and 6\.12, not 6\.6"):
        lab_image(Apt(), "6.6")


def test_old_images_do_not_pile_up(cache: Path):
    cache.mkdir()
    for number in range(4):
        (cache / f"{PREFIX}6.1.{number}-old{number}").mkdir()
        os.utime(cache / f"{PREFIX}6.1.{number}-old{number}", (number, number))
    image = lab_image(Apt())
    assert {path.name for path in cache.glob(f"{PREFIX}*")} == {image.name, f"{PREFIX}6.1.3-old3"}


def test_a_build_that_fails_leaves_nothing_and_says_why(cache: Path):
    with pytest.raises(MeasurementError, match=r"lab\.image") as raised:
        lab_image(Apt(returncode=1))
    assert "no network" in raised.value.found
    assert not list(cache.glob(f"*{PREFIX}*/"))


@pytest.mark.parametrize("told", [{"show": ""}, {"indextargets": "https://x.example/ jammy main"}])
@pytest.mark.usefixtures("cache")
def test_without_debians_packages_it_says_so(told: dict[str, str]):
    with pytest.raises(InputError, match=r"lab\.no_packages"):
        lab_image(Apt(**told))


def test_what_a_killed_builder_left_goes_with_the_next_build(tmp_path: Path):
    draft = tmp_path / ".image.killed"
    draft.mkdir()
    (draft / "half").touch()
    made = build_once(tmp_path / "image", lambda folder: (folder / "whole").touch(), timeout_s=1)
    assert [path.name for path in made.iterdir()] == ["whole"]
    assert not draft.exists()


@pytest.fixture
def temporary() -> Iterator[Path]:
    # Not pytest's own folder: only root can look into that one.
    with tempfile.TemporaryDirectory(prefix="ws-image-", dir="/tmp") as folder:
        yield Path(folder)


def is_at_work(folder: Path) -> bool:
    """Whether mmdebstrap is at work; folders come and go while it is looked for."""
    try:
        return any(folder.glob("**/mmdebstrap.*/etc/apt"))
    except FileNotFoundError:
        return False


@pytest.mark.machines
@pytest.mark.rare
@pytest.mark.timeout(300)
def test_a_build_that_is_killed_half_way_leaves_no_image_and_no_system(temporary: Path):
    places = {"XDG_CACHE_HOME": str(temporary / "cache"), "TMPDIR": str(temporary / "tmp")}
    (temporary / "tmp").mkdir()
    up = start("lab", "up", "--name", f"test-{os.getpid()}-h", **places)
    try:
        deadline = Deadline(200)
        while not is_at_work(temporary):
            assert up.poll() is None, up.communicate()
            assert not deadline.expired
            sleep_s(0.05)
        [keeper] = processes_with(f"machine_keeper test-{os.getpid()}-h")
        os.kill(keeper, signal.SIGKILL)
        _, errors = up.communicate(timeout=30)
    finally:
        if up.poll() is None:
            up.kill()
            up.communicate(timeout=10)
    assert up.returncode == 1
    assert "lab.failed" in errors
    await_none_with(str(temporary), timeout_s=60)
    assert not list((temporary / "cache/wirespeed").glob(f"{PREFIX}*"))
    assert not list((temporary / "tmp").glob("mmdebstrap.*"))
    assert str(temporary) not in Path("/proc/mounts").read_text()
