from typing import final

@final
class Commit:
    """One version of the log."""

    @property
    def version(self) -> int: ...
    @property
    def timestamp_ms(self) -> int:
        """Milliseconds since the epoch: the in-commit timestamp, else the time of the commit's file."""

    @property
    def commit_info(self) -> str | None:
        """The commitInfo action as JSON text, or None (protocol: Commit Provenance Information)."""

    @property
    def conflicts_resolved(self) -> list[str]:
        """After an append: the winning commits of lost attempts, one text each."""

    @property
    def skipped(self) -> bool:
        """Whether nothing was committed, as it was done already (protocol: Transaction Identifiers)."""

    @property
    def warnings(self) -> list[str]:
        """Failures of post-commit maintenance, one text each; the commit is complete."""
