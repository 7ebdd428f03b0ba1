"""A proof as one HTML file that opens offline."""

from wirespeed.report import proof_answer, proof_host_tables, proof_tables
from wirespeed.report.charts.failover import failover
from wirespeed.report.environment import make_environment
from wirespeed.report.plan_text import shell_script
from wirespeed.report.proof_offload import offload_grid
from wirespeed.report.proof_page import Proof


def render_proof_html(proof: Proof) -> str:
    """`report.html`."""
    environment = make_environment()
    environment.globals.update(
        answers=proof_answer.answers(proof),
        verdict=proof_answer.verdict(proof),
        is_proven=proof_answer.is_proven(proof),
        warnings=proof_answer.warnings(proof),
        tables=proof_tables,
        hosts=proof_host_tables,
        found=proof_host_tables.findings(proof.found),
        frame_bytes=proof_host_tables.frame_bytes(proof.found),
        failover=failover(proof.summary.failovers, proof.opening.spec.measure.failover.seconds),
        offload=offload_grid(proof),
        shell_script=shell_script,
    )
    return environment.get_template("proof.html.j2").render(proof=proof)
