"""`Table.advise` and `Table.html_report`: the examination of a table, without changing it."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from datetime import datetime, timezone
from time import time
from typing import TYPE_CHECKING

from deltaic import _rust
from deltaic.commit import from_rust
from deltaic.exceptions import DeltaicError
from deltaic.reading.snapshot import Snapshot, announced
from deltaic.values.arguments import names
from deltaic.values.optional import require
from deltaic.writing.dry_run import DryRun, dry_run_from_rust

if TYPE_CHECKING:
    from deltaic.advice.advice import Advice
    from deltaic.advice.facts import TableFacts

__all__ = ["advise_on_table", "report_on_table"]

# A preview holds all adds in memory; above this number of files the result is estimated.
_MOST_PREVIEWED_FILES = 50_000
_COMMITS = 200


def advise_on_table(table: _rust.Table, filters: Sequence[str] | None) -> Advice:
    """Returns the advice of `Table.advise`."""
    facts, preview = _examined(table, filters, "Table.advise()")
    from deltaic.advice.examine import advise_on

    return advise_on(facts, preview)


def report_on_table(table: _rust.Table, filters: Sequence[str] | None) -> str:
    """Returns the page of `Table.html_report`."""
    facts, preview = _examined(table, filters, "Table.html_report()")
    from deltaic.advice.examine import advise_on
    from deltaic.html_report.contents import sizes_over_time
    from deltaic.html_report.page import report_page

    newest, versions = facts.snapshot, [commit.version for commit in facts.commits]
    sizes = sizes_over_time(newest, lambda version: Snapshot(table.snapshot(version=version)), versions)
    return report_page(facts, advise_on(facts, preview), sizes, datetime.now(timezone.utc))


def _examined(
    table: _rust.Table, filters: Sequence[str] | None, purpose: str
) -> tuple[TableFacts, DryRun | None]:
    require("pyarrow", purpose)
    from deltaic.advice.examine import facts_of

    # A new listing knows the sizes of all commits.
    rust = table.snapshot()
    snapshot = announced(rust, stacklevel=5)
    commits = [from_rust(commit) for commit in table.history(_COMMITS)]
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
