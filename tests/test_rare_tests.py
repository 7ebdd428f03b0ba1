"""What is rare begins only while there is time for it, and is named where it does not."""

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
