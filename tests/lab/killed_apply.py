"""Applies a plan as `wirespeed apply` does, and kills itself with SIGKILL at one journal write.

    killed_apply.py SPEC PLAN RUN NUMBER before|after

NUMBER counts the entries of the journal from 0; the kill comes before that one is written, or when
it is durable.
"""

import os
import signal
import sys
from pathlib import Path

from wirespeed.apply.run import open_run
from wirespeed.model.journal import Entry
from wirespeed.model.plan import Plan
from wirespeed.runs.hosts_of_spec import controls_of, read_spec
from wirespeed.runs.run_hosts import apply_plan


def main(spec: str, plan: str, folder: str, number: str, when: str) -> None:
    with open_run(Path(folder)) as run, controls_of(read_spec(Path(spec))) as controls:
        write = run.write

        def write_and_die(entry: Entry) -> None:
            is_it = len(run.entries) == int(number)
            if is_it and when == "before":
                os.kill(os.getpid(), signal.SIGKILL)
            write(entry)
            if is_it:
                os.kill(os.getpid(), signal.SIGKILL)

        run.write = write_and_die  # type: ignore[method-assign]
        apply_plan(run, Plan.model_validate_json(Path(plan).read_text()), controls)


if __name__ == "__main__":
    main(*sys.argv[1:])
