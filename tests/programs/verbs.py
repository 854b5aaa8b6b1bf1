"""Steps of a program, as values: a model, deltaic and delta-spark each run them."""

from __future__ import annotations

from dataclasses import dataclass, field

import pyarrow as pa

from .definitions import Definition
from .expressions import Expression
from .merges.verb import Merge
from .values import Row


@dataclass(frozen=True)
class Append:
    """New rows, in some batches; a column that is not listed is absent from the data."""

    rows: list[Row]
    columns: list[str]
    batches: int = 1
    raises_at_end: bool = False
    """Whether the source raises after its last batch."""
    empty_is_null: bool = False
    """Whether empty text in a partition column is written as NULL."""
    added: pa.Field | None = None
    """A column that the table does not have and the append adds."""

    def __str__(self) -> str:
        end = ", then raise" if self.raises_at_end else ""
        end += ", empty text is NULL" if self.empty_is_null else ""
        end += f", new column {self.added}" if self.added else ""
        return f"append({self.rows!r}, columns={self.columns}, {self.batches} batches{end})"


@dataclass(frozen=True)
class Overwrite:
    """New rows instead of all rows, of those that match, or of their partitions."""

    rows: list[Row]
    columns: list[str]
    where: Expression | None = None
    is_dynamic: bool = False
    replaces: Definition | None = None
    """The table with the schema of the new rows, if the schema is replaced too."""

    def __str__(self) -> str:
        where = "the partitions" if self.is_dynamic else self.where
        schema = f", new schema: {self.replaces}" if self.replaces else ""
        return f"overwrite({self.rows!r}, columns={self.columns}, {where}{schema})"


@dataclass(frozen=True)
class Delete:
    """Rows that match, or all."""

    where: Expression | None

    def __str__(self) -> str:
        return f"delete({self.where})"


@dataclass(frozen=True)
class Update:
    """New values for rows that match, or for all."""

    values: dict[str, Expression]
    where: Expression | None

    def __str__(self) -> str:
        return f"update({ {name: str(value) for name, value in self.values.items()} }, {self.where})"


@dataclass(frozen=True)
class Together:
    """Several verbs in one commit. Each sees the rows before the commit."""

    verbs: list[Append | Overwrite | Delete | Update | Merge]
    raises_at_end: bool = False

    def __str__(self) -> str:
        end = ", then raise" if self.raises_at_end else ""
        return f"transaction({'; '.join(map(str, self.verbs))}{end})"


RowVerb = Append | Overwrite | Delete | Update | Merge | Together


@dataclass(frozen=True)
class Maintain:
    """A change of the log or of the data files that changes no row."""

    how: str

    def __str__(self) -> str:
        return self.how


@dataclass
class Outcome:
    """What a verb did."""

    version: int | None
    """The version that it committed; None if there was nothing to do."""
    metrics: dict[str, int] = field(default_factory=dict)
