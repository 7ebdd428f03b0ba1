"""The Debian packages: built, judged by lintian, installed in a clean Debian, tried, removed."""

import json
import re
import subprocess
from pathlib import Path

import pytest

from commands.test_help import EVERY
from man_pages import SHELLS, completion, escaped, pages
from wirespeed.cli import cli

ROOT = Path(__file__).parents[1]
LOCK = ROOT / "scripts/python-packages-run.lock"
PIN = re.compile(r"^([a-z0-9-]+)==", re.M)
TRIED = """\
wirespeed --version
cd /tmp
mkdir wirespeed && echo 'raise SystemExit(9)' >wirespeed/__init__.py
PYTHONPATH=/tmp wirespeed doctor || test $? -eq 1
wirespeed doctor --explain pcie.width_below_capability
wirespeed-tester </dev/null >tester.json 2>tester.log || :
grep -c '"v":1' tester.json
dpkg --verify wirespeed wirespeed-tester
find /usr/lib/wirespeed -name '*.pyc' | grep -q . && echo compiled
dpkg --remove wirespeed wirespeed-tester >/dev/null
test ! -e /usr/lib/wirespeed && echo removed
"""


def test_every_command_has_a_man_page():
    found = dict(pages(cli))
    assert set(found) == {"wirespeed"} | {f"wirespeed-{n.replace(' ', '-')}" for n in EVERY}
    for name, command in EVERY.items():
        text = found[f"wirespeed-{name.replace(' ', '-')}"]
        for option in command.params:
            for word in option.opts:
                assert not word.startswith("-") or escaped(word) in text, f"{name}: {word}"


def test_no_word_of_a_help_is_a_request_of_roff():
    assert escaped(".so /etc/passwd\na\\b - 'c'") == "\\&.so /etc/passwd\na\\eb \\- \\(aqc\\(aq"


@pytest.mark.parametrize("shell", SHELLS)
def test_each_shell_has_its_completion(shell: str):
    assert f"_WIRESPEED_COMPLETE={shell}_complete" in completion(shell)


@pytest.mark.rare
@pytest.mark.timeout(900)
def test_the_packages_are_clean_and_run_in_a_debian_that_has_nothing_else(tmp_path: Path):
    built = subprocess.run(
        [ROOT / "scripts/deb.sh", str(tmp_path)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=600,
    )
    # lintian's exit status is part of it; it prints what it finds.
    assert built.returncode == 0, built.stdout + built.stderr
    assert re.search(r"^[EW]: ", built.stdout, re.M) is None, built.stdout
    tried = subprocess.run(
        [ROOT / "scripts/try-deb.sh", str(tmp_path)],
        cwd=ROOT, input=TRIED, capture_output=True, text=True, timeout=280,
    )  # fmt: skip
    assert tried.returncode == 0, tried.stdout + tried.stderr
    assert tried.stdout.startswith("wirespeed 0."), tried.stdout
    assert "bounds it" in tried.stdout and "Debian GNU/Linux" in tried.stdout
    assert tried.stdout.endswith("\n1\ncompiled\nremoved\n"), tried.stdout
    unpacked = tmp_path / "unpacked"
    (package,) = tmp_path.glob("wirespeed_*.deb")
    subprocess.run(["/usr/bin/dpkg-deb", "-x", package, unpacked], check=True, timeout=60)
    documents = unpacked / "usr/share/doc/wirespeed"
    sbom = subprocess.run(
        ["/usr/bin/gzip", "-dc", documents / "wirespeed.cdx.json.gz"],
        capture_output=True,
        check=True,
    ).stdout
    listed = {row["name"].lower().replace("_", "-") for row in json.loads(sbom)["components"]}
    licences = re.findall(r"^License: (\S+)$", (documents / "copyright").read_text(), re.M)
    locked = set(PIN.findall(LOCK.read_text()))
    assert locked <= listed
    assert locked <= {name.lower().replace("_", "-") for name in licences}
    units = [str(path) for path in (unpacked / "lib/systemd/system").iterdir()]
    assert len(units) == 2
