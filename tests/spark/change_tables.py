"""Tables with recorded and unrecorded changes, written by hand as other engines write them."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa

from tests.protocol.handmade_log import HandmadeTable, field, metadata, protocol, remove, schema
from tests.protocol.handmade_vectors import without

EIGHT_O_CLOCK = 1_793_520_000_000  # 2026-11-01T08:00:00Z
HOUR = 3_600_000


def make_stock(root: Path) -> None:
    """Writes a table with a change data feed: three rows, an update with change data, a delete without."""
    stock = HandmadeTable(root / "stock")
    columns = pa.schema([("item", pa.string()), ("pieces", pa.int64())])
    changed = columns.append(pa.field("_change_type", pa.string()))
    first = stock.data("a.parquet", pa.table([["figs", "pears", "plums"], [8, 10, 5]], schema=columns))["add"]
    second = stock.data("b.parquet", pa.table([["plums"], [7]], schema=columns))
    change_data = pa.table(
        [["plums", "plums"], [5, 7], ["update_preimage", "update_postimage"]], schema=changed
    )
    recorded = stock.data("_change_data/c.parquet", change_data)["add"]
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
    """Writes a table without a feed: three rows, then an update of one row that rewrites the file."""
    prices = HandmadeTable(root / "prices")
    columns = pa.schema([("item", pa.string()), ("price", pa.float64())])
    items = ["figs", "pears", "plums"]
    before = prices.data("a.parquet", pa.table([items, [4.0, 2.5, 3.0]], schema=columns))
    after = prices.data("b.parquet", pa.table([items, [4.0, 2.75, 3.0]], schema=columns))
    prices.create(schema_string=schema(field("item", "string"), field("price", "double")))
    prices.commit(before)
    prices.commit(remove("a.parquet"), after)
    set_times(prices)


def set_times(table: HandmadeTable) -> None:
    """Sets the time of each commit to one hour after the previous one, starting at eight o'clock."""
    for version in range(table.next_version):
        table.set_time(version, EIGHT_O_CLOCK + version * HOUR)
