"""`Table.alter`: changes of metadata, and their JSON for the core."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import cast

from deltaic import _rust
from deltaic.alter import AddColumn, Change, ChangeType, MergeSchema, SetProperties
from deltaic.commit import Commit, announced
from deltaic.values.arguments import options as text_options
from deltaic.values.arguments import text
from deltaic.values.capsule import ArrowSchemaExportable
from deltaic.values.column import type_json
from deltaic.values.commit_options import CommitOptions, to_options
from deltaic.writing.ignored_properties import warn_of_ignored

__all__ = ["alter_table", "properties_set", "to_json"]

_TEXTS = {"names", "columns"}
_NUMBERS = {"reader", "writer"}
_FLAGS = {"first", "truncate_history"}
_MAY_BE_NONE = {
    ("SetName", "name"),
    ("SetDescription", "description"),
    ("SetDefault", "expression"),
    ("SetComment", "comment"),
    ("AddColumn", "comment"),
    ("AddColumn", "within"),
    ("AddColumn", "after"),
    ("MoveColumn", "after"),
}


def alter_table(
    table: _rust.Table,
    refresh: Callable[[], _rust.Snapshot],
    changes: tuple[Change, ...],
    options: CommitOptions,
) -> Commit:
    """Makes the changes of `Table.alter`."""
    if not changes:
        raise ValueError("alter takes at least one change, such as deltaic.alter.SetName('rides')")
    given = to_options("alter", **options)
    changes_json, types = to_json(changes)
    commit = table.alter(changes_json, types, options=given, known=refresh())
    warn_of_ignored(properties_set(changes), stacklevel=3)
    return announced(commit, stacklevel=4)


def to_json(changes: Sequence[Change]) -> tuple[str, list[ArrowSchemaExportable]]:
    """Converts changes to JSON text, and the list of Arrow types that the text references by index.

    Raises:
        TypeError: One is not a change, or a part of it has the wrong type.
        ValueError: A part of one is missing.

    >>> from deltaic.alter import RenameColumn
    >>> to_json([RenameColumn("a", "b")])
    ('[{"change": "RenameColumn", "column": "a", "to": "b"}]', [])
    """
    types: list[ArrowSchemaExportable] = []
    given = [_change_json(change, types) for change in changes]
    return json.dumps(given), types


def properties_set(changes: Sequence[Change]) -> list[tuple[str, str]]:
    """Returns the properties that the changes set, with their values.

    >>> properties_set([SetProperties({"owner": "fleet"})])
    [('owner', 'fleet')]
    """
    return [pair for change in changes if isinstance(change, SetProperties) for pair in change.values.items()]


def _change_json(change: Change, types: list[ArrowSchemaExportable]) -> dict[str, object]:
    # Checked for callers without a type checker.
    if not isinstance(change, Change):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise TypeError(
            f"a change must be one of the classes of deltaic.alter, such as AddColumn, not {_name_of(change)}"
        )
    name = type(change).__name__
    parts: dict[str, object]
    if isinstance(change, AddColumn):
        parts = _added(change, types)
    elif isinstance(change, ChangeType):
        parts = {"column": change.column, "type": type_json("type", change.type, types)}
    elif isinstance(change, MergeSchema):
        parts = {"type": _placed("schema", change.schema, types)}
    else:
        parts = dict(vars(change))
    for part, value in parts.items():
        parts[part] = _checked(name, part, value)
    return {"change": name, **parts}


def _checked(change: str, part: str, value: object) -> object:
    """Validates a part of a change and converts it for JSON."""
    if value is None and (change, part) in _MAY_BE_NONE:
        return None
    if part == "type":
        return value
    if part == "values":
        return _texts_by_name(change, value)
    if part in _TEXTS:
        if isinstance(value, str) or not isinstance(value, Sequence):
            raise TypeError(f"{part} of {change} must be a list of names: write {part}=[…]")
        return [text(f"{part} of {change}", one) for one in cast("Sequence[object]", value)]
    if part in _NUMBERS:
        if not isinstance(value, int) or isinstance(value, bool):
            raise TypeError(f"{part} of {change} must be an integer, not {_name_of(value)}")
        if not 0 <= value < 1 << 31:
            raise ValueError(f"{part} of {change} cannot be {value}")
        return value
    if part in _FLAGS:
        if not isinstance(value, bool):
            raise TypeError(f"{part} of {change} must be True or False, not {_name_of(value)}")
        return value
    return text(f"{part} of {change}", value)


def _texts_by_name(change: str, value: object) -> dict[str, str]:
    if value is None:
        raise TypeError(f"values of {change} must be a mapping of names to strings, not NoneType")
    return text_options(f"values of {change}", value)


def _added(change: AddColumn, types: list[ArrowSchemaExportable]) -> dict[str, object]:
    column: object = change.column
    if isinstance(column, str):
        if change.type is None:
            raise ValueError(f"AddColumn({column!r}) needs a type, such as pyarrow.int64()")
        name, new_type = column, change.type
    else:
        if change.type is not None:
            raise TypeError("AddColumn takes a name and a type, or an Arrow field that has both")
        found = getattr(column, "name", None)
        if not isinstance(found, str):
            raise TypeError(
                f"AddColumn takes a name and a type, or an Arrow field such as a pyarrow.Field, "
                f"not {_name_of(column)}"
            )
        name, new_type = found, change.column
    return {
        "name": name,
        "type": type_json("type", new_type, types),
        "comment": change.comment,
        "within": change.within,
        "after": change.after,
        "first": change.first,
    }


def _placed(part: str, given: object, types: list[ArrowSchemaExportable]) -> int:
    if not isinstance(given, ArrowSchemaExportable):
        raise TypeError(
            f"{part} must have __arrow_c_schema__, such as pyarrow.int64(), not {_name_of(given)}"
        )
    types.append(given)
    return len(types) - 1


def _name_of(value: object) -> str:
    return type(value).__name__
