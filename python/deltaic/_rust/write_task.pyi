from typing import final

@final
class WriteTask:
    """What another process needs to write files of a table without its log."""

    @property
    def uri(self) -> str:
        """The root of the table."""

    def write(self, data: object, share: tuple[int, int] | None = None) -> str:
        """Writes the rows to new files. Returns these as JSON text.

        Args:
            data: The rows.
            share: The number of the task, and that of all tasks, each of which generates other values of
                identity columns; None if it is the only one.

        Raises:
            SchemaMismatch, ConstraintViolation, UnsupportedFeature, StorageError: No file is left.
        """

    def to_bytes(self) -> bytes:
        """Serializes all that is needed to write, including the storage options."""

    @staticmethod
    def from_bytes(data: bytes) -> WriteTask:
        """The inverse of `to_bytes`.

        Raises:
            ValueError: The bytes are not a task of this release.
        """
