from typing import final

@final
class Vacuumed:
    """The files that a vacuum deleted, or would delete (protocol: Vacuum Protocol Check)."""

    @property
    def files(self) -> list[tuple[str, int]]:
        """Path and size in bytes of each file."""

    @property
    def deleted_files(self) -> int:
        """The number of files that were deleted."""

    @property
    def deleted_folders(self) -> int:
        """The number of empty folders that were removed."""

    @property
    def retention_ms(self) -> int: ...
    @property
    def versions(self) -> tuple[int, int] | None:
        """The versions that record the start and the end; None after a dry run."""
