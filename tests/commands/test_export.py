"""`wirespeed export`: what Prometheus' own program accepts, at most 60 series a port."""

import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from click.testing import CliRunner

from described.healthy import kinds
from described.host import capture_of
from wirespeed.commands.export import export
from wirespeed.model.error import InputError
from wirespeed.report.export_text import MOST

ROOT = Path(__file__).parent.parent.parent
CASES = ROOT / "tests/rules/cases"
NARROW = CASES / "pcie.width_below_capability/present_x4_where_both_ends_can_do_x16/capture.txt"
EXAMPLES = ROOT / "examples/prometheus"
SERIES = re.compile(r"^(wirespeed_\w+)(?:\{(.*)\})? (\S+)$", re.M)


def promtool(*words: str, text: str = "") -> str:
    program = shutil.which("promtool")
    assert program, "no promtool: scripts/install-system.sh test installs it"
    done = subprocess.run([program, *words], input=text, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout + done.stderr


def exported(path: Path) -> str:
    result = CliRunner().invoke(export, [str(path)], catch_exceptions=False, standalone_mode=False)
    return result.output


@pytest.mark.parametrize("name", ["dual_xeon_100g", "proxmox", "guest_virtio", "container"])
def test_promtool_accepts_what_is_exported_and_no_port_has_more_than_60_series(
    name: str, tmp_path: Path
):
    (tmp_path / "capture.txt").write_text(capture_of(kinds()[name]()))
    text = exported(tmp_path / "capture.txt")
    assert promtool("check", "metrics", text=text).strip() == ""
    assert text.endswith("\n# EOF\n")
    ports = [re.search(r'port="([^"]*)"', row[1] or "") for row in SERIES.findall(text)]
    counts = [match[1] for match in ports if match]
    assert all(counts.count(port) <= MOST for port in counts)


def test_a_finding_and_the_ceiling_that_it_causes_are_series():
    text = exported(NARROW)
    assert 'rule="pcie.width_below_capability",severity="fault"} 1' in text
    found = {row[1]: float(row[2]) for row in SERIES.findall(text) if "ceiling" in row[0]}
    assert found and all("bound_by=" in labels for labels in found)


def test_a_textfile_is_replaced_as_a_whole(tmp_path: Path):
    path = tmp_path / "wirespeed.prom"
    path.write_text("old\n" * 1000)
    words = [str(NARROW), "--textfile", str(path)]
    CliRunner().invoke(export, words, catch_exceptions=False, standalone_mode=False)
    assert path.read_text() == exported(NARROW)
    assert [one.name for one in tmp_path.iterdir()] == ["wirespeed.prom"]


def test_what_is_no_capture_is_an_error_and_leaves_the_file(tmp_path: Path):
    (tmp_path / "bad.txt").write_text("nothing\n")
    path = tmp_path / "wirespeed.prom"
    path.write_text("as before\n")
    with pytest.raises(InputError):
        CliRunner().invoke(
            export, [str(tmp_path / "bad.txt"), "--textfile", str(path)],
            catch_exceptions=False, standalone_mode=False,
        )  # fmt: skip
    assert path.read_text() == "as before\n"


def test_alert_rules_and_dashboard_use_series_that_are_exported():
    promtool("check", "rules", str(EXAMPLES / "rules.yml"))
    names = {row[0] for row in SERIES.findall(exported(NARROW))}
    board = json.loads((EXAMPLES / "dashboard.json").read_text())
    said = (EXAMPLES / "rules.yml").read_text() + json.dumps(board["panels"])
    assert set(re.findall(r"wirespeed_\w+", said)) <= names
