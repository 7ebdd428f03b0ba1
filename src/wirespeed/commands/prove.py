"""`wirespeed prove`: the whole chain on the hosts of a spec, and one page of what it shows."""

from pathlib import Path

import click

from wirespeed.apply.run_place import new_run_folder, refuse_moved
from wirespeed.commands.described import Described
from wirespeed.commands.shared_options import break_lock
from wirespeed.host.files import make_result_folder
from wirespeed.report.proof_answer import exit_code
from wirespeed.runs.hosts_of_spec import read_spec
from wirespeed.runs.measure_dpdk import refuse_trials_of_no_length
from wirespeed.runs.prove_into import prove_into
from wirespeed.runs.prove_run import DeclinedError
from wirespeed.runs.report_source import proof_pages


@click.command(
    cls=Described,
    reads="the hosts of SPEC before, during and after the change; traffic between its guests",
    changes="the hosts, until the undo (see --keep); the page and the run folder",
    codes={
        0: "everything is proven",
        1: "something is not proven: frames leaked, a flow was lost, or a host is not as before",
        2: "bad input; nothing was changed",
        3: "a host was left changed",
    },
)
@click.argument("spec", type=click.Path(path_type=Path))
@click.option("--yes", is_flag=True, help="Do not ask for confirmation.")
@click.option("--keep", is_flag=True, help="Leave the plan applied; `wirespeed undo` undoes it.")
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    help="Folder of the run and its page.  [default: SPEC.report for the page, the run in "
    "~/.local/state/wirespeed/runs]",
)
@click.option(
    "--resume",
    is_flag=True,
    help="Keep the trials of an earlier run that was cut short (`approach: dpdk`), and make the "
    "others.",
)
@break_lock
def prove(
    spec: Path, yes: bool, keep: bool, out: Path | None, resume: bool, breaks_lock: bool
) -> int:
    """Prove a spec: doctor, plan, apply, verify, measure between the guests, undo, compare.

    If a stage fails, what was applied is undone, and the page says what is not proven. The page is
    report.html beside the spec, in SPEC.report; `wirespeed report SPEC` makes it again from the
    files of the run.
    """
    refuse_trials_of_no_length(read_spec(spec), spec)
    folder, pages = out or new_run_folder(spec), out or proof_pages(spec)
    if out is None:
        refuse_moved(spec, read_spec(spec))
        make_result_folder(pages)
    try:
        proof = prove_into(
            folder,
            read_spec(spec),
            spec,
            pages,
            asks=not yes,
            keeps=keep,
            breaks=breaks_lock,
            resumes=resume,
        )
    except DeclinedError:
        return 1
    return exit_code(proof)
