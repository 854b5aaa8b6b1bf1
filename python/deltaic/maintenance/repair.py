"""`Table.repair`: entries of files that are gone, which are removed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from deltaic import _rust
from deltaic.commit import Commit, announced
from deltaic.values.arguments import flag
from deltaic.values.commit_options import CommitOptions, to_options
from deltaic.values.sizes import counted

__all__ = ["Repair", "remove_missing_files"]


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


def remove_missing_files(
    table: _rust.Table,
    refresh: Callable[[], _rust.Snapshot],
    *,
    dry_run: bool,
    options: CommitOptions,
) -> Repair:
    """Removes the entries of `Table.repair`, or returns which would be removed."""
    given = to_options("repair", **options)
    known = refresh()
    if flag("dry_run", dry_run):
        return Repair(known.version, table.missing_files(known, options=given))
    missing, rust = table.repair(known, options=given)
    commit = announced(rust, stacklevel=4)
    return Repair(
        known.version if commit.read_version is None else commit.read_version,
        missing,
        commit if missing else None,
    )
