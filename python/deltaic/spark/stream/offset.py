"""The offset of a stream in a Delta table, as stored in its checkpoint."""

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
    """A position in a stream: all files before it have been read, and none after it.

    A stream starts with all files of a snapshot, or with the files added by one commit, and continues with
    those added by each later commit. Within a version the order of files never changes.
    """

    table_id: str
    """The id in the table's metadata, which distinguishes another table at the same location."""
    first_version: int
    """The version that the stream started with."""
    initial_snapshot: bool
    """Whether it started with all files of that version, instead of those added by its commit."""
    version: int
    """The version to read next, or to continue."""
    index: int
    """The number of its files that have been read."""

    @property
    def in_snapshot(self) -> bool:
        """Whether the files of the initial snapshot are still being read."""
        return self.initial_snapshot and self.version == self.first_version

    @property
    def beginning(self) -> StreamOffset:
        """The start of the same stream."""
        return replace(self, version=self.first_version, index=0)

    def at(self, version: int, index: int) -> StreamOffset:
        """Returns another offset of the same stream."""
        return replace(self, version=version, index=index)

    def is_before(self, other: StreamOffset) -> bool:
        """Whether this offset is before another one of the stream."""
        return (self.version, self.index) < (other.version, other.index)

    def to_json(self) -> dict[str, int | str | bool]:
        """Returns the offset as Spark stores it. Equal offsets have equal texts."""
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
            CorruptLog: It is not an offset of this release.
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
                f"the checkpoint contains an offset that this release cannot read: {dict(found)!r:.200}",
                hint="a checkpoint belongs to the source that wrote it: start with a new checkpointLocation, "
                "and with startingVersion where the old one ended",
            )
        return cls(table_id, first, initial, version, index)
