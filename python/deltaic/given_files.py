"""Data files that another engine wrote, as `Transaction.add` takes them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from datetime import date, datetime
from typing import Any, cast

from deltaic.capsule import ArrowStreamExportable
from deltaic.optional import require

__all__ = ["files_to_json"]


def files_to_json(files: ArrowStreamExportable | Iterable[Mapping[str, object]]) -> str:
    """The files as the JSON text that the core takes.

    Raises:
        TypeError: They are no mappings, or a value is of a type that has no place in the log.

    >>> files_to_json([{"path": "a.parquet", "size": 1, "partition_values": {"day": 7}}])
    '[{"path": "a.parquet", "size": 1, "partition_values": {"day": "7"}}]'
    """
    if isinstance(files, ArrowStreamExportable):
        pyarrow = require("pyarrow", "Transaction.add() of an Arrow table")
        rows = cast("list[Mapping[str, object]]", pyarrow.table(files).to_pylist())
    else:
        rows = list(files)
    return json.dumps([_file(row) for row in rows], allow_nan=False)


def _file(row: Mapping[str, object]) -> dict[str, object]:
    # The type says so already; a caller without a type checker gets the sentence.
    if not isinstance(row, Mapping):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise TypeError(f"a file is a mapping of its path, size and so on, not {type(row).__name__}")
    file = {key: value for key, value in row.items() if value is not None}
    values = file.get("partition_values", {})
    # An Arrow map comes as pairs.
    pairs = dict(cast("Mapping[str, Any]", values))
    file["partition_values"] = {name: _text(name, value) for name, value in pairs.items()}
    return file


def _text(name: str, value: object) -> str | None:
    """A partition value as the log spells it (protocol: Partition Value Serialization)."""
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int) or (isinstance(value, date) and not isinstance(value, datetime)):
        return str(value)
    raise TypeError(
        f"the partition value of {name!r} is {type(value).__name__}: give it as text, as the log spells it"
    )
