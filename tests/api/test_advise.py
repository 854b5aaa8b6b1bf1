"""`Table.advise`: each finding is measured on the table, and its action has the stated effect."""

from __future__ import annotations

import json
import re
from datetime import timedelta
from pathlib import Path

import pyarrow as pa
import pytest

import deltaic
from deltaic.advice.retention import interval_ms
from tests.api.advised_tables import IDS, codes, do, found, ids, with_files
from tests.api.aged_files import age


def appended(table: deltaic.Table, count: int) -> deltaic.Table:
    for number in range(count):
        table.append(ids(number, 100), upkeep=False)
    return table


def test_a_new_table_needs_nothing(root: Path) -> None:
    advice = deltaic.Table.create(root, IDS).advise(["id"])
    assert list(advice) == []
    assert "Nothing to improve was found." in str(advice)
    assert all(client.writes not in ("no", "unknown") for client in advice.clients)


def test_small_files_become_what_the_advice_says(root: Path) -> None:
    schema = pa.schema([("day", pa.int32()), ("id", pa.int64())])
    table = deltaic.Table.create(root, schema, partition_by=["day"])
    for number in range(9):
        table.append(pa.table({"day": [1, number % 3], "id": [number, number]}, schema=schema))
    finding = found(table, "SMALL_FILES")
    figures = finding.figures
    assert figures["files"] == table.snapshot().num_files
    assert figures["partitions"][0] == {
        "partition": "day=1",
        "files": 9,
        "remaining_files": 1,
        "size_in_bytes": figures["partitions"][0]["size_in_bytes"],
    }
    do(table, finding.action)
    assert table.snapshot().num_files == figures["remaining_files"] == 3
    assert "SMALL_FILES" not in codes(table)


