"""Identity columns of the model: the values that are generated, and the high-water marks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from deltaic import Identity

from .expressions import Overflow
from .values import Row

Marks = dict[str, int]
"""The high-water mark of each identity column that has one."""
LIMIT = 2**63


@dataclass(frozen=True)
class Identities:
    """The identity columns of a table, with their high-water marks."""

    columns: Mapping[str, Identity]
    marks: Marks

    def complete(self, rows: list[Row], given: list[str]) -> list[Row]:
        """Returns the rows with the values of the columns that are not given, and moves the marks.

        Raises:
            Overflow: There are no more values of the type.
        """
        for name, identity in self.columns.items():
            if name in given:
                self._observe(name, identity, rows)
            else:
                rows = [{**row, name: self._next(name, identity)} for row in rows]
        return rows

    def _next(self, name: str, identity: Identity) -> int:
        value = identity.start
        if name in self.marks:
            steps = (self.marks[name] - identity.start) // identity.step + 1
            value += max(steps, 0) * identity.step
        if not -LIMIT <= value < LIMIT:
            raise Overflow(f"next value of {name}")
        self.marks[name] = value
        return value

    def _observe(self, name: str, identity: Identity, rows: list[Row]) -> None:
        """Moves the mark to the first value of the sequence that is not before a given value."""
        for row in rows:
            if (value := row[name]) is None:
                continue
            steps = -((identity.start - value) // identity.step)
            is_past = name not in self.marks or (value - self.marks[name]) * identity.step > 0
            if (value - identity.start) * identity.step >= 0 and is_past:
                mark = identity.start + steps * identity.step
                self.marks[name] = mark if -LIMIT <= mark < LIMIT else value
