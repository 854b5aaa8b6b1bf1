"""The log of a table with data: schema, files and their statistics. Section: Delta Log Entries."""

from __future__ import annotations

import json
import uuid
from collections.abc import Iterable
from datetime import datetime
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from actions import DELETED_MS, TABLE_ID, commit_info
from commits import line
from files import EPOCH_MS
from rows import SCHEMA
from workload import RowsSpec

# Delta's type names.
KINDS = {"int64": "long", "int32": "integer", "double": "double", "decimal128(12, 2)": "decimal(12,2)"}
KINDS |= {"string": "string", "date32[day]": "date", "timestamp[us, tz=UTC]": "timestamp", "bool": "boolean"}


def physical_name(spec: RowsSpec, name: str) -> str:
    """Returns the column's physical name."""
    return f"col-{uuid.uuid5(uuid.NAMESPACE_OID, name)}" if spec.mapped else name


def physical_names(spec: RowsSpec, names: Iterable[str]) -> list[str]:
    """Returns the physical names of the columns that are in the files."""
    return [physical_name(spec, name) for name in names if name not in partition_columns(spec)]


def partition_columns(spec: RowsSpec) -> list[str]:
    """Returns the columns that are in the paths and not in the files."""
    return ["region"] if spec.partitioned else []


def stored(spec: RowsSpec, table: pa.Table) -> pa.Table:
    """Returns the columns of a file: without the partition columns, with physical names and field ids."""
    table = table.drop_columns(partition_columns(spec))
    if not spec.mapped:
        return table
    fields = [
        pa.field(physical_name(spec, column.name), column.type, metadata={"PARQUET:field_id": str(index + 1)})
        for index, column in enumerate(table.schema)
    ]
    return pa.table(table.columns, schema=pa.schema(fields))


def first(spec: RowsSpec, facts: list[dict]) -> list[dict]:
    """Returns the actions of version 0."""
    by = json.dumps(partition_columns(spec), separators=(",", ":"))
    metrics = {"numFiles": str(spec.files), "numOutputRows": str(spec.rows)}
    metrics["numOutputBytes"] = str(sum(fact["size"] for fact in facts))
    told = {"operationParameters": {"mode": "ErrorIfExists", "partitionBy": by}, "operationMetrics": metrics}
    return [
        {"commitInfo": {**commit_info(0), **told}},
        {"protocol": protocol(spec)},
        {"metaData": metadata(spec)},
        *(add(fact) for fact in facts),
    ]


def second(facts: list[dict], vectors: list[dict]) -> list[dict]:
    """Returns the actions of version 1: each file is removed, and added again with its deletion vector."""
    metrics = {"numDeletionVectorsAdded": str(len(vectors))}
    metrics["numDeletedRows"] = str(sum(vector["cardinality"] for vector in vectors))
    told = {"operation": "DELETE", "operationParameters": {}, "operationMetrics": metrics}
    found: list[dict] = [{"commitInfo": {**commit_info(1), **told}}]
    for fact, vector in zip(facts, vectors, strict=True):
        # With a deletion vector the bounds include deleted rows.
        again = add({**fact, "statistics": {**fact["statistics"], "tightBounds": False}})
        again["add"]["deletionVector"] = vector
        found += [again, remove(fact)]
    return found


def protocol(spec: RowsSpec) -> dict:
    """Returns the lowest protocol that allows the table."""
    features = ["deletionVectors"] if spec.deletions else []
    features += ["columnMapping"] if spec.mapped else []
    if not features:
        return {"minReaderVersion": 1, "minWriterVersion": 2}
    writer = [*features, "appendOnly", "invariants"]
    return {
        "minReaderVersion": 3,
        "minWriterVersion": 7,
        "readerFeatures": features,
        "writerFeatures": writer,
    }


def metadata(spec: RowsSpec) -> dict:
    """Returns the metadata: the schema and the properties."""
    fields = []
    for index, column in enumerate(SCHEMA):
        mapping: dict[str, Any] = {"delta.columnMapping.id": index + 1}
        mapping["delta.columnMapping.physicalName"] = physical_name(spec, column.name)
        kind = KINDS[str(column.type)]
        said = mapping if spec.mapped else {}
        fields.append({"name": column.name, "type": kind, "nullable": True, "metadata": said})
    properties = {"delta.enableDeletionVectors": "true"} if spec.deletions else {}
    if spec.mapped:
        properties |= {
            "delta.columnMapping.mode": "name",
            "delta.columnMapping.maxColumnId": str(len(fields)),
        }
    return {
        "id": TABLE_ID,
        "format": {"provider": "parquet", "options": {}},
        "schemaString": json.dumps({"type": "struct", "fields": fields}, separators=(",", ":")),
        "partitionColumns": partition_columns(spec),
        "configuration": properties,
        "createdTime": EPOCH_MS,
    }


def add(fact: dict) -> dict:
    """Returns a file's add."""
    return {
        "add": {
            "path": fact["path"],
            "partitionValues": fact["values"],
            "size": fact["size"],
            "modificationTime": EPOCH_MS,
            "dataChange": True,
            "stats": json.dumps(fact["statistics"], separators=(",", ":")),
        }
    }


def remove(fact: dict) -> dict:
    """Returns a file's remove."""
    return {
        "remove": {
            "path": fact["path"],
            "deletionTimestamp": DELETED_MS,
            "dataChange": True,
            "extendedFileMetadata": True,
            "partitionValues": fact["values"],
            "size": fact["size"],
        }
    }


def statistics(table: pa.Table) -> dict:
    """Computes a file's statistics; booleans have no bounds."""
    low, high, nulls = {}, {}, {}
    for name in table.column_names:
        nulls[name] = table[name].null_count
        if not pa.types.is_boolean(table[name].type):
            bounds = pc.min_max(table[name])
            low[name], high[name] = (in_json(bounds[end]) for end in ("min", "max"))
    return {"numRecords": table.num_rows, "minValues": low, "maxValues": high, "nullCount": nulls}


def in_json(bound: pa.Scalar) -> Any:
    """Converts a bound to JSON as in statistics; timestamps are truncated to milliseconds."""
    value = bound.as_py()
    if isinstance(value, datetime):
        return value.strftime("%Y-%m-%dT%H:%M:%S.") + f"{value.microsecond // 1000:03}Z"
    if pa.types.is_decimal(bound.type):
        return float(value)
    return value if isinstance(value, (int, float)) else str(value)


def write_commit(folder: Path, version: int, found: list[dict]) -> None:
    """Writes a version, one line per action."""
    path = folder / "_delta_log" / f"{version:020}.json"
    path.write_text("".join(line(action) for action in found), encoding="utf-8")
