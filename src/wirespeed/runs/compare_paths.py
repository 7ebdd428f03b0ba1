"""RFC 2544 through the approaches' software paths, on this machine: `wirespeed measure rfc2544`."""

import shlex
from pathlib import Path

from wirespeed.host.files import make_folder, remove_file
from wirespeed.measure.bench.run_folder import TRIALS
from wirespeed.model.error import WirespeedError
from wirespeed.model.spec.measure import Rfc2544Spec
from wirespeed.report.comparison_features import traits_of
from wirespeed.runs.bench_request import BenchRequest
from wirespeed.runs.compare_report import PATHS_FOLDER
from wirespeed.runs.rfc2544 import measure_bench
from wirespeed.terminal import echo

TRIAL_SECONDS = 1.0


def measured_paths(
    folder: Path, asked: Rfc2544Spec | None, approaches: tuple[str, ...]
) -> dict[str, str]:
    """Measure every path that an approach has in software, into a folder of its own.

    Give why there is not a figure of each, by approach; never raise for what failed.
    """
    why: dict[str, str] = {}
    for approach in approaches:
        out = folder / PATHS_FOLDER / approach
        remove_file(out / TRIALS)
        if not traits_of(approach).software_paths:
            continue
        if asked is None:
            why[approach] = "not asked for: `rfc2544: {}` under `measure:` in the spec asks"
            continue
        request = _request(traits_of(approach).software_paths, asked, out)
        echo(f"wirespeed measure rfc2544 {_options(request)}", err=True)
        try:
            make_folder(out)
            measure_bench(request)
        except WirespeedError as error:
            then = f"; next: {error.next}" if error.next else ""
            why[approach] = f"{error.what}: {error.found}{then}"
    return why


def _request(duts: tuple[str, ...], asked: Rfc2544Spec, out: Path) -> BenchRequest:
    return BenchRequest(
        out=out,
        duts=duts,
        frame_bytes=",".join(map(str, asked.frame_bytes)),
        flows=asked.flows,
        trial_seconds=min(TRIAL_SECONDS, asked.seconds),
        confirm_seconds=asked.seconds,
        windowed=False,  # what is called RFC 2544
    )


def _options(asked: BenchRequest) -> str:
    """Give the same as a person types it."""
    words = [
        *(word for dut in asked.duts for word in ("--dut", dut)),
        *("--frame-bytes", asked.frame_bytes, "--flows", str(asked.flows), "--continuous"),
        *("--trial-seconds", str(asked.trial_seconds)),
        *("--confirm-seconds", str(asked.confirm_seconds), "--out", str(asked.out)),
    ]
    return shlex.join(words)
