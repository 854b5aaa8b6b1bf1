"""Generates definitions of tables: columns, partitioning, properties and what rows must satisfy."""

from __future__ import annotations

import random
from dataclasses import replace
from typing import Any

import pyarrow as pa

from deltaic import Identity

from .definitions import Definition, nullable_everywhere, random_pool
from .expressions import Conditions, Values
from .values import LEAVES, VARIANT, is_leaf, literal, quoted, random_kind, type_name

NAMES = ["id", "n", "Name", "part", "ü", "when", "total"]
# These names need column mapping.
MAPPED_NAMES = [*NAMES, "a b", "x.y", "q`t", "p;=,{}()\tz"]

# The name of a folder has at most 255 bytes, the name of the column included.
LONGEST_IN_FOLDER = 200

FEATURES: list[dict[str, str]] = [
    {"delta.enableDeletionVectors": "true"},
    {"delta.enableChangeDataFeed": "true"},
    {"delta.enableRowTracking": "true"},
    {"delta.enableInCommitTimestamps": "true"},
    {"delta.enableTypeWidening": "true"},
    {"delta.checkpointPolicy": "v2"},
]
SETTINGS: list[dict[str, str]] = [
    {"delta.checkpointInterval": "2"},
    {"delta.dataSkippingNumIndexedCols": "1"},
    {"delta.dataSkippingNumIndexedCols": "0"},
    {"delta.dataSkippingStringPrefixLength": "2"},
    {"delta.checkpoint.writeStatsAsStruct": "false"},
    {"delta.checkpoint.writeStatsAsJson": "false", "delta.checkpoint.writeStatsAsStruct": "true"},
    {"delta.parquet.compression.codec": "snappy"},
    {"delta.parquet.format.version": "2.12.0"},
    {"delta.randomizeFilePrefixes": "true"},
    {"delta.writePartitionColumnsToParquet": "true"},
    {"delta.enableMaterializePartitionColumnsFeature": "true"},
    {"delta.targetFileSize": "1kb"},
    {"delta.isolationLevel": "Serializable"},
]


def random_definition(chance: random.Random, *, for_spark: bool = False) -> Definition:
    """Returns a definition; for delta-spark, without what it does differently (see `_as_in_spark`)."""
    properties: dict[str, str] = {}
    for feature in chance.sample(FEATURES, chance.choice([0, 1, 2, 2, 3, 4])):
        properties |= feature
    for setting in chance.sample(SETTINGS, chance.choice([0, 0, 1, 2])):
        properties |= setting
    mapped = chance.random() < 0.35
    if mapped:
        properties["delta.columnMapping.mode"] = chance.choice(["name", "id"])
        if "delta.enableDeletionVectors" not in properties and chance.random() < 0.2:
            properties["delta.enableIcebergCompatV2"] = "true"
    names = chance.sample(MAPPED_NAMES if mapped else NAMES, chance.randint(2, 5))
    fields = [pa.field(name, random_kind(chance, depth=2), chance.random() < 0.8) for name in names]
    if not for_spark and "delta.enableIcebergCompatV2" not in properties and chance.random() < 0.1:
        fields[0] = pa.field(fields[0].name, VARIANT, fields[0].nullable)
    if for_spark:
        fields = [_as_in_spark(field) for field in fields]
    leaves = [f.name for f in fields if f.type in LEAVES]
    by = chance.sample(leaves, min(len(leaves), len(fields) - 1, chance.choice([0, 0, 1, 1, 2])))
    types = {f.name: f.type for f in fields}
    if for_spark and any(pa.types.is_decimal(types[name]) for name in by):
        # It refuses partition columns of this type with the property, though the protocol allows them.
        properties.pop("delta.enableIcebergCompatV2", None)
    pools = {f.name: random_pool(f, chance, is_partition=f.name in by) for f in fields}
    if for_spark:
        pools = {name: list(map(_as_folder_in_spark, pool)) for name, pool in pools.items()}
    has_statistics = "delta.dataSkippingNumIndexedCols" not in properties
    clusters = not by and has_statistics and chance.random() < 0.2
    cluster_by = [name for name in leaves if pa.types.is_integer(types[name])][:2] if clusters else []
    definition = Definition(pa.schema(fields), by, cluster_by, properties, pools)
    definition.is_created_by_columns = chance.random() < 0.5
    if chance.random() < 0.2:
        _add_generated(definition, chance, for_spark=for_spark)
    if chance.random() < 0.15:
        _add_identity(definition, chance, for_spark=for_spark)
    _add_conditions(definition, chance, for_spark=for_spark)
    if not for_spark:  # it applies lengths only to tables of a catalog
        _add_lengths(definition, chance)
    _add_defaults(definition, chance)
    return definition


