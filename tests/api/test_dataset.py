"""A snapshot as a pyarrow dataset: what DuckDB and pyarrow push down, and which files are not opened."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from datetime import date
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds
import pyarrow.parquet as pq
import pytest
from pyarrow import acero

import deltaic
from tests.api.edge_values import edge_rows, edge_table

SCHEMA = pa.schema(
    [
        pa.field("day", pa.date32()),
        pa.field("id", pa.int64(), nullable=False),
        pa.field("name", pa.string()),
        pa.field("at", pa.struct([("city", pa.string()), ("fare", pa.float64())])),
    ]
)
NAMES = ["zero", "öne", None]


@pytest.fixture
def days(root: Path) -> deltaic.Table:
    """Four days, one file each: ids 10 to 12 on the first, 20 to 22 on the second and so on."""
    table = deltaic.Table.create(root, SCHEMA, partition_by=["day"])
    for day in (1, 2, 3, 4):
        rows = [
            {"day": date(2026, 11, day), "id": 10 * day + place, "name": name, "at": {"fare": float(place)}}
            for place, name in enumerate(NAMES)
        ]
        table.append(pa.Table.from_pylist(rows, schema=SCHEMA))
    return table


def keep_only(snapshot: deltaic.Snapshot, root: Path, day: int) -> None:
    """Deletes the files of all other days, so that opening one of them fails."""
    for path in snapshot.files(f"day <> DATE '2026-11-0{day}'").to_arrow()["path"].to_pylist():
        (root / path).unlink()


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("SELECT id FROM dataset WHERE day = DATE '2026-11-02' ORDER BY id", [(20,), (21,), (22,)]),
        ("SELECT count(*) FROM dataset WHERE id BETWEEN 20 AND 29", [(3,)]),
        (
            "SELECT name FROM dataset WHERE id >= 20 AND id < 30 AND name IS NOT NULL AND name > 'zy'",
            [("öne",)],
        ),
        ("SELECT id FROM dataset WHERE id IN (20, 22, 25) ORDER BY id", [(20,), (22,)]),
        (
            "SELECT id FROM dataset WHERE day >= '2026-11-02' AND day < '2026-11-03' AND name LIKE 'z%'",
            [(20,)],
        ),
        ('SELECT id FROM dataset WHERE id BETWEEN 20 AND 29 AND "at".fare > 1.5', [(22,)]),
        ("SELECT sum(id) FROM dataset WHERE day = DATE '2026-11-02' AND id % 2 = 0", [(42,)]),
        (
            "SELECT id FROM dataset JOIN (SELECT 21 AS id) USING (id) WHERE day = DATE '2026-11-02'",
            [(21,)],
        ),
        ("SELECT id FROM dataset WHERE day = DATE '2026-11-02' ORDER BY id DESC LIMIT 1", [(22,)]),
        ("SELECT id FROM dataset WHERE id = 21 OR (name = 'zero' AND id = 20) ORDER BY id", [(20,), (21,)]),
    ],
)
def test_duckdb_opens_only_what_can_matter(
    days: deltaic.Table, root: Path, query: str, expected: list[tuple[Any, ...]]
) -> None:
    snapshot = days.snapshot()
    keep_only(snapshot, root, day=2)
    dataset = snapshot.to_pyarrow_dataset()
    assert duckdb.sql(query).fetchall() == expected
    with pytest.raises(duckdb.Error, match="a data file is missing"):
        duckdb.sql("SELECT count(name) FROM dataset").fetchall()
    assert dataset.schema == snapshot.schema.to_arrow()


@pytest.mark.parametrize(
    "where",
    [
        "x > 1",
        "x >= 'nan'::double",
        "NOT (x < 0)",
        "x <> 0",
        "f = 0.1::float",
        "s >= 'a' AND s < 'b'",
        "s IN ('Straße', '', NULL)",
        "s NOT IN ('a', 'ab')",
        "t > TIMESTAMPTZ '2026-11-01 12:00:00Z'",
        "n = TIMESTAMP '2026-11-01 12:00:00'",
        "d < DATE '1970-01-01'",
        "m IN (-0.01, 1.25)",
        "m > 1.2",
        "b = '\\xFF\\x00'::blob",
        "flag",
        "NOT flag OR flag IS NULL",
        "r.a > 0",
        "r.\"b.c\" = 'ü'",
        "r IS NULL",
        "tiny = -128",
        "i = 9007199254740993",
        "p IN (1, 3) AND i > 0",
        "p IS NULL",
    ],
)
def test_duckdb_finds_the_rows_that_it_finds_in_memory(tmp_path: Path, where: str) -> None:
    dataset, memory = edge_table(tmp_path / "edges").snapshot().to_pyarrow_dataset(), edge_rows()
    query = f"SELECT id FROM {{}} WHERE {where} ORDER BY id"  # noqa: S608 (a fixed list)
    assert duckdb.sql(query.format("dataset")).fetchall() == duckdb.sql(query.format("memory")).fetchall()
    assert dataset.count_rows() == memory.num_rows


def test_columns_are_names_or_expressions(days: deltaic.Table) -> None:
    dataset = days.snapshot().to_pyarrow_dataset()
    assert isinstance(dataset, ds.Dataset)
    on_the_first = ds.field("id") < 20
    assert dataset.to_table(filter=on_the_first).schema.names == SCHEMA.names
    assert dataset.to_table(["name", "id"], filter=on_the_first).to_pydict() == {
        "name": NAMES,
        "id": [10, 11, 12],
    }
    doubled = {"twice": ds.field("id") * 2, "city": ds.field("at", "city")}
    for kept in (on_the_first, on_the_first & (pc.utf8_length(ds.field("name")) > 0)):
        rows = dataset.to_table(doubled, filter=kept)
        assert rows["twice"].to_pylist() == [20, 22, 24][: rows.num_rows]
        assert rows.num_rows == (3 if kept is on_the_first else 2)
    assert dataset.to_table([], filter=on_the_first).num_rows == 3
    assert dataset.to_table(["id", "id"], filter=on_the_first).num_columns == 2
    with pytest.raises(pa.ArrowInvalid, match="zz"):
        dataset.to_table(["zz"])
    with pytest.raises(pa.ArrowInvalid, match="zz"):
        dataset.to_table(filter=ds.field("zz") > 1)


def test_only_the_columns_that_matter_are_read(days: deltaic.Table, root: Path) -> None:
    snapshot = days.snapshot()
    for path in snapshot.files().to_arrow()["path"].to_pylist():
        data = pq.ParquetFile(root / path).read().drop_columns(["name"])
        pq.write_table(data.append_column("name", pa.array([1.5] * len(data))), root / path)
    dataset = snapshot.to_pyarrow_dataset()
    length = {"length": pc.utf8_length(ds.field("at", "city"))}
    assert dataset.to_table(length, filter=ds.field("id") * 1 < 20)["length"].to_pylist() == [None] * 3
    with pytest.raises(deltaic.CorruptData, match="name"):
        dataset.to_table(["id"], filter=pc.utf8_length(ds.field("name")) > 0)


def test_heads_counts_and_batches(days: deltaic.Table, root: Path) -> None:
    dataset = days.snapshot().to_pyarrow_dataset()
    odd = (
        ds.field("id") % 2 == 1
        if hasattr(pc.Expression, "__mod__")
        else pc.bit_wise_and(ds.field("id"), 1) == 1
    )
    assert dataset.count_rows() == 12
    assert dataset.count_rows(filter=ds.field("id") > 12) == 9
    assert dataset.count_rows(filter=odd) == 4
    assert dataset.head(2).num_rows == 2
    assert dataset.head(2, ["id"], filter=odd).num_rows == 2
    assert dataset.head(99, filter=odd & (ds.field("id") > 20)).sort_by("id")["id"].to_pylist() == [
        21,
        31,
        41,
    ]
    assert [batch.num_rows for batch in dataset.to_batches(batch_size=2, filter=ds.field("id") < 20)] == [
        2,
        1,
    ]
    assert dataset.filter(ds.field("id") > 12).filter(ds.field("id") < 30).count_rows() == 3
    assert dataset.filter(odd).to_table(["id"], filter=ds.field("id") < 20)["id"].to_pylist() == [11]
    keep_only(days.snapshot(), root, day=3)
    assert dataset.filter(ds.field("day") == date(2026, 11, 3)).head(1).num_rows == 1


def test_translated_conditions_prune_next_to_untranslated_ones(days: deltaic.Table, root: Path) -> None:
    snapshot = days.snapshot()
    keep_only(snapshot, root, day=2)
    dataset = snapshot.to_pyarrow_dataset()
    both = (ds.field("day") == date(2026, 11, 2)) & (pc.utf8_length(ds.field("name")) == 4)
    assert dataset.to_table(["id"], filter=both)["id"].to_pylist() == [20]
    told = dataset.explain(filter=both)
    assert "1 after partitions" in told
    assert "the function utf8_length" in told
    assert "not translated" not in dataset.explain(filter=ds.field("day") == date(2026, 11, 2))


def test_joins_and_orders_are_pyarrows(days: deltaic.Table) -> None:
    dataset = days.snapshot().to_pyarrow_dataset().filter(ds.field("id") < 30)
    few = ds.dataset(pa.table({"id": pa.array([11, 22], pa.int64()), "seen": [True, False]}))
    kept = dataset.sort_by([("id", "descending")]).to_table(["id"])["id"].to_pylist()
    assert kept == [22, 21, 20, 12, 11, 10]
    names = ds.dataset(dataset.to_table(["id", "name"]))
    assert dataset.filter(ds.field("name") == "öne").head(9, ["id"]).sort_by("id")["id"].to_pylist() == [
        11,
        21,
    ]
    by_id = deltaic_ids(days).join(few, "id", join_type="inner").to_table().sort_by("id")
    assert by_id["seen"].to_pylist() == [True, False]
    assert names.join(few, "id", join_type="inner").count_rows() == 2


def deltaic_ids(table: deltaic.Table) -> Any:
    """A table with ids only, because Arrow cannot join structs."""
    ids = deltaic.Table.create(table.uri + "../ids", pa.schema([("id", pa.int64())]))
    ids.append(pa.table({"id": pa.array(range(30), pa.int64())}))
    return ids.snapshot().to_pyarrow_dataset()


def test_arrow_writes_what_it_reads_here(days: deltaic.Table, tmp_path: Path) -> None:
    dataset = days.snapshot().to_pyarrow_dataset()
    ds.write_dataset(dataset, tmp_path / "copy", format="parquet")
    assert ds.dataset(tmp_path / "copy").to_table(["id"]).sort_by("id") == dataset.to_table(["id"]).sort_by(
        "id"
    )


@pytest.mark.parametrize(
    ("ask", "error"),
    [
        (lambda dataset: dataset.take([0]), NotImplementedError),
        (lambda dataset: list(dataset.get_fragments()), NotImplementedError),
        (lambda dataset: dataset.replace_schema(dataset.schema), NotImplementedError),
        (lambda dataset: ds.dataset([dataset, dataset]), NotImplementedError),
        (lambda dataset: dataset.children, AttributeError),
        (pickle.dumps, TypeError),
        # Arrow's C++ code calls none of our methods; it must fail instead of returning no rows.
        (lambda dataset: acero.Declaration("scan", acero.ScanNodeOptions(dataset)).to_table(), OSError),
    ],
)
def test_unsupported_dataset_operations_raise(
    days: deltaic.Table, ask: Callable[[Any], object], error: type[Exception]
) -> None:
    with pytest.raises(error, match=r"deltaic|Delta|schema|scan\(\)"):
        ask(days.snapshot().to_pyarrow_dataset())


def test_errors_retain_their_class(days: deltaic.Table, root: Path) -> None:
    dataset = days.snapshot().to_pyarrow_dataset()
    keep_only(days.snapshot(), root, day=1)
    with pytest.raises(deltaic.CorruptData, match="a data file is missing"):
        dataset.to_table()


def test_making_a_dataset_and_a_scanner_reads_nothing(days: deltaic.Table, root: Path) -> None:
    snapshot = days.snapshot()
    for path in snapshot.files().to_arrow()["path"].to_pylist():
        (root / path).unlink()
    dataset = snapshot.to_pyarrow_dataset()
    assert dataset.scanner(["id"]).projected_schema.names == ["id"]
    assert repr(dataset).startswith("<deltaic.engines.pyarrow_dataset.SnapshotDataset version 4 of ")
