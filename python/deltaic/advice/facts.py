"""What the checks of the advice read: one snapshot, its files as Arrow columns, and recent commits."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from importlib import import_module
from typing import Any, cast

from deltaic.commit import Commit
from deltaic.reading.snapshot import Snapshot
from deltaic.values.optional import require

__all__ = [
    "CLUSTERING_DOMAIN",
    "ColumnStatistics",
    "TableFacts",
    "clustering_columns",
    "column_path",
    "quoted_name",
    "read_facts",
]

CLUSTERING_DOMAIN = "delta.clustering"

# Types whose values have no bounds in the statistics (protocol: Per-file Statistics).
_WITHOUT_BOUNDS = {"boolean", "binary", "variant", "void"}
# The first part of a name, in backticks, and the parts after it.
_QUOTED = re.compile(r"`((?:[^`]|``)+)`(?:\.(.+))?", re.DOTALL)


@dataclass(frozen=True)
class ColumnStatistics:
    """The statistics of one column, one value per file; arrays are None if no file has them."""

    name: str
    """With backticks around parts that need them."""
    minimum: Any
    maximum: Any
    null_count: Any
    has_bounds: bool
    """Whether the column's type has bounds at all."""


@dataclass(frozen=True)
class TableFacts:
    """What the checks read. All arrays have one value per live file, in the same order."""

    snapshot: Snapshot
    now_ms: int
    sizes: Any
    deleted_rows: Any
    """The number of rows that the file's deletion vector deletes; null without one."""
    partition_values: Sequence[Any]
    """One array for each partition column."""
    num_records: Any
    """None if the statistics were not read."""
    columns: Sequence[ColumnStatistics]
    log_files: Sequence[tuple[str, int]]
    """The checkpoint's files and the commits after it, with their sizes in bytes."""
    commits: Sequence[Commit]
    """The newest commits, newest first."""

    @cached_property
    def num_rows(self) -> int | None:
        """The number of rows; None if the log does not specify it."""
        if self.num_records is None:
            return self.snapshot.num_rows
        if self.num_records.null_count:
            return None
        compute = import_module("pyarrow.compute")
        deleted: int = compute.sum(self.deleted_rows).as_py() or 0
        return (compute.sum(self.num_records).as_py() or 0) - deleted

    @cached_property
    def features(self) -> frozenset[str]:
        """All features that the protocol requires, also by its version numbers."""
        return self.reader_features | self.writer_features

    @cached_property
    def reader_features(self) -> frozenset[str]:
        """The features that a reader must support."""
        protocol = self.snapshot.protocol
        implied = {"columnMapping"} if protocol.min_reader_version == 2 else set[str]()
        return protocol.reader_features | implied

    @cached_property
    def writer_features(self) -> frozenset[str]:
        """The features that a writer must support, besides those of readers."""
        protocol = self.snapshot.protocol
        return protocol.writer_features | _implied_by_writer_version(protocol.min_writer_version)

    @cached_property
    def schema(self) -> dict[str, Any]:
        """The schema as in the log."""
        return json.loads(self.snapshot.schema.to_json())


def read_facts(
    snapshot: Snapshot,
    log_files: Sequence[tuple[str, int]],
    commits: Sequence[Commit],
    filters: Sequence[str],
    now_ms: int,
) -> TableFacts:
    """Reads the files of a snapshot, with statistics only if a column is to be examined."""
    partitions = snapshot.partition_columns
    schema = json.loads(snapshot.schema.to_json())
    paths = dict.fromkeys(tuple(column_path(name, schema) or ()) for name in filters)
    wanted = [path for path in paths if path and path[0] not in partitions]
    compute = import_module("pyarrow.compute")
    files = require("pyarrow", "Table.advise()").table(snapshot.files(stats=bool(wanted)))
    values = files["partition_values"] if partitions and "partition_values" in files.column_names else None
    return TableFacts(
        snapshot=snapshot,
        now_ms=now_ms,
        sizes=_copied(files["size"]),
        deleted_rows=_copied(compute.struct_field(files["deletion_vector"], "cardinality")),
        partition_values=[]
        if values is None
        else [_copied(compute.struct_field(values, name)) for name in partitions],
        num_records=_copied(files["num_records"]) if wanted else None,
        columns=[_statistics(path, files, schema) for path in wanted],
        log_files=log_files,
        commits=commits,
    )


