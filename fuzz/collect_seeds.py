"""Collects seeds for the fuzz targets out of reference tables: `collect_seeds.py TABLES FOLDER`.

What a target reads is found where such tables have it: lines of commits, whole commits, checkpoints and so
on. Every run makes the same files, named after what they hold, so that seeds that are alike stand once.
Nothing is downloaded, and where the tables are not there, there are no seeds from them.
"""

from __future__ import annotations

import hashlib
import json
import re
import shutil
import sys
import uuid
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

# The largest seeds; they are the targets' own bounds.
MOST_BYTES = {
    "commit_line": 4096,
    "commit": 16384,
    "log": 16384,
    "checkpoint": 65536,
    "last_checkpoint": 4096,
    "version_checksum": 16384,
    "vector_bytes": 40960,
    "vector_file": 16384,
}
# How many seeds of a target are kept, of all lengths.
MOST_SEEDS = 400
# The letter that chooses a type for the target of partition values, in the order of its list.
TYPES = [
    "string",
    "long",
    "integer",
    "short",
    "byte",
    "float",
    "double",
    "boolean",
    "binary",
    "date",
    "timestamp",
    "timestamp_ntz",
]
TYPE_LETTERS = {name: chr(96 + index) for index, name in enumerate(TYPES)}
# The digits of Z85, in which descriptors name the files of deletion vectors.
Z85_DIGITS = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ.-:+=^!/*?&<>()[]{}@%$#"


def seeds(tables: Path) -> Iterator[tuple[str, bytes]]:
    """Each seed with its target."""
    for folder in sorted(tables.rglob("_delta_log")):
        files = [file for file in sorted(folder.glob("*")) if file.is_file() and file.suffix != ".parquet"]
        yield "log", b"".join(f"> {file.name}\n".encode() + with_end(file.read_bytes()) for file in files)
    for file in sorted(tables.rglob("_delta_log/*")):
        if not file.is_file():
            continue
        name, bytes_ = file.name, file.read_bytes()
        yield "log_path", name.encode()
        if name == "_last_checkpoint":
            yield "last_checkpoint", bytes_
        elif re.fullmatch(r"\d{20}\.crc", name):
            yield "version_checksum", bytes_
        elif name.endswith(".parquet"):
            yield "checkpoint", bytes_
        elif name.endswith(".json"):
            yield "commit", bytes_
            yield from of_lines(bytes_)
            yield from of_vectors(bytes_, file.parents[1])


def with_end(text: bytes) -> bytes:
    """A text that ends with its last line."""
    return text if text.endswith(b"\n") else text + b"\n"


def of_lines(commit: bytes) -> Iterator[tuple[str, bytes]]:
    """What the lines of a commit hold."""
    types: dict[str, str] = {}
    for line in commit.splitlines():
        yield "commit_line", line
        try:
            actions: dict[str, Any] = json.loads(line)
        except ValueError:
            continue
        for action in actions.values():
            if not isinstance(action, dict):
                continue
            if isinstance(schema := action.get("schemaString"), str):
                yield "schema_string", schema.encode()
                types |= column_types(schema)
            if isinstance(path := action.get("path"), str):
                yield "data_path", path.encode()
            if isinstance(stats := action.get("stats"), str):
                yield "statistics", stats.encode()
            for column, value in (action.get("partitionValues") or {}).items():
                if value is not None:
                    letter = TYPE_LETTERS.get(types.get(column, "string"), chr(96))
                    yield "partition_value", (letter + str(value)).encode()


def of_vectors(commit: bytes, table: Path) -> Iterator[tuple[str, bytes]]:
    """The deletion vectors that the lines of a commit tell of: descriptors, and the bytes in the files."""
    for line in commit.splitlines():
        try:
            actions: dict[str, Any] = json.loads(line)
        except ValueError:
            continue
        for action in actions.values():
            vector = action.get("deletionVector") if isinstance(action, dict) else None
            if not isinstance(vector, dict):
                continue
            descriptor = json.dumps(vector, separators=(",", ":")).encode()
            yield "vector_descriptor", descriptor
            text = str(vector.get("pathOrInlineDv"))
            yield "z85", text.encode()
            if vector.get("storageType") != "u":
                continue
            id_ = uuid.UUID(bytes=from_z85(text[-20:]))
            file = table / text[:-20] / f"deletion_vector_{id_}.bin"
            if file.is_file():
                bytes_ = file.read_bytes()
                yield "vector_file", descriptor + b"\n" + bytes_
                # Before it are the version's byte or other vectors, and its size.
                start = vector.get("offset", 1) + 4
                yield "vector_bytes", bytes_[start : start + vector["sizeInBytes"]]


def from_z85(text: str) -> bytes:
    """The bytes of a text that is sound."""
    values = [Z85_DIGITS.index(digit) for digit in text]
    numbers = (
        sum(value * 85**power for value, power in zip(values[at : at + 5], range(4, -1, -1), strict=True))
        for at in range(0, len(values), 5)
    )
    return b"".join(number.to_bytes(4, "big") for number in numbers)


def column_types(schema: str) -> dict[str, str]:
    """The columns of simple types."""
    try:
        fields = json.loads(schema)["fields"]
        return {field["name"]: field["type"] for field in fields if isinstance(field["type"], str)}
    except (ValueError, KeyError, TypeError):
        return {}


def main() -> None:
    """Write the seeds of each target into a folder of its name."""
    tables, folder = Path(sys.argv[1]), Path(sys.argv[2])
    shutil.rmtree(folder, ignore_errors=True)
    found: dict[str, set[bytes]] = defaultdict(set)
    for target, seed in seeds(tables):
        if len(seed) <= MOST_BYTES.get(target, 8192):
            found[target].add(seed)
    for target, seeds_ in found.items():
        (folder / target).mkdir(parents=True)
        by_length = sorted(seeds_, key=lambda seed: (len(seed), seed))
        for seed in by_length[:: 1 + len(by_length) // MOST_SEEDS]:
            (folder / target / hashlib.sha256(seed).hexdigest()[:16]).write_bytes(seed)


if __name__ == "__main__":
    main()
