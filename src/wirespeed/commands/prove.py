"""`wirespeed prove`: the whole chain on the hosts of a spec, and one page of what it shows."""

from contextlib import closing
from pathlib import Path

import click

from wirespeed import __version__
from wirespeed.apply.run import Run, open_run
from wirespeed.apply.run_place import new_run_folder, of_spec, refuse_moved
from wirespeed.commands.break_lock import break_lock
from wirespeed.host.clock import utc_now
from wirespeed.host.files import make_result_folder
from wirespeed.model.error import InputError, LeftChangedError, MeasurementError, WirespeedError
from wirespeed.model.proof import Opening, Stage
from wirespeed.model.spec import Spec
from wirespeed.report.proof_answer import answers, exit_code, verdict
from wirespeed.report.proof_page import Proof
from wirespeed.runs.hosts_of_spec import hands_by, read_spec, runners_of
from wirespeed.runs.prove_folder import ProofFolder, write_proof_reports
from wirespeed.runs.prove_measure import Measuring
from wirespeed.runs.prove_run import DeclinedError, Proving
from wirespeed.runs.report_source import proof_pages
from wirespeed.terminal import echo


@click.command()
@click.argument("spec", type=click.Path(path_type=Path))
@click.option("--yes", is_flag=True, help="Do not ask.")
@click.option("--keep", is_flag=True, help="Leave it applied: `wirespeed undo` takes it back.")
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    help="Folder of the run and its page.  [default: SPEC.report for the page, the run in "
    "~/.local/state/wirespeed/runs]",
)
@break_lock
def prove(spec: Path, yes: bool, keep: bool, out: Path | None, breaks_lock: bool) -> int:
    """Prove a spec: doctor, plan, apply, verify, measure between the guests, undo, compare.

    Whatever fails, what was applied is taken back, and the page says what is not shown. The page
    is report.html beside the spec, in SPEC.report; `wirespeed report SPEC` makes it again from the
    files of the run.

    Exit codes: 0 all of it is proven; 1 something is not: frames leaked, a flow was lost, the
    hosts are not as before; 2 bad input, nothing was changed; 3 a host was left changed.
    """  # fmt: skip
    folder, pages = out or new_run_folder(spec), out or proof_pages(spec)
    if out is None:
        refuse_moved(spec, read_spec(spec))
        make_result_folder(pages)
    try:
        proof = prove_into(
            folder, read_spec(spec), spec, pages, asks=not yes, keeps=keep, breaks=breaks_lock
        )
    except DeclinedError:
        return 1
    return exit_code(proof)


def prove_into(
    folder: Path,
    wanted: Spec,
    name: Path,
    pages: Path,
    *,
    asks: bool,
    keeps: bool,
    breaks: bool = False,
) -> Proof:
    """Prove `wanted`, of the file `name`, into a folder, and tell what it shows.

    `pages` is the folder of the page.

    Raises DeclinedError when the user does not want it; else what failed, with the exit code that
    the hosts call for, when the page of all that there is was written.
    """
    opening = Opening(
        wirespeed=__version__,
        started_at=utc_now(),
        spec_name=name.name,
        run_name=str(folder),
        spec=wanted,
        keeps=keeps,
    )
    with open_run(folder, breaks=breaks, of=of_spec(name)) as run, runners_of(wanted) as runners:
        _refuse_what_stands(run)
        hands = hands_by(wanted, runners)
        measuring = Measuring(wanted, runners)
        with closing(ProofFolder(folder, opening)) as files:
            proving = Proving(wanted, name, run, hands, files, measuring, asks=asks, keeps=keeps)
            try:
                proving.go()
            except DeclinedError:
                raise
            except WirespeedError as error:
                proof = write_proof_reports(folder, pages)
                _tell(proof, pages)
                raise _judged(error, proof) from None
            except BaseException:
                write_proof_reports(folder, pages)
                raise
            proof = write_proof_reports(folder, pages)
    _tell(proof, pages)
    return proof


def _judged(error: WirespeedError, proof: Proof) -> WirespeedError:
    """Give the error with the exit code that the hosts call for, and not that of its kind."""
    code = exit_code(proof)
    if proof.stage(Stage.APPLY) is None or error.exit_code == code:
        return error
    kind = LeftChangedError if code == LeftChangedError.exit_code else MeasurementError
    return kind(error.what, where=error.where, found=error.found, so=error.so, next=error.next)


def _refuse_what_stands(run: Run) -> None:
    if run.outcome not in ("new", "undone"):
        raise InputError(
            "run.applied_before",
            where=str(run.folder),
            found=f"its run is {run.outcome}",
            so="what stood there before it is in its journal, and would be lost",
            next=f"wirespeed undo {run.folder}, then prove again",
        )


def _tell(proof: Proof, pages: Path) -> None:
    echo(verdict(proof))
    for one in answers(proof):
        mark = "" if one.is_proven else (" (not proven)" if one.is_asked else "")
        echo(f"  {one.question:<12} {one.figure}{mark}")
    echo(f"report: {pages / 'report.html'}")
