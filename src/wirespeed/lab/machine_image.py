"""What a lab's hosts boot from: built once by machine_image.sh, kept in the user's cache.

    cache/lab-image-<kernel>-<recipe>/{vmlinux,initramfs,root.erofs,release}
    cache/lab-on-6.1-<kernel>-<recipe>/...         with a kernel of the series that was asked for

The packages come from wherever apt of this machine gets its own. An image is used for as long as
the recipe stays the same; the older ones are removed when a new one was built.
"""

import hashlib
import re
from importlib.resources import files
from pathlib import Path

from wirespeed.host.build_cache import build_once, cache_folder
from wirespeed.host.files import find_program, read_text
from wirespeed.host.kept import newest_folders, remove_folder
from wirespeed.host.local import LocalRunner
from wirespeed.host.runner import Runner
from wirespeed.model.error import InputError, MeasurementError

BUILD_S = 900.0
APT_S = 120.0
RECIPE = (
    "machine_image.sh",
    "machine_kernel.sh",
    "machine_initramfs.sh",
    "machine_init.sh",
    "machine_guest.sh",
    "machine_guest_pack.sh",
)
DISK_SIZE = "1G"
DISK_S = 30.0
KERNEL = "linux-image-amd64"
KEPT = 2
"""Images of a series: the one in use, and the one that an older checkout uses."""
NEEDS = {
    "mmdebstrap": "mmdebstrap",
    "mkfs.erofs": "erofs-utils",
    "depmod": "kmod",
    "zstd": "zstd",
    "xz": "xz-utils",
}
"""Program: Debian's package."""
PREFIX = "lab-image-"


def lab_image(runner: Runner | None = None, kernel: str = "") -> Path:
    """Give the folder of the image, built now if need be (a minute, 420 MB).

    `kernel` is a series, such as 6.1; without, it is the newest that apt has.

    Raises InputError `lab.tools`, `lab.no_packages`, MeasurementError `lab.image`, `cache.busy`.
    """
    recipe = Path(str(files("wirespeed.lab")))
    texts = "\0".join(read_text(recipe / name) for name in RECIPE)
    digest = hashlib.sha256(texts.encode()).hexdigest()[:12]
    prefix = f"lab-on-{kernel}-" if kernel else PREFIX
    for found in newest_folders(cache_folder(), prefix):
        if found.name.endswith(f"-{digest}"):
            return found
    runner = runner or LocalRunner()
    missing = [package for program, package in NEEDS.items() if _find(program) is None]
    if missing:
        raise InputError(
            "lab.tools",
            where="this machine",
            found=f"not installed: {', '.join(missing)}",
            so="the image of the lab's hosts cannot be built",
            next="run scripts/install-system.sh lab",
        )
    package, release = _kernel(runner, kernel)
    suite = _suite()
    options, sources = _apt_options(runner), _sources(runner, suite)

    def build(draft: Path) -> None:
        argv = ["sh", str(recipe / RECIPE[0]), str(draft), suite, package, str(recipe), *options]
        done = runner.run(argv, timeout_s=BUILD_S, stdin=sources)
        if done.returncode != 0:
            raise MeasurementError(
                "lab.image",
                where=str(recipe / RECIPE[0]),
                found="\n".join(done.errors.splitlines()[-8:]) or f"exit code {done.returncode}",
                so="the lab's hosts cannot boot",
                next="run `apt-get update`, then run the command again",
            )

    built = build_once(cache_folder() / f"{prefix}{release}-{digest}", build, timeout_s=BUILD_S)
    for old in newest_folders(cache_folder(), prefix)[KEPT:]:
        remove_folder(old)
    return built


def _find(program: str) -> str | None:
    """Find a program, also where only root's PATH looks."""
    return find_program(program) or find_program(f"/usr/sbin/{program}")


def _kernel(runner: Runner, series: str) -> tuple[str, str]:
    """Package and release of the newest kernel that apt has, in any suite that it knows."""
    kernels: list[tuple[tuple[int, ...], str]] = []
    for line in _ask(runner, "apt-cache", "show", KERNEL).splitlines():
        if match := re.match(r"Depends: linux-image-((\d+)\.(\d+)\.(\d+)\S*)", line):
            kernels.append((tuple(int(match[part]) for part in (2, 3, 4)), match[1]))
    chosen = [one for one in kernels if series in ("", f"{one[0][0]}.{one[0][1]}")]
    if not chosen:
        known = " and ".join(f"{a}.{b}" for a, b in sorted({one[0][:2] for one in kernels}))
        found = f"apt has {known}, not {series}" if known else "apt knows no such kernel"
        raise _no_packages(f"apt-cache show {KERNEL}", found)
    release = max(chosen)[1]
    return f"linux-image-{release}", release


def _suite() -> str:
    for line in read_text(Path("/etc/os-release")).splitlines():
        key, _, value = line.partition("=")
        if key == "VERSION_CODENAME":
            return value.strip("\"'")
    raise _no_packages("/etc/os-release", "no VERSION_CODENAME")


def _sources(runner: Runner, suite: str) -> str:
    """The lines of a sources.list for `suite`, from wherever apt of this machine gets it."""
    form = "$(REPO_URI) $(RELEASE) $(COMPONENT)"
    told = _ask(runner, "apt-get", "indextargets", "--format", form, "Created-By: Packages")
    releases = (suite, f"{suite}-updates", f"{suite}-security")
    rows = [line.split() for line in told.splitlines()]
    chosen = [f"deb {' '.join(row)}\n" for row in rows if len(row) == 3 and row[1] in releases]
    if not chosen:
        raise _no_packages("apt-get indextargets", f"apt has no packages of {suite}")
    return "".join(dict.fromkeys(chosen))


def _apt_options(runner: Runner) -> list[str]:
    """How apt of this machine reaches its sources: proxies and the like, for mmdebstrap's apt."""
    told = _ask(runner, "apt-config", "dump")
    wanted = re.compile(r"Acquire::(https?|Check-Valid-Until|Check-Date)\b.* \"[^\"]+\";")
    return [f"--aptopt={line}" for line in told.splitlines() if wanted.fullmatch(line)]


def _ask(runner: Runner, *argv: str) -> str:
    done = runner.run(argv, timeout_s=APT_S)
    if done.returncode != 0:
        raise _no_packages(" ".join(argv), done.errors.strip()[-400:])
    return done.output


def _no_packages(where: str, found: str) -> InputError:
    return InputError(
        "lab.no_packages",
        where=where,
        found=found,
        so="the image of the lab's hosts is built from Debian packages",
        next="run `apt-get update`; the lab needs Debian 12 or later",
    )


def make_disk(path: Path) -> None:
    """Make a disk that a host finds again after its reboot.

    Raises InputError `lab.tools`, MeasurementError `lab.disk`.
    """
    program = find_program("mkfs.ext4") or find_program("/usr/sbin/mkfs.ext4")
    if program is None:
        raise InputError(
            "lab.tools",
            where="this machine",
            found="not installed: e2fsprogs",
            so="a host with a disk cannot be started",
            next="run `apt-get install e2fsprogs`",
        )
    # With a journal, as a host's: nobody checks the disk of a host whose power failed, and without
    # either of the two a file that was synced may be gone.
    options = ("-q", "-F", "-J", "size=8", "-E", "lazy_itable_init=1")
    done = LocalRunner().run([program, *options, str(path), DISK_SIZE], timeout_s=DISK_S)
    if done.returncode != 0:
        raise MeasurementError(
            "lab.disk",
            where=str(path),
            found=done.errors.strip()[-400:],
            next=f"see with `df -h {path.parent}` whether that disk is full",
        )
