"""Which tables of programs other implementations do not read, or read wrongly: a table."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from .definitions import Definition
from .values import VARIANT

Files = Sequence[dict[str, Any]]
"""The live files of a table, with their paths and deletion vectors."""


@dataclass(frozen=True)
class Limit:
    """Tables that an implementation does not read as the protocol says."""

    reader: str
    why: str
    applies: Callable[[Definition, Files], bool]


def _has(*properties: str) -> Callable[[Definition, Files], bool]:
    return lambda definition, _: not definition.properties.keys().isdisjoint(properties)


def _has_variant(definition: Definition, _: Files) -> bool:
    return VARIANT in definition.schema.types


def _has_binary_partitions(definition: Definition, _: Files) -> bool:
    return any(definition.schema.field(name).type == pa.binary() for name in definition.partition_by)


def _has_partitions_without_folders(definition: Definition, files: Files) -> bool:
    return bool(definition.partition_by) and any("=" not in file["path"] for file in files)


def _has_encoded_paths_of_vectors(_: Definition, files: Files) -> bool:
    return any(file["deletion_vector"] and "%" in file["path"] for file in files)


def _has_mapped_partitions(definition: Definition, _: Files) -> bool:
    return bool(definition.partition_by) and "delta.columnMapping.mode" in definition.properties


LIMITS = [
    Limit("DuckDB", "mapped partition columns are NULL, also those of delta-spark", _has_mapped_partitions),
    Limit("deltalake", "no type widening", _has("delta.enableTypeWidening")),
    Limit("deltalake", "no variants", _has_variant),
    Limit("polars", "no type widening", _has("delta.enableTypeWidening")),
    Limit("polars", "no column mapping", _has("delta.columnMapping.mode")),
    Limit("polars", "no checkpoints of version 2", _has("delta.checkpointPolicy")),
    Limit("polars", "no variants", _has_variant),
    Limit("polars", "binary partition values are parsed as CSV", _has_binary_partitions),
    Limit("polars", "partition values are taken from folders: prefixes", _has("delta.randomizeFilePrefixes")),
    Limit("polars", "partition values are taken from folders: long values", _has_partitions_without_folders),
    Limit("polars", "deletion vectors of percent-encoded paths are ignored", _has_encoded_paths_of_vectors),
]


def can_read(reader: str, definition: Definition, files: Files = ()) -> bool:
    """Whether an implementation reads a table with these files."""
    return not any(limit.applies(definition, files) for limit in LIMITS if limit.reader == reader)