def _add_generated(definition: Definition, chance: random.Random, *, for_spark: bool) -> None:
    """Adds a column that is computed from another, which may be the partition column."""
    bases = [column for column in definition.schema if is_leaf(column.type)]
    if not bases:
        return
    base = chance.choice(bases)
    values = Values(definition.schema, lambda name: chance.choice(definition.pools[name]), chance)
    expression = values.value(base)
    # Sums, for example, have another type, which is refused.
    expression = replace(expression, sql=f"CAST({expression} AS {type_name(base.type)})")
    column = pa.field("made", base.type)
    definition.schema = definition.schema.append(column)
    definition.generated["made"] = expression
    pool = random_pool(column, chance, is_partition=False)
    definition.pools["made"] = list(map(_as_folder_in_spark, pool)) if for_spark else pool
    if definition.partition_by and chance.random() < 0.3:
        definition.partition_by.append("made")
    definition.is_created_by_columns = True


def _add_identity(definition: Definition, chance: random.Random, *, for_spark: bool) -> None:
    """Adds a column of unique numbers, whose sequence may end soon."""
    # delta-spark refuses the last value too.
    start = chance.choice([1, 0, -7, 100, 100 if for_spark else 2**63 - 30])
    identity = Identity(start, chance.choice([1, 1, 10, -1, -3]), always=chance.random() < 0.5)
    column = pa.field("key", pa.int64(), nullable=chance.random() < 0.7)
    definition.schema = definition.schema.append(column)
    definition.identities["key"] = identity
    # Values of the sequence and others, before and after its start.
    values = [start + steps * identity.step + chance.choice([0, 0, 1]) for steps in (-2, 3, 9)]
    values = [value for value in values if value < 2**63]
    definition.pools["key"] = [*values, None] if column.nullable else values
    definition.is_created_by_columns = True


def _as_folder_in_spark(value: Any) -> Any:
    """Replaces a value if delta-spark cannot create its folder.

    The value ends with a space, has a NUL byte, or is longer than the name of a file can be.
    """
    if not isinstance(value, str | bytes):
        return value
    if isinstance(value, str) and len(value) > LONGEST_IN_FOLDER:
        return value[:LONGEST_IN_FOLDER]
    return {" ": "_", b"\x00": b"_"}.get(value, value)


def _as_in_spark(column: pa.Field) -> pa.Field:
    """Returns the column without what delta-spark cannot update, or checks differently.

    It does not quote backticks in names when it updates rows with a change data feed, and refuses a NULL
    struct with a field that is NOT NULL.
    """
    inner = nullable_everywhere(column)
    return pa.field(column.name.replace("`", "'"), inner.type, column.nullable)


def _add_conditions(definition: Definition, chance: random.Random, *, for_spark: bool) -> None:
    """Adds a CHECK constraint or an invariant that some rows satisfy."""
    if chance.random() > 0.35:
        return
    rows = [definition.row(chance) for _ in range(30)]
    conditions = Conditions(definition.schema, rows, chance)
    for _ in range(10):
        condition = conditions.condition()
        share = sum(condition.holds(row) for row in rows) / len(rows)
        if 0.4 <= share < 1:
            # delta-spark ignores the invariant of a column that is NOT NULL.
            columns = [field.name for field in definition.schema if field.nullable or not for_spark]
            if not columns or chance.random() < 0.7:
                definition.constraints["checked"] = condition
            else:
                definition.invariants[chance.choice(columns)] = condition
            return


def _add_lengths(definition: Definition, chance: random.Random) -> None:
    for column in definition.schema:
        is_computed = column.name in definition.generated or quoted(column.name) in definition.sources
        if column.type == pa.string() and not is_computed and chance.random() < 0.15:
            kind, length = chance.choice(["char", "varchar"]), chance.choice([1, 3, 40])
            conditions = [*definition.constraints.values(), *definition.invariants.values()]
            if kind == "char" and any(quoted(column.name) in str(condition) for condition in conditions):
                continue  # the conditions were made for texts that are not padded
            definition.lengths[column.name] = (kind, length)
            if not any(len(value or "") <= length for value in definition.pools[column.name]):
                definition.pools[column.name].append("a")


def _add_defaults(definition: Definition, chance: random.Random) -> None:
    if chance.random() > 0.15:
        return
    for column in definition.schema:
        others = {*definition.lengths, *definition.generated, *definition.identities}
        is_free = column.name not in others
        if is_leaf(column.type) and is_free and chance.random() < 0.4:
            value = chance.choice(definition.pools[column.name])
            if value is not None:
                definition.defaults[column.name] = (literal(value, column.type), value)
