"""What a snapshot shows, in the shape of the naive replay's answer, so that the two can be compared."""

from __future__ import annotations

import json
from typing import Any

import deltaic

from .naive_replay import State


def shown(snapshot: deltaic.Snapshot) -> dict[str, Any]:
    """A snapshot's answer."""
    files = snapshot.files().to_arrow().select(["path", "size", "modification_time"]).to_pylist()
    tombstones = snapshot.tombstones().to_arrow().select(["path", "deletion_timestamp"]).to_pylist()
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
        "files": sorted((row["path"], row["size"], row["modification_time"]) for row in files),
        "tombstones": sorted((row["path"], row["deletion_timestamp"]) for row in tombstones),
        "num_files": snapshot.num_files,
        "size_in_bytes": snapshot.size_in_bytes,
        "transactions": dict(snapshot.app_transactions),
        "domains": dict(snapshot.domain_metadata),
    }


def wanted(state: State) -> dict[str, Any]:
    """The naive replay's answer."""
    return {
        "protocol": _protocol(state.protocol),
        "metadata": {
            "id": state.metadata["id"],
            "name": state.metadata.get("name"),
            "description": state.metadata.get("description"),
            "schema": json.loads(state.metadata["schemaString"]),
            "partition_columns": state.metadata["partitionColumns"],
            "properties": state.metadata["configuration"],
        },
        "files": sorted((add["path"], add["size"], add["modificationTime"]) for add in state.files.values()),
        "tombstones": sorted(
            (remove["path"], remove["deletionTimestamp"]) for remove in state.tombstones.values()
        ),
        "num_files": len(state.files),
        "size_in_bytes": sum(add["size"] for add in state.files.values()),
        "transactions": {name: body["version"] for name, body in state.transactions.items()},
        "domains": {name: body["configuration"] for name, body in state.domains.items()},
    }


def _protocol(body: dict[str, Any]) -> dict[str, Any]:
    features = {
        key: sorted(body[key]) for key in ("readerFeatures", "writerFeatures") if body.get(key) is not None
    }
    return {"reader": body["minReaderVersion"], "writer": body["minWriterVersion"], **features}
