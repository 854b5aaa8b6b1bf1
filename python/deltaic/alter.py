"""Metadata changes for `Table.alter`: one class per change.

Columns are named as in predicates: ``a.b`` is the field ``b`` of the struct ``a``; names that contain a dot
are quoted in backticks. Use ``element``, ``key`` and ``value`` for the parts of arrays and maps.

>>> import deltaic, pyarrow
>>> from deltaic.alter import AddColumn, SetProperties
>>> table = deltaic.Table.create("ferries", pyarrow.schema([("id", pyarrow.int64())]))
>>> table.alter(SetProperties({"delta.appendOnly": "true"}), AddColumn("seats", pyarrow.int32())).version
1
>>> table.snapshot().schema.names
['id', 'seats']
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from deltaic.values.capsule import ArrowSchemaExportable

__all__ = [
    "AddColumn",
    "AddConstraint",
    "AddFeature",
    "Change",
    "ChangeType",
    "ClusterBy",
    "DropColumn",
    "DropConstraint",
    "DropFeature",
    "DropNotNull",
    "MergeSchema",
    "MoveColumn",
    "RemoveDomain",
    "RenameColumn",
    "SetComment",
    "SetDefault",
    "SetDescription",
    "SetDomain",
    "SetName",
    "SetProperties",
    "UnsetProperties",
    "UpgradeProtocol",
]


@dataclass(frozen=True)
class SetProperties:
    """Sets table properties.

    ``delta.feature.<name>`` adds a feature; ``delta.minReaderVersion`` and ``delta.minWriterVersion`` set
    minimum protocol versions. These are not recorded as properties.

    >>> print(SetProperties({"delta.appendOnly": "true"}).values)
    {'delta.appendOnly': 'true'}
    """

    values: Mapping[str, str]


@dataclass(frozen=True)
class UnsetProperties:
    """Removes table properties: their defaults apply.

    >>> UnsetProperties(["delta.appendOnly"], if_absent="ignore").if_absent
    'ignore'
    """

    names: Sequence[str]
    if_absent: Literal["error", "ignore"] = "error"


@dataclass(frozen=True)
class SetName:
    """Sets the table's name, or removes it with None."""

    name: str | None


@dataclass(frozen=True)
class SetDescription:
    """Sets the table's description, or removes it with None."""

    description: str | None


@dataclass(frozen=True)
class AddFeature:
    """Adds a table feature, and those that it depends on, without enabling any behaviour."""

    name: str


@dataclass(frozen=True)
class DropFeature:
    """Drops a table feature that is no longer in use.

    If older versions use it, the table gets the feature ``checkpointProtection``, which keeps them readable.
    `truncate_history` requests truncation of the history instead, which is not implemented.
    """

    name: str
    truncate_history: bool = False


@dataclass(frozen=True)
class UpgradeProtocol:
    """Upgrades the protocol to at least these reader and writer versions."""

    reader: int
    writer: int


@dataclass(frozen=True)
class AddColumn:
    """Adds a column, which is NULL in existing rows; with `within`, a field to a struct.

    Args:
        column: Its name, together with `type`; or an Arrow field, such as a `pyarrow.Field`, with both.
        type: The type as for `Column`: SQL text such as ``"bigint"``, or an Arrow type.
        comment: The column's comment.
        within: The struct to add the field to; the table when None.
        after: The sibling to add it after; last when None.
        first: Whether to add it before all siblings.

    >>> import pyarrow
    >>> AddColumn(pyarrow.field("seats", pyarrow.int32()), after="id").after
    'id'
    """

    column: str | ArrowSchemaExportable
    type: str | ArrowSchemaExportable | None = None
    comment: str | None = None
    within: str | None = field(default=None, kw_only=True)
    after: str | None = field(default=None, kw_only=True)
    first: bool = field(default=False, kw_only=True)


@dataclass(frozen=True)
class RenameColumn:
    """Renames a column or a field; requires column mapping. The new name is the last part only."""

    column: str
    to: str


@dataclass(frozen=True)
class DropColumn:
    """Drops a column or a field; requires column mapping. Its values remain in the files, unread."""

    column: str


@dataclass(frozen=True)
class MoveColumn:
    """Moves a column or a field among its siblings: after one of them, or first."""

    column: str
    after: str | None = field(default=None, kw_only=True)
    first: bool = field(default=False, kw_only=True)


@dataclass(frozen=True)
class ChangeType:
    """Changes a column or a part of one to a wider type; requires ``delta.enableTypeWidening``."""

    column: str
    type: str | ArrowSchemaExportable


@dataclass(frozen=True)
class DropNotNull:
    """Drops NOT NULL from a column, a field, an element or a value."""

    column: str


@dataclass(frozen=True)
class SetDefault:
    """Sets the SQL expression of a column's default, or removes it with None.

    This adds the feature ``allowColumnDefaults``. Appended rows that lack the column get the default.
    """

    column: str
    expression: str | None


@dataclass(frozen=True)
class SetComment:
    """Sets the comment of a column or a field, or removes it with None."""

    column: str
    comment: str | None


@dataclass(frozen=True)
class AddConstraint:
    """Adds a CHECK constraint: an SQL condition on each row. Existing rows are validated."""

    name: str
    expression: str


@dataclass(frozen=True)
class DropConstraint:
    """Drops a CHECK constraint."""

    name: str
    if_absent: Literal["error", "ignore"] = "error"


@dataclass(frozen=True, init=False)
class ClusterBy:
    """Sets the clustering columns; without arguments, disables clustering.

    >>> ClusterBy("day", "shop").columns
    ('day', 'shop')
    """

    columns: tuple[str, ...]

    def __init__(self, *columns: str) -> None:
        object.__setattr__(self, "columns", columns)


@dataclass(frozen=True)
class SetDomain:
    """Sets the configuration of a user-controlled metadata domain: text that only its owner interprets."""

    domain: str
    configuration: str


@dataclass(frozen=True)
class RemoveDomain:
    """Removes a user-controlled metadata domain."""

    domain: str


@dataclass(frozen=True)
class MergeSchema:
    """Merges the columns of new data into the schema.

    New columns are added, narrower ones are widened if the table allows it.

    Args:
        schema: Anything with ``__arrow_c_schema__`` that describes columns, such as a `pyarrow.Schema`.
    """

    schema: ArrowSchemaExportable


Change = (
    SetProperties
    | UnsetProperties
    | SetName
    | SetDescription
    | AddFeature
    | DropFeature
    | UpgradeProtocol
    | AddColumn
    | RenameColumn
    | DropColumn
    | MoveColumn
    | ChangeType
    | DropNotNull
    | SetDefault
    | SetComment
    | AddConstraint
    | DropConstraint
    | ClusterBy
    | SetDomain
    | RemoveDomain
    | MergeSchema
)
"""Any change that `Table.alter` takes."""
