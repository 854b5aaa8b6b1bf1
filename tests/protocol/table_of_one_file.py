"""A Parquet file in a folder, read as the only file of a table."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import deltaic

from .handmade_log import HandmadeTable, add, metadata, protocol, schema
from .handmade_parquet import Node, Triple, write_parquet

NTZ = protocol(3, 7, ["timestampNtz"], ["timestampNtz"])


def read(root: Path, *columns: dict[str, Any], file: str = "a.parquet", **how: Any) -> list[dict[str, Any]]:
    """Returns the rows of an existing file in a folder, read as a table with these columns."""
    table = HandmadeTable(root)
    table.commit(NTZ, metadata(schema(*columns)), add(file, size=(root / file).stat().st_size))
    return deltaic.Table(root).snapshot().scan(**how).to_arrow().to_pylist()


def written(root: Path, nodes: list[Node], columns: dict[str, list[Triple]], **how: Any) -> Path:
    root.mkdir()
    write_parquet(root / "a.parquet", nodes, columns, **how)
    return root
