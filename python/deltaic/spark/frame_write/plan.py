"""Plans a write: what it changes in the log, and what tasks need to write data files."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass

from deltaic import _rust
from deltaic.exceptions import DeltaicError, InvalidPredicate, TableExists, TableNotFound
from deltaic.reading.snapshot import Snapshot
from deltaic.spark.frame_write.options import WriteOptions
from deltaic.spark.session_zone import names_current_time
from deltaic.values.location import open_location
from deltaic.write import warn_of_other_properties

__all__ = ["WriteRequest", "has_identity", "plan_write", "with_options"]

# Hints of the core name its own arguments.
_HINTS = {
    'schema_mode="merge"': 'option("mergeSchema", "true")',
    'schema_mode="replace"': 'option("overwriteSchema", "true")',
    "data_change=True": 'option("dataChange", "true")',
    'mode="overwrite"': 'mode("overwrite")',
}


@dataclass(frozen=True)
class WriteRequest:
    """A write of rows with some columns to a path."""

    path: str
    mode: str
    """``append``, ``overwrite``, ``error`` or ``ignore``."""
    columns: str
    """The columns of the rows, as JSON of a Delta schema."""
    options: WriteOptions
    partition_by: Sequence[str] = ()
    cluster_by: Sequence[str] = ()
    source_alias: str | None = None
    """The name of the rows in the condition of an overwrite."""
    is_evaluated: bool = False
    """Whether Spark evaluates the expressions of the table for the rows."""


def plan_write(request: WriteRequest) -> _rust.WriteJob | None:
    """Plans a write; returns None if the table exists and the mode is ``ignore``.

    Raises:
        TableExists: The table exists, and the mode is ``error``.
        TableNotFound: There is no table whose rows could be replaced.
        ValueError: Options contradict each other or the table.
        InvalidPredicate: The condition of the rows to replace names the current time, or is invalid.
        SchemaMismatch: The table has other columns.
        UnsupportedFeature: The table, or a new one, requires a feature that is not implemented.
    """
    options = request.options
    options.ensure_fit(request.mode)
    if request.partition_by and request.cluster_by:
        raise ValueError("partitionBy and clusterBy exclude each other: a table has one of them")
    location = open_location(request.path, options.storage_options)
    settings = json.dumps(
        {
            "is_evaluated": request.is_evaluated,
            "codec": options.codec,
            "max_rows": options.most_rows,
            "empty_text_is_null": True,
        }
    )
    try:
        if not location.exists():
            if options.needs_table:
                option = "dataChange" if not options.changes_data else options.replaced.options()[0]
                raise TableNotFound(
                    f"there is no table at {location.uri}, whose rows could be replaced",
                    context={"path": location.uri},
                    hint=f"create it by a write without {option}",
                )
            return _planned_creation(location, request, settings)
        if request.mode == "ignore":
            return None
        if request.mode == "error":
            raise TableExists(
                f"there is a table at {location.uri}",
                context={"path": location.uri},
                hint='use mode("append") or mode("overwrite")',
            )
        return _planned_change(location.snapshot(), request, settings)
    except DeltaicError as error:
        raise with_options(error) from None


def _planned_creation(location: _rust.Table, request: WriteRequest, settings: str) -> _rust.WriteJob:
    names = {field["name"].lower(): field["name"] for field in json.loads(request.columns)["fields"]}
    return location.plan_create(
        request.columns,
        partition_by=[names.get(name.lower(), name) for name in request.partition_by],
        cluster_by=list(request.cluster_by),
        properties=dict(request.options.properties),
        if_exists="ignore" if request.mode == "ignore" else "error",
        settings=settings,
    )


def _planned_change(snapshot: _rust.Snapshot, request: WriteRequest, settings: str) -> _rust.WriteJob:
    options, wanted = request.options, list(request.partition_by)
    if options.replaced.condition is not None:
        _ensure_no_current_time(*options.replaced.condition)
    metadata = Snapshot(snapshot).metadata
    known = metadata.partition_columns
    warn_of_other_properties(options.properties, metadata.properties, stacklevel=6)
    replaces = options.replaces_schema
    if wanted and not replaces and [name.lower() for name in wanted] != [name.lower() for name in known]:
        raise ValueError(f"the table is partitioned by {known}, not by {wanted}")
    if request.cluster_by:
        raise ValueError(
            "clusterBy applies to a new table: change the clustering of this one with "
            "deltaic.Table(path).alter(deltaic.alter.ClusterBy(…))"
        )
    mode = "replace" if replaces else "merge" if options.merges_schema else "keep"
    return snapshot.plan_write(
        request.columns,
        replaced=options.replaced.to_json(request.source_alias) if request.mode == "overwrite" else None,
        schema_mode=mode,
        partition_by=wanted if replaces else None,
        settings=settings,
    )


def _ensure_no_current_time(option: str, condition: str) -> None:
    if names_current_time(condition):
        raise InvalidPredicate(
            f"{option} names the current time, which passes while the new rows are written",
            context={"predicate": condition},
            hint="write the date or time as a literal",
        )


def has_identity(job: _rust.WriteJob) -> bool:
    """Whether the table has identity columns, of whose values each task generates a share."""
    fields = json.loads(job.schema_json)["fields"]
    return any("delta.identity.start" in field["metadata"] for field in fields)


def with_options(error: DeltaicError) -> DeltaicError:
    """Returns the error with the options of Spark in its hint, instead of arguments of the core."""
    for name, option in _HINTS.items():
        if error.hint is not None:
            error.hint = error.hint.replace(f"pass {name}", f"set {option}").replace(name, option)
    return error
