"""The tester compiles against the headers of other releases of DPDK than the one installed.

Debian 13 ships 24.11. Its package is fetched with apt, by its signed index, into a folder of its
own and unpacked there: nothing is installed. Only the headers are used, as its libraries need a
newer libc. No release of Debian has 23.11.
"""

import json
import os
import platform
import re
import shlex
import shutil
import subprocess
from pathlib import Path

import pytest

pytestmark = [pytest.mark.dpdk, pytest.mark.compiles, pytest.mark.rare]

CACHE = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "wirespeed"
APT_GET, DPKG_DEB = "/usr/bin/apt-get", "/usr/bin/dpkg-deb"
SYSTEM_HEADERS = "/usr/include"
KEYRING = "/usr/share/keyrings/debian-archive-keyring.gpg"


def debian_mirror() -> str:
    """Give the mirror of Debian's archive that apt is told to use here."""
    listing = subprocess.run(
        [APT_GET, "indextargets", "--format", "$(REPO_URI)"],
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    for uri in listing.split():
        if uri.rstrip("/").endswith("/debian"):
            return uri
    pytest.fail("apt is told of no mirror of Debian's archive: see /etc/apt/sources.list.d")


def fetch_headers(release: str, version: str) -> Path:
    """Give the folder with libdpdk-dev of a Debian release, unpacked; fetched where it is not."""
    folder = CACHE / f"dpdk-{version}"
    root = folder / "root"
    if (root / "unpacked").exists():
        return root
    for part in ("lists/partial", "archives/partial", "root"):
        (folder / part).mkdir(parents=True, exist_ok=True)
    sources = folder / "debian.sources"
    sources.write_text(
        f"Types: deb\nURIs: {debian_mirror()}\nSuites: {release}\nComponents: main\n"
        f"Signed-By: {KEYRING}\n"
    )
    options = {
        "Dir::State": folder,
        "Dir::State::status": "/dev/null",
        "Dir::Cache": folder,
        "Dir::Etc::sourcelist": sources,
        "Dir::Etc::sourceparts": "-",
        "Acquire::Languages": "none",
        "Acquire::IndexTargets::deb::Contents-deb::DefaultEnabled": "false",
        "APT::Sandbox::User": os.environ.get("USER", "root"),
    }
    apt = [APT_GET, *(f"-o{key}={value}" for key, value in options.items())]
    for command in ([*apt, "update"], [*apt, "download", "libdpdk-dev"]):
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
        assert done.returncode == 0, (command, done.stdout, done.stderr)
    (package,) = folder.glob("libdpdk-dev_*.deb")
    subprocess.run([DPKG_DEB, "-x", package, root], check=True)
    for used in ("lists", "archives"):
        shutil.rmtree(folder / used)
    (root / "unpacked").touch()
    return root


def compile_commands(built: Path, headers: Path) -> dict[str, list[str]]:
    """Give a check of each source's syntax and types, with its own flags and those headers."""
    commands: dict[str, list[str]] = {}
    for entry in json.loads((built / "compile_commands.json").read_text()):
        arguments = [
            re.sub(rf"^-isystem{SYSTEM_HEADERS}(?=/dpdk)", f"-isystem{headers}/usr/include", word)
            for word in shlex.split(entry["command"])
        ]
        assert any(str(headers) in word for word in arguments), arguments
        output = arguments.index("-o")
        del arguments[output : output + 2]
        commands[entry["output"]] = [*arguments, "-fsyntax-only"]
    return commands


@pytest.mark.skipif(platform.machine() != "x86_64", reason="the packages are fetched for amd64")
@pytest.mark.parametrize(("release", "version"), [("trixie", "24.11")])
def test_every_source_compiles_without_a_warning(
    built: Path, release: str, version: str, tmp_path: Path
):
    headers = fetch_headers(release, version)
    commands = compile_commands(built, headers)
    assert len(commands) > 20
    year, month = version.split(".")
    probe = tmp_path / "version.c"
    probe.write_text(
        "#include <rte_version.h>\n"
        f'_Static_assert(RTE_VER_YEAR == {year} && RTE_VER_MONTH == {month}, "other headers");\n'
    )
    tester = next(command for output, command in commands.items() if "main.c" in output)
    source = next(i for i, word in enumerate(tester) if word.endswith("main.c"))
    commands["version"] = [*tester[:source], str(probe), *tester[source + 1 :]]
    for output, command in commands.items():
        done = subprocess.run(command, cwd=built, capture_output=True, text=True, check=False)
        assert done.returncode == 0, f"{output} with DPDK {version}:\n{done.stderr}"
        assert "warning:" not in done.stderr, done.stderr
