"""A snapshot as a polars lazy frame: queries open only the files that can match."""

from __future__ import annotations

from datetime import date
from pathlib import Path
from typing import Any

import polars as pl
import pyarrow as pa
import pytest

import deltaic
from deltaic.engines import polars_lazy
from deltaic.engines.conditions import Translation

SCHEMA = pa.schema([("day", pa.date32()), ("id", pa.int64()), ("name", pa.string())])
SECOND = pl.col("day") == date(2026, 11, 2)


@pytest.fixture
def days(root: Path) -> deltaic.Table:
    """Four days, one file each: ids 10 to 12 on the first, 20 to 22 on the second and so on."""
    table = deltaic.Table.create(root, SCHEMA, partition_by=["day"])
    for day in (1, 2, 3, 4):
        ids = [10 * day, 10 * day + 1, 10 * day + 2]
        names = ["zero", "öne", None]
        table.append(pa.table([[date(2026, 11, day)] * 3, ids, names], schema=SCHEMA))
    return table


def keep_only(snapshot: deltaic.Snapshot, root: Path, day: int) -> None:
    """Deletes the files of all other days, so that opening one of them fails."""
    for path in snapshot.files(f"day <> DATE '2026-11-0{day}'").to_arrow()["path"].to_pylist():
        (root / path).unlink()


@pytest.mark.parametrize("engine", ["in-memory", "streaming"])
def test_a_query_opens_only_what_can_matter(days: deltaic.Table, root: Path, engine: Any) -> None:
    snapshot = days.snapshot()
    keep_only(snapshot, root, day=2)
    frame = snapshot.to_polars_lazy()

    def ids(query: pl.LazyFrame) -> list[int]:
        return query.select("id").collect(engine=engine)["id"].sort().to_list()

    assert ids(frame.filter(SECOND)) == [20, 21, 22]
    assert ids(frame.filter(pl.col("id").is_between(20, 29), pl.col("name").is_not_null())) == [20, 21]
    assert ids(frame.filter(pl.col("id").is_in([20, 22, 25]))) == [20, 22]
    # A condition that only polars can evaluate is combined with one that prunes files.
    assert ids(frame.filter(SECOND & (pl.col("name").str.to_uppercase() == "ÖNE"))) == [21]
    assert len(ids(frame.filter(SECOND).head(2))) == 2
    assert frame.filter(SECOND).select(pl.len()).collect(engine=engine).item() == 3
    with pytest.raises(deltaic.CorruptData, match="a data file is missing"):
        ids(frame)


def test_only_the_columns_that_matter_are_read(days: deltaic.Table, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[tuple[object, ...]] = []
    scan = deltaic.Snapshot.scan

    def watched(self: deltaic.Snapshot, *arguments: Any, **options: Any) -> deltaic.Scan:
        if arguments and arguments[0] != []:
            seen.append((*arguments, options["limit"]))
        return scan(self, *arguments, **options)

    frame = days.snapshot().to_polars_lazy()
    monkeypatch.setattr(deltaic.Snapshot, "scan", watched)
    assert frame.filter(pl.col("id") > 12).select("name").head(2).collect().shape == (2, 1)
    assert frame.filter(pl.col("id") % 2 == 1).select("name").head(2).collect().shape == (2, 1)
    assert frame.head(5).collect().height == 5
    assert [(sorted(columns), predicate) for columns, predicate, _ in seen[:2]] == [  # type: ignore[call-overload]
        (["id", "name"], "`id` > 12"),
        (["id", "name"], None),
    ]
    # A limit is pushed down if no filter follows, as far as polars passes it.
    assert [limit for *_, limit in seen] == [None, None, 5]


def test_a_limit_counts_the_rows_that_are_left(days: deltaic.Table, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also if polars passes a limit and an untranslated filter, which it does not do today."""
    sources: list[Any] = []
    monkeypatch.setattr("polars.io.plugins.register_io_source", lambda source, **_: sources.append(source))
    days.snapshot().to_polars_lazy()
    [source] = sources
    odd = pl.col("id") % 2 == 1
    for limit, expected in ((2, 2), (9, 4), (None, 4), (0, 0)):
        frames = list(source(["id"], odd, limit, 2))
        assert sum(frame.height for frame in frames) == expected
        assert all(frame.filter(odd).height == frame.height <= 2 for frame in frames)
    assert sum(frame.height for frame in source(["name"], None, 5, None)) == 5


def test_the_schema_is_known_before_anything_is_read(days: deltaic.Table, root: Path) -> None:
    snapshot = days.snapshot()
    for path in snapshot.files().to_arrow()["path"].to_pylist():
        (root / path).unlink()
    frame = snapshot.to_polars_lazy()
    assert frame.collect_schema() == {"day": pl.Date, "id": pl.Int64, "name": pl.String}
    assert frame.filter(SECOND).select("id").collect_schema().names() == ["id"]


def test_a_frame_can_be_collected_again_and_joined(days: deltaic.Table) -> None:
    frame = days.snapshot().to_polars_lazy()
    assert frame.collect().height == frame.collect().height == 12
    few = pl.LazyFrame({"id": [11, 42], "seen": [True, False]})
    joined = frame.join(few, on="id").sort("id").collect()
    assert joined["seen"].to_list() == [True, False]
    assert frame.collect().equals(days.snapshot().scan().to_polars())


@pytest.mark.parametrize("engine", ["in-memory", "streaming"])
def test_rows_are_counted_without_their_columns(days: deltaic.Table, engine: Any) -> None:
    frame = days.snapshot().to_polars_lazy()
    assert frame.with_row_index().select("index").collect(engine=engine)["index"].to_list() == [*range(12)]
    assert frame.drop("day", "id", "name").collect(engine=engine).height == 12
    assert frame.head(7).select(pl.len()).collect(engine=engine).item() == 7


def test_an_empty_table_is_an_empty_frame(root: Path) -> None:
    frame = deltaic.Table.create(root, SCHEMA).snapshot().to_polars_lazy()
    assert frame.collect().shape == (0, 3)
    assert frame.filter(SECOND).select("name").collect().shape == (0, 1)


def test_an_older_polars_is_refused(days: deltaic.Table, monkeypatch: pytest.MonkeyPatch) -> None:
    """Older versions lose filters that they cannot push down."""
    for version in ("1.30.0", "0.20.31"):
        monkeypatch.setattr(pl, "__version__", version)
        with pytest.raises(ImportError, match=r"polars 1\.31 or newer, and this is"):
            days.snapshot().to_polars_lazy()


def test_a_form_that_is_not_known_is_filtered_by_polars(
    days: deltaic.Table, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Simulates a later polars with a different JSON format."""
    monkeypatch.setattr(polars_lazy, "translate_polars", lambda *_: Translation(rest=["a form of tomorrow"]))
    frame = days.snapshot().to_polars_lazy()
    assert frame.filter(pl.col("id") > 40).select("id").head(1).collect()["id"].to_list() == [41]
