"""Which folder a page is made of: named itself, by the spec, or by the folder of the page."""

from dataclasses import dataclass
from pathlib import Path

from wirespeed.apply.run_place import run_folder
from wirespeed.host.files import is_file
from wirespeed.runs.compare_folder import compare_folder, compare_pages
from wirespeed.runs.compare_report import is_comparison
from wirespeed.runs.prove_folder import is_proof


@dataclass(frozen=True, slots=True)
class Source:
    """Where the files are that a page is made of, and where it goes if that is not said."""

    folder: Path
    pages: Path


def proof_pages(spec: Path) -> Path:
    """Give the folder of a proof's page where none is named: beside the spec."""
    return spec.with_name(f"{spec.name}.report")


def source_of(named: Path) -> Source:
    """Find it. Of a spec that was proven and compared, the proof is meant."""
    if is_proof(named) or is_comparison(named):
        return Source(named, named)
    is_compared = named.suffix == ".compare"
    is_page = is_compared or named.suffix == ".report"
    spec = named.with_suffix("") if is_page else named
    if is_page or is_file(spec):
        if not is_compared and is_proof(folder := run_folder(spec)):
            return Source(folder, proof_pages(spec))
        if is_comparison(folder := compare_folder(spec)):
            return Source(folder, compare_pages(spec))
    return Source(named, named)
