"""What is rare has its turn in CI, while there is time for it, and is named where there is not."""

import re
import sys
from pathlib import Path

import pytest

from wirespeed.host.local import LocalRunner

ROOT = Path(__file__).parent.parent
FAR_AWAY = "99999999999"
PYTEST, PLAIN = (sys.executable, "-m", "pytest"), "PYTEST_DISABLE_PLUGIN_AUTOLOAD=1"
# What conftest.py imports.
FOUND = f"PYTHONPATH={ROOT / 'tests'}"


@pytest.mark.parametrize(("marker", "until", "skipped"), [
    ("rare", "1", True),
    ("not rare", "1", False),
])  # fmt: skip
def test_a_rare_test_is_skipped_by_name_when_the_time_is_over(
    marker: str, until: str, skipped: bool, tmp_path: Path
):
    (tmp_path / "conftest.py").write_text((ROOT / "tests/conftest.py").read_text())
    (tmp_path / "test_two.py").write_text(
        "import pytest\n\n@pytest.mark.rare\ndef test_rare(): pass\n\ndef test_usual(): pass\n"
    )
    for when, expected in ((until, skipped), (FAR_AWAY, False)):
        line = ["env", PLAIN, FOUND, f"WIRESPEED_RARE_UNTIL={when}", *PYTEST, "-rs", "-m"]
        options = [
            marker,
            "-p",
            "no:cacheprovider",
            "-c",
            "/dev/null",
            str(tmp_path / "test_two.py"),
        ]
        done = LocalRunner().run([*line, *options], timeout_s=60)
        assert done.returncode == 0, done.output
        assert ("the time for what is rare is over" in done.output) is expected, done.output


@pytest.mark.parametrize(("turn", "expected"), [
    ("0", ["hosts_a", "hosts_b", "hosts_c", "computes"]),
    ("1", ["hosts_b", "hosts_c", "hosts_a", "computes"]),
    ("5", ["hosts_c", "hosts_a", "hosts_b", "computes"]),
])  # fmt: skip
def test_each_commit_begins_with_another_file_of_virtual_hosts(
    turn: str, expected: list[str], tmp_path: Path
):
    conftest = (ROOT / "tests/conftest.py").read_text()
    conftest = re.sub(r"LONGEST = \(.*?\n\)\n", "LONGEST = ()\n", conftest, flags=re.DOTALL)
    (tmp_path / "conftest.py").write_text(conftest)
    (tmp_path / "test_computes.py").write_text("def test_first(): pass\n")
    for name in ("hosts_c", "hosts_a", "hosts_b"):
        (tmp_path / f"test_{name}.py").write_text(
            "import pytest\n\n@pytest.mark.machines\ndef test_up(): pass\n"
        )
    line = ["env", PLAIN, FOUND, f"WIRESPEED_RARE_TURN={turn}", *PYTEST, "--collect-only"]
    options = ["-q", "-p", "no:cacheprovider", "-c", "/dev/null", str(tmp_path)]
    done = LocalRunner().run([*line, *options], timeout_s=60)
    assert done.returncode == 0, done.output
    assert re.findall(r"test_(\w+)\.py::", done.output) == expected


@pytest.mark.parametrize(("mark", "refused"), [
    ("pytest.mark.dpdk", False),
    ("pytest.mark.polls", False),
    ('getattr(pytest.mark, "dpdk")', True),
    ('getattr(pytest.mark, "polls")', True),
    ('getattr(pytest.mark, "sshd")', False),
])  # fmt: skip
def test_a_test_that_the_script_would_not_find_by_its_mark_is_refused(
    mark: str, refused: bool, tmp_path: Path
):
    (tmp_path / "conftest.py").write_text((ROOT / "tests/conftest.py").read_text())
    file = tmp_path / "test_one.py"
    file.write_text(f"import pytest\n\npytestmark = {mark}\n\ndef test_up(): pass\n")
    line = ["env", PLAIN, FOUND, *PYTEST, "--collect-only", "-q", "-p", "no:cacheprovider"]
    done = LocalRunner().run([*line, "-c", "/dev/null", str(file)], timeout_s=60)
    assert (done.returncode != 0) is refused, done.output
    assert ("scripts/test.sh finds such tests" in done.output + done.errors) is refused


ALONE, REST = "(polls or (dpdk and not compiles))", "not (polls or (dpdk and not compiles))"
USUAL = " and not rare"


@pytest.mark.parametrize(("line", "alone", "rest"), [
    ("CI=true commits=4 scripts/test.sh all", "", USUAL),
    ("CI=true commits=5 scripts/test.sh all", USUAL, ""),
    ("CI= commits=4 scripts/test.sh all", "", ""),
    ("CI=true commits=4 scripts/test.sh", USUAL, USUAL),
])  # fmt: skip
def test_each_commit_in_ci_runs_the_rare_tests_of_one_part(
    line: str, alone: str, rest: str, tmp_path: Path
):
    programs = tmp_path / ".venv/bin"
    programs.mkdir(parents=True)
    (tmp_path / "scripts").mkdir()
    for path, script in (
        (programs / "git", 'echo "$commits"'),
        (programs / "pytest", 'while [ $# -gt 2 ]; do shift; done; echo "run: $2"'),
        (tmp_path / "scripts/lint.sh", ":"),
        (tmp_path / "scripts/test.sh", (ROOT / "scripts/test.sh").read_text()),
    ):
        path.write_text(f"#!/bin/sh\n{script}\n")
        path.chmod(0o755)
    done = LocalRunner().run(["sh", "-c", f'cd "$0" && {line}', str(tmp_path)])
    assert done.returncode == 0, done.errors
    runs = re.findall(r"^run: (.*)$", done.output, re.M)
    assert runs == [f"{ALONE}{alone}", f"{REST}{rest}"]
