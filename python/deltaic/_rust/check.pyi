from typing import final

@final
class Finding:
    """One thing that a check found."""

    @property
    def code(self) -> str:
        """A name in upper snake case that stays the same."""

    @property
    def severity(self) -> str:
        """`"info"`, `"warning"` or `"damage"`."""

    @property
    def message(self) -> str: ...
    @property
    def path(self) -> str | None:
        """The file, below the table's root or as the log has it; never with a secret in it."""

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
    """What a check found, the worst first, and what it looked at."""

    @property
    def uri(self) -> str:
        """The table's root; never a secret."""

    @property
    def versions(self) -> tuple[int, int] | None:
        """The oldest and the newest version that the log's files speak of."""

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
        """Files of the newest version, or None where these cannot be told."""

    @property
    def data_files(self) -> int:
        """Data files that were looked at; 0 unless the check was deep."""

    @property
    def counts(self) -> dict[str, int]:
        """How many findings there are of each code, those among them that are not kept."""

    @property
    def findings(self) -> list[Finding]:
        """Of each code the first twenty."""
