from typing import final

from .batches import BatchReader
from .schema import Schema

@final
class Scan:
    """A read of a snapshot."""

    @property
    def schema(self) -> Schema:
        """The columns of the result."""

    def with_strings(self, strings: str) -> Scan:
        """Returns the same scan with strings as ``utf8`` or ``view``.

        Raises:
            ValueError: Another name.
        """

    def batches(self) -> BatchReader:
        """Returns the rows in batches, from the start.

        Raises:
            CorruptData, PathEscape, StorageError: Immediately or at any batch.
        """

    def __arrow_c_schema__(self) -> object:
        """Returns a PyCapsule of the schema of the rows."""

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """Returns a PyCapsule of an ArrowArrayStream; each call reads again."""

    def count(self) -> int:
        """Returns the number of rows; from the log alone if that is exact."""

    def tasks(self) -> list[ScanTask]:
        """Returns one task for each file that may hold a matching row."""

    def explain(self) -> str:
        """Reports files, row groups, pages, rows and bytes: in total, and after each step of pruning."""

@final
class ScanTask:
    """A part of a scan that can be read elsewhere."""

    @property
    def path(self) -> str:
        """The file, as in the log."""

    @property
    def size_in_bytes(self) -> int: ...
    @property
    def predicate(self) -> str | None:
        """The filter that remains for the file's rows, as SQL text; None if every row matches."""

    @property
    def schema(self) -> Schema:
        """The columns of the result."""

    def batches(self) -> BatchReader:
        """Returns the rows in batches, from the start.

        Raises:
            CorruptData, PathEscape, StorageError: Immediately or at any batch.
        """

    def __arrow_c_schema__(self) -> object:
        """Returns a PyCapsule of the schema of the rows."""

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """Returns a PyCapsule of an ArrowArrayStream; each call reads again."""

    def to_bytes(self) -> bytes:
        """Serializes all that is needed to read it, including the storage options."""

    @staticmethod
    def from_bytes(data: bytes) -> ScanTask:
        """The inverse of `to_bytes`.

        Raises:
            ValueError: The bytes are not a task of this release.
        """
