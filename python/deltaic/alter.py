"""Changes of a table that touch no row, for `Table.alter`: one class for each.

Columns are named as in predicates: ``a.b`` is the field ``b`` of the struct ``a``, backticks stand around a
name that holds a dot. The way goes through arrays and maps by ``element``, ``key`` and ``value``.

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

from deltaic.capsule import ArrowSchemaExportable

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
    """Gives properties values.

    ``delta.feature.<name>`` adds a feature and ``delta.minReaderVersion`` and ``delta.minWriterVersion`` ask
    for versions; these are not kept as properties.

    >>> print(SetProperties({"delta.appendOnly": "true"}).values)
    {'delta.appendOnly': 'true'}
    """

    values: Mapping[str, str]


@dataclass(frozen=True)
class UnsetProperties:
    """Takes properties away: their defaults hold.

    >>> UnsetProperties(["delta.appendOnly"], if_absent="ignore").if_absent
    'ignore'
    """

    names: Sequence[str]
    if_absent: Literal["error", "ignore"] = "error"


@dataclass(frozen=True)
class SetName:
    """Names the table, or takes its name with None."""

    name: str | None


@dataclass(frozen=True)
class SetDescription:
    """Describes the table, or takes its description with None."""

    description: str | None


@dataclass(frozen=True)
class AddFeature:
    """Adds a table feature, and those that it needs, without turning anything on."""

    name: str


@dataclass(frozen=True)
class DropFeature:
    """Drops a table feature that nothing uses any more.

    Where old versions use it, the table gets the feature ``checkpointProtection``, which keeps them readable.
    `truncate_history` asks for the history to go instead, which is not implemented.
    """

    name: str
    truncate_history: bool = False


@dataclass(frozen=True)
class UpgradeProtocol:
    """Asks for a protocol of at least these versions, for readers and for writers."""

    reader: int
    writer: int


@dataclass(frozen=True)
class AddColumn:
    """Adds a column, which is NULL in the rows that are there; with `within`, a field to a struct.

    Args:
        column: Its name, with a `type`; or an Arrow field, such as a `pyarrow.Field`, that has both.
        type: An Arrow type: anything with ``__arrow_c_schema__``, such as a `pyarrow.DataType`.
        comment: A comment for people.
        within: The struct that the field becomes a part of; the table when None.
        after: The sibling that it stands behind; behind all when None.
        first: Whether it stands before all.

    >>> import pyarrow
    >>> AddColumn(pyarrow.field("seats", pyarrow.int32()), after="id").after
    'id'
    """

    column: str | ArrowSchemaExportable
    type: ArrowSchemaExportable | None = None
    comment: str | None = None
    within: str | None = field(default=None, kw_only=True)
    after: str | None = field(default=None, kw_only=True)
    first: bool = field(default=False, kw_only=True)


@dataclass(frozen=True)
class RenameColumn:
    """Gives a column or a field the last part of its name anew; needs column mapping."""

    column: str
    to: str


@dataclass(frozen=True)
class DropColumn:
    """Drops a column or a field; needs column mapping. Its values stay in the files, and nobody sees them."""

    column: str


@dataclass(frozen=True)
class MoveColumn:
    """Moves a column or a field among its siblings: behind one of them, or before all."""

    column: str
    after: str | None = field(default=None, kw_only=True)
    first: bool = field(default=False, kw_only=True)


@dataclass(frozen=True)
class ChangeType:
    """Gives a column or a part of one a wider type; needs ``delta.enableTypeWidening``."""

    column: str
    type: ArrowSchemaExportable


@dataclass(frozen=True)
class DropNotNull:
    """Lets a column, a field, an element or a value be NULL."""

    column: str


@dataclass(frozen=True)
class SetDefault:
    """Gives a column the SQL expression of its default, or takes it with None.

    The table gets the feature ``allowColumnDefaults`` by it; deltaic does not append to such a table yet.
    """

    column: str
    expression: str | None


@dataclass(frozen=True)
class SetComment:
    """Gives a column or a field a comment, or takes it with None."""

    column: str
    comment: str | None


@dataclass(frozen=True)
class AddConstraint:
    """Adds a CHECK constraint: what must be true in each row, in SQL. The rows that are there are read."""

    name: str
    expression: str


@dataclass(frozen=True)
class DropConstraint:
    """Drops a CHECK constraint."""

    name: str
    if_absent: Literal["error", "ignore"] = "error"


@dataclass(frozen=True, init=False)
class ClusterBy:
    """Arranges files by these columns from now on; by none where none are named.

    >>> ClusterBy("day", "shop").columns
    ('day', 'shop')
    """

    columns: tuple[str, ...]

    def __init__(self, *columns: str) -> None:
        object.__setattr__(self, "columns", columns)


@dataclass(frozen=True)
class SetDomain:
    """Sets the configuration of a domain of your own: text that only its owner understands."""

    domain: str
    configuration: str


@dataclass(frozen=True)
class RemoveDomain:
    """Removes a domain of your own."""

    domain: str


@dataclass(frozen=True)
class MergeSchema:
    """Takes in the columns of data that is to be written.

    New ones are added, narrower ones become wider where the table lets them.

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
