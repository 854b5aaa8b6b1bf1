from typing import final

from .batches import BatchReader
from .scan import ScanTask
from .schema import Schema

@final
class Changes:
    """The row-level changes of a range of versions."""

    @property
    def schema(self) -> Schema:
        """The columns of the result, including the change columns."""

    def batches(self) -> BatchReader:
        """Returns the rows in batches, the oldest version's first.

        Raises:
            CorruptData, PathEscape, StorageError: At any batch.
        """

    def __arrow_c_schema__(self) -> object:
        """Returns a PyCapsule of the schema of the rows."""

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """Returns a PyCapsule of an ArrowArrayStream; each call reads again."""

    def count(self) -> int:
        """Returns the number of rows; reads them."""

    def tasks(self) -> list[ScanTask]:
        """Returns one task per file.

        Raises:
            ValueError: The changes are inferred, which requires comparing files.
        """

    def explain(self) -> str:
        """Reports versions, files and bytes."""