def clustering_columns(snapshot: Snapshot) -> list[str]:
    """The logical names of the clustering columns, as `quoted_name` writes them.

    Empty if the table has no clustering columns, or if its domain cannot be read.
    """
    configuration = snapshot.domain_metadata.get(CLUSTERING_DOMAIN)
    if configuration is None:
        return []
    try:
        listed: Any = json.loads(configuration)["clusteringColumns"]
    except (ValueError, LookupError, TypeError, RecursionError):
        return []
    # The protocol specifies a list of names, writers use a list of paths.
    columns = cast("list[Any]", listed) if isinstance(listed, list) else []
    physical = [[column] if isinstance(column, str) else column for column in columns]
    if not all(_is_path(path) for path in physical):
        return []
    fields = json.loads(snapshot.schema.to_json()).get("fields", [])
    names = [_logical_name(path, fields) for path in physical]
    return [name for name in names if name is not None]


def column_path(name: str, schema: dict[str, Any]) -> list[str] | None:
    """The names from the top-level column to a field of a struct; None if the schema has no such column.

    >>> schema = {"fields": [{"name": "a.b", "type": "long"}]}
    >>> column_path("a.b", schema), column_path("a", schema)
    (['a.b'], None)
    """
    found = _find(name, schema.get("fields", []))
    return None if found is None else [field["name"] for field in found]


def quoted_name(path: Sequence[str]) -> str:
    """Joins the parts of a column's name with dots, with backticks around parts that need them.

    >>> quoted_name(["st", "x.y"]), quoted_name(["7"]), quoted_name(["a`b"])
    ('st.`x.y`', '`7`', '`a``b`')
    """
    return ".".join(
        part
        if re.fullmatch(r"[A-Za-z0-9_]+", part) and not part.isdigit()
        else "`" + part.replace("`", "``") + "`"
        for part in path
    )


def _find(name: str, fields: list[dict[str, Any]]) -> list[dict[str, Any]] | None:
    for field in fields:
        if field["name"].lower() == name.lower():
            return [field]
    quoted = _QUOTED.fullmatch(name)
    for field in fields:
        lower = field["name"].lower()
        if quoted is not None:
            if lower != quoted[1].replace("``", "`").lower():
                continue
            if quoted[2] is None:
                return [field]
            rest = quoted[2]
        elif name.lower().startswith(f"{lower}."):
            rest = name[len(lower) + 1 :]
        else:
            continue
        below = _find(rest, _fields_of(field["type"]))
        if below is not None:
            return [field, *below]
    return None


def _is_path(value: Any) -> bool:
    if not isinstance(value, list) or not value:
        return False
    return all(isinstance(part, str) for part in cast("list[Any]", value))


def _fields_of(kind: Any) -> list[dict[str, Any]]:
    """The fields of a struct type; none for other types."""
    return cast("dict[str, Any]", kind).get("fields") or [] if isinstance(kind, dict) else []


def _logical_name(physical: list[str], fields: list[dict[str, Any]]) -> str | None:
    names: list[str] = []
    for part in physical:
        for field in fields:
            if field.get("metadata", {}).get("delta.columnMapping.physicalName", field["name"]) == part:
                names.append(field["name"])
                fields = _fields_of(field["type"])
                break
        else:
            return None
    return quoted_name(names)


def _copied(array: Any) -> Any:
    """Copies an array, so that it does not keep the paths and statistics of all columns in memory."""
    arrow = import_module("pyarrow")
    copied = arrow.concat_arrays([*array.chunks, arrow.nulls(0, array.type)])
    return arrow.chunked_array([copied])


def _statistics(path: Sequence[str], files: Any, schema: dict[str, Any]) -> ColumnStatistics:
    fields: list[dict[str, Any]] = schema.get("fields", [])
    kind: Any = "void"
    for part in path:
        kind = next(field["type"] for field in fields if field["name"] == part)
        fields = _fields_of(kind)
    return ColumnStatistics(
        name=quoted_name(path),
        minimum=_field(files, ["min", *path]),
        maximum=_field(files, ["max", *path]),
        null_count=_field(files, ["null_count", *path]),
        has_bounds=isinstance(kind, str) and kind not in _WITHOUT_BOUNDS,
    )


def _field(files: Any, path: list[str]) -> Any:
    """Returns the values of a column or of a field of it; None if the statistics omit the field."""
    if path[0] not in files.column_names:
        return None
    values = files[path[0]]
    for name in path[1:]:
        if values.type.num_fields == 0 or values.type.get_field_index(name) < 0:
            return None
        values = import_module("pyarrow.compute").struct_field(values, name)
    return _copied(values)


def _implied_by_writer_version(version: int) -> frozenset[str]:
    implied = {
        2: ("appendOnly", "invariants"),
        3: ("checkConstraints",),
        4: ("changeDataFeed", "generatedColumns"),
        5: ("columnMapping",),
        6: ("identityColumns",),
    }
    if version >= 7:  # such a protocol lists its features
        return frozenset()
    return frozenset(name for since, names in implied.items() if since <= version for name in names)
