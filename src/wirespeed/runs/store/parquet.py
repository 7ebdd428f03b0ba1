"""Every table of the database as a Parquet file, for whatever reads those."""

from collections.abc import Iterator
from io import BytesIO
from pathlib import Path

from sqlalchemy import Connection, Float, Integer

from wirespeed.host.extras import how_to_add
from wirespeed.host.files import write_bytes
from wirespeed.model.error import InputError
from wirespeed.model.shown import shown
from wirespeed.runs.store import tables
from wirespeed.runs.store.keep import every_table


def write_tables(connection: Connection, folder: Path) -> Iterator[tuple[Path, int]]:
    """Write them; give each file and its number of rows. Raises InputError `fleet.library`."""
    try:
        import pyarrow
        from pyarrow.parquet import write_table
    except ImportError as error:
        raise InputError(
            "fleet.library",
            where="pyarrow",
            found=shown(str(error), 200),
            next=how_to_add("parquet"),
        ) from None
    for name, columns, rows in every_table(connection):
        kinds = []
        for column in tables.metadata.tables[name].columns:
            of_text = pyarrow.string()
            kind = pyarrow.float64() if isinstance(column.type, Float) else of_text
            kinds.append(pyarrow.int64() if isinstance(column.type, Integer) else kind)
        schema = pyarrow.schema(list(zip(columns, kinds, strict=True)))
        table = pyarrow.table(
            {column: [row[n] for row in rows] for n, column in enumerate(columns)}, schema
        )
        path = folder / f"{name}.parquet"
        data = BytesIO()
        write_table(table, data)
        write_bytes(path, data.getvalue(), 0o666)
        yield path, len(rows)
