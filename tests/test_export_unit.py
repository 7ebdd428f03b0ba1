"""The unit that exports: what systemd itself says of how far it is confined."""

import re
import shutil
import subprocess
from pathlib import Path

UNIT = Path(__file__).parent.parent / "debian/wirespeed.wirespeed-export.service"


def test_the_exporter_s_unit_is_confined_as_systemd_counts_it():
    program = shutil.which("systemd-analyze")
    assert program, "no systemd-analyze: scripts/install-system.sh test installs it"
    argv = [program, "security", "--offline=true", "--no-pager", "--threshold=30", UNIT]
    done = subprocess.run(argv, capture_output=True, text=True, timeout=30, check=False)
    (exposure,) = re.findall(r"exposure level for \S+: (\d+\.\d)", done.stdout)
    # 0 is all confined, 10 nothing.
    assert float(exposure) <= 3.0
    assert done.returncode == 0, done.stderr
