"""Data files that another engine wrote, as `Transaction.add` takes them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from datetime import date, datetime
from typing import Any, cast

from deltaic.values.arguments import flag, text, whole_number
from deltaic.values.capsule import ArrowStreamExportable
from deltaic.values.optional import require

__all__ = ["files_to_json"]

_REQUIRED = ("path", "size", "modification_time")
_KNOWN = (*_REQUIRED, "partition_values", "stats", "data_change", "written_for")
_MAX_INT64 = (1 << 63) - 1


def files_to_json(files: ArrowStreamExportable | Iterable[Mapping[str, object]]) -> str:
    """Converts the files to the JSON text that the core takes.

    Raises:
        TypeError: They are not mappings, or a value has a type that the log cannot represent.
        ValueError: A file lacks a required value, or has an unknown one.

    >>> file = {"path": "a.parquet", "size": 1, "modification_time": 0, "partition_values": {"day": 7}}
    >>> files_to_json([file])
    '[{"path": "a.parquet", "size": 1, "modification_time": 0, "partition_values": {"day": "7"}}]'
    """
    # Checked for callers without a type checker.
    if isinstance(files, (str, Mapping)) or not isinstance(files, (ArrowStreamExportable, Iterable)):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise TypeError(
            f"files must be a list of mappings, one for each file, not {type(cast('object', files)).__name__}"
        )
    if isinstance(files, ArrowStreamExportable):
        pyarrow = require("pyarrow", "Transaction.add() of an Arrow table")
        rows = cast("list[Mapping[str, object]]", pyarrow.table(files).to_pylist())
    else:
        rows = list(files)
    return json.dumps([_file(row) for row in rows], allow_nan=False)


def _file(row: Mapping[str, object]) -> dict[str, object]:
    # Checked for callers without a type checker.
    if not isinstance(row, Mapping):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise TypeError(f"a file must be a mapping of its path, size and so on, not {type(row).__name__}")
    file = {key: value for key, value in row.items() if value is not None}
    of = f"the file {file['path']!r}" if "path" in file else "a file to add"
    for key in _REQUIRED:
        if key not in file:
            raise ValueError(f"{of} has no {key!r}: each needs {', '.join(_REQUIRED)}")
    for key in file:
        if key not in _KNOWN:
            raise ValueError(f"{of} has {key!r}, which is not one of {', '.join(_KNOWN)}")
    for key in ("path", "stats", "written_for"):
        if key in file:
            text(f"{key!r} of {of}", file[key])
    for key in ("size", "modification_time"):
        number = whole_number(f"{key!r} of {of}", file[key])
        if not -_MAX_INT64 <= number <= _MAX_INT64:
            raise ValueError(f"{key!r} of {of} cannot be {number}: it must fit into 64 bits")
        file[key] = number
    if "data_change" in file:
        flag(f"'data_change' of {of}", file["data_change"])
    file["partition_values"] = _partition_values(of, file.get("partition_values", {}))
    return file


def _partition_values(of: str, values: object) -> dict[str, str | None]:
    try:
        # pyarrow converts an Arrow map to pairs.
        pairs = dict(cast("Mapping[str, Any]", values))
    except (TypeError, ValueError):
        expected = f"must be a mapping of columns to values, not {type(values).__name__}"
        raise TypeError(f"'partition_values' of {of} {expected}") from None
    return {text(f"a column of {of}", name): _text(name, value) for name, value in pairs.items()}


def _text(name: str, value: object) -> str | None:
    """Serializes a partition value as in the log (protocol: Partition Value Serialization)."""
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int) or (isinstance(value, date) and not isinstance(value, datetime)):
        return str(value)
    raise TypeError(
        f"the partition value of {name!r} has type {type(value).__name__}: pass it as a string, as in the log"
    )
