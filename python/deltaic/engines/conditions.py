"""Conditions of other libraries as predicates: the common part of the translations.

Every translation is exact: for each row it is TRUE, FALSE or NULL as the condition is by the rules of its
library. These differ most for NaN, so each translation documents how it treats it.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from deltaic.exceptions import InvalidPredicate, UnsupportedExpression
from deltaic.reading.schema import Schema
from deltaic.values.predicates import Expression, Literal, literal

__all__ = [
    "FALSE",
    "NULL",
    "TRUE",
    "Translation",
    "Untranslatable",
    "all_of",
    "any_of",
    "choice",
    "column",
    "is_nan",
    "operand",
]

TRUE, FALSE, NULL = Expression("TRUE"), Expression("FALSE"), Expression("NULL")


class Untranslatable(Exception):
    """A part of a condition has no exact translation; the message names the part."""


@dataclass(frozen=True)
class Translation:
    """The translated part of a condition: the condition holds if all parts and all of the rest hold."""

    parts: list[Expression] = field(default_factory=list[Expression])
    """The parts that were translated exactly."""
    rest: list[str] = field(default_factory=list[str])
    """The reasons why the other parts were not translated."""

    @property
    def exact(self) -> bool:
        """Whether everything was translated."""
        return not self.rest

    @property
    def sql(self) -> str | None:
        """The translated parts as one predicate; None without parts."""
        return all_of(self.parts).sql if self.parts else None

    def add(self, translate: Callable[[], Expression]) -> None:
        """Adds a part, or the reason why it cannot be translated."""
        try:
            self.parts.append(translate())
        except Untranslatable as error:
            self.rest.append(str(error))

    def without_padding(self, schema: Schema) -> Translation:
        """Moves the parts that name a `char(n)` column to the rest: deltaic pads what is compared with it."""
        padded = [
            field["name"]
            for field in json.loads(schema.to_json())["fields"]
            if str(field["metadata"].get("__CHAR_VARCHAR_TYPE_STRING", "")).strip().startswith("char")
        ]
        translation = Translation([], list(self.rest))
        for part in self.parts:
            # A literal may contain the name, too: then the library evaluates the part.
            names = [name for name in padded if column([name]).sql in part.sql]
            if names:
                translation.rest.append(f"a comparison of the char(n) column {names[0]}")
            else:
                translation.parts.append(part)
        return translation

    def understood(self, scan: Callable[[list[str], str], object]) -> Translation:
        """Moves the parts that a scan rejects to the rest."""
        translation = Translation([], list(self.rest))
        for part in self.parts:
            translation.add(lambda part=part: _scanned(part, scan))
        try:
            # Together they may exceed a limit on predicates.
            _scanned(all_of(translation.parts), scan)
        except Untranslatable as error:
            return Translation([], [*translation.rest, str(error)])
        return translation


def _scanned(part: Expression, scan: Callable[[list[str], str], object]) -> Expression:
    try:
        scan([], part.sql)
    except (InvalidPredicate, UnsupportedExpression) as error:
        raise Untranslatable(error.message) from error
    return part


def column(path: Sequence[str]) -> Expression:
    """Returns a column, or a nested field, by the names along its path."""
    return Expression(".".join(f"`{name.replace('`', '``')}`" for name in path))


def operand(value: Literal) -> str:
    """Renders a literal as SQL text.

    Raises:
        Untranslatable: SQL has no literal for it.
    """
    try:
        return literal(value)
    except (TypeError, ValueError) as error:
        raise Untranslatable(str(error)) from error


def all_of(parts: Iterable[Expression]) -> Expression:
    """True if all parts are; TRUE for no parts."""
    return _joined("AND", list(parts), TRUE)


def any_of(parts: Iterable[Expression]) -> Expression:
    """True if one part is; FALSE for no parts."""
    return _joined("OR", list(parts), FALSE)


def choice(condition: Expression, then: Expression, otherwise: Expression) -> Expression:
    """Returns one value if a condition holds and another if not; the condition is never NULL."""
    return any_of([all_of([condition, then]), all_of([~condition, otherwise])])


def is_nan(value: Expression) -> Expression:
    """True if a number is NaN; NULL if it is NULL."""
    return Expression(f"{value.sql} = {literal(math.nan)}")


def _joined(word: str, parts: list[Expression], of_none: Expression) -> Expression:
    # A flat list, because the parser limits the nesting depth.
    if len(parts) < 2:
        return parts[0] if parts else of_none
    return Expression(f" {word} ".join(f"({part.sql})" for part in parts))
