"""`wirespeed prove`: the whole chain on the hosts of a spec, and one page of what it shows."""

from contextlib import closing
from pathlib import Path

import click

from wirespeed import __version__
from wirespeed.apply.run import Run, open_run
from wirespeed.commands.hosts_of_spec import hands_by, read_spec, runners_of
from wirespeed.commands.prove_folder import ProofFolder, write_proof_reports
from wirespeed.commands.prove_measure import Measuring
from wirespeed.commands.prove_run import DeclinedError, Proving
from wirespeed.commands.run_hosts import run_folder
from wirespeed.host.clock import utc_now
from wirespeed.model.error import InputError, LeftChangedError, MeasurementError, WirespeedError
from wirespeed.model.proof import Opening, Stage
from wirespeed.model.spec import Spec
from wirespeed.report.proof_answer import answers, exit_code, verdict
from wirespeed.report.proof_page import Proof


@click.command()
@click.argument("spec", type=click.Path(path_type=Path))
@click.option("--yes", is_flag=True, help="Do not ask.")
@click.option("--keep", is_flag=True, help="Leave it applied: `wirespeed undo` takes it back.")
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    help="Folder of the run.  [default: SPEC with .run]",
)
def prove(spec: Path, yes: bool, keep: bool, out: Path | None) -> int:
    """Prove a spec: doctor, plan, apply, verify, measure between the guests, undo, compare.

    Whatever fails, what was applied is taken back, and the page says what is not shown. The page
    is report.html in the folder of the run; `wirespeed report` makes it again from the files
    there.

    Exit codes: 0 all of it is proven; 1 something is not: frames leaked, a flow was lost, the
    hosts are not as before; 2 bad input, nothing was changed; 3 a host was left changed.
    """  # fmt: skip
    folder = out or run_folder(spec)
    try:
        proof = prove_into(folder, read_spec(spec), spec, asks=not yes, keeps=keep)
    except DeclinedError:
        return 1
    return exit_code(proof)


def prove_into(folder: Path, wanted: Spec, name: Path, *, asks: bool, keeps: bool) -> Proof:
    """Prove `wanted`, of the file `name`, into a folder, and tell what it shows.

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
    with open_run(folder) as run, runners_of(wanted) as runners:
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
                proof = write_proof_reports(folder)
                _tell(proof, folder)
                raise _judged(error, proof) from None
            except BaseException:
                write_proof_reports(folder)
                raise
            proof = write_proof_reports(folder)
    _tell(proof, folder)
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


def _tell(proof: Proof, folder: Path) -> None:
    click.echo(verdict(proof))
    for one in answers(proof):
        mark = "" if one.is_proven else (" (not proven)" if one.is_asked else "")
        click.echo(f"  {one.question:<12} {one.figure}{mark}")
    click.echo(f"report: {folder / 'report.html'}")
