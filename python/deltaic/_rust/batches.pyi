from typing import final

@final
class BatchReader:
    """The batches of a scan or a task. Its errors keep their class, which an Arrow stream cannot carry."""

    def __iter__(self) -> BatchReader: ...
    def __next__(self) -> Batches:
        """The next batch, and those behind it that are there already.

        Raises:
            CorruptData, PathEscape, StorageError: The file cannot be read.
        """

@final
class Batches:
    """Batches that are there: a stream of them, in which nothing is waited for and nothing goes wrong."""

    @property
    def num_rows(self) -> int: ...
    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """A PyCapsule of an ArrowArrayStream."""
