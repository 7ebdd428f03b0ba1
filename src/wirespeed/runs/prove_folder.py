"""The folder of a proof: each stage writes its file, and the page is made of these alone."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TypeVar

from pydantic import TypeAdapter, ValidationError

from wirespeed.apply.run import JOURNAL
from wirespeed.doctor.host_state import Values, values_of
from wirespeed.host.files import (
    is_file,
    make_folder,
    make_run_folder,
    read_text,
    remove_file,
    write_private_result,
    write_whole,
)
from wirespeed.host.jsonl import JsonlWriter, ResultWriter
from wirespeed.host.record_lines import read_record_lines
from wirespeed.measure.bench.run_folder import TRIALS, merged, read_records
from wirespeed.model.capture import parse_capture
from wirespeed.model.error import InputError
from wirespeed.model.fact import HostFacts
from wirespeed.model.finding import Diagnosis, Unanswered
from wirespeed.model.frozen import Frozen
from wirespeed.model.journal import Entry
from wirespeed.model.journal_lines import read_journal_text
from wirespeed.model.json_value import read_record
from wirespeed.model.network_trial import NETWORK_TRIAL, NetworkTrial
from wirespeed.model.plan import Plan
from wirespeed.model.proof import PROOF_LINE, Compared, Opening, ProofLine, StageEnd, When
from wirespeed.model.spec.members import Dpdk
from wirespeed.model.spec.spec import Spec
from wirespeed.model.trial import Record, Trial
from wirespeed.report.beside_published import with_published
from wirespeed.report.build import build_page, build_run
from wirespeed.report.csv_table import render_csv
from wirespeed.report.diagnosis_hosts import Answer, json_line
from wirespeed.report.document_html import render_html
from wirespeed.report.document_markdown import render_markdown
from wirespeed.report.proof_csv import render_proof_csv
from wirespeed.report.proof_document import proof_document
from wirespeed.report.proof_page import Proof
from wirespeed.report.published_report import PublishedTest

STAGES, NETWORK, PLAN = "stages.jsonl", "network.jsonl", "plan.json"
FINDINGS = {When.BEFORE: "findings.json", When.APPLIED: "findings-after.json"}
DRIFT, UNDONE = "drift.json", "state-after-undo.json"
BENCH_CSV = "rfc2544.csv"
ANSWER: TypeAdapter[Diagnosis | Unanswered] = TypeAdapter(Diagnosis | Unanswered)
Model = TypeVar("Model", bound=Frozen)


class ProofFolder:
    """Writes; what an earlier proof left in it is removed first. Close it at the end."""

    def __init__(self, path: Path, opening: Opening, recorded: Sequence[Record] = ()) -> None:
        """Begin. `recorded`: of an earlier bench, whose file stays.

        Raises InputError `run.in_use`, `file.unwritable`.
        """
        self.path, self.recorded = path, recorded
        make_run_folder(path)
        self._stages = JsonlWriter(path / STAGES)
        try:
            self._network = JsonlWriter(path / NETWORK)
        except BaseException:
            self._stages.close()
            raise
        self._stages.clear()
        self._network.clear()
        self._bench: ResultWriter | None = None
        self.trials = 0
        """Written until now, of networks and benches."""
        named = [capture_name(when, host) for when in When for host in opening.spec.hosts]
        bench = [] if recorded else [TRIALS]
        for name in (*named, *FINDINGS.values(), PLAN, DRIFT, UNDONE, *bench):
            remove_file(path / name)
        self.line(opening)

    def line(self, line: ProofLine) -> None:
        """Write that a stage ended."""
        self._stages.append(line.model_dump_json())

    def trial(self, trial: NetworkTrial) -> None:
        """Write a trial."""
        self._network.append(trial.model_dump_json())
        self.trials += 1

    def bench(self, record: Record) -> None:
        """Write a record of a bench, in the file that `measure rfc2544` has."""
        if self._bench is None:
            self._bench = ResultWriter(self.path / TRIALS)
        self._bench.append(record.model_dump_json())
        self.trials += isinstance(record, Trial)

    def captures(self, when: When, texts: Mapping[str, str]) -> None:
        """Write what hosts said, each in a file of its own."""
        for host, text in texts.items():
            write_whole(self.path / capture_name(when, host), text)

    def findings(self, when: When, answers: Iterable[Answer]) -> None:
        """Write the doctor's answers, one line each."""
        write_whole(self.path / FINDINGS[when], "".join(f"{json_line(a)}\n" for a in answers))

    def write(self, name: str, model: Frozen) -> None:
        """Write one model."""
        write_whole(self.path / name, model.model_dump_json(indent=1) + "\n")

    def close(self) -> None:
        """Let others write."""
        self._stages.close()
        self._network.close()
        if self._bench is not None:
            self._bench.close()


