from typing import final

from .schema import Schema

@final
class ConvertPreview:
    """What converting a folder would do."""

    @property
    def files(self) -> int:
        """The number of files of the table."""

    @property
    def bytes(self) -> int: ...
    @property
    def rows(self) -> int:
        """The number of rows of these files."""

    @property
    def schema(self) -> Schema: ...
