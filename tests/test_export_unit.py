"""The unit that exports: what systemd itself says of how far it is confined."""

import re
import shutil
import subprocess
from pathlib import Path

from other_user import needs_root

from wirespeed.doctor.collector import collector_script
from wirespeed.model.capture import parse_capture

UNIT = Path(__file__).parent.parent / "debian/wirespeed.wirespeed-export.service"
DENIED = re.compile("permission denied|not permitted", re.I)


def test_the_exporter_s_unit_is_confined_as_systemd_counts_it():
    program = shutil.which("systemd-analyze")
    assert program, "no systemd-analyze: scripts/install-system.sh test installs it"
    argv = [program, "security", "--offline=true", "--no-pager", "--threshold=30", UNIT]
    done = subprocess.run(argv, capture_output=True, text=True, timeout=30, check=False)
    (exposure,) = re.findall(r"exposure level for \S+: (\d+\.\d)", done.stdout)
    # 0 is all confined, 10 nothing.
    assert float(exposure) <= 3.0
    assert done.returncode == 0, done.stderr


def denied(*before: str) -> set[str]:
    """Run what the exporter reads the host by, and give the sections that were denied."""
    done = subprocess.run(
        [*before, "sh"], input=collector_script(), text=True, capture_output=True, timeout=120,
        check=True,
    )  # fmt: skip
    sections = parse_capture(done.stdout, "here").all_sections()
    return {one.name for one in sections if DENIED.search(one.errors)}


@needs_root
def test_the_exporter_under_the_capabilities_of_its_unit_is_denied_nothing_that_root_reads():
    """Without SYSLOG it was the kernel's log, and with it seven rules could not be determined."""
    (named,) = re.findall(r"(?m)^CapabilityBoundingSet=(.+)$", UNIT.read_text())
    kept = ",".join(f"+{name.removeprefix('CAP_').lower()}" for name in named.split())
    confined = ("setpriv", f"--bounding-set=-all,{kept}", "--inh-caps=-all", "--no-new-privs")
    assert denied(*confined) == denied()
