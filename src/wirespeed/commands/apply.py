"""`wirespeed apply`: carry a plan out, each step read back, and all of it put back on failure."""

from pathlib import Path

import click

from wirespeed.apply.gate import Consents
from wirespeed.apply.guard_timer_control import CONFIRM_WITHIN_S
from wirespeed.apply.run import open_run
from wirespeed.apply.run_place import new_run_folder, of_spec, refuse_moved
from wirespeed.commands.described import Described
from wirespeed.commands.shared_options import break_lock
from wirespeed.runs.apply_run import Applying, How
from wirespeed.runs.hosts_of_spec import controls_of, read_spec
from wirespeed.runs.resume_spec import spec_to_go_on_with


@click.command(
    cls=Described,
    reads="the hosts of SPEC, each step's state before and after the change",
    changes="the hosts; the run folder; a copy of the journal on each Linux host",
    codes={
        0: "applied, or stopped where --until says",
        1: "refused, or all steps were undone after a failure",
        2: "bad input",
        3: "a host was left changed",
        4: "a stage is done, and a host must be rebooted",
    },
)
@click.argument("spec", type=click.Path(path_type=Path))
@click.option(
    "--run",
    "folder",
    type=click.Path(path_type=Path),
    help="Folder of the run, with its journal.  [default: one of its own in "
    "~/.local/state/wirespeed/runs]",
)
@click.option("--yes", is_flag=True, help="Do not ask for confirmation.")
@click.option(
    "--until", metavar="STEP", help="Stop after this step: its number, or `KIND SUBJECT`."
)
@click.option("--reboot", is_flag=True, help="Reboot a host when a stage needs it, and continue.")
@click.option(
    "--allow-cutoff",
    is_flag=True,
    help="Also change the port through which wirespeed reaches a host. The host undoes that step "
    "unless wirespeed reconnects.",
)
@click.option("--allow-firmware", is_flag=True, help="Also write a card's firmware.")
@click.option("--allow-no-undo", is_flag=True, help="Also apply steps that cannot be undone.")
@click.option(
    "--confirm-within",
    "within_s",
    metavar="SECONDS",
    type=click.IntRange(10, 3600),
    default=CONFIRM_WITHIN_S,
    show_default=True,
    help="Seconds a host waits for the new connection before it undoes the step.",
)
@click.option(
    "--try",
    "try_s",
    metavar="SECONDS",
    type=click.IntRange(10, 86400),
    help="Seconds after which each host undoes the whole run, unless you run `wirespeed confirm` "
    "first.",
)
@break_lock
@click.option(
    "--as-begun", is_flag=True, help="Finish a run with the spec that it was started with."
)
def apply(
    spec: Path,
    folder: Path | None,
    yes: bool,
    until: str | None,
    reboot: bool,
    allow_cutoff: bool,
    allow_firmware: bool,
    allow_no_undo: bool,
    within_s: int,
    breaks_lock: bool,
    as_begun: bool,
    try_s: int | None,
) -> int:
    """Apply a spec to its hosts and verify every step. `wirespeed undo` undoes all of it.

    wirespeed writes each step to a journal before it makes the change, and calls the step done only
    when a new reading of the host shows it. If a step fails, all steps are undone. If a run was
    killed, stopped by --until, or waits for a reboot, the next apply finishes it: it shows the
    remaining steps and asks. If the spec was edited in between, see --as-begun.
    """
    wanted = read_spec(spec)
    consents = Consents(
        allow_cutoff=allow_cutoff, allow_firmware=allow_firmware, allow_no_undo=allow_no_undo
    )
    how = How(spec, until, yes, reboot, within_s, consents, try_s or 0)
    if folder is None:
        refuse_moved(spec, wanted)
    where = folder or new_run_folder(spec)
    with open_run(where, breaks=breaks_lock, of=of_spec(spec)) as run:
        wanted = spec_to_go_on_with(run, wanted, spec, as_begun=as_begun)
        with controls_of(wanted) as controls:
            return Applying(wanted, run, controls, how).go()
