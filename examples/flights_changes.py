"""Changes the table of flights: updates, deletes, and merges late corrections."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
from rich.markup import escape

import deltaic
from flights_report import Report, numbers, timed

__all__ = ["correct", "merge_corrections"]

KEY = ("month", "day", "carrier", "flight", "sched_dep_time", "origin")
"""The columns that identify a flight."""


def correct(report: Report, folder: Path, tables: dict[str, pa.Table]) -> None:
    """Correct a tail number, delete the cancelled flights, and read the change data feed of both."""
    table, flights = deltaic.Table(folder / "flights"), tables["flights"]
    mistyped, cancelled = "tailnum = 'D942DN'", "dep_time IS NULL"
    report.say(f"  UPDATE SET [yellow]tailnum = 'N942DN'[/] WHERE [yellow]{mistyped}[/]")
    with timed(report, "committed"):
        update = table.update({"tailnum": "'N942DN'"}, mistyped)
    expected = pc.sum(pc.equal(flights["tailnum"], "D942DN")).as_py()
    report.check("flights with a corrected tail number", update.metrics["numUpdatedRows"], expected)

    report.say(f"\n  DELETE WHERE [yellow]{cancelled}[/]")
    for line in str(table.delete(cancelled, dry_run=True)).splitlines():
        report.say(escape(f"    {line}"), style="dim")
    with timed(report, "committed"):
        delete = table.delete(cancelled)
    count = flights["dep_time"].null_count
    report.check("cancelled flights deleted", delete.metrics["numDeletedRows"], count)
    report.check("flights that departed", table.snapshot().scan().count(), flights.num_rows - count)

    report.say("")
    with timed(report, "change data feed read"):
        feed = table.changes(update.version, delete.version).to_arrow()
    grid = numbers("change", "version", "rows")
    found = feed.group_by(["_commit_version", "_change_type"]).aggregate([([], "count_all")])
    for row in found.sort_by([("_commit_version", "ascending"), ("_change_type", "descending")]).to_pylist():
        grid.add_row(row["_change_type"], str(row["_commit_version"]), f"{row['count_all']:,}")
    report.say(grid)
    deleted = feed.filter(pc.equal(feed["_change_type"], "delete"))
    order = [(name, "ascending") for name in KEY]
    of_source = flights.filter(pc.is_null(flights["dep_time"])).sort_by(order).select(["carrier", "flight"])
    same = deleted.sort_by(order).select(["carrier", "flight"]).to_pylist() == of_source.to_pylist()
    report.check("deleted rows of the feed and the source", "equal" if same else "different", "equal")


def merge_corrections(report: Report, folder: Path, tables: dict[str, pa.Table]) -> None:
    """Merge a change set for December that arrives late."""
    table = deltaic.Table(folder / "flights")
    before, changes = table.snapshot(), late_corrections(tables["flights"])
    grid = numbers("change", "rows")
    for row in changes.group_by("change", use_threads=False).aggregate([([], "count_all")]).to_pylist():
        grid.add_row(row["change"], f"{row['count_all']:,}")
    report.say("  The change set:")
    report.say(grid)

    merge = (
        table.merge(changes, on=" AND ".join(f"target.{name} = source.{name}" for name in KEY))
        .when_matched_delete("source.change = 'withdrawn'")
        .when_matched_update({"arr_delay": "source.arr_delay"}, condition="source.change = 'corrected'")
        .when_not_matched_insert_all()
    )
    for line in str(merge).replace(" AND target", "\n  AND target").replace(" SET", "\n  SET").splitlines():
        report.say(f"  [yellow]{escape(line)}[/]")
    with timed(report, "committed"):
        commit = merge.execute()
    grid = numbers("metric", "value")
    for name in (
        "numTargetRowsUpdated",
        "numTargetRowsDeleted",
        "numTargetRowsInserted",
        "numTargetRowsCopied",
        "numTargetDeletionVectorsAdded",
        "numTargetFilesRemoved",
    ):
        grid.add_row(name, f"{commit.metrics[name]:,}")
    report.say(grid)

    after = sorted_rows(table.snapshot().scan().to_arrow())
    expected = sorted_rows(corrected(before.scan().to_arrow(), changes))
    same = after.equals(expected.cast(after.schema))
    report.check(
        "flights with the corrections, every row and column", "equal" if same else "different", "equal"
    )


def late_corrections(flights: pa.Table) -> pa.Table:
    """Return what the change set says of December, in the columns of flights and a column `change`."""
    december = flights.filter(pc.equal(flights["month"], 12))
    departed, arrived = pc.is_valid(december["dep_time"]), pc.is_valid(december["arr_delay"])
    last_day = pc.equal(december["day"], 31)

    withdrawn = december.filter(pc.and_(departed, pc.invert(arrived)))
    late = december.filter(pc.and_(pc.and_(last_day, arrived), pc.equal(december["carrier"], "UA")))
    late = with_column(late, "arr_delay", pc.add(late["arr_delay"], pa.scalar(5, pa.int32())))
    reported = december.filter(pc.and_(last_day, pc.invert(departed)))
    reported = with_column(reported, "dep_time", reported["sched_dep_time"])
    return pa.concat_tables(
        rows.append_column("change", pa.array([change] * rows.num_rows, pa.string()))
        for change, rows in (("withdrawn", withdrawn), ("corrected", late), ("added", reported))
    )


def corrected(rows: pa.Table, changes: pa.Table) -> pa.Table:
    """Apply the change set with pyarrow: the rows of other flights, and those that it corrects or adds."""
    others = rows.join(changes.select(KEY), keys=list(KEY), join_type="left anti")
    kept = changes.filter(pc.not_equal(changes["change"], "withdrawn")).select(rows.column_names)
    return pa.concat_tables([others.select(rows.column_names), kept.cast(rows.schema)])


def with_column(rows: pa.Table, name: str, values: pa.ChunkedArray) -> pa.Table:
    """Replace a column."""
    return rows.set_column(rows.column_names.index(name), name, values)


def sorted_rows(rows: pa.Table) -> pa.Table:
    """Sort rows by the flight."""
    return rows.sort_by([(name, "ascending") for name in KEY]).combine_chunks()
