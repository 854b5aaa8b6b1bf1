"""Handmade tables: JSON commits, checkpoints and data files, not written by the writer under test."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

Action = dict[str, Any]

TABLE_ID = "5f0a9d5c-8f0e-4b58-9d7e-0d4a5b1c2e3f"
CREATED = 1_700_000_000_000

_STRINGS = pa.map_(pa.string(), pa.string())
_VECTOR = pa.struct(
    [
        ("storageType", pa.string()),
        ("pathOrInlineDv", pa.string()),
        ("offset", pa.int32()),
        ("sizeInBytes", pa.int32()),
        ("cardinality", pa.int64()),
    ]
)

CHECKPOINT_COLUMNS: dict[str, pa.DataType] = {
    "txn": pa.struct([("appId", pa.string()), ("version", pa.int64()), ("lastUpdated", pa.int64())]),
    "add": pa.struct(
        [
            ("path", pa.string()),
            ("partitionValues", _STRINGS),
            ("size", pa.int64()),
            ("modificationTime", pa.int64()),
            ("dataChange", pa.bool_()),
            ("stats", pa.string()),
            ("tags", _STRINGS),
            ("deletionVector", _VECTOR),
        ]
    ),
    "remove": pa.struct(
        [
            ("path", pa.string()),
            ("deletionTimestamp", pa.int64()),
            ("dataChange", pa.bool_()),
            ("extendedFileMetadata", pa.bool_()),
            ("partitionValues", _STRINGS),
            ("size", pa.int64()),
            ("deletionVector", _VECTOR),
        ]
    ),
    "metaData": pa.struct(
        [
            ("id", pa.string()),
            ("name", pa.string()),
            ("description", pa.string()),
            ("format", pa.struct([("provider", pa.string()), ("options", _STRINGS)])),
            ("schemaString", pa.string()),
            ("partitionColumns", pa.list_(pa.string())),
            ("createdTime", pa.int64()),
            ("configuration", _STRINGS),
        ]
    ),
    "protocol": pa.struct(
        [
            ("minReaderVersion", pa.int32()),
            ("minWriterVersion", pa.int32()),
            ("readerFeatures", pa.list_(pa.string())),
            ("writerFeatures", pa.list_(pa.string())),
        ]
    ),
    "domainMetadata": pa.struct(
        [("domain", pa.string()), ("configuration", pa.string()), ("removed", pa.bool_())]
    ),
}
V2_COLUMNS: dict[str, pa.DataType] = {
    **CHECKPOINT_COLUMNS,
    "sidecar": pa.struct(
        [("path", pa.string()), ("sizeInBytes", pa.int64()), ("modificationTime", pa.int64())]
    ),
    "checkpointMetadata": pa.struct([("version", pa.int64())]),
}


def field(name: str, kind: Any = "long", *, nullable: bool = True, **metadata: Any) -> dict[str, Any]:
    """Returns a field of a schema."""
    return {"name": name, "type": kind, "nullable": nullable, "metadata": metadata}


def schema(*fields: dict[str, Any]) -> str:
    """Returns a schema as the log's ``schemaString``."""
    return json.dumps({"type": "struct", "fields": list(fields)})


ONE_LONG = schema(field("id"))


def protocol(
    reader: int = 1,
    writer: int = 2,
    reader_features: Sequence[str] | None = None,
    writer_features: Sequence[str] | None = None,
) -> Action:
    body: dict[str, Any] = {"minReaderVersion": reader, "minWriterVersion": writer}
    if reader_features is not None:
        body["readerFeatures"] = list(reader_features)
    if writer_features is not None:
        body["writerFeatures"] = list(writer_features)
    return {"protocol": body}


def metadata(
    schema_string: str = ONE_LONG,
    partition_by: Sequence[str] = (),
    configuration: Mapping[str, str] | None = None,
    **others: Any,
) -> Action:
    body = {
        "id": TABLE_ID,
        "format": {"provider": "parquet", "options": {}},
        "schemaString": schema_string,
        "partitionColumns": list(partition_by),
        "configuration": dict(configuration or {}),
        "createdTime": CREATED,
    }
    return {"metaData": {**body, **others}}


def add(
    path: str, *, size: int = 100, values: Mapping[str, str | None] | None = None, **others: Any
) -> Action:
    body = {
        "path": path,
        "partitionValues": dict(values or {}),
        "size": size,
        "modificationTime": CREATED,
        "dataChange": True,
    }
    return {"add": {**body, **others}}


