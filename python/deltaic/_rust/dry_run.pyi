from typing import final

@final
class DryRun:
    """What an append, overwrite, delete or update would do."""

    @property
    def rows(self) -> int | None:
        """The number of rows deleted, replaced or updated; None if the log does not have it."""

    @property
    def removed_files(self) -> int: ...
    @property
    def files_with_deletion_vectors(self) -> int: ...
    @property
    def files_with_statistics(self) -> int: ...
    @property
    def rewritten_files(self) -> int: ...
    @property
    def rewritten_bytes(self) -> int: ...
    @property
    def added_rows(self) -> int: ...
    @property
    def added_files(self) -> int:
        """The number of new files, with those of copied rows."""

    @property
    def added_bytes(self) -> int: ...
    @property
    def features(self) -> list[str]:
        """The features that the table would need and does not have."""

    @property
    def warnings(self) -> list[str]:
        """What may take long."""
