"""What the page of a proof says: its answers first, then stage by stage what they rest on. Pure."""

from collections.abc import Iterator

from wirespeed.model.spec.members import Dpdk
from wirespeed.report import proof_host_tables as hosts
from wirespeed.report import proof_tables as tables
from wirespeed.report.bench_hosts import bench_hosts
from wirespeed.report.build import build_page
from wirespeed.report.charts.failover import failover
from wirespeed.report.diagnosis_blocks import findings_blocks
from wirespeed.report.document import (
    Block,
    Code,
    Document,
    Drawing,
    Folded,
    Section,
    Text,
    Tile,
    TileTone,
    Warn,
)
from wirespeed.report.page_document import bench_sections
from wirespeed.report.plan_text import shell_script
from wirespeed.report.proof_answer import ProofAnswer, answers, is_proven, verdict, warnings
from wirespeed.report.proof_offload import offload_grid
from wirespeed.report.proof_page import Proof

FOOTER = (
    "Every figure on this page follows from the files of the run's folder: captures, "
    "findings.json, plan.json, journal.jsonl, network.jsonl, trials.jsonl. Gb/s of "
    "iperf3 are TCP payload."
)


def proof_document(proof: Proof) -> Document:
    """Make the page. A section that has nothing and that the spec does not ask for is left out."""
    opening, said = proof.opening, verdict(proof)
    title = f"Proof of {opening.spec_name} on {' and '.join(opening.spec.hosts)}"
    sections = (
        Section("found", "As found", tuple(_found(proof))),
        Section("plan", "What was done", (hosts.plan_grid(proof),)),
        Section("changes", "Before and after", tuple(_changes(proof))),
        Section(
            "measured",
            "Throughput and round trip",
            () if proof.is_bench else (tables.result_grid(proof), tables.spread_grid(proof)),
            short="Throughput",
        ),
        Section("hosts", "Hosts and cables", tuple(_hosts(proof)), short="Hosts"),
        *(bench_sections(build_page(proof.bench)) if proof.bench else ()),
        Section("failover", "Fail-over", tuple(_failover(proof))),
        Section("isolation", "Isolation", tuple(_isolation(proof))),
        Section("offload", "Offload", tuple(_offload(proof))),
        Section("undone", "After undo", (_undone(proof),)),
        Section("stages", "Stages", (hosts.stages_grid(proof),)),
        Section("commands", "Commands", tuple(_commands(proof))),
    )
    return Document(
        title=title,
        tab=f"{said} · {title}",
        meta=(
            f"approach: {opening.spec.approach} · {opening.started_at} · "
            f"wirespeed {opening.wirespeed}",
        ),
        verdict=Text(said, "plain" if is_proven(proof) else "alarm"),
        tiles=tuple(map(_tile, answers(proof))),
        warnings=warnings(proof),
        sections=tuple(section for section in sections if section.blocks),
        footer=FOOTER,
    )


def _tile(answer: ProofAnswer) -> Tile:
    tone: TileTone = "good" if answer.is_proven else "bad" if answer.is_asked else "other"
    return Tile(answer.question, answer.figure, (answer.condition, answer.more), tone)


def _is_asked(proof: Proof, question: str) -> bool:
    return any(one.question == question and one.is_asked for one in answers(proof))


def _found(proof: Proof) -> Iterator[Block]:
    yield hosts.findings_grid(proof)
    for one in hosts.unanswered(proof.found):
        yield Warn((f"{one.host}: no answer, {one.what}: {one.found}",))
    if found := hosts.findings(proof.found):
        yield Folded(
            "Each finding with its evidence, its price and its remedy",
            str(len(found)),
            tuple(findings_blocks(found, hosts.frame_bytes(proof.found))),
        )


def _hosts(proof: Proof) -> Iterator[Block]:
    spec = proof.opening.spec
    if isinstance(spec, Dpdk):
        yield from bench_hosts(spec, proof.hosts)


def _changes(proof: Proof) -> Iterator[Block]:
    yield hosts.changes_grid(proof, by_plan=True)
    others = hosts.changes_grid(proof, by_plan=False)
    if others.rows:
        yield Folded(others.title, str(len(others.rows)), (others,))
    if proof.drift is not None and proof.drift.differences:
        yield hosts.standing_grid("Not as planned", "Planned", proof.drift.differences)


def _failover(proof: Proof) -> Iterator[Block]:
    trials = proof.summary.failovers
    if trials or _is_asked(proof, "Fail-over"):
        yield tables.failover_grid(proof)
    if svg := failover(trials, proof.opening.spec.measure.failover.seconds):
        yield Drawing(
            svg, "What carried the flow, second by second; red where nothing got through."
        )


def _isolation(proof: Proof) -> Iterator[Block]:
    if proof.isolation or _is_asked(proof, "Isolation"):
        yield tables.isolation_ways_grid(proof)
    pairs = tables.isolation_grid(proof)
    if pairs.rows:
        yield Folded(pairs.title, str(len(pairs.rows)), (pairs,))
    yield from filter(lambda grid: grid.rows, [tables.spoof_grid(proof)])


def _offload(proof: Proof) -> Iterator[Block]:
    yield from filter(lambda grid: grid.rows, [offload_grid(proof)])


def _undone(proof: Proof) -> Block:
    if proof.undone is None:
        kept = "It was kept, as asked." if proof.opening.keeps else "The hosts were not compared."
        return Text(kept)
    if proof.undone.is_equal:
        return Text(
            f"Nothing differs: {proof.undone.compared} values of a fresh reading are what they "
            "were before."
        )
    return hosts.standing_grid("What differs", "As found", proof.undone.differences)


def _commands(proof: Proof) -> Iterator[Block]:
    """As one would type them, each with its undo."""
    if proof.plan is not None:
        for host in dict.fromkeys(step.host for step in proof.plan.steps):
            script = shell_script(proof.plan, host)
            yield Folded(
                f"Commands of {host}",
                "as one would type them, each with its undo",
                (Code(tuple(script.splitlines())),),
            )
