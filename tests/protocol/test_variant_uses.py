"""Uses of variants besides reading: predicates, changes, tasks, other libraries, writing."""

from __future__ import annotations

import json
import pickle
from datetime import date
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import deltaic
from deltaic.cli import main

from .handmade_log import HandmadeTable, field, metadata, protocol, remove, schema
from .handmade_variants import IN_A_FILE, PLAIN, SHREDDED, V, column, part, shredded, table_of
from .naive_variant import decimal4, encode, float32, int8, variant
from .naive_variant import metadata as dictionary


@pytest.mark.parametrize(
    ("predicate", "kept"), [("v IS NULL", [1]), ("v IS NOT NULL", [0, 2]), ("s.v IS NOT NULL", [0])]
)
@pytest.mark.parametrize("form", ["arrow", "json"])
def test_a_predicate_requests_whether_a_variant_is_null(
    tmp_path: Path, predicate: str, kept: list[int], form: Any
) -> None:
    inner = pa.array([{"v": variant(1)}, {"v": None}, None], pa.struct([("v", IN_A_FILE)]))
    rows = pa.table({"id": [0, 1, 2], "v": column([variant(1), None, variant(None)])["v"], "s": inner})
    struct_of = {"type": "struct", "fields": [field("v", "variant")]}
    table = table_of(tmp_path, schema(field("id"), field("v", "variant"), field("s", struct_of)), rows)
    scan = table.snapshot().scan(predicate=predicate, variant=form)
    assert scan.to_arrow()["id"].to_pylist() == kept
    assert scan.count() == len(kept)


@pytest.mark.parametrize(
    "predicate",
    [
        "v = 1",
        "1 < v",
        "v = v",
        "v IN (1, 2)",
        "v",
        "startswith(v, 'a')",
        "v.a = 1",
        "id = 1 OR NOT (v <> 'x')",
    ],
)
def test_any_other_predicate_on_a_variant_is_refused(tmp_path: Path, predicate: str) -> None:
    rows = pa.table({"id": [0], "v": column([variant(1)])["v"]})
    table = table_of(tmp_path, schema(field("id"), field("v", "variant")), rows)
    with pytest.raises(deltaic.InvalidPredicate, match="IS NULL") as raised:
        table.snapshot().scan(predicate=predicate)
    assert str(raised.value.context["field"]).startswith("v")


def test_rows_that_were_rewritten_in_other_bytes_are_not_change(tmp_path: Path) -> None:
    """A variant has the same value shredded or not, with other order of names or other number widths."""
    names = ["z", "a", "b"]
    words = dictionary(names)
    before = [{"a": 1, "b": "x"}, [int8(1), Decimal("1.50")], "2020-02-02", 0.1, None]
    part_a = {"value": None, "typed_value": 1}
    after = [
        {"metadata": words, "value": encode({"b": "x"}, names), "typed_value": {"a": part_a}},
        {"metadata": words, "value": encode([1, decimal4(15, 1)]), "typed_value": None},
        {"metadata": words, "value": encode(date(2020, 2, 2)), "typed_value": None},
        {"metadata": words, "value": encode(float32(0.1)), "typed_value": None},
        {"metadata": words, "value": None, "typed_value": None},
    ]
    kind = shredded(pa.field("typed_value", pa.struct([("a", part(pa.int64()))])))
    inner = pa.struct([("v", IN_A_FILE)])
    lists = {"type": "array", "elementType": {"type": "struct", "fields": [field("v", "variant")]}}
    table = HandmadeTable(tmp_path / "t")
    ids = list(range(len(before)))
    old = [variant(value) for value in before]
    nested_old = pa.array([[{"v": row}] for row in old], pa.list_(inner))
    nested_new = pa.array([[{"v": row}] for row in after], pa.list_(pa.struct([("v", kind)])))
    first = pa.table({"id": ids, "v": column(old)["v"], "l": nested_old})
    second = pa.table({"id": ids, "v": column(after, kind)["v"], "l": nested_new})
    table.commit(
        protocol(3, 7, SHREDDED, SHREDDED),
        metadata(schema(field("id"), field("v", "variant"), field("l", {**lists, "containsNull": True}))),
        table.data("a.parquet", first),
    )
    table.commit(remove("a.parquet"), table.data("b.parquet", second))
    found = deltaic.Table(table.root).changes(1, infer=True).to_arrow().to_pylist()
    # A string is not a date, and a float is not a double.
    assert sorted((row["id"], row["_change_type"]) for row in found) == [
        (2, "delete"),
        (2, "insert"),
        (3, "delete"),
        (3, "insert"),
    ]


