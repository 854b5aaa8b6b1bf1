"""`Table.create`: a new or replaced table without rows."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence

from deltaic.commit import announced
from deltaic.values.arguments import names, text
from deltaic.values.arguments import options as text_options
from deltaic.values.column import columns_json
from deltaic.values.commit_options import CommitOptions, to_options
from deltaic.values.location import open_location
from deltaic.values.schema_of import TableSchema, table_schema
from deltaic.writing.ignored_properties import warn_of_ignored

__all__ = ["create_table"]


def create_table(
    uri: str | os.PathLike[str],
    schema: TableSchema,
    *,
    partition_by: Sequence[str],
    cluster_by: Sequence[str],
    properties: Mapping[str, str] | None,
    name: str | None,
    description: str | None,
    constraints: Mapping[str, str] | None,
    if_exists: str,
    storage_options: Mapping[str, str] | None,
    options: CommitOptions,
) -> None:
    """Creates the table of `Table.create`."""
    columns = table_schema(schema)
    definition, types = columns_json(columns) if isinstance(columns, list) else (None, [])
    made = open_location(uri, storage_options).create(
        None if isinstance(columns, list) else columns,
        definition,
        types,
        partition_by=names("partition_by", partition_by),
        cluster_by=names("cluster_by", cluster_by),
        properties=text_options("properties", properties),
        name=None if name is None else text("name", name),
        description=None if description is None else text("description", description),
        constraints=text_options("constraints", constraints),
        if_exists=text("if_exists", if_exists),
        options=to_options("create", **options),
    )
    if made is not None:
        announced(made, stacklevel=4)
        warn_of_ignored((properties or {}).items(), stacklevel=3)
