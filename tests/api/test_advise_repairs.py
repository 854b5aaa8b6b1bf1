"""Actions of the advice on wide tables, unusual names, values without bounds, and odd logs."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import deltaic
from deltaic import alter
from deltaic.advice.columns import ColumnClustering, clustering_of
from deltaic.advice.facts import ColumnStatistics
from deltaic.advice.partitions import target_size
from deltaic.advice.retention import interval_ms
from tests.api.advised_tables import IDS, codes, do, found, ids, with_files
from tests.api.log_files import actions, commit_file, write_commit

NAMES = {"delta.columnMapping.mode": "name"}


def files_read(table: deltaic.Table, predicate: str) -> int:
    return table.snapshot().files(predicate).to_arrow().num_rows


def test_other_columns_keep_their_statistics(root: Path) -> None:
    """The first 32 leaf columns have statistics without a property; fields of structs count."""
    schema = pa.schema(
        [("p", pa.int32()), ("s", pa.struct([("x", pa.int64()), ("y", pa.int64())]))]
        + [(f"c{number}", pa.int64()) for number in range(40)]
    )
    table = deltaic.Table.create(root, schema, partition_by=["p"])
    for value in range(6):
        row = {"p": 1, "s": {"x": value, "y": value}, **{f"c{number}": value for number in range(40)}}
        table.append(pa.Table.from_pylist([row], schema=schema))
    assert [files_read(table, f"{name} = 2") for name in ("c29", "c30", "c35")] == [1, 6, 6]
    do(table, found(table, "MISSING_STATISTICS", ["c35", "s.x"]).action)
    assert [files_read(table, f"{name} = 2") for name in ("s.y", "c0", "c29", "c35")] == [1, 1, 1, 1]
    assert files_read(table, "c30 = 2") == 6
    table.append(pa.Table.from_pylist([{"p": 1, "c0": 7, "c35": 7}], schema=schema))
    assert [files_read(table, f"{name} = 7") for name in ("c0", "c35")] == [1, 1]


def test_properties_that_select_the_column_remain(root: Path) -> None:
    table = deltaic.Table.create(root, IDS)
    with_files(root, [{"path": "a", "size": 9}])
    assert found(table, "MISSING_STATISTICS", ["id"]).action == "table.recompute_statistics()"


def test_columns_without_bounds_lack_no_statistics(root: Path) -> None:
    schema = pa.schema([("id", pa.int64()), ("f", pa.float64()), ("s", pa.string()), ("n", pa.int64())])
    table = deltaic.Table.create(root, schema, properties={"delta.enableDeletionVectors": "true"})
    rows = {"id": [0, 1, 2], "f": [1.0, math.nan, 2.0], "s": ["\U0010ffff" * 40] * 3, "n": [None, None, 5]}
    table.append(pa.table(rows, schema=schema))
    table.delete("id = 2")
    table.recompute_statistics()
    assert "MISSING_STATISTICS" not in codes(table, ["f", "s", "n"])


def test_partition_columns_are_compared_as_columns(root: Path) -> None:
    table = deltaic.Table.create(
        root, pa.schema([("dt", pa.string()), ("id", pa.int64())]), partition_by=["dt"]
    )
    table.append(pa.table({"dt": ["a"], "id": [1]}))
    for name in ("dt", "DT", "`dt`", "`Dt`"):
        advice = table.advise([name])
        assert (list(advice), advice.columns) == ([], ())
    assert [column.name for column in table.advise(["id", "ID", "`id`"]).columns] == ["id"]


ODD_NAMES = ["a.b", "a,b", "a b", "ü", "1", "back`tick", "q\"u'o"]


@pytest.mark.parametrize("name", ODD_NAMES)
def test_actions_quote_names(root: Path, name: str) -> None:
    quoted = f"`{name.replace('`', '``')}`"
    schema = pa.schema([("z", pa.int64()), (name, pa.int64()), ("st", pa.struct([("x.y", pa.int64())]))])
    properties = {**NAMES, "delta.dataSkippingNumIndexedCols": "1"}
    table = deltaic.Table.create(root, schema, properties=properties)
    for number in range(6):
        rows = [{"z": number, name: 0, "st": {"x.y": 0}}, {"z": number, name: 9, "st": {"x.y": 9}}]
        table.append(pa.Table.from_pylist(rows, schema=schema))
    filters = [quoted, "st.`x.y`"]
    assert table.advise(["st.x.y"]).columns == table.advise(["`st`.`x.y`"]).columns
    do(table, found(table, "MISSING_STATISTICS", filters).action)
    assert "MISSING_STATISTICS" not in codes(table, filters)
    assert files_read(table, "z = 3") == 1
    finding = found(table, "POOR_CLUSTERING", filters)
    assert ("," in name) == (finding.command == "")
    do(table, finding.action)
    assert "POOR_CLUSTERING" not in codes(table, filters)


def test_a_clustered_table_without_columns_is_clustered(root: Path) -> None:
    table = deltaic.Table.create(root, IDS, cluster_by=["id"])
    for _ in range(8):
        table.append(ids(0, 9))
    table.alter(alter.ClusterBy())
    do(table, found(table, "POOR_CLUSTERING", ["id"]).action)
    assert "POOR_CLUSTERING" not in codes(table)
    assert [column.name for column in table.advise().columns] == ["id"]


@pytest.mark.parametrize(
    "columns", ["5", '["id",5,null]', '[["id",5]]', '{"id":1}', "[[]]", "null", "[" * 5000, '[["missing"]]']
)
def test_clustering_columns_that_cannot_be_read(root: Path, columns: str) -> None:
    table = deltaic.Table.create(root, IDS, cluster_by=["id"])
    domain = {"domain": "delta.clustering", "configuration": f'{{"clusteringColumns":{columns}}}'}
    write_commit(root, 1, {"domainMetadata": {**domain, "removed": False}})
    assert deltaic.Table(root).advise().columns == ()
    assert [column.name for column in deltaic.Table(root).advise(["id"]).columns] == ["id"]
    assert deltaic.Table(root).html_report(["id"])
    assert table.snapshot().version == 1


def test_clustering_columns_as_text(root: Path) -> None:
    deltaic.Table.create(root, IDS, cluster_by=["id"])
    domain = {"domain": "delta.clustering", "configuration": '{"clusteringColumns":["id"]}'}
    write_commit(root, 1, {"domainMetadata": {**domain, "removed": False}})
    assert [column.name for column in deltaic.Table(root).advise().columns] == ["id"]


@pytest.mark.parametrize(
    "properties",
    [
        {"delta.targetFileSize": "9000000tb"},
        {"delta.targetFileSize": "99999999999999999tb"},
        {"delta.logRetentionDuration": "interval 999999999999 weeks"},
        {"delta.deletedFileRetentionDuration": "interval 999999999999 weeks"},
        {"delta.deletedFileRetentionDuration": "interval -1 days"},
    ],
)
def test_properties_beyond_int64(root: Path, properties: dict[str, str]) -> None:
    deltaic.Table.create(root, IDS)
    lines: list[dict[str, Any]] = actions(root, 0)
    for line in lines:
        if "metaData" in line:
            line["metaData"]["configuration"] = properties
    commit_file(root, 0).unlink()
    write_commit(root, 0, *lines)
    with_files(root, [{"path": f"{number}", "size": 9} for number in range(5)])
    removed = {"path": "0", "dataChange": True, "deletionTimestamp": 5}
    write_commit(root, 2, {"remove": removed})
    table = deltaic.Table(root)
    assert table.advise(["id"]).num_files == 4
    assert table.html_report(["id"])


def test_values_beyond_int64_are_clamped() -> None:
    assert target_size({"delta.targetFileSize": "9000000tb"}) < 1 << 63
    assert target_size({"delta.targetFileSize": "1 MiB"}) == 1 << 20
    longest = interval_ms("interval 999999999999 weeks")
    assert longest == interval_ms("interval 106751991 days")
    assert interval_ms("interval -1 days") is None


def test_bounds_in_the_wrong_order_are_missing() -> None:
    low, high = (pa.chunked_array([pa.array(side)]) for side in ([1, 5, 2], [0, 4, 3]))
    one = ColumnStatistics("x", low, high, None, has_bounds=True)
    assert clustering_of(one) == ColumnClustering("x", 1, 1.0, 1, 0)


def test_small_files_name_their_threshold(root: Path) -> None:
    table = deltaic.Table.create(root, IDS, properties={"delta.targetFileSize": "2000"})
    with_files(root, [{"path": f"{n}", "size": 30} for n in range(10)] + [{"path": "large", "size": 5000}])
    assert found(table, "SMALL_FILES").title == "10 of 11 files are smaller than 2.0 KiB"


def test_the_title_names_clients_that_exist(root: Path) -> None:
    table = deltaic.Table.create(root, IDS, properties=NAMES)
    title = found(table, "CLIENTS_LOCKED_OUT").title
    assert title == "1 of 6 known clients cannot read the table"
