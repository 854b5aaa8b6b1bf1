"""Runs verbs by deltaic."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from datetime import timedelta
from pathlib import Path
from typing import Literal

import pyarrow as pa

import deltaic
from deltaic.alter import SetDefault

from .definitions import Definition, nullable_everywhere
from .merges import by_deltaic as merges
from .merges.verb import Merge
from .values import VARIANT, quoted, to_arrow
from .variants import encoded, encoded_schema
from .verbs import Append, Delete, Maintain, Outcome, Overwrite, RowVerb, Together, Update

REFUSALS = (
    deltaic.ConstraintViolation,
    deltaic.SchemaMismatch,
    deltaic.InvalidPredicate,
    ValueError,
)
"""The errors for rows that a table does not accept, values that cannot be computed, and failed sources."""


class BlockRaised(Exception):
    """The exception that a block of a transaction, or a source of rows, raises."""


def create(root: Path, definition: Definition) -> deltaic.Table:
    """Creates the table of a definition."""
    by_columns = definition.is_created_by_columns
    table = deltaic.Table.create(
        root,
        _columns(definition) if by_columns else encoded_schema(definition.schema),
        partition_by=definition.partition_by,
        cluster_by=[quoted(name) for name in definition.cluster_by],
        properties=definition.properties,
        constraints={name: str(condition) for name, condition in definition.constraints.items()},
    )
    if definition.invariants or (definition.lengths and not by_columns):
        _add_column_metadata(root, definition)
    if definition.defaults and not by_columns:
        table.alter(*(SetDefault(quoted(name), sql) for name, (sql, _) in definition.defaults.items()))
    return deltaic.Table(root)


def _columns(definition: Definition) -> list[deltaic.Column]:
    """Returns the columns with their lengths and defaults."""
    columns: list[deltaic.Column] = []
    for field in definition.schema:
        default = definition.defaults.get(field.name)
        columns.append(
            deltaic.Column(
                field.name,
                _type(field, definition),
                nullable=field.nullable,
                default=None if default is None else default[0],
                generated=str(definition.generated[field.name])
                if field.name in definition.generated
                else None,
                identity=definition.identities.get(field.name),
            )
        )
    return columns


def _type(column: pa.Field, definition: Definition) -> pa.DataType | str:
    if column.type == VARIANT:
        return "variant"
    length = definition.lengths.get(column.name)
    return column.type if length is None else f"{length[0]}({length[1]})"


def _add_column_metadata(root: Path, definition: Definition) -> None:
    """Declares what `Table.create` has no argument for, in the first commit."""
    path = root / "_delta_log" / f"{0:020}.json"
    actions = [json.loads(line) for line in path.read_text().splitlines()]
    for action in actions:
        if "metaData" not in action:
            continue
        schema = json.loads(action["metaData"]["schemaString"])
        for column in schema["fields"]:
            name = column["name"]
            if name in definition.lengths:
                kind, length = definition.lengths[name]
                column["metadata"]["__CHAR_VARCHAR_TYPE_STRING"] = f"{kind}({length})"
            if name in definition.invariants:
                text = json.dumps({"expression": {"expression": str(definition.invariants[name])}})
                column["metadata"]["delta.invariants"] = text
        action["metaData"]["schemaString"] = json.dumps(schema)
    if definition.invariants:
        for action in actions:
            features = action.get("protocol", {}).get("writerFeatures")
            if features is not None and "invariants" not in features:
                features.append("invariants")
    path.write_text("".join(json.dumps(action) + "\n" for action in actions))
    (root / "_delta_log" / f"{0:020}.crc").unlink(missing_ok=True)


def data_of(verb: Append | Overwrite, schema: pa.Schema) -> pa.Table:
    """Returns the rows of a verb as Arrow data, which allows NULL everywhere."""
    if isinstance(verb, Append) and verb.added is not None and verb.added.name not in schema.names:
        schema = schema.append(verb.added)
    if isinstance(verb, Overwrite) and verb.replaces is not None:
        schema = verb.replaces.schema
    nullable = pa.schema([nullable_everywhere(field) for field in schema])
    table = encoded(to_arrow(verb.rows, nullable).select(verb.columns))
    if not isinstance(verb, Append) or not table.num_rows:
        return table
    return pa.Table.from_batches(table.to_batches(-(-table.num_rows // verb.batches)))


def _source(verb: Append, schema: pa.Schema) -> pa.Table | pa.RecordBatchReader:
    """Returns the data of an append, which may raise after its last batch."""
    data = data_of(verb, schema)
    if not verb.raises_at_end:
        return data

    def batches() -> Iterator[pa.RecordBatch]:
        yield from data.to_batches()
        raise BlockRaised

    return pa.RecordBatchReader.from_batches(data.schema, batches())


def run(table: deltaic.Table, verb: RowVerb, schema: pa.Schema) -> Outcome:
    """Runs a verb."""
    match verb:
        case Append():
            empty: Literal["null", "error"] = "null" if verb.empty_is_null else "error"
            mode: Literal["merge", "keep"] = "keep" if verb.added is None else "merge"
            commit = table.append(_source(verb, schema), empty_partition_text=empty, schema_mode=mode)
        case Overwrite():
            commit = table.overwrite(
                data_of(verb, schema),
                None if verb.where is None else str(verb.where),
                partitions="dynamic" if verb.is_dynamic else "static",
                schema_mode=_schema_mode(verb),
            )
        case Delete():
            commit = table.delete(_text(verb))
        case Update():
            commit = table.update(_set(verb), _text(verb))
        case Merge():
            return merges.run(table, verb)
        case Together():
            return _together(table, verb, schema)
    assert not commit.warnings, commit.warnings
    return Outcome(None if commit.skipped else commit.version, dict(commit.metrics))


def _schema_mode(verb: Overwrite) -> Literal["keep", "replace"]:
    return "keep" if verb.replaces is None else "replace"


def _text(verb: Delete | Update) -> str | None:
    return None if verb.where is None else str(verb.where)


def _set(verb: Update) -> dict[str, str]:
    return {name: str(value) for name, value in verb.values.items()}


def preview(table: deltaic.Table, verb: RowVerb, schema: pa.Schema) -> deltaic.DryRun | None:
    """Returns what a verb would do; None for a transaction."""
    if isinstance(verb, Together):
        return None
    if isinstance(verb, Merge):
        return merges.preview(table, verb)
    if isinstance(verb, Append):
        empty: Literal["null", "error"] = "null" if verb.empty_is_null else "error"
        mode: Literal["merge", "keep"] = "keep" if verb.added is None else "merge"
        data = _source(verb, schema)
        return table.append(data, empty_partition_text=empty, schema_mode=mode, dry_run=True)
    if isinstance(verb, Overwrite):
        partitions: Literal["static", "dynamic"] = "dynamic" if verb.is_dynamic else "static"
        where = None if verb.where is None else str(verb.where)
        return table.overwrite(
            data_of(verb, schema),
            where,
            partitions=partitions,
            schema_mode=_schema_mode(verb),
            dry_run=True,
        )
    if isinstance(verb, Delete):
        return table.delete(_text(verb), dry_run=True)
    return table.update(_set(verb), _text(verb), dry_run=True)


def _together(table: deltaic.Table, verb: Together, schema: pa.Schema) -> Outcome:
    with table.transaction() as tx:
        for one in verb.verbs:
            match one:
                case Append():
                    tx.append(data_of(one, schema))
                case Overwrite():
                    where = None if one.where is None else str(one.where)
                    partitions = "dynamic" if one.is_dynamic else "static"
                    tx.overwrite(data_of(one, schema), where, partitions=partitions)
                case Delete():
                    tx.delete(_text(one))
                case Update():
                    tx.update(_set(one), _text(one))
        if verb.raises_at_end:
            raise BlockRaised
    return Outcome(None if tx.committed is None else tx.committed.version)


def maintain(table: deltaic.Table, verb: Maintain, keep_versions: Iterable[int]) -> None:
    """Runs a step that changes no row; these versions can be read afterwards."""
    match verb.how:
        case "checkpoint":
            table.checkpoint()
        case "compact_log":
            version = table.snapshot().version
            if version > 1:
                table.compact_log(version - 1)
        case "clean_up":
            table.clean_up()
        case "optimize":
            table.optimize()
        case "purge":
            table.purge()
        case "statistics":
            table.recompute_statistics()
        case "vacuum":
            table.vacuum(timedelta(0), force=True, keep_versions=keep_versions)
        case "repair":
            assert table.repair().missing_files == []
