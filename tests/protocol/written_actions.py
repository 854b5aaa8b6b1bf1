"""Checks written tables, commit by commit, by the protocol's text and the data files alone.

It supports the actions that `create` and `append` write, and reads the files with pyarrow.
"""

from __future__ import annotations

import json
import re
import urllib.parse
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from .written_statistics import statistics_faults

Faults = Iterator[str]
HOUR = 3_600_000  # longer than any write of a test

PARTITION_TEXT = {
    "string": r"(?s).+",
    "long": r"-?\d+",
    "integer": r"-?\d+",
    "short": r"-?\d+",
    "byte": r"-?\d+",
    "float": r"-?(\d+(\.\d+)?([eE]-?\d+)?|Infinity)|NaN",
    "double": r"-?(\d+(\.\d+)?([eE]-?\d+)?|Infinity)|NaN",
    "boolean": r"true|false",
    "date": r"\d{4}-\d\d-\d\d",
    "timestamp": r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{6})?Z",
    "timestamp_ntz": r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(\.\d{6})?",
    "binary": r"(?s).+",
}
PRIMITIVE = re.compile(
    r"string|long|integer|short|byte|float|double|boolean|binary|date|timestamp(_ntz)?|decimal\(\d+,\d+\)"
)

_REQUIRED: dict[str, dict[str, type]] = {
    "protocol": {"minReaderVersion": int, "minWriterVersion": int},
    "metaData": {
        "id": str,
        "format": dict,
        "schemaString": str,
        "partitionColumns": list,
        "configuration": dict,
        "createdTime": int,
    },
    "add": {
        "path": str,
        "partitionValues": dict,
        "size": int,
        "modificationTime": int,
        "dataChange": bool,
        "stats": str,
    },
    "commitInfo": {
        "timestamp": int,
        "operation": str,
        "operationParameters": dict,
        "engineInfo": str,
        "txnId": str,
    },
}


def faults(root: Path) -> list[str]:
    """Returns all faults of a table of appends: its commits, their checksums, its data files."""
    found: list[str] = []
    schema: dict[str, Any] = {}
    partition_columns: list[str] = []
    log = sorted((root / "_delta_log").iterdir())
    checksums = [path for path in log if path.suffix == ".crc"]
    files = size = 0
    for expected, path in enumerate(path for path in log if path not in checksums):
        if path.name != f"{expected:020}.json":
            found.append(f"{path.name}: not the commit {expected}")
            continue
        actions = list(_parse(path, found))
        for kind, body in actions:
            if kind == "metaData":
                schema, partition_columns = json.loads(body["schemaString"]), body["partitionColumns"]
        for kind, body in actions:
            found += [
                f"{path.name}: {kind}: {fault}"
                for fault in _check(kind, body, root, schema, partition_columns)
            ]
        found += [f"{path.name}: {fault}" for fault in _check_commit(actions, expected)]
        sizes = [body["size"] for kind, body in actions if kind == "add" and isinstance(body["size"], int)]
        files, size = files + len(sizes), size + sum(sizes)
        of_commit = [path for path in checksums if path.name == f"{expected:020}.crc"]
        found += [f"{path.name}: {fault}" for fault in _check_checksum(of_commit, actions, files, size)]
    return found


def _check_checksum(
    paths: list[Path], actions: list[tuple[str, dict[str, Any]]], files: int, size: int
) -> Faults:
    if len(paths) != 1:
        yield "has no checksum"
        return
    said = json.loads(paths[0].read_text(encoding="utf-8"), object_pairs_hook=_no_duplicates)
    (info,) = [body for kind, body in actions if kind == "commitInfo"][:1] or [{}]
    expected = {
        "txnId": info.get("txnId"),
        "numFiles": files,
        "tableSizeBytes": size,
        "numMetadata": 1,
        "numProtocol": 1,
    }
    for field, value in expected.items():
        if said.get(field) != value:
            yield f"its checksum has {field} {said.get(field)!r}, not {value!r}"
    for field in ("metadata", "protocol"):
        given = [body for kind, body in actions if kind.lower() == field]
        if not isinstance(said.get(field), dict) or any(said[field] != body for body in given):
            yield f"its checksum has another {field}"


def _parse(path: Path, found: list[str]) -> Iterator[tuple[str, dict[str, Any]]]:
    text = path.read_bytes().decode("utf-8")
    if not text.endswith("\n"):
        found.append(f"{path.name}: no newline at the end")
    for number, line in enumerate(text.rstrip("\n").split("\n"), 1):
        action = json.loads(line, object_pairs_hook=_no_duplicates)
        if len(action) == 1 and isinstance(next(iter(action.values())), dict):
            yield next(iter(action.items()))
        else:
            found.append(f"{path.name}: line {number} is not one action")


def _no_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    assert len({key for key, _ in pairs}) == len(pairs), f"a key occurs twice: {pairs}"
    return dict(pairs)


