"""The actions of a generated log as text and as values. Sections: Actions, Per-file Statistics."""

from __future__ import annotations

import json
from collections.abc import Mapping

import pyarrow as pa
import pyarrow.compute as pc

from files import EPOCH_MS, Files, columns_of
from workload import TableSpec

TABLE_ID = "7d3f1c52-0c7e-4b0e-9d53-5a1c2b6f8e90"
UUID = "0b1f6a52-2b1e-4c55-9f0a-{number:012}"
DELETED_MS = EPOCH_MS + 1_000


def protocol(spec: TableSpec) -> dict:
    """Returns the lowest protocol that allows the form; V2 checkpoints require their feature."""
    if spec.form == "v2_sidecars":
        features = {"readerFeatures": ["v2Checkpoint"]}
        features["writerFeatures"] = ["v2Checkpoint", "appendOnly", "invariants"]
        return {"minReaderVersion": 3, "minWriterVersion": 7, **features}
    return {"minReaderVersion": 1, "minWriterVersion": 2}


def metadata(spec: TableSpec) -> dict:
    """Returns the metadata: a partition column and the columns with statistics."""
    fields = [{"name": name, "type": kind} for name, kind in {"day": "date", **columns_of(spec)}.items()]
    fields = [{**field, "nullable": True, "metadata": {}} for field in fields]
    properties = {"delta.dataSkippingNumIndexedCols": str(spec.statistics_columns)}
    if spec.statistics == "struct":
        properties["delta.checkpoint.writeStatsAsJson"] = "false"
        properties["delta.checkpoint.writeStatsAsStruct"] = "true"
    if spec.form == "v2_sidecars":
        properties["delta.checkpointPolicy"] = "v2"
    return {
        "id": TABLE_ID,
        "format": {"provider": "parquet", "options": {}},
        "schemaString": json.dumps({"type": "struct", "fields": fields}, separators=(",", ":")),
        "partitionColumns": ["day"],
        "configuration": properties,
        "createdTime": EPOCH_MS,
    }


def commit_info(version: int) -> dict:
    """Returns the provenance of a commit."""
    return {
        "timestamp": EPOCH_MS + version * 60_000,
        "operation": "WRITE",
        "operationParameters": {"mode": "Append", "partitionBy": '["day"]'},
        "readVersion": version - 1,
        "isolationLevel": "Serializable",
        "isBlindAppend": False,
        "operationMetrics": {"numFiles": "10", "numOutputRows": "500000", "numOutputBytes": "20000000"},
        "engineInfo": "generated",
        "txnId": UUID.format(number=version),
    }


def statistics_text(files: Files) -> pa.StringArray:
    """Returns the statistics as JSON text, in the order and format of delta-spark."""
    parts: list[object] = ['{"numRecords":', files.num_records.cast(pa.string())]
    groups = {"minValues": files.low, "maxValues": files.high, "nullCount": files.null_count}
    for name, values in groups.items():
        parts.append(f',"{name}":{{')
        parts += members(values)
        parts.append("}")
    parts.append("}")
    return joined(parts)


def members(values: Mapping[str, pa.Array]) -> list[object]:
    """Returns the members of an object: `"name":value`, separated by commas."""
    parts: list[object] = []
    for name, column in values.items():
        text = column.cast(pa.string())
        quote = "" if pa.types.is_int64(column.type) or pa.types.is_float64(column.type) else '"'
        if pa.types.is_timestamp(column.type):
            text = timestamp_text(column)
        parts += ["," if parts else "", f'"{name}":{quote}', text, quote]
    return parts


def timestamp_text(column: pa.Array) -> pa.Array:
    """Formats timestamps as `2025-01-01T00:00:00.000Z`: milliseconds, in UTC."""
    text = column.cast(pa.timestamp("ms", "UTC")).cast(pa.timestamp("ms")).cast(pa.string())
    return joined([pc.replace_substring(text, " ", "T"), "Z"])


def add_lines(files: Files) -> pa.StringArray:
    """Returns each file's add as a line of a commit, without the line break."""
    escaped = pc.replace_substring(statistics_text(files), '"', '\\"')
    return joined(
        [
            *('{"add":{"path":"', files.path, '","partitionValues":{"day":"', files.day.cast(pa.string())),
            *('"},"size":', files.size.cast(pa.string())),
            *(',"modificationTime":', files.modification_time.cast(pa.string())),
            *(',"dataChange":true,"stats":"', escaped, '"}}'),
        ]
    )


def remove_lines(files: Files) -> pa.StringArray:
    """Returns each file's remove as a line of a commit, without the line break."""
    return joined(
        [
            *('{"remove":{"path":"', files.path, f'","deletionTimestamp":{DELETED_MS},"dataChange":true'),
            *(',"extendedFileMetadata":true,"partitionValues":{"day":"', files.day.cast(pa.string())),
            *('"},"size":', files.size.cast(pa.string()), "}}"),
        ]
    )


def joined(parts: list[object]) -> pa.StringArray:
    """Concatenates texts row by row; a plain string is repeated in every row."""
    squeezed: list[object] = []
    for part in parts:  # Each argument costs a pass, so neighbouring constants become one.
        if isinstance(part, str) and squeezed and isinstance(squeezed[-1], str):
            squeezed[-1] += part
        else:
            squeezed.append(part)
    return pc.binary_join_element_wise(*squeezed, "")