def test_the_form_is_named_rightly(tmp_path: Path) -> None:
    snapshot = table_of(tmp_path, V, column([variant(1)])).snapshot()
    with pytest.raises(ValueError, match="did you mean json"):
        snapshot.scan(variant="jsn")  # pyright: ignore[reportArgumentType]
    with pytest.raises(ValueError, match='variant="arrow" or variant="json"'):
        snapshot.scan(variant="parquet")  # pyright: ignore[reportArgumentType]
    with pytest.raises(TypeError, match="variant"):
        snapshot.scan(variant=None)  # pyright: ignore[reportArgumentType]


def test_a_task_retains_the_form(tmp_path: Path) -> None:
    snapshot = table_of(tmp_path, V, column([variant([1])])).snapshot()
    for form, found in (("json", "[1]"), ("arrow", variant([1]))):
        [task] = snapshot.scan(variant=form).tasks()
        sent = pickle.loads(pickle.dumps(task))
        assert sent.read().read_all()["v"].to_pylist() == [found]
        assert sent.schema.to_arrow() == snapshot.scan(variant=form).schema.to_arrow()


def test_other_libraries_take_variants(tmp_path: Path) -> None:
    polars, duckdb = pytest.importorskip("polars"), pytest.importorskip("duckdb")
    snapshot = table_of(tmp_path, V, column([variant({"a": 1}), None])).snapshot()
    as_text = snapshot.scan(variant="json")
    assert as_text.to_pandas()["v"].dropna().to_list() == ['{"a":1}']
    assert as_text.to_polars()["v"].to_list() == polars.DataFrame(as_text)["v"].to_list() == ['{"a":1}', None]
    assert duckdb.from_arrow(as_text).fetchall() == [('{"a":1}',), (None,)]
    assert snapshot.scan().to_pandas()["v"].to_list() == [variant({"a": 1}), None]


def test_the_command_line_shows_variants_as_text(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    table = table_of(tmp_path, V, column([variant({"a": 1}), None]))
    assert main(["head", table.uri, "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == [{"v": '{"a":1}'}, {"v": None}]


def test_statistics_give_no_bounds_for_a_variant(tmp_path: Path) -> None:
    """Their bounds are not interpreted and therefore ignored.

    protocol: beyond:variant-shredding.3
    """
    stats = {
        "numRecords": 2,
        "minValues": {"id": 1, "v": "0rr91vqZQ{"},
        "maxValues": {"id": 2, "v": "no Z85 at all"},
        "nullCount": {"id": 0, "v": 1},
    }
    table = HandmadeTable(tmp_path / "t")
    rows = pa.table({"id": [1, 2], "v": column([variant(1), None])["v"]})
    table.commit(
        protocol(3, 7, SHREDDED, SHREDDED),
        metadata(schema(field("id"), field("v", "variant"))),
        table.data("a.parquet", rows, stats=json.dumps(stats)),
    )
    snapshot = deltaic.Table(table.root).snapshot()
    [file] = snapshot.files(stats=True).to_arrow().to_pylist()
    assert (file["min"], file["max"]) == ({"id": 1}, {"id": 2})
    assert file["null_count"] == {"id": 0, "v": 1}
    assert snapshot.scan(predicate="v IS NULL").to_arrow()["id"].to_pylist() == [2]


def test_variants_are_not_written_without_the_feature(tmp_path: Path) -> None:
    """protocol: beyond:variant.1, supported-features.1."""
    rows = column([variant(1)])
    table = table_of(tmp_path, V, rows, features=[])
    for data in (rows, table.snapshot().scan().to_arrow(), pa.table({"v": pa.nulls(1)})):
        with pytest.raises(deltaic.SchemaMismatch, match="lacks the feature variantType"):
            table.append(data)
    assert table.snapshot().version == 0


def test_a_new_table_is_not_partitioned_by_a_variant(tmp_path: Path) -> None:
    """protocol: beyond:variant.3."""
    data = table_of(tmp_path, V, column([variant(1)])).snapshot().schema.to_arrow()
    with pytest.raises(ValueError, match="variant"):
        deltaic.Table.create(tmp_path / "new", data.append(pa.field("id", pa.int64())), partition_by=["v"])
    assert not (tmp_path / "new").exists()


def test_a_variant_cannot_be_a_partitions_value(tmp_path: Path) -> None:
    """protocol: beyond:variant.3."""
    table = HandmadeTable(tmp_path / "t")
    table.commit(
        protocol(3, 7, PLAIN, PLAIN),
        metadata(schema(field("id"), field("v", "variant")), ["v"]),
        table.data("a.parquet", pa.table({"id": [1]}), values={"v": "1"}),
    )
    with pytest.raises(deltaic.CorruptLog):
        deltaic.Table(table.root).snapshot().scan().to_arrow()
