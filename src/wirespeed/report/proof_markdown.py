"""A proof as Markdown: the same tables, to be read in a terminal of 80 columns."""

from wirespeed.model.shown import shown
from wirespeed.report import proof_host_tables as hosts
from wirespeed.report import proof_tables as tables
from wirespeed.report.grid import Grid
from wirespeed.report.markdown import escape, grid_markdown
from wirespeed.report.plan_text import shell_script
from wirespeed.report.proof_answer import answers, verdict, warnings
from wirespeed.report.proof_offload import offload_lines
from wirespeed.report.proof_page import Proof


def render_proof_markdown(proof: Proof) -> str:
    """`report.md`."""
    opening = proof.opening
    blocks = [f"# {escape(verdict(proof))}"]
    blocks.append(
        f"{escape(shown(opening.spec_name))}: approach {opening.spec.approach} on "
        f"{', '.join(opening.spec.hosts)}, {opening.started_at}, wirespeed {opening.wirespeed}"
    )
    blocks.append("\n".join(_answer_lines(proof)))
    blocks += [f"> {escape(shown(text, 1000))}" for text in warnings(proof)]
    blocks += ["## As found", _table(hosts.findings_grid(proof))]
    blocks += [
        f"{one.host}: no answer, {escape(shown(f'{one.what}: {one.found}'))}"
        for one in hosts.unanswered(proof.found)
    ]
    blocks += ["## What was done", _table(hosts.plan_grid(proof))]
    blocks += ["## Before and after", _table(hosts.changes_grid(proof, by_plan=True))]
    blocks += [_table(hosts.changes_grid(proof, by_plan=False))]
    blocks += ["## Throughput and round trip", _table(tables.turned(tables.result_grid(proof)))]
    blocks += [_table(tables.spread_grid(proof))]
    blocks += ["## Fail-over", _table(tables.failover_grid(proof))]
    blocks += ["## Isolation", _table(tables.isolation_ways_grid(proof))]
    if proof.summary.offloads:
        lines = [f"- {escape(shown(line, 1000))}" for line in offload_lines(proof)]
        blocks += ["## Offload", "\n".join(lines)]
    blocks += ["## After undo", *_undo(proof)]
    blocks += ["## Stages", _table(hosts.stages_grid(proof))]
    if proof.plan is not None:
        for host in dict.fromkeys(step.host for step in proof.plan.steps):
            blocks += [f"## Commands of {escape(host)}", _code(shell_script(proof.plan, host))]
    return "\n\n".join(filter(None, blocks)) + "\n"


def _answer_lines(proof: Proof) -> list[str]:
    lines = []
    for one in answers(proof):
        said = shown(one.condition + (f"; {one.more}" if one.more else ""), 1000)
        lines.append(f"- **{one.question}: {escape(one.figure)}**, {escape(said)}")
    return lines


def _undo(proof: Proof) -> list[str]:
    if proof.undone is None:
        return ["Not compared."]
    if proof.undone.is_equal:
        return [f"Nothing differs in {proof.undone.compared} values."]
    return [_table(hosts.standing_grid("What differs", "As found", proof.undone.differences))]


def _table(grid: Grid) -> str:
    return (
        grid_markdown(tables.harmless(grid)) if grid.rows else f"**{escape(grid.title)}**: nothing."
    )


def _code(text: str) -> str:
    return "\n".join(f"    {line}".rstrip() for line in text.splitlines())
