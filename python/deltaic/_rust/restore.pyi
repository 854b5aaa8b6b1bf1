from typing import final

@final
class RestorePreview:
    """What restoring a version would do."""

    @property
    def restored_version(self) -> int: ...
    @property
    def restored_files(self) -> int:
        """The number of files that would be added again."""

    @property
    def restored_bytes(self) -> int: ...
    @property
    def removed_files(self) -> int: ...
    @property
    def removed_bytes(self) -> int: ...
    @property
    def files_after(self) -> int:
        """The number of files of the table afterwards."""

    @property
    def bytes_after(self) -> int: ...
    @property
    def missing_files(self) -> list[str]:
        """Files of the restored version that are gone and would be left out."""

    @property
    def changes_metadata(self) -> bool:
        """Whether schema, partitioning, properties or domains would change."""
