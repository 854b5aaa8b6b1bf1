"""Conditions of written rows, as an expression of Spark that raises at the first row that violates one."""

from __future__ import annotations

import re
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from pyspark.sql import Column
from pyspark.sql import functions as F  # noqa: N812 - as in Spark's own documents

from deltaic.exceptions import ConstraintViolation, DeltaicError

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

__all__ = ["Condition", "Guard", "quoted", "words"]

# The number of characters of a value that an error shows.
_SHOWN = 60


@dataclass(frozen=True)
class Condition:
    """What every row must satisfy: FALSE and NULL violate it."""

    is_met: Column
    names: frozenset[str]
    """The words in which the columns are named that an error shows."""
    message: str
    context: Mapping[str, str]
    hint: str
    error: type[DeltaicError] = ConstraintViolation

    @classmethod
    def of_sql(cls, sql: str, message: str, context: Mapping[str, str], hint: str) -> Condition:
        """Returns a condition in SQL."""
        return cls(F.expr(sql), words(sql), message, context, hint)


@dataclass(frozen=True)
class Guard:
    """The conditions of one step of a write."""

    conditions: Sequence[Condition]
    token: str = field(default_factory=lambda: uuid.uuid4().hex)
    """Marks the errors of this step."""

    def on(self, frame: DataFrame) -> DataFrame:
        """Returns the rows, of which one that violates a condition raises when it is computed."""
        if not self.conditions:
            return frame
        first, *others = frame.columns
        checked: Column | None = None
        for number, condition in enumerate(self.conditions):
            is_violated = ~F.coalesce(condition.is_met, F.lit(False))  # noqa: FBT003 - a literal of SQL
            raised = F.raise_error(self._text(number, condition, frame))
            checked = F.when(is_violated, raised) if checked is None else checked.when(is_violated, raised)
        assert checked is not None  # noqa: S101 - there is a condition
        return frame.select(
            checked.otherwise(_column(first)).alias(first), *(_column(name) for name in others)
        )

    def violated(self, text: str) -> DeltaicError | None:
        """Returns the error that a failure of Spark with this text means; None if it is another one."""
        found = re.search(rf"{self.token}:(\d+):(.*?):{self.token}", text, re.DOTALL)
        if found is None:
            return None
        condition = self.conditions[int(found[1])]
        row = {"row": found[2]} if found[2] else {}
        return condition.error(condition.message, context={**condition.context, **row}, hint=condition.hint)

    def _text(self, number: int, condition: Condition, frame: DataFrame) -> Column:
        used = [name for name in frame.columns if words(name) <= condition.names]
        values = [
            F.concat(
                F.lit(f"{name} = "),
                F.coalesce(F.substring(_column(name).cast("string"), 1, _SHOWN), F.lit("NULL")),
            )
            for name in used
        ]
        row = F.concat_ws(", ", *values) if values else F.lit("")
        return F.concat(F.lit(f"{self.token}:{number}:"), row, F.lit(f":{self.token}"))


def quoted(name: str) -> str:
    """Returns a name as an identifier of SQL.

    Example:
        >>> quoted("a`b")
        '`a``b`'
    """
    return "`" + name.replace("`", "``") + "`"


def words(text: str) -> frozenset[str]:
    """Returns the words of a text in lower case: those of the columns that it names are among them.

    Example:
        >>> sorted(words("`Net price` > 5"))
        ['5', 'net', 'price']
    """
    return frozenset(re.findall(r"\w+", text.lower()))


def _column(name: str) -> Column:
    return F.col(quoted(name))
