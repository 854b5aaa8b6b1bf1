"""The tables that the documents' examples read, made by hand as other engines leave them."""

from __future__ import annotations

import datetime as dt
import math
from decimal import Decimal
from pathlib import Path

import pyarrow as pa

import deltaic
from tests.protocol.handmade_log import HandmadeTable, field, metadata, protocol, remove, schema
from tests.protocol.handmade_vectors import without
from tests.protocol.naive_variant import variant

EIGHT_O_CLOCK = 1_793_520_000_000  # 2026-11-01T08:00:00Z
HOUR = 3_600_000


def make_rides(root: Path) -> None:
    """Four rides, of which one was updated and one deleted; rows have ids, and an extra is a variant."""
    rides = HandmadeTable(root / "rides")
    bytes_of_a_variant = pa.struct(
        [pa.field("metadata", pa.binary(), nullable=False), pa.field("value", pa.binary(), nullable=False)]
    )
    kept = pa.schema([("id", pa.int64()), ("fare", pa.float64()), ("extra", bytes_of_a_variant)])
    moved = kept.append(pa.field("_kept_id", pa.int64())).append(pa.field("_kept_version", pa.int64()))
    extras = [variant({"tip": 1.5, "bags": ["small"]}), variant(7), None, variant(None)]
    rows = pa.table([[1, 2, 3, 4], [9.5, 12.0, None, 7.25], extras], schema=kept)
    update = pa.table([[2], [13.0], [variant(7)], [1], [None]], schema=moved)
    first = rides.data("a.parquet", rows, stats='{"numRecords":4}')["add"]
    first.update(baseRowId=0, defaultRowCommitVersion=1)
    second = rides.data("b.parquet", update, stats='{"numRecords":1}')["add"]
    second.update(baseRowId=4, defaultRowCommitVersion=2)
    for_readers = ["deletionVectors", "variantType"]
    rides.commit(
        protocol(3, 7, for_readers, [*for_readers, "domainMetadata", "rowTracking"]),
        metadata(
            schema(field("id"), field("fare", "double"), field("extra", "variant")),
            configuration={
                "delta.enableRowTracking": "true",
                "delta.rowTracking.materializedRowIdColumnName": "_kept_id",
                "delta.rowTracking.materializedRowCommitVersionColumnName": "_kept_version",
            },
        ),
    )
    rides.commit({"add": first})
    rides.commit(remove("a.parquet"), {"add": {**first, **without(1)}}, {"add": second})
    rides.commit(remove("a.parquet", **without(1)), {"add": {**first, **without(1, 3)}})


def make_stock(root: Path) -> None:
    """A table that keeps a change feed: three rows, an update that recorded it, and a delete that did not."""
    stock = HandmadeTable(root / "stock")
    kept = pa.schema([("item", pa.string()), ("pieces", pa.int64())])
    changed = kept.append(pa.field("_change_type", pa.string()))
    first = stock.data("a.parquet", pa.table([["figs", "pears", "plums"], [8, 10, 5]], schema=kept))["add"]
    second = stock.data("b.parquet", pa.table([["plums"], [7]], schema=kept))
    told = pa.table([["plums", "plums"], [5, 7], ["update_preimage", "update_postimage"]], schema=changed)
    recorded = stock.data("_change_data/c.parquet", told)["add"]
    cdc = {**{name: recorded[name] for name in ("path", "partitionValues", "size")}, "dataChange": False}
    stock.commit(
        protocol(3, 7, ["deletionVectors"], ["changeDataFeed", "deletionVectors"]),
        metadata(
            schema(field("item", "string"), field("pieces")),
            configuration={"delta.enableChangeDataFeed": "true"},
        ),
    )
    stock.commit({"add": first})
    stock.commit(remove("a.parquet"), {"add": {**first, **without(2)}}, second, {"cdc": cdc})
    stock.commit(remove("a.parquet", **without(2)), {"add": {**first, **without(0, 2)}})
    set_times(stock)


def make_prices(root: Path) -> None:
    """A table that keeps no feed: three rows, then one of them updated by rewriting their file."""
    prices = HandmadeTable(root / "prices")
    kept = pa.schema([("item", pa.string()), ("price", pa.float64())])
    items = ["figs", "pears", "plums"]
    before = prices.data("a.parquet", pa.table([items, [4.0, 2.5, 3.0]], schema=kept))
    after = prices.data("b.parquet", pa.table([items, [4.0, 2.75, 3.0]], schema=kept))
    prices.create(schema_string=schema(field("item", "string"), field("price", "double")))
    prices.commit(before)
    prices.commit(remove("a.parquet"), after)
    set_times(prices)


def set_times(table: HandmadeTable) -> None:
    """A commit an hour, from eight o'clock on."""
    for version in range(table.next_version):
        table.set_time(version, EIGHT_O_CLOCK + version * HOUR)


def make_trips(root: Path) -> None:
    """Four trips with a column of each kind that a predicate asks for in its own way."""
    rows = pa.table(
        {
            "id": [1, 2, 3, 4],
            "city": ["Rome", "Oslo", "10% Town", None],
            "fare": pa.array([Decimal("9.50"), Decimal("12.00"), None, Decimal("7.25")], pa.decimal128(6, 2)),
            "ratio": [0.1, math.nan, None, 1.5],
            "day": [dt.date(2026, 11, day) for day in (1, 1, 2, 30)],
            "at": [
                dt.datetime(2026, 11, day, hour, minute, tzinfo=dt.timezone.utc)
                for day, hour, minute in [(1, 8, 0), (1, 22, 30), (2, 0, 0), (30, 12, 0)]
            ],
            "paid": [True, False, None, True],
            "guest": [{"name": "Ada"}, {"name": None}, None, {"name": "Ümit"}],
        }
    )
    deltaic.Table.create(root / "trips", rows.schema, partition_by=["day"]).append(rows)
