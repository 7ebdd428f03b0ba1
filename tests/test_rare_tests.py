"""What is rare begins only while there is time for it, and is named where it does not."""

import re
import sys
from pathlib import Path

import pytest

from wirespeed.host.local import LocalRunner

ROOT = Path(__file__).parent.parent
FAR_AWAY = "99999999999"


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
        line = ["env", f"WIRESPEED_RARE_UNTIL={when}", sys.executable, "-m", "pytest", "-rs", "-m"]
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
    line = ["env", f"WIRESPEED_RARE_TURN={turn}", sys.executable, "-m", "pytest", "--collect-only"]
    options = ["-q", "-p", "no:cacheprovider", "-c", "/dev/null", str(tmp_path)]
    done = LocalRunner().run([*line, *options], timeout_s=60)
    assert done.returncode == 0, done.output
    assert re.findall(r"test_(\w+)\.py::", done.output) == expected
