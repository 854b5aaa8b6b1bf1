"""A merge, as a value: a source, the condition that joins it to the table, and clauses."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum
from typing import Any

import pyarrow as pa

from tests.programs.expressions import Expression
from tests.programs.values import Row, quoted

TARGET, SOURCE = "target", "source"
"""The aliases of the two sides."""

Pair = dict[str, Any]
"""A row of the table and a row of the source, by `TARGET` and `SOURCE`; None for the side that has no row.

Expressions over both sides are functions of a pair.
"""


class Kind(Enum):
    """Which rows a clause applies to."""

    MATCHED = "MATCHED"
    NOT_MATCHED = "NOT MATCHED"
    NOT_MATCHED_BY_SOURCE = "NOT MATCHED BY SOURCE"


@dataclass(frozen=True)
class Delete:
    """Deletes the row of the table."""

    def __str__(self) -> str:
        return "DELETE"


@dataclass(frozen=True)
class Update:
    """Sets columns, or fields of structs, of the row of the table."""

    values: dict[tuple[str, ...], Expression]

    def __str__(self) -> str:
        return f"UPDATE SET {', '.join(f'{to_sql(path)} = {value}' for path, value in self.values.items())}"


@dataclass(frozen=True)
class Insert:
    """Adds a row; a column without a value gets its default, or NULL."""

    values: dict[str, Expression]

    def __str__(self) -> str:
        columns, values = map(quoted, self.values), map(str, self.values.values())
        return f"INSERT ({', '.join(columns)}) VALUES ({', '.join(values)})"  # noqa: S608 - SQL of delta-spark


@dataclass(frozen=True)
class UpdateAll:
    """Sets each column of the table to the column of the source that has its name."""

    def __str__(self) -> str:
        return "UPDATE SET *"


@dataclass(frozen=True)
class InsertAll:
    """Adds the row of the source, by the names of its columns."""

    def __str__(self) -> str:
        return "INSERT *"


Action = Delete | Update | UpdateAll | Insert | InsertAll


@dataclass(frozen=True)
class Clause:
    """What happens to the rows of a kind that satisfy a condition and no earlier clause of this kind."""

    kind: Kind
    action: Action
    condition: Expression | None = None

    def __str__(self) -> str:
        condition = "" if self.condition is None else f" AND {self.condition}"
        return f"WHEN {self.kind.value}{condition} THEN {self.action}"

    def applies(self, pair: Pair) -> bool:
        """Whether the condition is true."""
        return self.condition is None or self.condition.holds(pair)


@dataclass(frozen=True)
class Merge:
    """Rows of a source, merged into the table."""

    schema: pa.Schema
    """The columns of the source."""
    rows: list[Row] = field(repr=False)
    on: Expression
    clauses: list[Clause]
    batches: int = 1
    evolves: bool = False
    """Whether the merge changes the schema."""

    def __str__(self) -> str:
        columns = ", ".join(f"{column.name} {column.type}" for column in self.schema)
        source = f"({columns}) in {self.batches} batches: {self.rows!r}"
        evolves = " with schema evolution" if self.evolves else ""
        return f"merge{evolves} {source}\n    ON {self.on}\n    " + "\n    ".join(map(str, self.clauses))

    def of(self, kind: Kind) -> list[Clause]:
        """Returns the clauses of a kind, in their order."""
        return [clause for clause in self.clauses if clause.kind is kind]

    @property
    def inserts_only(self) -> bool:
        """Whether all clauses add rows."""
        return all(clause.kind is Kind.NOT_MATCHED for clause in self.clauses)


def to_sql(path: tuple[str, ...]) -> str:
    """Returns the path of a column, or of a field of a struct, as SQL."""
    return ".".join(map(quoted, path))