def capture_name(when: When, host: str) -> str:
    """Name a host's capture; a host's name in a spec is made of letters, digits and hyphens."""
    return f"facts-{when}.{host}.capture"


def is_proof(folder: Path) -> bool:
    """Tell whether `wirespeed prove` wrote to a folder."""
    return is_file(folder / STAGES)


def read_proof(folder: Path) -> Proof:
    """Read all that is there. Raises InputError `run.not_readable`, `file.unreadable`."""
    lines = read_record_lines(folder / STAGES, PROOF_LINE)
    opening = next((line for line in lines if isinstance(line, Opening)), None)
    if opening is None:
        raise InputError(
            "run.not_readable",
            where=str(folder / STAGES),
            found="no opening line",
            so="what the run was to prove is not known",
            next="give the folder of a run that `wirespeed prove` finished",
        )
    return Proof(
        opening=opening,
        stages=tuple(line for line in lines if isinstance(line, StageEnd)),
        found=tuple(read_record_lines(folder / FINDINGS[When.BEFORE], ANSWER)),
        found_after=tuple(read_record_lines(folder / FINDINGS[When.APPLIED], ANSWER)),
        plan=_one(folder / PLAN, Plan),
        entries=_entries(folder / JOURNAL),
        trials=tuple(read_record_lines(folder / NETWORK, NETWORK_TRIAL)),
        bench=tuple(merged(read_records(folder))),
        drift=_one(folder / DRIFT, Compared),
        undone=_one(folder / UNDONE, Compared),
        values={when: _values(folder, when, opening.spec) for when in When},
        hosts=_hosts(folder, opening.spec) if isinstance(opening.spec, Dpdk) else {},
    )


def write_proof_reports(
    folder: Path, out: Path | None = None, beside: PublishedTest | None = None
) -> Proof:
    """Write page, Markdown and CSV of the proof in `folder` to `out`, or beside it.

    With `beside`, page and Markdown hold that test's figures too. Raises InputError
    `report.no_bench` where the proof has no result of RFC 2544 to lay beside them.
    """
    proof = read_proof(folder)
    page = proof_document(proof)
    if beside is not None:
        if not proof.bench:
            raise no_bench(folder)
        page = with_published(page, build_run(proof.bench, label=""), beside)
    where = out or folder
    make_folder(where)
    write_private_result(where / "report.html", render_html(page))
    write_private_result(where / "report.md", render_markdown(page))
    write_private_result(where / "results.csv", render_proof_csv(proof))
    if proof.bench:
        write_private_result(where / BENCH_CSV, render_csv(build_page(proof.bench)))
    return proof


def no_bench(folder: Path) -> InputError:
    """Make the error of a run that has no result of RFC 2544."""
    return InputError(
        "report.no_bench",
        where=str(folder),
        found="it has no RFC 2544 result",
        so="there is nothing to compare with the published figures",
        next="give a run of `wirespeed measure`, or a proof of `approach: dpdk`",
    )


def _entries(journal: Path) -> tuple[Entry, ...]:
    """Read what was done, for the page alone: whoever wrote it, nothing is done by it."""
    if not is_file(journal):
        return ()
    told = read_journal_text(read_text(journal).encode())
    if told.damage:
        raise InputError(
            "run.not_readable",
            where=f"{journal}, line {told.damage[0].line}",
            found=told.damage[0].found,
            so="the report cannot be made without guessing",
            next=f"run `wirespeed status {journal.parent}` to see what is known",
        )
    return told.entries


def _values(folder: Path, when: When, spec: Spec) -> dict[str, Values]:
    return {host: values_of(facts) for host, facts in _hosts(folder, spec, when).items()}


def _hosts(folder: Path, spec: Spec, when: When = When.BEFORE) -> dict[str, HostFacts]:
    found = {}
    for host in spec.hosts:
        path = folder / capture_name(when, host)
        if is_file(path):
            found[host] = HostFacts(host, parse_capture(read_text(path), host))
    return found


def _one(path: Path, model: type[Model]) -> Model | None:
    if not is_file(path):
        return None
    try:
        return read_record(model, read_text(path))
    except ValidationError as error:
        raise _not_readable(str(path), error) from None


def _not_readable(where: str, error: ValidationError) -> InputError:
    return InputError(
        "run.not_readable",
        where=where,
        found=error.errors()[0]["msg"],
        so="the report cannot be made without guessing",
        next="use the wirespeed release that wrote it",
    )
