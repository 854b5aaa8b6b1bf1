"""The rows that an overwrite replaces."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from deltaic.spark.option_values import as_text

__all__ = ["Replaced"]

_SOURCE, _TARGET = "source", "target"
# A name as it is, or between backticks, which are doubled in it.
_NAME = re.compile(r"\s*(?:`((?:[^`]|``)+)`|([^`,\s](?:[^`,]*[^`,\s])?))\s*(?:,|$)")


@dataclass(frozen=True)
class Replaced:
    """The rows that the options of an overwrite select: all rows if no option is set.

    Example:
        >>> Replaced.parse({"replaceUsing": "id, `a,b`"}).using
        ('id', 'a,b')
    """

    where: str | None = None
    """The condition of the rows, which the new rows must satisfy too."""
    is_dynamic: bool = False
    """Whether the rows of the partitions that the new rows are in are replaced."""
    using: tuple[str, ...] = ()
    """Columns: rows with the values of a new row are replaced."""
    on: str | None = None
    """The condition on which a row matches a new row, and is replaced."""
    target_alias: str | None = None
    """The name of the table in that condition."""

    @classmethod
    def parse(cls, given: Mapping[str, Any]) -> Replaced:
        """Parses the options that select rows.

        Raises:
            ValueError: An option has an invalid value, or contradicts another.
        """
        found = cls(
            where=as_text("replaceWhere", given.get("replaceWhere")),
            is_dynamic=_is_dynamic(given.get("partitionOverwriteMode", "static")),
            using=_names(as_text("replaceUsing", given.get("replaceUsing"))),
            on=as_text("replaceOn", given.get("replaceOn")),
            target_alias=as_text("targetAlias", given.get("targetAlias")),
        )
        if len(found.options()) > 1:
            first, second = found.options()[:2]
            raise ValueError(f"{first} and {second} exclude each other: each selects the rows to replace")
        if found.target_alias is not None and found.on is None:
            raise ValueError("targetAlias names the table in the condition of replaceOn, which is not set")
        return found

    def options(self) -> list[str]:
        """Returns the options that are set."""
        is_set = {
            "replaceWhere": self.where is not None,
            "partitionOverwriteMode 'dynamic'": self.is_dynamic,
            "replaceUsing": bool(self.using),
            "replaceOn": self.on is not None,
        }
        return [name for name, each in is_set.items() if each]

    @property
    def condition(self) -> tuple[str, str] | None:
        """The option whose condition selects the rows, and the condition."""
        if self.where is not None:
            return "replaceWhere", self.where
        return None if self.on is None else ("replaceOn", self.on)

    @property
    def matches_rows(self) -> bool:
        """Whether the rows are those that match new rows."""
        return bool(self.using) or self.on is not None

    def to_json(self, source_alias: str | None) -> str:
        """Returns the form of the core.

        Args:
            source_alias: The name of the new rows in the condition of `on`.
        """
        if self.where is not None:
            return json.dumps({"where": self.where})
        if self.on is not None:
            target, source = self.target_alias or _TARGET, source_alias or _SOURCE
            return _matching(self.on, target, source)
        if self.using:
            quoted = [f"`{name.replace('`', '``')}`" for name in self.using]
            equal = [f"{_TARGET}.{name} = {_SOURCE}.{name}" for name in quoted]
            return _matching(" AND ".join(equal), _TARGET, _SOURCE)
        return json.dumps("partitions" if self.is_dynamic else "all")


def _matching(on: str, target: str, source: str) -> str:
    return json.dumps({"matching": {"on": on, "target_alias": target, "source_alias": source}})


def _is_dynamic(value: object) -> bool:
    if str(value).lower() not in ("static", "dynamic"):
        raise ValueError(f"partitionOverwriteMode must be 'static' or 'dynamic', not {value!r}")
    return str(value).lower() == "dynamic"


def _names(text: str | None) -> tuple[str, ...]:
    if text is None:
        return ()
    found: list[str] = []
    end = 0
    while end < len(text) or text[-1:] in ("", ","):
        name = _NAME.match(text, end)
        if name is None:
            raise ValueError(f"replaceUsing must be names of columns with commas between them, not {text!r}")
        found.append(name[1].replace("``", "`") if name[1] else name[2])
        end = name.end()
    return tuple(found)
