"""Compares a table with the model: rows, changes, row ids and predicates."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Hashable
from dataclasses import replace

import pyarrow as pa

import deltaic
from tests.golden.rows import column_keys, difference

from .definitions import Definition
from .expressions import Expression
from .identity import Marks
from .model import Effect, Known, Model
from .values import Row, to_arrow
from .variants import decoded

Keys = Counter[tuple[Hashable, ...]]
FEED = "delta.enableChangeDataFeed"
ROW_IDS = "delta.enableRowTracking"


def keys(table: pa.Table, names: list[str]) -> list[tuple[Hashable, ...]]:
    """Returns a key for each row, equal if and only if the rows are equal."""
    rows = decoded(table.select(names))
    columns = [column_keys(rows.column(name)) for name in names]
    return list(zip(*columns, strict=True))


def same_rows(found: pa.Table, rows: list[Row], schema: pa.Schema) -> str | None:
    """Describes the difference between a table and rows; None if there is none."""
    return difference(decoded(found), to_arrow(rows, schema))


def compare_rows(snapshot: deltaic.Snapshot, model: Model) -> None:
    """The snapshot has exactly the rows of the model."""
    schema = model.definition.schema
    assert (found := same_rows(snapshot.scan().to_arrow(), model.rows, schema)) is None, found
    assert snapshot.scan().count() == len(model.known)


def marks_of(snapshot: deltaic.Snapshot) -> Marks:
    """Returns the high-water marks of identity columns."""
    name = "delta.identity.highWaterMark"
    columns = json.loads(snapshot.schema.to_json())["fields"]
    return {column["name"]: column["metadata"][name] for column in columns if name in column["metadata"]}


def compare_predicate(snapshot: deltaic.Snapshot, model: Model, where: Expression) -> None:
    """A scan with a predicate, which skips files, returns exactly the matching rows."""
    matching = [row for row in model.rows if where.holds(row)]
    found = same_rows(snapshot.scan(predicate=str(where)).to_arrow(), matching, model.definition.schema)
    assert found is None, f"scan of {where}: {found}"
    assert snapshot.scan(predicate=str(where)).count() == len(matching), f"count of {where}"


def compare_changes(feed: pa.Table, effect: Effect, schema: pa.Schema) -> None:
    """A change data feed of one version has exactly the changes of the model."""
    expected = {
        "delete": effect.deletes,
        "insert": effect.inserts,
        "update_preimage": effect.preimages,
        "update_postimage": effect.postimages,
    }
    types = pa.array(feed["_change_type"].to_pylist(), pa.string())
    assert set(types.to_pylist()) <= set(expected)
    for change, rows in expected.items():
        part = feed.filter(pa.compute.equal(types, change)).select(schema.names)
        assert (found := same_rows(part, rows, schema)) is None, f"{change} of the feed: {found}"


def compare_net_changes(feed: pa.Table, effect: Effect, schema: pa.Schema) -> None:
    """Inferred changes sum up to those of the model."""
    net: Counter[tuple[Hashable, ...]] = Counter()
    for change, key in zip(feed["_change_type"].to_pylist(), keys(feed, schema.names), strict=True):
        net[key] += 1 if change in ("insert", "update_postimage") else -1
    for rows, sign in (
        ([*effect.inserts, *effect.postimages], 1),
        ([*effect.deletes, *effect.preimages], -1),
    ):
        for key in keys(to_arrow(rows, schema), schema.names):
            net[key] -= sign
    assert not {key: count for key, count in net.items() if count}


def identified(definition: Definition, found: pa.Table, known: list[Known], version: int) -> list[Known]:
    """Compares the row ids of a table with those that rows had before; returns the rows with their ids.

    Rows that stay keep id and row commit version, updated rows keep the id, and new rows get ids that no row
    had before. `found` has the columns `_row_id` and `_row_commit_version`.
    """
    schema = definition.schema
    ids = found["_row_id"].to_pylist()
    versions = found["_row_commit_version"].to_pylist()
    assert None not in ids
    assert len(set(ids)) == len(ids), "row ids are not unique"
    by_id = dict(zip(ids, zip(keys(found, schema.names), versions, strict=True), strict=True))
    old = keys(to_arrow([one.row for one in known], schema), schema.names)
    for one, key in zip(known, old, strict=True):
        if one.row_id is None:
            continue
        assert one.row_id in by_id, f"the row id {one.row_id} of {one.row} is gone"
        now, row_version = by_id.pop(one.row_id)
        assert now == key, f"the row id {one.row_id} of {one.row} belongs to another row"
        expected = version if one.version is None else one.version
        assert row_version == expected, f"row commit version {row_version}, not {expected}, of {one.row}"
    highest = max((one.row_id for one in known if one.row_id is not None), default=-1)
    left: dict[tuple[Hashable, ...], list[int]] = {}
    for row_id, (key, row_version) in by_id.items():
        assert row_version == version, f"a new row has the row commit version {row_version}"
        assert row_id > highest or highest == -1, f"a new row has the row id {row_id}, not above {highest}"
        left.setdefault(key, []).append(row_id)
    named: list[Known] = []
    for one, key in zip(known, old, strict=True):
        if one.row_id is None:
            assert left.get(key), f"there is no row id for the new row {one.row}"
            named.append(Known(one.row, left[key].pop(), version))
        else:
            named.append(replace(one, version=version if one.version is None else one.version))
    return named
