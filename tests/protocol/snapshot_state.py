"""The state of a snapshot, in the shape of the naive replay's result for comparison."""

from __future__ import annotations

import json
from typing import Any

import deltaic

from .naive_replay import State, unique_id

NO_COLUMNS = '{"type":"struct","fields":[]}'


def shown(snapshot: deltaic.Snapshot) -> dict[str, Any]:
    """Returns the state of a snapshot."""
    files = snapshot.files().to_arrow().to_pylist()
    tombstones = snapshot.tombstones().to_arrow().to_pylist()
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
        "files": sorted(
            (row["path"], vector_of(row), row["size"], row["modification_time"]) for row in files
        ),
        "tombstones": sorted(
            (row["path"], vector_of(row), row["deletion_timestamp"] or 0) for row in tombstones
        ),
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
