"""The state of a snapshot, in the shape of the naive replay's result for comparison."""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Callable
from typing import Any, TypeVar

import pyarrow as pa

import deltaic

from .naive_replay import State, unique_id

T = TypeVar("T")

_recent: deque[tuple[Callable[[pa.Table], Any], pa.Table, Any]] = deque(maxlen=12)

NO_COLUMNS = '{"type":"struct","fields":[]}'


def shown(snapshot: deltaic.Snapshot) -> dict[str, Any]:
    """Returns the state of a snapshot."""
    return {
        "protocol": _protocol(json.loads(snapshot.protocol.to_json())),
        "metadata": {
            "id": snapshot.metadata.id,
            "name": snapshot.metadata.name,
            "description": snapshot.metadata.description,
            "schema": json.loads(snapshot.schema.to_json()),
            "partition_columns": list(snapshot.partition_columns),
            "properties": dict(snapshot.properties),
        },
        "files": derived(_files, snapshot.files().to_arrow()),
        "tombstones": derived(_tombstones, snapshot.tombstones().to_arrow()),
        "num_files": snapshot.num_files,
        "size_in_bytes": snapshot.size_in_bytes,
        "transactions": dict(snapshot.app_transactions),
        "domains": dict(snapshot.domain_metadata),
    }


def wanted(state: State) -> dict[str, Any]:
    """Returns the state of the naive replay."""
    metadata = state.metadata
    return {
        "protocol": _protocol(state.protocol),
        "metadata": {
            "id": metadata["id"],
            "name": metadata.get("name"),
            "description": metadata.get("description"),
            "schema": json.loads(metadata.get("schemaString") or NO_COLUMNS),
            "partition_columns": metadata.get("partitionColumns") or [],
            "properties": metadata.get("configuration") or {},
        },
        "files": sorted(
            (add["path"], unique_id(add.get("deletionVector")) or "", add["size"], add["modificationTime"])
            for add in state.files.values()
        ),
        "tombstones": sorted(
            (
                remove["path"],
                unique_id(remove.get("deletionVector")) or "",
                remove.get("deletionTimestamp") or 0,
            )
            for remove in state.tombstones.values()
        ),
        "num_files": len(state.files),
        "size_in_bytes": sum(add["size"] for add in state.files.values()),
        "transactions": state.live_transactions(),
        "domains": {name: body["configuration"] for name, body in state.domains.items()},
    }


def derived(derive: Callable[[pa.Table], T], table: pa.Table) -> T:
    """Derives something from a table, or returns what was derived from an equal one a short time ago.

    Tests open one log in many ways: converting the same rows to Python would take most of their time.
    """
    for known, equal, found in _recent:
        if known is derive and equal.equals(table):
            return found
    _recent.append((derive, table, derive(table)))
    return _recent[-1][2]


def _files(files: pa.Table) -> list[tuple[Any, ...]]:
    rows = files.select(["path", "deletion_vector", "size", "modification_time"]).to_pylist()
    return sorted((row["path"], vector_of(row), row["size"], row["modification_time"]) for row in rows)


def _tombstones(tombstones: pa.Table) -> list[tuple[Any, ...]]:
    rows = tombstones.select(["path", "deletion_vector", "deletion_timestamp"]).to_pylist()
    return sorted((row["path"], vector_of(row), row["deletion_timestamp"] or 0) for row in rows)


def vector_of(row: dict[str, Any]) -> str:
    """Returns the id of a row's deletion vector as `naive_replay.unique_id` does, empty without one."""
    vector = row["deletion_vector"]
    if vector is None:
        return ""
    offset = vector["offset"]
    return vector["storage_type"] + vector["path_or_inline_dv"] + ("" if offset is None else f"@{offset}")


def _protocol(body: dict[str, Any]) -> dict[str, Any]:
    features = {
        key: sorted(body[key]) for key in ("readerFeatures", "writerFeatures") if body.get(key) is not None
    }
    return {"reader": body["minReaderVersion"], "writer": body["minWriterVersion"], **features}
