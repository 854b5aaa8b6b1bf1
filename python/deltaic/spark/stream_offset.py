"""How far a stream has read a Delta table, as its checkpoint keeps it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final

from deltaic.exceptions import CorruptLog

__all__ = ["StreamOffset"]

_FORMAT: Final = 1
_NUMBERS = ("first_version", "version", "index")


@dataclass(frozen=True)
class StreamOffset:
    """Every file before this place has been read, and none from it on.

    A stream begins with all files of a snapshot, or with the files that one commit brought, and goes on with
    those that each later commit brought. Within a version files are counted in an order that never changes.
    """

    table_id: str
    """The id in the table's metadata, by which another table at the same place is known."""
    first_version: int
    """The version that the stream began with."""
    initial_snapshot: bool
    """Whether it began with all files of that version, and not with those that its commit brought."""
    version: int
    """The version that is read next, or read on."""
    index: int
    """How many of its files have been read."""

    @property
    def in_snapshot(self) -> bool:
        """Whether the files of the initial snapshot are still being read."""
        return self.initial_snapshot and self.version == self.first_version

    @property
    def beginning(self) -> StreamOffset:
        """Where the same stream began."""
        return replace(self, version=self.first_version, index=0)

    def at(self, version: int, index: int) -> StreamOffset:
        """Another place of the same stream."""
        return replace(self, version=version, index=index)

    def is_before(self, other: StreamOffset) -> bool:
        """Whether something lies between this place and another one of the stream."""
        return (self.version, self.index) < (other.version, other.index)

    def to_json(self) -> dict[str, int | str | bool]:
        """The offset as Spark keeps it. Equal offsets are equal texts."""
        return {
            "format": _FORMAT,
            "table_id": self.table_id,
            "first_version": self.first_version,
            "initial_snapshot": self.initial_snapshot,
            "version": self.version,
            "index": self.index,
        }

    @classmethod
    def from_json(cls, found: Mapping[str, object]) -> StreamOffset:
        """The inverse of `to_json`.

        Raises:
            CorruptLog: It is no offset of this release.
        """
        table_id, initial = found.get("table_id"), found.get("initial_snapshot")
        numbers = [found.get(name) for name in _NUMBERS]
        first, version, index = (n if isinstance(n, int) and n >= 0 else None for n in numbers)
        if (
            found.get("format") != _FORMAT
            or not isinstance(table_id, str)
            or not isinstance(initial, bool)
            or first is None
            or version is None
            or index is None
            or version < first
        ):
            raise CorruptLog(
                f"the checkpoint holds an offset that this release cannot read: {dict(found)!r:.200}",
                hint="a checkpoint belongs to the source that wrote it: start with a new checkpointLocation, "
                "and with startingVersion where the old one ended",
            )
        return cls(table_id, first, initial, version, index)
