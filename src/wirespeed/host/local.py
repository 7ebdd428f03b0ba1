"""Runs commands on this host."""

import contextlib
import subprocess
from collections.abc import Sequence

from wirespeed.host.clock import monotonic_s
from wirespeed.host.runner import Completed
from wirespeed.host.spawn import end, spawn
from wirespeed.model.error import MeasurementError


class LocalRunner:
    """The `Runner` of the machine that we are on."""

    def run(self, argv: Sequence[str], *, timeout_s: float = 60.0) -> Completed:
        """See `Runner.run`."""
        started = monotonic_s()
        process = spawn(argv, stdin=subprocess.DEVNULL)
        try:
            output, errors = process.communicate(timeout=timeout_s)
        except subprocess.TimeoutExpired:
            end(process, term_s=1.0)
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.communicate(timeout=1.0)
            raise MeasurementError(
                "command.timeout",
                where=" ".join(argv),
                found=f"still running after {timeout_s:g} s",
                so="it was killed",
            ) from None
        finally:
            # Also on Ctrl-C: no child stays behind, and no pipe.
            end(process, term_s=1.0)
            for pipe in (process.stdout, process.stderr):
                if pipe is not None:
                    pipe.close()
        return Completed(
            argv=tuple(argv),
            output=output.decode(errors="replace"),
            errors=errors.decode(errors="replace"),
            returncode=process.returncode,
            duration_s=monotonic_s() - started,
        )
