"""Names of deltalake, polars and pyspark, and deltaic's own, for the errors of those who type them."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from types import FunctionType
from typing import ParamSpec, TypeVar

__all__ = ["ARGUMENTS", "OF_MODULE", "OF_TABLES", "elsewhere", "missing", "name_methods"]

_Given = ParamSpec("_Given")
_Returned = TypeVar("_Returned")

OF_MODULE: Mapping[str, str] = {
    "DeltaTable": "deltaic.Table(uri)",
    "QueryBuilder": "polars or duckdb over table.snapshot().scan()",
    "convert_to_deltalake": "deltaic.Table(uri).convert()",
    "read_delta": "deltaic.Table(uri).to_polars()",
    "read_deltalake": "deltaic.Table(uri).to_arrow()",
    "scan_delta": "deltaic.Table(uri).snapshot().to_polars_lazy()",
    "write_delta": "deltaic.write(uri, rows)",
    "write_deltalake": "deltaic.write(uri, rows)",
}
"""Names of the module."""

OF_TABLES: Mapping[str, str] = {
    "collect": "to_polars() or to_arrow()",
    "create_checkpoint": "table.checkpoint()",
    "cleanup_metadata": "table.clean_up()",
    "dtypes": "schema",
    "columns": "schema.names",
    "detail": "table.snapshot(), whose attributes have it",
    "file_uris": "files(), whose column path is relative to uri",
    "forPath": "deltaic.Table(uri)",
    "get_add_actions": "files(stats=True)",
    "isDeltaTable": "deltaic.Table.exists(uri)",
    "is_deltatable": "deltaic.Table.exists(uri)",
    "load_as_version": "snapshot(version=…) or snapshot(timestamp=…)",
    "partitions": "files(), whose column partition_values has them",
    "table_uri": "uri",
    "toArrow": "to_arrow()",
    "toDF": "deltaic.spark.read(spark).load(uri)",
    "toPandas": "to_pandas()",
    "to_pyarrow_table": "to_arrow()",
    "to_table": "to_arrow()",
    "update_incremental": "refresh() of a snapshot; a table always reads the newest version",
}
"""Names of tables and snapshots."""

ARGUMENTS: Mapping[str, str] = {
    "condition": "where=…, the condition on rows of the table",
    "configuration": "properties={…}, of deltaic.write and Table.create",
    "custom_metadata": "commit_info={…}",
    "except_cols": "the clause without _all, with the columns to set",
    "mergeSchema": 'schema_mode="merge"',
    "mode": "append to add rows, overwrite to replace them, or deltaic.write(…, mode=…)",
    "name": "Table.create(…, name=…), or table.alter(deltaic.alter.SetName(…))",
    "new_values": "set={column: value}",
    "overwriteSchema": 'schema_mode="replace", of overwrite',
    "overwrite_schema": 'schema_mode="replace", of overwrite',
    "partitionBy": "partition_by=[…], of deltaic.write and Table.create",
    "partition_by": "partition_by of Table.create: the table's own partition columns are used",
    "partition_filters": "where=…, as SQL text or deltaic.col(…)",
    "post_commithook_properties": "upkeep=True or False",
    "commit_properties": "commit_info={…} and app_transaction=(id, version)",
    "predicate": "where=…, the condition on rows of the table",
    "replaceWhere": "where=…, of overwrite",
    "enforce_retention_duration": "force=True, of vacuum",
    "retention_hours": "retention=timedelta(hours=…), of vacuum",
    "schema_mode": 'schema_mode="merge" of append, overwrite, merge and deltaic.write',
    "storage_options": "storage_options of deltaic.Table",
    "target": "version=… or timestamp=…, of restore",
    "txnAppId": "app_transaction=(id, version)",
    "txnVersion": "app_transaction=(id, version)",
    "updates": "set={column: value}",
    "writer_properties": "the table's properties, such as delta.parquet.compression.codec",
}
"""Names of arguments, for verbs that have none of this name."""


def missing(of: str, name: str, known: Mapping[str, str]) -> AttributeError:
    """Returns the error for an attribute that does not exist; it names deltaic's, if there is one.

    >>> print(missing("deltaic", "DeltaTable", OF_MODULE))
    deltaic has no attribute 'DeltaTable': use deltaic.Table(uri)
    """
    hint = f": use {known[name]}" if name in known else ""
    return AttributeError(f"{of} has no attribute {name!r}{hint}")


def elsewhere(**words: str) -> Callable[[Callable[_Given, _Returned]], Callable[_Given, _Returned]]:
    """Makes a function name its own word for arguments that it has in other libraries.

    >>> @elsewhere(predicate="where=…")
    ... def drop(where):
    ...     return where
    >>> drop("id = 1")
    'id = 1'
    >>> drop(predicate="id = 1")
    Traceback (most recent call last):
    TypeError: drop() has no argument 'predicate': use where=…
    """

    def decorated(function: Callable[_Given, _Returned]) -> Callable[_Given, _Returned]:
        @functools.wraps(function)
        def checked(*args: _Given.args, **given: _Given.kwargs) -> _Returned:
            for name in given:
                if name in words:
                    raise TypeError(f"{function.__qualname__}() has no argument {name!r}: use {words[name]}")
            return function(*args, **given)

        return checked

    return decorated


def name_methods(part: type, public: str) -> None:
    """Makes Python's errors name the methods of a part of a class by the class that users know.

    >>> class Part:
    ...     def drop(self): ...
    >>> name_methods(Part, "Table")
    >>> Part().drop(1)
    Traceback (most recent call last):
    TypeError: Table.drop() takes 1 positional argument but 2 were given
    """
    for name, value in vars(part).items():
        function = getattr(value, "__func__", value)
        # A class may have functions of other modules as attributes, which keep their names.
        while isinstance(function, FunctionType) and function.__module__ == part.__module__:
            function.__qualname__ = f"{public}.{name}"
            function = getattr(function, "__wrapped__", None)
