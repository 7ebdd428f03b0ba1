"""What the page of a comparison says: which approach to take, then what that rests on. Pure."""

from dataclasses import replace

from wirespeed.report import comparison_paths as paths
from wirespeed.report import comparison_tables as tables
from wirespeed.report.comparison import EMULATED_SAYS, Comparison, NotShown
from wirespeed.report.comparison_choice import choose
from wirespeed.report.document import Block, Document, Items, Section, Text, Tile, TileTone
from wirespeed.report.proof_answer import is_proven, verdict
from wirespeed.report.proof_page import Proof

FOOTER = (
    "Every figure on this page is computed from the files in the approaches' folders next to it. "
    "Gb/s of iperf3 are TCP payload."
)


def comparison_document(comparison: Comparison) -> Document:
    """Make the page. Every approach that was asked for has a place in each table of it."""
    choice = choose(comparison)
    measured: tuple[Block, ...] = tuple(
        tables.pair_grid(comparison, pair) for pair in tables.pairs_of(comparison)
    )
    emulated = f"Emulated hosts ({', '.join(comparison.emulated)}): {EMULATED_SAYS}"
    return Document(
        title=f"{comparison.spec_name}: approaches side by side",
        verdict=Text(choice.headline),
        lead=(Items(tuple(map(Text, choice.reasons))),) if choice.reasons else (),
        tiles=(*map(_shown, comparison.proofs), *map(_not_shown, comparison.not_shown)),
        warnings=(emulated,) if comparison.emulated else (),
        sections=(
            Section(
                "measured",
                "Throughput and round trip",
                (
                    *(measured or (Text("Nothing was measured."),)),
                    tables.published_grid(),
                    tables.cells_grid(comparison),
                ),
            ),
            Section("costs", "What it costs", (tables.costs_grid(comparison),)),
            Section("proven", "What is proven", (tables.answers_grid(comparison),)),
            Section(
                "paths",
                "Frames through each path, and what the wire leaves",
                (paths.rfc2544_grid(comparison), paths.ceilings_grid(comparison)),
                short="RFC 2544",
            ),
            Section(
                "features",
                "When to take which",
                (tables.when_grid(comparison), tables.features_grid(comparison)),
            ),
        ),
        footer=FOOTER,
    )


def _shown(proof: Proof) -> Tile:
    name = proof.opening.spec.approach
    tone: TileTone = "good" if is_proven(proof) else "bad"
    return Tile(name, verdict(proof), (), tone, link=_page(name), link_text="its own page")


def _not_shown(one: NotShown) -> Tile:
    tile = Tile(one.approach, "not shown", (f"{one.what}: {one.found}", one.next), "bad")
    if not one.has_page:
        return tile
    return replace(tile, link=_page(one.approach), link_text="its own page, as far as it came")


def _page(approach: str) -> str:
    return f"{approach}/report.html"
