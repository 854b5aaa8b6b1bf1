"""Collects seeds for the fuzz targets from reference tables: `collect_seeds.py TABLES FOLDER`.

Extracts the inputs of each target: lines of commits, whole commits, checkpoints and so on. Every run creates
the same files, named by a hash of their contents, so that equal seeds exist once. Nothing is downloaded, and
without the tables there are no seeds.
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

# The maximum size of seeds, equal to the targets' own limits.
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
# Maximum number of seeds per target, of all lengths.
MOST_SEEDS = 400
# The letter that selects a type for the target of partition values, in the order of its list.
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
# The digits of Z85, which encodes the names of deletion vector files in descriptors.
Z85_DIGITS = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ.-:+=^!/*?&<>()[]{}@%$#"


def seeds(tables: Path) -> Iterator[tuple[str, bytes]]:
    """Yields each seed with its target."""
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
    """Terminates the last line of a text."""
    return text if text.endswith(b"\n") else text + b"\n"


def of_lines(commit: bytes) -> Iterator[tuple[str, bytes]]:
    """Yields the seeds in the lines of a commit."""
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
    """Yields the deletion vectors in the lines of a commit: descriptors, and their bytes in the files."""
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
                # Preceded by the version byte or other deletion vectors, and by its size.
                start = vector.get("offset", 1) + 4
                yield "vector_bytes", bytes_[start : start + vector["sizeInBytes"]]


def from_z85(text: str) -> bytes:
    """Decodes a valid text."""
    values = [Z85_DIGITS.index(digit) for digit in text]
    numbers = (
        sum(value * 85**power for value, power in zip(values[at : at + 5], range(4, -1, -1), strict=True))
        for at in range(0, len(values), 5)
    )
    return b"".join(number.to_bytes(4, "big") for number in numbers)


def column_types(schema: str) -> dict[str, str]:
    """Returns the columns of primitive types."""
    try:
        fields = json.loads(schema)["fields"]
        return {field["name"]: field["type"] for field in fields if isinstance(field["type"], str)}
    except (ValueError, KeyError, TypeError):
        return {}


def main() -> None:
    """Writes the seeds of each target to a folder of its name."""
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
