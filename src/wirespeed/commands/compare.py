"""`wirespeed compare`: the same networks and guests by several approaches, side by side."""

from pathlib import Path

import click
from pydantic import ValidationError

from wirespeed.apply.run_place import run_folder
from wirespeed.commands.described import Described
from wirespeed.commands.shared_options import break_lock
from wirespeed.host.files import make_result_folder, make_run_folder
from wirespeed.model.error import InputError, LeftChangedError, WirespeedError
from wirespeed.model.shown import shown
from wirespeed.model.spec.members import read_spec_data
from wirespeed.model.spec.spec import Spec
from wirespeed.report.comparison import Comparison
from wirespeed.report.comparison_choice import choose
from wirespeed.report.comparison_features import comparable, why_not
from wirespeed.report.diagnosis_text import WIDTH
from wirespeed.report.proof_answer import is_proven
from wirespeed.report.proof_page import Proof
from wirespeed.report.text_lines import wrapped
from wirespeed.runs.compare_folder import compare_folder, compare_pages, refuse_what_stands
from wirespeed.runs.compare_paths import measured_paths
from wirespeed.runs.compare_report import (
    REPORT,
    ComparisonRecord,
    Failed,
    forget,
    write_comparison_reports,
    write_record,
)
from wirespeed.runs.hosts_of_spec import read_spec
from wirespeed.runs.measure_dpdk import refuse_trials_of_no_length
from wirespeed.runs.prove_into import prove_into
from wirespeed.runs.prove_run import DeclinedError
from wirespeed.terminal import echo

MOST_SAID = 400


@click.command(
    cls=Described,
    reads="the hosts of SPEC, before, during and after each approach",
    changes="the hosts, until each approach is undone; the page and the run folders",
    codes={
        0: "all approaches are proven",
        1: "at least one is not",
        2: "bad input",
        3: "a host was left changed",
    },
)
@click.argument("spec", type=click.Path(path_type=Path))
@click.option(
    "--approaches",
    default=",".join(comparable()),
    show_default=True,
    metavar="A,B,…",
    help="Approaches to compare, in this order.",
)
@click.option("--yes", is_flag=True, help="Do not ask for confirmation.")
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    help="Folder of the page and of each approach's proof.  [default: SPEC.compare for the pages, "
    "the runs in ~/.local/state/wirespeed/runs]",
)
@break_lock
def compare(spec: Path, approaches: str, yes: bool, out: Path | None, breaks_lock: bool) -> int:
    """Prove a spec by several approaches in turn, and show them side by side on one page.

    Each approach is applied, measured and undone before the next one. The spec must have networks
    and guests; its own `approach:` is ignored. If an approach cannot be applied, the page says why,
    and compare continues with the others. If compare is killed, `wirespeed undo SPEC` undoes what
    it left.
    """
    given = read_spec(spec)
    refuse_trials_of_no_length(given, spec)
    refuse_without_guests(given, spec)
    specs = {approach: _spec_of(given, approach) for approach in _named(approaches)}
    folder, pages = out or compare_folder(spec), out or compare_pages(spec)
    refuse_what_stands(folder, run_folder(spec), spec)
    make_run_folder(folder)
    if out is None:
        make_result_folder(pages)
    forget(folder, tuple(specs))
    failed: dict[str, Failed] = {}
    record = ComparisonRecord(spec_name=spec.name, spec=given, approaches=tuple(specs))
    try:
        for approach, wanted in specs.items():
            echo(f"{approach}", err=True)
            try:
                prove_into(
                    folder / approach,
                    wanted,
                    spec,
                    pages / approach,
                    asks=not yes,
                    keeps=False,
                    breaks=breaks_lock,
                )
            except DeclinedError:
                return 1
            except WirespeedError as error:
                failed[approach] = Failed(what=error.what, found=error.found, next=error.next)
                if isinstance(error, LeftChangedError):
                    # Who comes next would build on what was left.
                    raise
                echo(f"{approach}: {error.what}: {error.found}", err=True)
        why_not = measured_paths(folder, given.measure.rfc2544, tuple(specs))
        record = record.model_copy(update={"paths_why_not": why_not})
    finally:
        write_record(folder, record.model_copy(update={"failed": failed}))
        comparison = write_comparison_reports(folder, pages)
    _tell(comparison)
    echo(f"report: {pages / REPORT}")
    return 0 if all(isinstance(o, Proof) and is_proven(o) for o in comparison.approaches) else 1


def _tell(comparison: Comparison) -> None:
    choice = choose(comparison)
    lines = wrapped(choice.headline, WIDTH)
    for reason in choice.reasons:
        lines += wrapped(shown(reason, MOST_SAID), WIDTH, "  - ", "    ")
    echo("\n".join(lines))


def _named(text: str) -> list[str]:
    names = [name.strip() for name in text.split(",")]
    unknown = [name for name in names if name not in comparable()]
    if unknown or len(set(names)) < len(names):
        why = "".join(f"; {reason}" for name in unknown if (reason := why_not(name)))
        raise click.BadParameter(
            f"{text!r}: each once, of {', '.join(comparable())}{why}", param_hint="--approaches"
        )
    return names


def refuse_without_guests(spec: Spec, path: Path) -> None:
    """Raise InputError `spec.not_comparable` where its approach has nothing to compare."""
    if reason := why_not(spec.approach):
        raise InputError(
            "spec.not_comparable",
            where=str(path),
            found=reason,
            next=f"compare takes a spec of {', '.join(comparable())}, with networks and guests; "
            "`wirespeed plan SPEC` says what this one does by itself",
        )


def _spec_of(spec: Spec, approach: str) -> Spec:
    """Give the spec with another approach. Raises InputError `spec.invalid` where it cannot be."""
    try:
        return read_spec_data({**spec.model_dump(), "approach": approach})
    except ValidationError as error:
        raise InputError(
            "spec.invalid",
            where=approach,
            found="\n".join(
                str(one["msg"]).removeprefix("Value error, ") for one in error.errors()
            ),
            so="this approach cannot be compared with the others on this spec",
            next="change the spec, or leave the approach out of --approaches",
        ) from None
