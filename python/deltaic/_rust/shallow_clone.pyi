from typing import final

@final
class ClonePreview:
    """What a shallow clone would do."""

    @property
    def files(self) -> int:
        """The number of files that the clone would have."""

    @property
    def bytes(self) -> int: ...
    @property
    def removed_files(self) -> int:
        """The number of files that would be removed from the replaced table."""

    @property
    def removed_bytes(self) -> int: ...
