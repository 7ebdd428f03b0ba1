"""`wirespeed export`: what Prometheus' own program accepts, at most 60 series a port."""

import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from urllib.request import urlopen

import pytest
from click.testing import CliRunner

from described.healthy import kinds
from described.host import capture_of
from wirespeed.commands.export import export
from wirespeed.host import metrics_server
from wirespeed.host.metrics_server import COST
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
    found = {row[1]: float(row[2]) for row in SERIES.findall(text) if "per_second" in row[0]}
    assert found and all("bound_by=" in labels for labels in found)


def test_the_ceiling_is_a_share_of_the_line_rate_where_the_link_s_speed_was_read(tmp_path: Path):
    # 200 Gb/s in a slot of 16 lanes at 16 GT/s, which carry less of what is received.
    (tmp_path / "capture.txt").write_text(capture_of(kinds()["epyc_200g"]()))
    rows = SERIES.findall(exported(tmp_path / "capture.txt"))
    bytes_per_s = {row[1]: float(row[2]) for row in rows if row[0].endswith("bytes_per_second")}
    ratios = {row[1]: float(row[2]) for row in rows if row[0] == "wirespeed_port_ceiling_ratio"}
    assert len(ratios) == len(bytes_per_s) > 1
    for labels, ratio in ratios.items():
        (bound,) = (v for key, v in bytes_per_s.items() if key.startswith(labels))
        assert ratio == pytest.approx(bound * 8 / 200e9)
    assert min(ratios.values()) < 1 == max(ratios.values())
    # The narrow host's capture has no speed of its link.
    assert "ceiling_ratio{" not in exported(NARROW)


def test_a_textfile_is_replaced_as_a_whole(tmp_path: Path):
    path = tmp_path / "wirespeed.prom"
    path.write_text("old\n" * 1000)
    words = [str(NARROW), "--textfile", str(path)]
    CliRunner().invoke(export, words, catch_exceptions=False, standalone_mode=False)
    assert path.read_text() == exported(NARROW)
    assert [one.name for one in tmp_path.iterdir()] == ["wirespeed.prom"]


@pytest.fixture(name="served")
def _served() -> Iterator[str]:
    """The address of a server, by the command itself."""
    argv = [sys.executable, "-c", "from wirespeed.cli import main; main()"]
    argv += ["export", str(NARROW), "--listen", "127.0.0.1:0"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    child = subprocess.Popen(argv, stderr=subprocess.PIPE, text=True, env=environment)
    try:
        assert child.stderr is not None
        yield child.stderr.readline().strip()
        child.send_signal(signal.SIGTERM)
        # What systemd takes for a stop and no failure.
        assert child.wait(30) == 0
        assert child.stderr.read() == ""
    finally:
        child.kill()
        child.wait(30)


def test_what_is_served_over_http_is_what_a_textfile_has(served: str):
    assert re.fullmatch(r"http://127\.0\.0\.1:\d+/metrics", served), served
    with urlopen(served, timeout=60) as reply:  # noqa: S310
        text = reply.read().decode()
    assert promtool("check", "metrics", text=text).strip() == ""

    def rows(text: str) -> set[tuple[str, frozenset[str], str]]:
        return {
            (name, frozenset(labels.split(",") if labels else ()), f"{float(value):.9g}")
            for name, labels, value in SERIES.findall(text)
        }

    expected = rows(exported(NARROW))
    assert len(expected) > 5
    assert {row for row in rows(text) if row[0] != COST} == expected
    (cost,) = (row[2] for row in rows(text) if row[0] == COST)
    assert 0 < float(cost) < 60


def test_a_host_is_read_again_after_a_minute_and_never_before(monkeypatch: pytest.MonkeyPatch):
    now, count = [100.0], [0]
    monkeypatch.setattr(metrics_server, "monotonic_s", lambda: now[0])

    def read() -> metrics_server.Families:
        count[0] += 1
        return [("wirespeed_a", "A.", [("wirespeed_a", {"port": "x\n"}, count[0])])]

    readings = metrics_server.Readings(read)
    seen = []
    for now[0] in (100.0, 101.0, 159.9, 160.0, 219.0, 220.0):
        first = next(iter(readings.collect()))
        seen.append(first.samples[0].value)
        assert first.samples[0].labels == {"port": "x\\x0a"}
    assert seen == [1, 1, 1, 2, 2, 3]


def test_an_address_in_use_is_refused():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        listen = f"127.0.0.1:{taken.getsockname()[1]}"
        with pytest.raises(InputError, match=r"export\.listen"):
            CliRunner().invoke(
                export, [str(NARROW), "--listen", listen],
                catch_exceptions=False, standalone_mode=False,
            )  # fmt: skip


@pytest.mark.parametrize("listen", ["9477", ":9477", "localhost:9477", "127.0.0.1:70000"])
def test_what_is_no_address_and_port_is_refused(listen: str):
    assert CliRunner().invoke(export, [str(NARROW), "--listen", listen]).exit_code == 2


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
