"""The result of a repair."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from deltaic.commit import Commit
from deltaic.values.sizes import counted

__all__ = ["Repair"]


@dataclass(frozen=True)
class Repair:
    """What a repair did, or would do: the result of `Table.repair`.

    >>> print(Repair(7, ["a.parquet"]))
    1 missing file of version 7 would be removed from the table:
      a.parquet
    >>> print(Repair(7, []))
    no file of version 7 is missing
    """

    version: int
    """The version that was read; after a conflict, the version before the commit."""

    missing_files: Sequence[str]
    """The data files that are gone, as named by the log; the table does not have their rows any more."""

    commit: Commit | None = None
    """The commit; None for a dry run, or if no file is missing."""

    def __str__(self) -> str:
        number = len(self.missing_files)
        if not number:
            return f"no file of version {self.version} is missing"
        files = f"{counted(number, 'missing file')} of version {self.version}"
        verb = "would be" if self.commit is None else "was" if number == 1 else "were"
        return "\n".join(
            [f"{files} {verb} removed from the table:", *(f"  {path}" for path in self.missing_files)]
        )
