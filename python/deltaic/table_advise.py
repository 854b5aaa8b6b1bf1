"""The methods of a table that examine it: advice and report."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from datetime import datetime, timezone
from time import time
from typing import TYPE_CHECKING

from deltaic.commit import from_rust
from deltaic.exceptions import DeltaicError
from deltaic.handle import Handle
from deltaic.reading.snapshot import Snapshot, announced
from deltaic.values.arguments import names
from deltaic.values.optional import require
from deltaic.writing.dry_run import dry_run_from_rust

if TYPE_CHECKING:
    from deltaic import _rust
    from deltaic.advice.advice import Advice
    from deltaic.advice.facts import TableFacts
    from deltaic.writing.dry_run import DryRun

__all__ = ["TableAdvise"]

# A preview holds all adds in memory; above this number of files the result is estimated.
_MOST_PREVIEWED_FILES = 50_000
_COMMITS = 200


class TableAdvise(Handle):
    """The methods of `Table` that examine the table."""

    __slots__ = ()

    def advise(self, filters: Sequence[str] | None = None) -> Advice:
        """Examines the newest version, and returns what could be improved, how, and with which effect.

        Everything is measured on the log: small files and partitions, statistics and overlap of the files in
        columns, deleted rows, the length of the log, retention properties, removed files, and which known
        clients can read and write the table. No data file is read and nothing is written.

        Args:
            filters: The columns that predicates use, besides the clustering columns: their statistics and
                their clustering are examined. Fields of structs are written as ``"address.city"``.

        Raises:
            ImportError: pyarrow is not installed.
            TableNotFound: There is no table at this location.
            UnsupportedFeature: The table needs a feature that is not implemented.
            CorruptLog: The log is damaged.
            StorageError: The store cannot be accessed.
            ValueError: A column of `filters` does not exist.

        >>> import deltaic, pyarrow
        >>> table = deltaic.Table.create("crates", pyarrow.schema([("id", pyarrow.int64())]))
        >>> commits = [table.append(pyarrow.table({"id": [0, 9]})) for _ in range(20)]
        >>> for finding in table.advise(filters=["id"]):
        ...     print(finding)
        SMALL_FILES: 20 of 20 files are smaller than 32.0 MiB
        POOR_CLUSTERING: a value of id is in the range of 20.0 of 20 files
        """
        facts, preview = self._examined(filters, "Table.advise()")
        from deltaic.advice.examine import advise_on

        return advise_on(facts, preview)

    def html_report(self, filters: Sequence[str] | None = None) -> str:
        """Returns a page about the newest version: one HTML document that loads nothing.

        It has the size over time (of up to 24 versions), the sizes of files, the largest partitions, the
        newest commits, and the advice of `advise`. Apart from the time of writing, the same version gives the
        same page.

        Args:
            filters: As for `advise`.

        Raises:
            DeltaicError: As for `advise`.
            ImportError: pyarrow is not installed.
            ValueError: A column of `filters` does not exist.

        >>> import deltaic, pyarrow
        >>> table = deltaic.Table.create("pallets", pyarrow.schema([("id", pyarrow.int64())]))
        >>> commit = table.append(pyarrow.table({"id": [1, 2]}))
        >>> page = table.html_report()
        >>> page.splitlines()[0], "Size over time" in page
        ('<!DOCTYPE html>', True)
        """
        facts, preview = self._examined(filters, "Table.html_report()")
        from deltaic.advice.examine import advise_on
        from deltaic.html_report.contents import sizes_over_time
        from deltaic.html_report.page import report_page

        newest, versions = facts.snapshot, [commit.version for commit in facts.commits]
        sizes = sizes_over_time(
            newest, lambda version: Snapshot(self._rust.snapshot(version=version)), versions
        )
        return report_page(facts, advise_on(facts, preview), sizes, datetime.now(timezone.utc))

    def _examined(self, filters: Sequence[str] | None, purpose: str) -> tuple[TableFacts, DryRun | None]:
        require("pyarrow", purpose)
        from deltaic.advice.examine import facts_of

        # A new listing knows the sizes of all commits.
        rust = self._rust.snapshot()
        snapshot = announced(rust, stacklevel=4)
        commits = [from_rust(commit) for commit in self._rust.history(_COMMITS)]
        wanted = None if filters is None else names("filters", filters)
        facts = facts_of(snapshot, rust.log_files, commits, wanted, int(time() * 1000))
        return facts, _preview(rust)


def _preview(rust: _rust.Snapshot) -> DryRun | None:
    if rust.num_files <= _MOST_PREVIEWED_FILES:
        # A table that cannot be optimized is still examined.
        with suppress(DeltaicError, ValueError):
            request: dict[str, object] = {
                "predicate": None,
                "target_file_size": None,
                "zorder_by": [],
                "full": False,
                "purge": False,
            }
            return dry_run_from_rust("OPTIMIZE", rust.version, rust.preview_optimize(request=request))
    return None
