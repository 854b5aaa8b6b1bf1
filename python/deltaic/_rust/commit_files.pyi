from typing import final

from .scan import ScanTask

@final
class CommitFiles:
    """What one commit brought, for a reader that follows a table."""

    @property
    def version(self) -> int:
        """The version that it made."""

    @property
    def removed(self) -> str | None:
        """One of the files that went with their rows, as in the log."""

    def tasks(self) -> list[ScanTask]:
        """The files to read, in the commit's order.

        They are those with rows that are new to the table, or of a change feed those that tell what changed.
        """
