"""A handmade table whose partition values have given texts in the log."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa

from .handmade_log import Action, HandmadeTable, field, metadata, protocol, schema


def table_with(root: Path, kind: str, files: dict[str, str | None], *, spelled: str = "p") -> HandmadeTable:
    """A table partitioned by `p` with one file per value; the row of a file contains its name."""
    table = HandmadeTable(root)
    names = ["timestampNtz"]
    needs: Action = protocol(3, 7, names, names) if kind == "timestamp_ntz" else protocol()
    adds = [
        table.data(f"{name}.parquet", pa.table({"name": [name]}), values={spelled: text})
        for name, text in files.items()
    ]
    table.commit(needs, metadata(schema(field("name", "string"), field("p", kind)), ["p"]), *adds)
    return table