def remove(path: str, *, timestamp: int = CREATED, **others: Any) -> Action:
    return {"remove": {"path": path, "deletionTimestamp": timestamp, "dataChange": True, **others}}


def txn(app_id: str, version: int) -> Action:
    return {"txn": {"appId": app_id, "version": version}}


def domain(name: str, configuration: str = "{}", *, removed: bool = False) -> Action:
    return {"domainMetadata": {"domain": name, "configuration": configuration, "removed": removed}}


class HandmadeTable:
    """A table whose files are written one at a time."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.log = root / "_delta_log"
        self.log.mkdir(parents=True)
        self.next_version = 0

    def commit(self, *actions: Action, version: int | None = None) -> int:
        """Writes the next commit, or the commit of a version."""
        lines = "".join(json.dumps(action, separators=(",", ":")) + "\n" for action in actions)
        return self.commit_bytes(lines.encode(), version=version)

    def commit_bytes(self, body: bytes, *, version: int | None = None) -> int:
        """Writes the bytes of a commit verbatim."""
        at = self.next_version if version is None else version
        commit_path(self.root, at).write_bytes(body)
        self.next_version = at + 1
        return at

    def create(
        self, *actions: Action, schema_string: str = ONE_LONG, partition_by: Sequence[str] = ()
    ) -> int:
        """Writes a first commit with protocol (1, 2) and metadata, followed by more actions."""
        return self.commit(protocol(), metadata(schema_string, partition_by), *actions)

    def checkpoint(self, version: int, actions: Iterable[Action], *, leave_out: Sequence[str] = ()) -> Path:
        """Writes a classic checkpoint, one action per row, without the columns in `leave_out`."""
        path = self.log / f"{version:020}.checkpoint.parquet"
        write_actions(
            path, actions, {n: kind for n, kind in CHECKPOINT_COLUMNS.items() if n not in leave_out}
        )
        return path

    def top_level(self, name: str, actions: Iterable[Action]) -> Path:
        """Writes the top level of a V2 checkpoint under a name that ends in ``.json`` or ``.parquet``."""
        path = self.log / name
        if path.suffix == ".json":
            path.write_text("".join(json.dumps(action) + "\n" for action in actions))
        else:
            write_actions(path, actions, V2_COLUMNS)
        return path

    def sidecar(self, name: str, actions: Iterable[Action]) -> Action:
        """Writes a sidecar of file actions and returns the action that refers to it."""
        path = self.log / "_sidecars" / name
        path.parent.mkdir(exist_ok=True)
        write_actions(path, actions, {name: CHECKPOINT_COLUMNS[name] for name in ("add", "remove")})
        return {"sidecar": {"path": name, "sizeInBytes": path.stat().st_size, "modificationTime": CREATED}}

    def hint(self, version: int, size: int = 1, **others: Any) -> None:
        """Writes ``_last_checkpoint``."""
        (self.log / "_last_checkpoint").write_text(json.dumps({"version": version, "size": size, **others}))

    def data(
        self,
        path: str,
        rows: pa.Table,
        *,
        values: Mapping[str, str | None] | None = None,
        uri: str | None = None,
        **others: Any,
    ) -> Action:
        """Writes a data file and returns its add; `uri` is its path in the log if encoded differently."""
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        pq.write_table(rows, file)
        return add(uri or path, size=file.stat().st_size, values=values, **others)

    def set_time(self, version: int, milliseconds: int) -> None:
        """Sets the modification time of a commit file."""
        os.utime(commit_path(self.root, version), ns=(milliseconds * 10**6, milliseconds * 10**6))


def write_actions(path: Path, actions: Iterable[Action], kinds: Mapping[str, pa.DataType]) -> None:
    """Writes actions as Parquet, one per row, with a column for each kind."""
    rows = list(actions)
    columns = {name: pa.array([row.get(name) for row in rows], kind) for name, kind in kinds.items()}
    pq.write_table(pa.table(columns), path)


def commit_path(root: Path, version: int) -> Path:
    return root / "_delta_log" / f"{version:020}.json"


def read_commit(root: Path, version: int) -> list[Action]:
    """Returns the actions of a commit, without using the reader under test."""
    return [json.loads(line) for line in commit_path(root, version).read_bytes().splitlines()]


def ids(*values: int | None) -> pa.Table:
    """Returns rows for the schema `ONE_LONG`."""
    return pa.table({"id": pa.array(values, pa.int64())})
