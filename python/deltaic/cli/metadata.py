"""The commands that show metadata: ``show``, ``history`` and ``files``."""

from __future__ import annotations

import argparse
import json
from typing import Any

from deltaic.cli.output import emit, emit_json, emit_table
from deltaic.cli.selection import open_snapshot, open_table
from deltaic.cli.values import cell, json_value, utc, utc_of_millis
from deltaic.values.sizes import readable_size

__all__ = ["run_files", "run_history", "run_show"]


def run_show(options: argparse.Namespace) -> None:
    """Shows schema, protocol, properties and size."""
    snapshot = open_snapshot(options)
    metadata, protocol = snapshot.metadata, snapshot.protocol
    if options.json:
        emit_json(
            {
                "uri": snapshot.uri,
                "version": snapshot.version,
                "timestamp": utc(snapshot.timestamp),
                "id": metadata.id,
                "name": metadata.name,
                "description": metadata.description,
                "created_time": None if metadata.created_time is None else utc(metadata.created_time),
                "num_files": snapshot.num_files,
                "size_in_bytes": snapshot.size_in_bytes,
                "num_rows": snapshot.num_rows,
                "partition_columns": snapshot.partition_columns,
                "properties": snapshot.properties,
                "protocol": json.loads(protocol.to_json()),
                "schema": json.loads(snapshot.schema.to_json()),
                "warnings": snapshot.warnings,
            }
        )
        return
    features = sorted(protocol.reader_features | protocol.writer_features)
    rows = snapshot.num_rows
    facts = [
        ("table", snapshot.uri),
        ("name", metadata.name),
        ("description", metadata.description),
        ("version", f"{snapshot.version}, committed {utc(snapshot.timestamp)}"),
        ("rows", "not in the log; deltaic count finds out" if rows is None else f"{rows:,}"),
        ("files", f"{snapshot.num_files:,}, {readable_size(snapshot.size_in_bytes)}"),
        ("partitioned by", ", ".join(snapshot.partition_columns)),
        ("protocol", f"reader {protocol.min_reader_version}, writer {protocol.min_writer_version}"),
        ("features", ", ".join(features)),
        *((f"property {name}", value) for name, value in sorted(snapshot.properties.items())),
    ]
    width = max(len(name) for name, _ in facts)
    for name, value in facts:
        if value:
            emit(f"{name:<{width}}  {value}")
    emit("")
    emit(str(snapshot.schema))


def run_history(options: argparse.Namespace) -> None:
    """Shows the commits, newest first."""
    commits = open_table(options).history(options.limit)
    if options.json:
        emit_json(
            [
                {
                    "version": commit.version,
                    "timestamp": utc(commit.timestamp),
                    "operation": commit.operation,
                    "parameters": commit.parameters,
                    "metrics": commit.metrics,
                    "engine": commit.engine,
                    "commit_info": commit.info,
                }
                for commit in commits
            ]
        )
        return
    emit_table(
        ["version", "time", "operation", "metrics", "engine"],
        [
            [
                str(commit.version),
                utc(commit.timestamp),
                commit.operation or "",
                " ".join(f"{name}={value}" for name, value in commit.metrics.items()),
                commit.engine or "",
            ]
            for commit in commits
        ],
        numeric={"version"},
    )


def run_files(options: argparse.Namespace) -> None:
    """Shows the live files."""
    snapshot = open_snapshot(options)
    rows: list[dict[str, Any]] = snapshot.files(options.where, stats=True).to_arrow().to_pylist()
    rows.sort(key=lambda row: row["path"])
    partitions = snapshot.partition_columns
    values: list[dict[str, Any]] = [row.get("partition_values") or {} for row in rows]
    if options.json:
        emit_json(
            [
                {
                    "path": row["path"],
                    "size_in_bytes": row["size"],
                    "modification_time": utc_of_millis(row["modification_time"]),
                    "num_records": row["num_records"],
                    "partition_values": json_value(partition),
                }
                for row, partition in zip(rows, values, strict=True)
            ]
        )
        return
    emit_table(
        [*partitions, "rows", "size", "modified", "path"],
        [
            [
                *(cell(partition.get(name)) for name in partitions),
                "" if row["num_records"] is None else f"{row['num_records']:,}",
                readable_size(row["size"]),
                utc_of_millis(row["modification_time"]),
                row["path"],
            ]
            for row, partition in zip(rows, values, strict=True)
        ],
        numeric={"rows", "size"},
    )
