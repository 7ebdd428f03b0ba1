"""The whole proof of a spec, into a folder, and the page of what it shows."""

from contextlib import closing
from pathlib import Path

from wirespeed import __version__
from wirespeed.apply.run import open_run
from wirespeed.apply.run_place import of_spec
from wirespeed.host.clock import utc_now
from wirespeed.model.error import LeftChangedError, MeasurementError, WirespeedError
from wirespeed.model.proof import Opening, Stage
from wirespeed.model.spec.spec import Spec
from wirespeed.report.proof_answer import answers, exit_code, verdict
from wirespeed.report.proof_page import Proof
from wirespeed.runs.change_hosts import refuse_applied
from wirespeed.runs.hosts_of_spec import controls_by, runners_of
from wirespeed.runs.measure_dpdk import bench_to_resume
from wirespeed.runs.measuring import measuring_of
from wirespeed.runs.prove_folder import ProofFolder, write_proof_reports
from wirespeed.runs.prove_run import DeclinedError, Proving
from wirespeed.terminal import echo


def prove_into(
    folder: Path,
    wanted: Spec,
    name: Path,
    pages: Path,
    *,
    asks: bool,
    keeps: bool,
    breaks: bool = False,
    resumes: bool = False,
) -> Proof:
    """Prove `wanted`, of the file `name`, into a folder, and tell what it shows.

    `pages` is the folder of the page. With `resumes`, a bench goes on from the trials that an
    earlier run of the folder left.

    Raises as `bench_to_resume`, before anything is changed.
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
    measuring_by = measuring_of(wanted)
    with open_run(folder, breaks=breaks, of=of_spec(name)) as run, runners_of(wanted) as runners:
        refuse_applied(run, f"run `wirespeed undo {run.folder}`, then prove again")
        recorded = bench_to_resume(wanted, folder) if resumes else []
        control = controls_by(wanted, runners)
        with closing(ProofFolder(folder, opening, recorded)) as files:
            measuring = measuring_by(runners, files)
            proving = Proving(wanted, name, run, control, files, measuring, asks=asks, keeps=keeps)
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


def _tell(proof: Proof, pages: Path) -> None:
    echo(verdict(proof))
    for one in answers(proof):
        mark = "" if one.is_proven else (" (not proven)" if one.is_asked else "")
        echo(f"  {one.question:<12} {one.figure}{mark}")
    echo(f"report: {pages / 'report.html'}")
