"""Columns of a table that a user-specified schema selects."""

from __future__ import annotations

import difflib

from pyspark.sql.types import ArrayType, DataType, MapType, StructField, StructType

from deltaic.exceptions import SchemaMismatch

__all__ = ["requested_columns"]


def requested_columns(schema: StructType, of_table: StructType, *, version: int) -> list[str]:
    """Returns the column names for `Snapshot.scan` that read only the columns and struct fields of `schema`.

    Args:
        schema: The schema specified by the user, or the table's own.
        of_table: The table's schema, with everything nullable.
        version: The table's version, for the error.

    Raises:
        SchemaMismatch: A column or field is not in the table, has another type, or is NOT NULL.

    >>> table = StructType().add("id", "long").add("at", StructType().add("x", "int").add("y", "int"))
    >>> requested_columns(StructType().add("at", StructType().add("y", "int")), table, version=3)
    ['at.y']
    """
    names: list[str] = []
    for field in schema.fields:
        _check(field, of_table, (), version)
        names.extend(_paths(field, of_table[field.name].dataType, ()))
    return names


def _paths(field: StructField, in_table: DataType, above: tuple[str, ...]) -> list[str]:
    path = (*above, field.name)
    chosen = field.dataType
    if not (isinstance(chosen, StructType) and isinstance(in_table, StructType)) or not chosen.fields:
        return [".".join(map(_quoted, path))]
    if all(_is_whole(inner, in_table) for inner in chosen.fields) and len(chosen) == len(in_table):
        return [".".join(map(_quoted, path))]
    return [name for inner in chosen.fields for name in _paths(inner, in_table[inner.name].dataType, path)]


def _is_whole(field: StructField, parent: StructType) -> bool:
    in_table = parent[field.name].dataType
    if isinstance(field.dataType, StructType) and isinstance(in_table, StructType):
        return len(field.dataType) == len(in_table) and all(
            _is_whole(inner, in_table) for inner in field.dataType.fields
        )
    return True


def _check(field: StructField, parent: StructType, above: tuple[str, ...], version: int) -> None:
    path = (*above, field.name)
    shown = ".".join(path)
    if field.name not in parent.names:
        near = difflib.get_close_matches(field.name, parent.names, n=1, cutoff=0.5)
        raise SchemaMismatch(
            f"version {version} of the table has no column {shown}",
            context={"field": shown, "version": version},
            hint=f"did you mean {near[0]}?" if near else "leave schema(…) out to see the columns there are",
        )
    _check_nullable(field.nullable, shown, version)
    _check_type(field.dataType, parent[field.name].dataType, path, version)


def _check_type(chosen: DataType, in_table: DataType, path: tuple[str, ...], version: int) -> None:
    shown = ".".join(path)
    match chosen, in_table:
        case StructType(), StructType():
            for inner in chosen.fields:
                _check(inner, in_table, path, version)
        case ArrayType(), ArrayType():
            _check_nullable(chosen.containsNull, f"{shown}.element", version)
            _check_type(chosen.elementType, in_table.elementType, (*path, "element"), version)
        case MapType(), MapType():
            _check_nullable(chosen.valueContainsNull, f"{shown}.value", version)
            _check_type(chosen.keyType, in_table.keyType, (*path, "key"), version)
            _check_type(chosen.valueType, in_table.valueType, (*path, "value"), version)
        case _ if chosen != in_table:
            raise SchemaMismatch(
                f"column {shown} of version {version} is {in_table.simpleString()}, "
                f"not {chosen.simpleString()}",
                context={"field": shown, "version": version},
                hint="give schema(…) the table's own type, and cast afterwards",
            )
        case _:
            pass


def _check_nullable(nullable: bool, shown: str, version: int) -> None:  # noqa: FBT001 - the value to check
    if not nullable:
        raise SchemaMismatch(
            f"column {shown} may be NULL when it is read, and schema(…) says NOT NULL",
            context={"field": shown, "version": version},
            hint="leave NOT NULL out of the schema",
        )


def _quoted(name: str) -> str:
    plain = name.replace("_", "a").isalnum()
    return name if plain else "`" + name.replace("`", "``") + "`"
