"""Odd paths of data files and of tables: rows are read, and partition values come from the log."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote

import pyarrow as pa
import pytest

import deltaic
from tests.protocol.handmade_log import HandmadeTable, field, ids, metadata, protocol, schema

from .ways import WAYS, Load, loader

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

pytestmark = pytest.mark.usefixtures("small_queries")

# File names, or folder and file name, relative to the table.
FILES = [
    "with blank.parquet",
    "100%.parquet",
    "per%20cent.parquet",
    "%zz%.parquet",
    "ü-é-日本.parquet",
    "a+b&c=d;e,f.parquet",
    "#.parquet",
    "q?w=1.parquet",
    "[x]{y}.parquet",
    "*.parquet",
    "x:y.parquet",
    "back\\slash^`|.parquet",
    "deep er/p=x%3Ay/day=2026-11-01 12%3A00/ü.parquet",
]
# Encoded completely except for the slash, as the protocol says, and partly, as some writers do.
SPELLINGS: dict[str, Callable[[str], str]] = {
    "all encoded": quote,
    "little encoded": lambda name: quote(name, safe="/:@!$&'()*+,;=-._~[]{}ü-é日本"),
}
# The table's own folder, in a parent folder with an odd name.
FOLDERS = [
    "with blank",
    "ü-é-日本",
    "per%20cent",
    "100%",
    "#q?w",
    "[x]{y}*",
    "x:y",
    "year=2024/month=%20/t",
    "id=7/p=other/t",
    "_hidden/.hidden/t",
]


@pytest.fixture(params=WAYS)
def load(request: pytest.FixtureRequest, spark: SparkSession) -> Load:
    return loader(spark, request.param)


@pytest.mark.parametrize("spelling", SPELLINGS)
@pytest.mark.parametrize("name", FILES)
def test_a_data_files_path_is_decoded_once(load: Load, tmp_path: Path, name: str, spelling: str) -> None:
    """protocol:add-file-and-remove-file.6 - the path is a URI, to be decoded to a file's path."""
    made = HandmadeTable(tmp_path / "t")
    # Files that would be read if the path were not decoded, or decoded twice.
    for trap in (quote(name), name.replace("%20", " ").replace("%3A", ":")):
        if trap != name:
            made.data(trap, ids(-1))
    made.create(made.data(name, ids(1, 2), uri=SPELLINGS[spelling](name)))
    assert sorted(row.id for row in load(made.root).collect()) == [1, 2]


@pytest.mark.parametrize("text", ["a b.parquet", "ü.parquet", "[x].parquet", "a%b.parquet", "100%.parquet"])
def test_a_path_that_its_writer_did_not_encode(load: Load, tmp_path: Path, text: str) -> None:
    made = HandmadeTable(tmp_path / "t")
    made.create(made.data(text, ids(1, 2), uri=text))
    assert sorted(row.id for row in load(made.root).collect()) == [1, 2]


@pytest.mark.parametrize("spelled", [Path.as_uri, lambda path: "file:" + quote(str(path)), str])
def test_an_absolute_path_within_the_table(
    load: Load, tmp_path: Path, spelled: Callable[[Path], str]
) -> None:
    """protocol:add-file-and-remove-file.5 - a path may be absolute."""
    made = HandmadeTable(tmp_path / "t")
    made.create(made.data("f.parquet", ids(1, 2), uri=spelled(made.root / "f.parquet")))
    assert sorted(row.id for row in load(made.root).collect()) == [1, 2]


@pytest.mark.parametrize("relative", [True, False], ids=["dots", "absolute"])
def test_a_path_that_leaves_the_table_is_refused(load: Load, tmp_path: Path, relative: bool) -> None:
    elsewhere = HandmadeTable(tmp_path / "else where")
    action = elsewhere.data("f.parquet", ids(5))
    outside = elsewhere.root / "f.parquet"
    action["add"]["path"] = "../else%20where/f.parquet" if relative else outside.as_uri()
    made = HandmadeTable(tmp_path / "t")
    made.create(action)
    # A data source raises Spark's exception with this text.
    with pytest.raises(Exception, match=r"else%20where/f\.parquet") as raised:
        load(made.root).collect()
    assert isinstance(raised.value, deltaic.PathEscape) or "PathEscape" in str(raised.value)


@pytest.mark.parametrize("place", FOLDERS)
def test_files_above_a_table_are_ignored(load: Load, tmp_path: Path, place: str) -> None:
    """Names such as `p=other` in the path above or below the table's folder are not partition values."""
    declared = schema(field("id"), field("p", "string"), field("year", "integer"))
    made = HandmadeTable(tmp_path / place)
    made.commit(protocol(), metadata(declared, ["p"]))
    rows = pa.table({"id": pa.array([1, 2], pa.int64()), "year": pa.array([1999, None], pa.int32())})
    made.commit(
        made.data(
            "p=lie/year=2024/1 ü.parquet", rows, values={"p": "log"}, uri="p=lie/year=2024/1%20ü.parquet"
        ),
        made.data("2.parquet", rows.slice(0, 1), values={"p": None}),
    )
    frame = load(made.root)
    assert frame.columns == ["id", "p", "year"]
    found = sorted(map(tuple, frame.collect()), key=str)
    assert found == [(1, "log", 1999), (1, None, 1999), (2, "log", None)]
    assert frame.where("p = 'log'").count() == 2
    assert frame.where("p = 'lie' OR p = 'other' OR year = 2024").count() == 0


@pytest.mark.parametrize("place", ["with blank", "ü-é-日本", "per%20cent", "#q?w"])
def test_a_table_by_its_uri(load: Load, tmp_path: Path, place: str) -> None:
    made = HandmadeTable(tmp_path / place)
    made.create(made.data("f.parquet", ids(1, 2)))
    assert load(made.root.as_uri()).count() == 2


def test_a_folder_named_after_a_hash(load: Load, tmp_path: Path) -> None:
    """A partition whose value is too long for a folder name has a folder named after a hash.

    protocol: partition-value-serialization.1
    """
    values = ["x" * 254, "ü" * 200, "a/b=c%20" * 40, "short"]
    rows = pa.table({"p": values, "id": pa.array(range(4), pa.int64())})
    table = deltaic.Table.create(tmp_path / "t", rows.schema, partition_by=["p"])
    table.append(rows)
    assert len(list(tmp_path.glob("t/partition-*/*.parquet"))) == 3
    frame = load(tmp_path / "t")
    assert {row.p: row.id for row in frame.collect()} == {value: at for at, value in enumerate(values)}
    for at, value in enumerate(values):
        assert [row.id for row in frame.where(frame.p == value).collect()] == [at]
