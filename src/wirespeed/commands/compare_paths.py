"""RFC 2544 through the approaches' software paths, on this machine: `wirespeed measure rfc2544`."""

from pathlib import Path

import click

from wirespeed.commands.measure import rfc2544
from wirespeed.host.files import make_folder, remove_file
from wirespeed.measure.run_folder import TRIALS, read_records
from wirespeed.model.error import WirespeedError
from wirespeed.model.spec import Approach, Rfc2544Spec
from wirespeed.model.trial import Outcome
from wirespeed.report.comparison import Rfc2544
from wirespeed.report.comparison_paths import PATHS

TRIAL_SECONDS = 1.0
FOLDER = "rfc2544"


def measured_paths(
    folder: Path, asked: Rfc2544Spec | None, approaches: tuple[Approach, ...]
) -> Rfc2544:
    """Measure every path that the approaches have in software, into a folder of its own.

    Never raises for what failed: it is told as the reason why there is no figure.
    """
    duts = [dut for approach in approaches for dut in PATHS[approach]]
    if asked is None:
        return Rfc2544(why_not="not asked for: `rfc2544: {}` under `measure:` in the spec asks")
    if not duts:
        return Rfc2544()
    out = folder / FOLDER
    make_folder(out)
    remove_file(out / TRIALS)
    argv = [word for dut in duts for word in ("--dut", dut)]
    argv += ["--frame-bytes", ",".join(map(str, asked.frame_bytes)), "--flows", str(asked.flows)]
    argv += ["--trial-seconds", str(min(TRIAL_SECONDS, asked.seconds))]
    argv += ["--confirm-seconds", str(asked.seconds), "--out", str(out)]
    click.echo(f"wirespeed measure rfc2544 {' '.join(argv)}", err=True)
    why = ""
    try:
        rfc2544.main(argv, standalone_mode=False)
    except WirespeedError as error:
        why = f"{error.what}: {error.found}" + (f"; next: {error.next}" if error.next else "")
    outcomes = tuple(one for one in read_records(out) if isinstance(one, Outcome))
    return Rfc2544(outcomes, why)