def _check_commit(actions: list[tuple[str, dict[str, Any]]], version: int) -> Faults:
    kinds = [kind for kind, _ in actions]
    for single in ("metaData", "protocol", "commitInfo"):
        if kinds.count(single) > 1:
            yield f"{kinds.count(single)} actions {single}"
    if version == 0 and not {"metaData", "protocol"} <= set(kinds):
        yield "the first commit lacks protocol or metaData"
    if kinds[:1] != ["commitInfo"]:
        yield "commitInfo is not the first action"
    paths = [body["path"] for kind, body in actions if kind == "add"]
    if len(set(paths)) != len(paths):
        yield "a file is added twice"


def _check(
    kind: str, body: dict[str, Any], root: Path, schema: dict[str, Any], partition_columns: list[str]
) -> Faults:
    if kind not in _REQUIRED:
        yield "not an action that create or append writes"
        return
    for name, wanted in _REQUIRED[kind].items():
        if type(body.get(name)) is not wanted:
            yield f"{name} is {body.get(name)!r}"
            return
    if kind == "protocol":
        yield from _check_protocol(body)
    elif kind == "metaData":
        yield from _check_metadata(body)
    elif kind == "add":
        yield from _check_add(body, root, schema, partition_columns)


def _check_protocol(body: dict[str, Any]) -> Faults:
    for version, needed, key in (
        (body["minReaderVersion"], 3, "readerFeatures"),
        (body["minWriterVersion"], 7, "writerFeatures"),
    ):
        if (version >= needed) != (key in body):
            yield f"{key} with version {version}"
    if not set(body.get("readerFeatures", ())) <= set(body.get("writerFeatures", ())):
        yield "a reader feature that is not a writer feature"
    if body["minReaderVersion"] == 3 and body["minWriterVersion"] != 7:
        yield "reader version 3 without writer version 7"


def _check_metadata(body: dict[str, Any]) -> Faults:
    uuid.UUID(body["id"])
    if body["format"] != {"provider": "parquet", "options": {}}:
        yield f"format {body['format']}"
    for key, value in body["configuration"].items():
        if not isinstance(value, str):
            yield f"the property {key} is {value!r}"
    schema = json.loads(body["schemaString"])
    yield from _check_type(schema)
    names = [field["name"] for field in schema["fields"]]
    for name in body["partitionColumns"]:
        if name not in names:
            yield f"the partition column {name} is not in the schema"


def _check_type(kind: Any) -> Faults:
    if isinstance(kind, str):
        if not PRIMITIVE.fullmatch(kind):
            yield f"the type {kind}"
    elif kind["type"] == "struct":
        if set(kind) != {"type", "fields"}:
            yield f"a struct with {sorted(kind)}"
        for field in kind["fields"]:
            if set(field) != {"name", "type", "nullable", "metadata"} or type(field["nullable"]) is not bool:
                yield f"the field {field}"
            yield from _check_type(field["type"])
    elif kind["type"] == "array":
        if set(kind) != {"type", "elementType", "containsNull"}:
            yield f"an array with {sorted(kind)}"
        yield from _check_type(kind["elementType"])
    elif kind["type"] == "map":
        if set(kind) != {"type", "keyType", "valueType", "valueContainsNull"}:
            yield f"a map with {sorted(kind)}"
        yield from _check_type(kind["keyType"])
        yield from _check_type(kind["valueType"])
    else:
        yield f"the type {kind}"


def _check_add(
    body: dict[str, Any], root: Path, schema: dict[str, Any], partition_columns: list[str]
) -> Faults:
    path = urllib.parse.unquote(body["path"], errors="strict")
    file = root / path
    if Path(path).is_absolute() or ".." in Path(path).parts or path.startswith("_"):
        yield f"the path {path}"
        return
    if not file.is_file():
        yield f"there is no file {path}"
        return
    if not body["path"].isascii() or re.search(r"[ #?\\\"<>]", body["path"]):
        yield f"the path {body['path']!r} is not a URI"
    if body["size"] != file.stat().st_size:
        yield f"size {body['size']}, and the file has {file.stat().st_size} bytes"
    if abs(body["modificationTime"] - file.stat().st_mtime_ns // 10**6) > HOUR:
        yield f"modificationTime {body['modificationTime']} is not the file's"
    if body["dataChange"] is not True:
        yield "dataChange is false"
    kinds = {field["name"]: field["type"] for field in schema["fields"]}
    if set(body["partitionValues"]) != set(partition_columns):
        yield f"partitionValues {body['partitionValues']}"
    for name, text in body["partitionValues"].items():
        pattern = PARTITION_TEXT.get(kinds[name], r"-?\d+(\.\d+)?")
        if text is not None and not re.fullmatch(pattern, text):
            yield f"the partition value {text!r} of the {kinds[name]} {name}"
    rows = pq.ParquetFile(file).read()
    if not set(rows.column_names) <= set(kinds):
        yield f"the file has columns {rows.column_names}"
    yield from statistics_faults(json.loads(body["stats"]), rows, kinds, partition_columns)