def test_the_estimate_without_a_preview(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("deltaic.maintenance.advise._MOST_PREVIEWED_FILES", 0)
    table = deltaic.Table.create(root, IDS, properties={"delta.targetFileSize": "100"})
    with_files(root, [{"path": f"{n}", "size": 30} for n in range(10)] + [{"path": "large", "size": 500}])
    figures = found(table, "SMALL_FILES").figures
    assert not figures["is_exact"]
    assert (figures["files"], figures["remaining_files"], figures["rewritten_bytes"]) == (11, 1 + 3, 300)


def test_partitions_of_very_different_sizes(root: Path) -> None:
    schema = pa.schema([("shop", pa.string()), ("id", pa.int64())])
    table = deltaic.Table.create(root, schema, partition_by=["shop"])
    sizes = {"a": 1 << 30, "b": 1 << 20, "c": 1 << 20}
    with_files(
        root,
        [{"path": shop, "size": size, "partitionValues": {"shop": shop}} for shop, size in sizes.items()],
    )
    finding = found(table, "SKEWED_PARTITIONS")
    assert finding.figures["largest"] == "shop=a"
    assert (finding.figures["largest_bytes"], finding.figures["median_bytes"]) == (1 << 30, 1 << 20)


def test_very_many_small_partitions(root: Path) -> None:
    table = deltaic.Table.create(root, pa.schema([("n", pa.int32()), ("id", pa.int64())]), partition_by=["n"])
    with_files(root, [{"path": f"{n}", "size": 1000, "partitionValues": {"n": str(n)}} for n in range(200)])
    finding = found(table, "SMALL_PARTITIONS")
    assert finding.figures["partitions"] == 200
    assert "SMALL_FILES" not in codes(table), "they cannot be combined"


def test_the_copy_for_skewed_partitions_is_a_table(tmp_path: Path, root: Path) -> None:
    schema = pa.schema([("n", pa.int32()), ("id", pa.int64())])
    table = deltaic.Table.create(root, schema, partition_by=["n"])
    table.append(pa.table({"n": list(range(120)), "id": list(range(120))}, schema=schema))
    do(table, found(table, "SMALL_PARTITIONS").action.replace("NEW_PATH", str(tmp_path / "copy")))
    copy = deltaic.Table(tmp_path / "copy").snapshot()
    assert (copy.num_rows, copy.num_files) == (120, 1)


def test_missing_statistics(root: Path) -> None:
    table = deltaic.Table.create(root, IDS, properties={"delta.dataSkippingNumIndexedCols": "0"})
    appended(table, 3)
    finding = found(table, "MISSING_STATISTICS", ["id"])
    assert finding.figures["files_without_statistics"] == {"id": 3}
    do(table, finding.action)
    assert table.snapshot().num_rows == 6
    assert "MISSING_STATISTICS" not in codes(table, ["id"])


def test_a_column_of_nulls_lacks_no_statistics(root: Path) -> None:
    schema = pa.schema([("id", pa.int64()), ("flag", pa.bool_()), ("s", pa.struct([("x", pa.string())]))])
    table = deltaic.Table.create(root, schema)
    table.append(
        pa.table({"id": [None, None], "flag": [True, False], "s": [None, {"x": None}]}, schema=schema)
    )
    assert "MISSING_STATISTICS" not in codes(table, ["id", "flag", "s.x"])


def test_deleted_rows(root: Path) -> None:
    table = deltaic.Table.create(root, IDS, properties={"delta.enableDeletionVectors": "true"})
    table.append(ids(*range(10)))
    table.delete("id < 4")
    finding = found(table, "DELETED_ROWS")
    assert finding.severity == "warning"
    assert (finding.figures["deleted_rows"], finding.figures["rows"], finding.figures["share"]) == (4, 6, 0.4)
    do(table, finding.action)
    assert "DELETED_ROWS" not in codes(table)


def test_a_log_without_a_checkpoint_and_with_an_old_one(root: Path) -> None:
    table = appended(deltaic.Table.create(root, IDS), 25)
    finding = found(table, "NO_CHECKPOINT")
    log = root / "_delta_log"
    assert finding.figures["commits"] == 26
    assert finding.figures["json_bytes"] == sum(file.stat().st_size for file in log.glob("0*.json"))
    do(table, finding.action)
    assert not {"NO_CHECKPOINT", "LONG_LOG"} & codes(table)
    appended(table, 21)
    assert found(table, "LONG_LOG").figures["checkpoint_version"] == 25
    table.alter(deltaic.alter.SetProperties({"delta.checkpointInterval": "100"}))
    assert "LONG_LOG" not in codes(table)


@pytest.mark.parametrize(
    ("properties", "code"),
    [
        ({"delta.logRetentionDuration": "interval 2 days"}, "LOG_RETENTION_TOO_SHORT"),
        ({"delta.logRetentionDuration": "interval 800 days"}, "LONG_RETENTION"),
        ({"delta.deletedFileRetentionDuration": "interval 70 weeks"}, "LONG_RETENTION"),
        ({"delta.enableExpiredLogCleanup": "false"}, "NO_LOG_CLEANUP"),
    ],
)
def test_retention(root: Path, properties: dict[str, str], code: str) -> None:
    table = deltaic.Table.create(root, IDS, properties=properties)
    findings = [finding for finding in table.advise() if finding.code == code]
    assert findings
    for finding in findings:
        do(table, finding.action)
    assert code not in codes(table)


def test_intervals() -> None:
    week = 7 * 86_400_000
    assert interval_ms("interval 1 week") == interval_ms("7 DAYS") == interval_ms(" 6 days 24 hours") == week
    assert interval_ms("1 month") is interval_ms("") is interval_ms("interval") is None


def test_removed_files_that_a_vacuum_deletes(root: Path) -> None:
    table = deltaic.Table.create(root, IDS)
    for number in range(3):
        table.overwrite(ids(number))
    assert "REMOVED_FILES" not in codes(table), "they are younger than the retention"
    age(root)
    table = deltaic.Table(root)
    finding = found(table, "REMOVED_FILES")
    preview = table.vacuum(dry_run=True)
    assert finding.figures["files"] == len(preview.files) == 2
    assert finding.figures["size_in_bytes"] == preview.size_in_bytes
    do(table, finding.action)
    assert "REMOVED_FILES" not in codes(table), "the tombstones remain, the files do not"


def test_a_file_whose_deletion_vector_was_replaced_is_not_removed(root: Path) -> None:
    table = deltaic.Table.create(root, IDS, properties={"delta.enableDeletionVectors": "true"})
    table.append(ids(*range(50)))
    table.delete("id = 1")
    age(root, timedelta(days=30))
    table = deltaic.Table(root)
    assert table.snapshot().tombstones().num_rows == 1
    assert "REMOVED_FILES" not in codes(table)


def test_filters_are_columns(root: Path) -> None:
    table = deltaic.Table.create(root, IDS)
    with pytest.raises(ValueError, match="no column 'it'; its columns are: id"):
        table.advise(["it"])
    with pytest.raises(TypeError):
        table.advise("id")  # type: ignore[arg-type]


def test_no_table(root: Path) -> None:
    with pytest.raises(deltaic.TableNotFound):
        deltaic.Table(root).advise()


def test_the_text_fits_a_terminal_and_the_values_are_plain(root: Path) -> None:
    properties = {"delta.enableDeletionVectors": "true", "delta.enableRowTracking": "true"}
    schema = pa.schema([("a" * 50, pa.string()), ("id", pa.int64())])
    table = deltaic.Table.create(root, schema, partition_by=["a" * 50], properties=properties)
    for number in range(25):
        rows = {"a" * 50: ["x" * 300, "y\x1b[31m"], "id": [number, 100]}
        table.append(pa.table(rows, schema=schema), upkeep=False)
    advice = table.advise(["id"])
    text = repr(advice)
    # A word that is longer than a line, such as the location, may be broken only by its terminal.
    assert [line for line in text.splitlines() if len(line) > 80] == []
    assert "\x1b" not in text
    assert len(advice) == len(advice.findings) > 3
    assert json.loads(advice.to_json()) == json.loads(json.dumps(advice.to_dict(), allow_nan=False))
    order = [("warning", "advice", "info").index(finding.severity) for finding in advice]
    assert order == sorted(order)


def test_notebooks_show_values_escaped(root: Path) -> None:
    schema = pa.schema([("<script>", pa.string()), ("id", pa.int64())])
    table = deltaic.Table.create(root, schema, partition_by=["<script>"])
    for number in range(5):
        table.append(pa.table({"<script>": ["<b>&"], "id": [number]}, schema=schema))
    shown = table.advise(["id"])._repr_html_()
    assert "&lt;script&gt;=&lt;b&gt;&amp;" in shown
    assert "<script" not in shown
    assert not re.search(r"<b>&(?!amp;)", shown)


def test_without_changes_of_the_table(root: Path) -> None:
    table = appended(deltaic.Table.create(root, IDS), 5)
    before = {path: path.read_bytes() for path in root.rglob("*") if path.is_file()}
    table.advise(["id"])
    assert {path: path.read_bytes() for path in root.rglob("*") if path.is_file()} == before
