"""Typical mistakes: the error message starts with the fact, and its hint contains the solution."""

from __future__ import annotations

import datetime as dt
import shutil
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pytest

import deltaic

ROWS = pa.table({"id": [1, 2], "kind": ["tram", "bus"], "day": [dt.date(2026, 1, 1)] * 2})


@pytest.fixture
def table(root: Path) -> deltaic.Table:
    table = deltaic.Table.create(root, ROWS.schema, partition_by=["day"])
    for _ in range(3):
        table.append(ROWS)
    return table


def told(mistake: Callable[[], object]) -> tuple[str, str]:
    """Returns message and hint of an error."""
    with pytest.raises((deltaic.DeltaicError, ValueError, TypeError)) as caught:
        mistake()
    message, _, hint = str(caught.value).partition("\nhint: ")
    return message, hint.partition("\n")[0]


@pytest.mark.parametrize(
    ("predicate", "message", "hint"),
    [
        ("kind = bus", "there is no column bus", "text needs quotes: 'bus'"),
        ("kind <> Day2", "there is no column Day2", "text needs quotes: 'Day2'"),
        ("id = ids", "there is no column ids", "did you mean id?"),
        ("id = 1 & id = 2", "& is not implemented", "use AND"),
        ("id = 1 | id = 2", "| is not implemented", "use OR"),
        ("day = '2026-13-01'", "'2026-13-01' is not a valid date", "write a literal of the column's type"),
    ],
)
def test_predicates(table: deltaic.Table, predicate: str, message: str, hint: str) -> None:
    said, helps = told(lambda: table.snapshot().scan(predicate=predicate))
    assert said.startswith(message)
    assert helps.startswith(hint)


def test_versions_and_times(table: deltaic.Table) -> None:
    said, _ = told(lambda: table.snapshot(version=99))
    assert said.startswith("Version 99 does not exist; available: 0–3 (")
    later = dt.datetime(2999, 1, 1, tzinfo=dt.timezone.utc)
    said, helps = told(lambda: table.snapshot(timestamp=later))
    assert said.startswith("no version was committed at 2999-01-01T00:00:00Z")
    assert helps == "the newest version is 3: omit the timestamp to read it"


@pytest.mark.parametrize("part", ["_delta_log", "day=2026-01-01", "a file"])
def test_a_part_of_a_table_is_not_the_table(table: deltaic.Table, root: Path, part: str) -> None:
    place = next(root.rglob("*.parquet")) if part == "a file" else root / part
    said, helps = told(lambda: deltaic.Table(place).snapshot())
    assert said.startswith("there is no Delta table")
    assert helps == f"did you mean the parent folder {table.uri.rstrip('/')}?"


@pytest.mark.parametrize(
    ("uri", "message", "hint"),
    [
        ("s3:///t", "The s3:// URI has no bucket name", "write s3://bucket/path"),
        ("gs://", "The gs:// URI has no bucket name", "write gs://bucket/path"),
        ("az:///t", "The az:// URI has no container or account name", "write az://container/path"),
        ("dbfs:/t", "The table location starts with dbfs: but is not a URI", "supported: local paths, "),
        ("s3:/b/t", "The table location starts with s3: but is not a URI", "did you mean s3://…?"),
        ("hdfs://n/t", "Tables on hdfs:// are not supported", "supported: local paths, "),
    ],
)
def test_places(uri: str, message: str, hint: str) -> None:
    said, helps = told(lambda: deltaic.Table(uri))
    assert said.startswith(message)
    assert helps.startswith(hint)


def test_a_table_that_was_deleted_under_its_handle(table: deltaic.Table, root: Path) -> None:
    assert table.snapshot().version == 3
    shutil.rmtree(root)
    for mistake in (table.snapshot, lambda: table.append(ROWS)):
        with pytest.raises(deltaic.TableNotFound, match="The table no longer exists") as caught:
            mistake()
        assert caught.value.context["path"] == table.uri
