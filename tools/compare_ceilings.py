"""Print the published figures beside the band of their path, as Markdown: docs/ceilings.md has it.

.venv/bin/python tools/compare_ceilings.py
"""

from collections.abc import Iterator

from published_ceilings import Compared, compared


def remark(row: Compared) -> str:
    """What the reader should see of a figure at once."""
    if row.kind == "nominal":
        return "not a measurement"
    if row.is_impossible:
        return "**impossible**"
    return "above the low end" if row.is_above_low else ""


def table() -> Iterator[str]:
    """The lines of the table, one file after the other."""
    yield "| figure | unit | published | predicted | may be bound by | the document says | remark |"
    yield "|---|---|---:|---:|---|---|---|"
    for row in compared():
        printed = f"> {row.printed}" if row.kind == "more than" else row.printed
        digits = 2 if row.unit == "Mpps" else 1
        low, high = (f"{end:.{digits}f}" for end in (row.band.low, row.band.high))
        band = high if low == high else f"{low} to {high}"
        if row.kind == "nominal":
            band, bounds = "-", "-"
        else:
            bounds = ", ".join(row.may_bound)
        yield (
            f"| {row.file.removesuffix('.csv')}: {row.name} | {row.unit} | {printed} | {band} "
            f"| {bounds} | {row.said_bound or '-'} | {remark(row)} |"
        )


if __name__ == "__main__":
    print("\n".join(table()))
