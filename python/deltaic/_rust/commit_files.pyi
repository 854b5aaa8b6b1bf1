from typing import final

from .scan import ScanTask

@final
class CommitFiles:
    """The files of one commit, for a reader that follows a table."""

    @property
    def version(self) -> int:
        """The version that it created."""

    @property
    def removed(self) -> str | None:
        """One of the files that were removed together with their rows, as in the log."""

    def tasks(self) -> list[ScanTask]:
        """Returns the files to read, in the commit's order.

        These are the files with rows that are new to the table, or, for a change feed, the change data files.
        """
