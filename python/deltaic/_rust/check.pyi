from typing import final

@final
class Finding:
    """One finding of a check."""

    @property
    def code(self) -> str:
        """A stable code in upper snake case."""

    @property
    def severity(self) -> str:
        """`"info"`, `"warning"` or `"damage"`."""

    @property
    def message(self) -> str: ...
    @property
    def path(self) -> str | None:
        """The file, relative to the table's root or as in the log; never contains a secret."""

    @property
    def version(self) -> int | None: ...
    @property
    def line(self) -> int | None:
        """The line of a commit, from 1."""

    @property
    def field(self) -> str | None: ...
    @property
    def meaning(self) -> str: ...
    @property
    def remedy(self) -> str: ...

@final
class Report:
    """The findings of a check, the most severe first, and what was examined."""

    @property
    def uri(self) -> str:
        """The table's root; never contains a secret."""

    @property
    def versions(self) -> tuple[int, int] | None:
        """The oldest and the newest version that the log's files mention."""

    @property
    def commits(self) -> int: ...
    @property
    def checkpoints(self) -> int: ...
    @property
    def checksums(self) -> int: ...
    @property
    def compactions(self) -> int: ...
    @property
    def live_files(self) -> int | None:
        """The number of live files of the newest version, or None if it is not known."""

    @property
    def data_files(self) -> int:
        """The number of data files examined; 0 unless the check was deep."""

    @property
    def counts(self) -> dict[str, int]:
        """The number of findings of each code, including those that are omitted."""

    @property
    def findings(self) -> list[Finding]:
        """The first twenty of each code."""
