"""A page printed by what stands in Chromium's place: its arguments, its home, and its failures."""

from pathlib import Path

import pytest

from wirespeed.host.clock import monotonic_s
from wirespeed.host.print_page import BROWSERS, find_browser, print_page
from wirespeed.model.error import HostError, InputError

HEAD = """#!/bin/sh
for word; do
  case $word in --print-to-pdf=*) pdf=${word#*=};; --user-data-dir=*) profile=${word#*=};; esac
done
"""
PRINTS = """mkdir -p "$profile" && echo 1 > "$HOME/state"
printf '%s\\n' "$HOME" "$XDG_CONFIG_HOME" "$XDG_CACHE_HOME" "$profile" "$@" > "$SAID"
printf '%%PDF-1.4 of it' > "$pdf"
"""


def browser(folder: Path, does: str, name: str = "chromium") -> str:
    path = folder / name
    path.write_text(HEAD + does)
    path.chmod(0o755)
    return str(path)


@pytest.fixture(name="page")
def _page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("SAID", str(tmp_path / "said"))
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(temporary))
    page = tmp_path / "a page.html"
    page.write_text("<title>x</title>")
    return page


def has_ended(pid: str) -> bool:
    """A zombie has no words, whoever is to reap it."""
    try:
        return not Path("/proc", pid, "cmdline").read_bytes()
    except (FileNotFoundError, ProcessLookupError):
        return True


def left(page: Path) -> list[Path]:
    return list((page.parent / "temporary").iterdir())


def test_it_prints_with_a_home_of_its_own_that_is_gone_afterwards(page: Path):
    pdf = page.with_name("out.pdf")
    print_page(browser(page.parent, PRINTS), page, pdf)
    assert pdf.read_bytes() == b"%PDF-1.4 of it"
    home, config, cache, profile, *argv = (page.parent / "said").read_text().splitlines()
    assert Path(home).is_relative_to(page.parent / "temporary")
    assert home == config == cache and profile.startswith(home)
    assert argv[-1] == f"file://{page.parent}/a%20page.html"
    assert {"--headless", "--host-resolver-rules=MAP * ~NOTFOUND"} < set(argv)
    assert left(page) == []


@pytest.mark.parametrize("mode", [0o600, 0o644])
def test_it_is_as_readable_as_the_page(page: Path, mode: int):
    page.chmod(mode)
    pdf = page.with_name("out.pdf")
    print_page(browser(page.parent, PRINTS), page, pdf)
    assert pdf.stat().st_mode & 0o777 == mode


@pytest.mark.parametrize(
    ("does", "found"),
    [
        ("echo no display >&2; exit 7", "exit code 7 and 0 bytes; it last said: no display"),
        ("exit 0", "exit code 0 and 0 bytes; it last said: nothing"),
        ('echo half > "$pdf"', "exit code 0 and 5 bytes"),
        ('printf %%PDF- > "$pdf"; exit 1', "exit code 1 and 5 bytes"),
    ],
)
def test_what_is_not_printed_is_an_error_and_the_former_file_stays(
    page: Path, does: str, found: str
):
    pdf = page.with_name("out.pdf")
    pdf.write_text("former")
    with pytest.raises(HostError) as error:
        print_page(browser(page.parent, does), page, pdf)
    assert error.value.what == "pdf.not_printed" and found in error.value.found
    assert pdf.read_text() == "former" and left(page) == []


def test_a_browser_that_hangs_is_ended_with_what_it_started(page: Path):
    started = monotonic_s()
    number = page.with_name("pid")
    hangs = browser(page.parent, f'sleep 60 & echo $! > "{number}"; wait')
    with pytest.raises(HostError) as error:
        print_page(hangs, page, page.with_name("out.pdf"), timeout_s=1.0)
    assert "still running after 1 s" in error.value.found
    assert monotonic_s() - started < 30
    assert has_ended(number.read_text().strip()) and left(page) == []


def test_no_browser_names_the_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(InputError) as error:
        find_browser()
    assert error.value.what == "pdf.no_browser"
    assert "install the package chromium" in error.value.next


@pytest.mark.parametrize("name", BROWSERS)
def test_each_browser_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str):
    monkeypatch.setenv("PATH", str(tmp_path))
    program = browser(tmp_path, "", name)
    assert find_browser() == program


def test_a_folder_that_is_not_there_is_an_error(page: Path):
    with pytest.raises(InputError) as error:
        print_page(browser(page.parent, PRINTS), page, page.parent / "none" / "out.pdf")
    assert error.value.what == "file.unwritable"
