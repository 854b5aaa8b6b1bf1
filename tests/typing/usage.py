"""A user's program for the type checker. Nothing here runs: `test_usage.py` passes it to pyright."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from datetime import datetime, timedelta
from pathlib import Path

import polars as pl

import deltaic
from deltaic import col

if sys.version_info >= (3, 11):
    from typing import assert_type
else:
    from typing_extensions import assert_type


def vacuum(table: deltaic.Table, inventory: pl.DataFrame) -> None:
    vacuumed = table.vacuum(timedelta(days=30), "lite", dry_run=True, progress=True)
    assert_type(vacuumed, deltaic.Vacuum)
    assert_type(vacuumed.paths, list[str])
    assert_type(vacuumed.versions, tuple[int, int] | None)
    table.vacuum(inventory=inventory, clones=["/clone", Path("/clone"), table], force=True, max_attempts=3)


def read(place: str | Path) -> None:
    table = deltaic.Table(place, storage_options={"region": "x"}, allowed_roots=["/data", Path("/more")])
    snapshot = table.snapshot()
    assert_type(snapshot, deltaic.Snapshot)
    assert_type(table.snapshot(version=3).refresh(), deltaic.Snapshot)
    assert_type(snapshot.timestamp, datetime)
    assert_type(snapshot.num_rows, int | None)
    assert_type(snapshot.protocol.reader_features, frozenset[str])
    assert_type(snapshot.metadata.properties, dict[str, str])
    assert_type(snapshot.schema.names, list[str])
    assert_type(snapshot.files(col("a").is_null(), stats=True).to_polars(), pl.DataFrame)
    assert_type(snapshot.files(pl.col("a") > 1).num_rows, int)
    assert_type(snapshot.scan(predicate=pl.col("a").is_null()).count(), int)
    assert_type(snapshot.to_polars_lazy(), pl.LazyFrame)
    snapshot.to_pyarrow_dataset(variant="json").count_rows()
    scan = snapshot.scan(("a", "b"), (col("a") > 9.5) & ~col("b").is_in(["x", None]), limit=3)
    assert_type(scan.to_polars(), pl.DataFrame)
    assert_type(scan.count(), int)
    assert_type(scan.tasks(), list[deltaic.ScanTask])
    assert_type(col("a") == 1, deltaic.Expression)
    assert_type(1 < col("a"), deltaic.Expression)  # noqa: SIM300 (the reflected comparison is intended)


def write(place: Path, frame: pl.DataFrame, names: Sequence[str]) -> None:
    table = deltaic.Table.create(place, frame.schema, partition_by=names, if_exists="ignore")
    assert_type(table, deltaic.Table)
    assert_type(table.append(frame, commit_info={"job": 1}), deltaic.Commit)
    assert_type(table.append(frame, dry_run=True), deltaic.DryRun)
    assert_type(table.overwrite(frame, "a = 1", dry_run=True).features, Sequence[str])
    assert_type(table.append(table.snapshot().scan()).metrics, dict[str, int | str])
    assert_type([commit.operation for commit in table.history(limit=3)], list[str | None])
    deltaic.Table.create(place, table.snapshot().schema)
    table.append(frame, isolation="WriteSerializable", row_level=False, deadline=timedelta(minutes=1))


def change(table: deltaic.Table, frame: pl.DataFrame) -> None:
    with table.transaction(operation="DELETE", isolation="Serializable", deadline=1.5) as tx:
        assert_type(tx, deltaic.Transaction)
        assert_type(tx.read(col("a") > 1, columns=["a"]), deltaic.Scan)
        assert_type(tx.files("a > 1", stats=True), deltaic.ArrowTable)
        assert_type(tx.read_app("nightly"), int | None)
        assert_type(tx.append(frame), int)
        assert_type(tx.delete_rows({"a.parquet": range(3)}), int)
        tx.remove(["a.parquet"])
        tx.add([{"path": "a.parquet", "size": 1}])
    assert_type(tx.committed, deltaic.Commit | None)
    assert_type(table.run_transaction(lambda tx: tx.append(frame), max_runs=3), deltaic.Commit | None)


def restore(table: deltaic.Table, when: datetime) -> None:
    assert_type(table.restore(3, commit_info={"job": 1}), deltaic.Commit)
    assert_type(table.restore(timestamp=when, ignore_missing_files=True), deltaic.Commit)
    assert_type(table.restore(3, dry_run=True).missing_files, Sequence[str])
    assert_type(table.repair(deadline=3).commit, deltaic.Commit | None)
    assert_type(table.symlink_manifest(dry_run=True), deltaic.SymlinkManifest)


def merge(table: deltaic.Table, other: deltaic.Table, frame: pl.DataFrame) -> None:
    for source in (frame, other, other.snapshot(), other.snapshot().scan(), other.changes(1, infer=True)):
        started = table.merge(source, on=col("target.a") == col("source.a"), schema_mode="merge")
        assert_type(started.when_matched_update({"a": 1}).when_matched_delete("true"), deltaic.Merge)
        assert_type(started.when_matched_update_all().execute(progress=True), deltaic.Commit)
        assert_type(started.when_not_matched_insert_all().execute(dry_run=True), deltaic.DryRun)
    with table.transaction() as tx:
        staged = tx.merge(frame, on="target.a = source.a").when_not_matched_by_source_delete()
        assert_type(staged, deltaic.StagedMerge)
        assert_type(staged.execute(), int)


def optimize(table: deltaic.Table) -> None:
    assert_type(table.optimize(col("day") == 1, target_file_size="1gb", progress=True), deltaic.Commit)
    assert_type(table.optimize(zorder_by=["a", "b"]), deltaic.Commit)
    assert_type(table.optimize(target_file_size=1 << 30, dry_run=True), deltaic.DryRun)
    assert_type(table.purge(col("day") == 1, progress=True), deltaic.Commit)
    assert_type(table.purge(dry_run=True), deltaic.DryRun)
    assert_type(table.recompute_statistics(["a"], "day = 1", row_level=False), deltaic.Commit)
    assert_type(table.recompute_statistics(dry_run=True), deltaic.DryRun)


def advise(table: deltaic.Table) -> None:
    assert_type(table.advise(), deltaic.Advice)
    assert_type([finding.action for finding in table.advise(filters=["a"])], list[str])
    assert_type(table.advise().clients[0].reads, str)
    assert_type(table.html_report(["a"]), str)


def wrong(table: deltaic.Table) -> None:
    """Each of these is an error to the checker; pyright reports an unnecessary ignore comment."""
    table.append([{"a": 1}])  # pyright: ignore[reportArgumentType]
    table.merge([{"a": 1}], on="true")  # pyright: ignore[reportArgumentType]
    table.merge(table, on="true", schema_mode="replace")  # pyright: ignore[reportArgumentType]
    table.optimize(target_file_size=1.5)  # pyright: ignore[reportArgumentType]
    table.transaction(isolation="ReadCommitted")  # pyright: ignore[reportArgumentType]
    table.snapshot(timestamp=3)  # pyright: ignore[reportArgumentType]
    table.snapshot().scan(limit="3")  # pyright: ignore[reportArgumentType]
    table.snapshot().version = 3  # pyright: ignore[reportAttributeAccessIssue]
    deltaic.Table.create("x", {"a": int}, if_exists="replace")  # pyright: ignore[reportArgumentType]
    table.snapshot().scan(predicate=3)  # pyright: ignore[reportArgumentType]
    table.snapshot().scan(predicate=pl.Series([True]))  # pyright: ignore[reportArgumentType]
    table.snapshot().to_polars_lazy(variant="text")  # pyright: ignore[reportArgumentType]
