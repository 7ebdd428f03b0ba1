"""RFC 2544 through the approaches' software paths, on this machine: `wirespeed measure rfc2544`."""

from pathlib import Path

import click

from wirespeed.commands.compare_report import PATHS_FOLDER
from wirespeed.commands.measure import rfc2544
from wirespeed.host.files import make_folder, remove_file
from wirespeed.measure.run_folder import TRIALS
from wirespeed.model.error import WirespeedError
from wirespeed.model.spec import Approach, Rfc2544Spec
from wirespeed.report.comparison_paths import PATHS

TRIAL_SECONDS = 1.0


def measured_paths(
    folder: Path, asked: Rfc2544Spec | None, approaches: tuple[Approach, ...]
) -> str:
    """Measure every path that the approaches have in software, into a folder of its own.

    Give why there is not a figure of each, empty where there is; never raise for what failed.
    """
    duts = [dut for approach in approaches for dut in PATHS[approach]]
    out = folder / PATHS_FOLDER
    remove_file(out / TRIALS)
    if asked is None:
        return "not asked for: `rfc2544: {}` under `measure:` in the spec asks"
    if not duts:
        return ""
    make_folder(out)
    argv = [word for dut in duts for word in ("--dut", dut)]
    argv += ["--frame-bytes", ",".join(map(str, asked.frame_bytes)), "--flows", str(asked.flows)]
    argv += ["--trial-seconds", str(min(TRIAL_SECONDS, asked.seconds))]
    argv += ["--confirm-seconds", str(asked.seconds), "--out", str(out)]
    click.echo(f"wirespeed measure rfc2544 {' '.join(argv)}", err=True)
    try:
        rfc2544.main(argv, standalone_mode=False)
    except WirespeedError as error:
        return f"{error.what}: {error.found}" + (f"; next: {error.next}" if error.next else "")
    return ""
