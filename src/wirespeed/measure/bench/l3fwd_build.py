"""Builds DPDK's l3fwd from the example source that the distribution ships, once per user.

We do not ship it: its source (BSD-3-Clause) is copied to the cache, changed in one line and built
there. Stock l3fwd demands that the port checks checksums, which no virtual port can; it never looks
at the result. How many frames it takes at once is a constant of its source, changed where another
number is asked for.
"""

import functools
from collections.abc import Sequence
from pathlib import Path

from wirespeed.host.build_cache import build_once, cache_folder
from wirespeed.host.files import (
    copy_folder,
    digest_folders,
    find_program,
    is_file,
    is_folder,
    read_text,
    write_exact,
)
from wirespeed.host.local import LocalRunner
from wirespeed.host.runner import Completed, Runner
from wirespeed.model.error import InputError

EXAMPLES = Path("/usr/share/dpdk/examples")
_FOLDERS = ("l3fwd", "common")
_PATCHED_FILE = Path("l3fwd/main.c")
_STOCK = ".offloads = RTE_ETH_RX_OFFLOAD_CHECKSUM,"
_PATCHED = ".offloads = 0,"
STOCK_BURST = 32
_BURST_FILE = Path("l3fwd/l3fwd.h")
_STOCK_BURST_LINES = (
    f"#define MAX_PKT_BURST     {STOCK_BURST}\n",
    f"#define DEFAULT_PKT_BURST {STOCK_BURST}\n",
)
"""Up to DPDK 24.07, and from 24.11 on, where MAX_PKT_BURST is 512 and bounds an option."""
_BUILD_S = 120.0
_PROGRAM = Path("l3fwd/build/l3fwd")
_PACKAGES = "build-essential pkg-config libdpdk-dev dpdk-doc"


def patch(source: str) -> str:
    """Take the demand for checksum offload out of l3fwd's port configuration.

    Raises InputError `l3fwd.patch` unless the line is there exactly once.
    """
    return _replaced(source, _PATCHED_FILE, _STOCK, _PATCHED)


def with_burst(source: str, burst: int) -> str:
    """Let l3fwd take so many frames at once. Raises as `patch`."""
    before, since = _STOCK_BURST_LINES
    stock = since if since in source else before
    return _replaced(source, _BURST_FILE, stock, stock.replace(str(STOCK_BURST), str(burst)))


def _replaced(source: str, path: Path, stock: str, patched: str) -> str:
    count = source.count(stock)
    if count != 1:
        raise InputError(
            "l3fwd.patch",
            where=str(path),
            found=f"`{stock.strip()}` {count} times",
            so="wirespeed cannot patch this version of l3fwd",
            next="use testpmd as the DUT, and report the DPDK version",
        )
    return source.replace(stock, patched)


def build_l3fwd(
    runner: Runner | None = None, examples: Path = EXAMPLES, burst: int = STOCK_BURST
) -> Path:
    """Give the path of an l3fwd that takes `burst` frames at once, built if need be (some seconds).

    Raises InputError `l3fwd.not_installed`, `l3fwd.patch` or `l3fwd.build`.
    """
    runner = runner or LocalRunner()
    for tool in ("pkg-config", "make", "cc"):
        if find_program(tool) is None:
            raise _not_installed(tool, "no such program in PATH")
    missing = [name for name in _FOLDERS if not is_folder(examples / name)]
    if missing:
        raise _not_installed(str(examples / missing[0]), "no such folder")
    asked = runner.run(["pkg-config", "--modversion", "libdpdk"])
    if asked.returncode != 0:
        raise _not_installed("libdpdk.pc", asked.errors.strip())
    version = asked.output.strip()
    of_burst = "" if burst == STOCK_BURST else f"-burst{burst}"
    target = cache_folder() / f"l3fwd-{version}-{_recipe_hash(examples, version)}{of_burst}"
    build = functools.partial(_build, runner, examples, burst)
    return build_once(target, build, timeout_s=2 * _BUILD_S) / _PROGRAM


def _build(runner: Runner, examples: Path, burst: int, draft: Path) -> None:
    for name in _FOLDERS:
        copy_folder(examples / name, draft / name)
    path = draft / _PATCHED_FILE
    write_exact(path, patch(read_text(path)))
    if burst != STOCK_BURST:
        header = draft / _BURST_FILE
        write_exact(header, with_burst(read_text(header), burst))
    made = runner.run(_make(draft), timeout_s=_BUILD_S)
    if made.returncode != 0 or not is_file(draft / _PROGRAM):
        raise _build_failed(made)


def _make(folder: Path) -> Sequence[str]:
    # The example's own Makefile: what a user of l3fwd would get.
    return ["make", "-C", str(folder / "l3fwd"), "shared"]


def _recipe_hash(examples: Path, version: str) -> str:
    """Hash all that the result follows from, so that a change of any makes another folder."""
    seed = "\0".join((version, _STOCK, _PATCHED, *_make(Path())))
    return digest_folders((examples / name for name in _FOLDERS), seed=seed)[:12]


def _not_installed(where: str, found: str) -> InputError:
    return InputError(
        "l3fwd.not_installed",
        where=where,
        found=found,
        so="wirespeed builds l3fwd on this machine, which is not possible",
        next=f"apt-get install {_PACKAGES}",
    )


def _build_failed(made: Completed) -> InputError:
    return InputError(
        "l3fwd.build",
        where=" ".join(made.argv),
        found=f"exit code {made.returncode}; it last said:\n{made.errors[-2000:]}",
        next=f"run `apt-get install {_PACKAGES}`; if it is installed, report this",
    )
