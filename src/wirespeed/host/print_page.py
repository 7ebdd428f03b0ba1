"""A page as PDF, printed by Chromium without a window."""

import os
from pathlib import Path

from wirespeed.host.files import find_program, write_bytes
from wirespeed.host.folder import PrivateFolder
from wirespeed.host.local import LocalRunner
from wirespeed.model.error import HostError, InputError, MeasurementError

BROWSERS = ("chromium", "chromium-browser", "google-chrome")
PRINT_S = 120.0
OPTIONS = (
    "--headless",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--no-first-run",
    "--disable-breakpad",
    "--disable-extensions",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    # No name is known, and all that is no file goes to a proxy where nobody listens.
    "--host-resolver-rules=MAP * ~NOTFOUND",
    "--proxy-server=http://127.0.0.1:9",
    "--no-pdf-header-footer",
)
NO_SANDBOX = "--no-sandbox"
"""Root's Chromium has none. The page is one of ours: it has no script and loads nothing."""
PDF = b"%PDF-"


def find_browser() -> str:
    """Give the first of `BROWSERS` that is in PATH. Raises InputError `pdf.no_browser`."""
    for name in BROWSERS:
        if found := find_program(name):
            return found
    raise InputError(
        "pdf.no_browser",
        where="PATH",
        found=f"none of {', '.join(BROWSERS)}",
        so="no browser can print the page",
        next="install the package chromium, or print report.html from a browser elsewhere",
    )


def print_page(browser: str, page: Path, pdf: Path, timeout_s: float = PRINT_S) -> None:
    """Print `page` to `pdf`, as readable to others as the page is, whole or not at all.

    The browser has a home and a profile of its own, which are removed. Raises HostError
    `pdf.not_printed`, InputError `file.unwritable`.
    """
    with PrivateFolder.create() as folder:
        home, draft = folder.path / "home", folder.path / "page.pdf"
        home.mkdir()
        argv = [
            "env",
            *(f"{name}={home}" for name in ("HOME", "XDG_CONFIG_HOME", "XDG_CACHE_HOME")),
            browser,
            *OPTIONS,
            *((NO_SANDBOX,) if os.geteuid() == 0 else ()),
            f"--user-data-dir={home / 'profile'}",
            f"--print-to-pdf={draft}",
            page.resolve().as_uri(),
        ]
        try:
            done = LocalRunner().run(argv, timeout_s=timeout_s)
        except MeasurementError as error:
            raise _not_printed(browser, error.found) from None
        printed = draft.read_bytes() if draft.is_file() else b""
        if done.returncode != 0 or not printed.startswith(PDF):
            said = done.errors.strip().splitlines()[-1:] or ["nothing"]
            found = f"exit code {done.returncode} and {len(printed)} bytes; it last said: {said[0]}"
            raise _not_printed(browser, found)
        write_bytes(pdf, printed, page.stat().st_mode & 0o666)


def _not_printed(browser: str, found: str) -> HostError:
    return HostError(
        "pdf.not_printed",
        where=browser,
        found=found,
        so="there is no PDF; the HTML page was written",
        next="print report.html from a browser",
    )
