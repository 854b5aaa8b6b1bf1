"""Reads tables by DuckDB's Delta extension, which is built on delta-kernel."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import duckdb
import duckdb_extension_delta
import pyarrow as pa


def read(root: Path) -> pa.Table:
    """Reads the rows of a table."""
    return _connection().execute("SELECT * FROM delta_scan(?)", [str(root)]).to_arrow_table()


@cache
def _connection() -> duckdb.DuckDBPyConnection:
    connection = duckdb.connect(config={"autoinstall_known_extensions": "false"})
    [extension] = Path(duckdb_extension_delta.__file__).parent.glob("extensions/*/delta.duckdb_extension")
    connection.load_extension(str(extension))
    connection.execute("SET TimeZone = 'UTC'")
    return connection
