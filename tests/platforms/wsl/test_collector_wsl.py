"""The Windows side of WSL 2, run by its Linux side: a described powershell.exe stands for it."""

import subprocess
from pathlib import Path
from shutil import which

import pytest

from wirespeed.host.sections import sections_script
from wirespeed.model.capture import Capture, parse_capture
from wirespeed.platforms.windows.collector import FROM_INPUT, windows_collector_script, wsl_part

SHELLS = {"dash": ["dash"], "bash": ["bash", "--posix"], "busybox": ["busybox", "sh"]}
WSL2 = "6.6.87.2-microsoft-standard-WSL2"
GUID = "1d2c8f3e-0000-4000-8000-00000000abcd"
ANSWER = f"""\
wirespeed-capture 1 {GUID}
{GUID} begin windows-host -
[{{"Caption":"Windows 11"}}]
{GUID} end 0
{GUID} begin windows-names -\r
{GUID}x is not a line of ours\r

{GUID} end 0
{GUID} done
"""


def powershell(folder: Path, body: str) -> None:
    """Describe a powershell.exe: it must be told to run what is on its input."""
    (folder / "answer").write_text(ANSWER, newline="")
    script = folder / "powershell.exe"
    script.write_text(
        f'#!/bin/sh\n[ "$*" = "-NoLogo -NoProfile -NonInteractive -Command $(cat <<\\E\n'
        f'{FROM_INPUT}\nE\n)" ] || exit 99\ncat >{folder}/input\n{body}\n'
    )
    script.chmod(0o755)


def read(folder: Path, *, release: str = WSL2, shell: str = "dash", seconds: int = 40) -> Capture:
    (folder / "osrelease").write_text(f"{release}\n")
    part = wsl_part().replace("/proc/sys/kernel/osrelease", f"{folder}/osrelease")
    part = part.replace("timeout 40 ", f"timeout {seconds} ").replace("/mnt/c/", f"{folder}/")
    after = "show after - printf '%s\\n' 'still here'\n"
    command = [which(SHELLS[shell][0]) or "", *SHELLS[shell][1:], "-s"]
    done = subprocess.run(
        command, input=sections_script("# x\n\n", part, after), capture_output=True, text=True,
        timeout=60, check=False, env={"PATH": f"{folder}:/usr/bin:/bin"},
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")
    capture = parse_capture(done.stdout, "here")
    assert capture.complete
    after_it = capture.section("after")
    assert after_it is not None
    assert after_it.output == "still here\n"
    return capture


@pytest.mark.parametrize("shell", SHELLS)
def test_both_sides_come_in_one_capture(tmp_path: Path, shell: str):
    powershell(tmp_path, f"cat {tmp_path}/answer")
    capture = read(tmp_path, shell=shell)
    host, names, collector = (
        capture.section(name) for name in ("windows-host", "windows-names", "windows-collector")
    )
    assert host is not None
    assert (host.output, host.returncode) == ('[{"Caption":"Windows 11"}]', 0)
    assert names is not None
    assert names.output == f"{GUID}x is not a line of ours\n"
    assert collector is not None
    assert collector.returncode == 0
    given = (tmp_path / "input").read_text()
    assert given.rstrip("\n") == windows_collector_script().rstrip("\n")


def test_a_powershell_that_hangs_costs_a_bounded_time_and_what_it_said_is_kept(tmp_path: Path):
    powershell(tmp_path, f"head -n 5 {tmp_path}/answer; exec sleep 50")
    capture = read(tmp_path, seconds=1)
    host, cut = capture.section("windows-host"), capture.section("windows-names")
    assert host is not None
    assert host.returncode == 0
    assert cut is not None
    assert cut.returncode is None
    collector = capture.section("windows-collector")
    assert collector is not None
    assert collector.returncode == 124


@pytest.mark.parametrize(
    ("said", "code"),
    [("", 1), ("printf 'Access denied\\n'", 0), ("printf 'wirespeed-capture 1 /x;id\\n'", 3)],
)
def test_what_is_no_capture_gives_no_section(tmp_path: Path, said: str, code: int):
    powershell(tmp_path, f"{said}\nexit {code}")
    capture = read(tmp_path)
    assert {s.name for s in capture.all_sections()} == {"windows-collector", "after"}
    collector = capture.section("windows-collector")
    assert collector is not None
    assert collector.returncode == code


def test_what_a_profile_or_an_update_says_before_it_is_skipped(tmp_path: Path):
    powershell(tmp_path, f"echo 'A new version is available'; cat {tmp_path}/answer")
    assert read(tmp_path).section("windows-host") is not None


def test_without_a_powershell_it_says_so(tmp_path: Path):
    collector = read(tmp_path).section("windows-collector")
    assert collector is not None
    assert (collector.returncode, collector.errors) == (127, "powershell.exe: not found")


@pytest.mark.parametrize("release", ["6.1.0-50-amd64", "4.4.0-19041-Microsoft", ""])
def test_only_wsl_2_has_a_windows_side(tmp_path: Path, release: str):
    powershell(tmp_path, f"cat {tmp_path}/answer")
    assert {s.name for s in read(tmp_path, release=release).all_sections()} == {"after"}
    assert not (tmp_path / "input").exists()


def test_no_line_of_the_script_ends_it_early():
    assert "END_OF_WINDOWS_COLLECTOR" not in windows_collector_script()
    assert "'" not in FROM_INPUT
