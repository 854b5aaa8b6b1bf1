from typing import final

@final
class BatchReader:
    """The batches of a scan or a task. Its errors keep their class, which an Arrow stream cannot carry."""

    def __iter__(self) -> BatchReader: ...
    def __next__(self) -> Batches:
        """Returns the next batch, and the following ones that are already available.

        Raises:
            CorruptData, PathEscape, StorageError: The file cannot be read.
        """

@final
class Batches:
    """Batches in memory: a stream that neither waits nor fails."""

    @property
    def num_rows(self) -> int: ...
    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """Returns a PyCapsule of an ArrowArrayStream."""
