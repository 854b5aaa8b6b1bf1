"""Invalid arguments, and bounds too large for the machine: each is named in the error, or accepted."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import deltaic
from tests.api.log_files import commit_file

TOO_LARGE = [sys.maxsize, 2**63, 2**64, 2**70, 10**23]
ROW = pa.table({"id": [6], "name": ["six"]})

BOUNDS: dict[str, tuple[int, Callable[[deltaic.Table, Any], object]]] = {
    "history.limit": (0, lambda table, value: table.history(limit=value)),
    "append.max_attempts": (1, lambda table, value: table.append(ROW, max_attempts=value)),
    "scan.limit": (0, lambda table, value: table.snapshot().scan(limit=value).to_arrow()),
    "scan.batch_size": (1, lambda table, value: table.snapshot().scan(batch_size=value).to_arrow()),
    "Table.max_line_bytes": (
        1,
        lambda table, value: deltaic.Table(table.uri, max_line_bytes=value).snapshot(),
    ),
}
"""The minimum of each bound, and a call that uses it."""


@pytest.mark.parametrize("value", TOO_LARGE)
def test_a_bound_that_is_too_large_is_none(numbers: deltaic.Table, value: int) -> None:
    assert len(numbers.history(limit=value)) == 3
    assert numbers.append(ROW, max_attempts=value).version == 3
    snapshot = deltaic.Table(numbers.uri, max_line_bytes=value).snapshot()
    assert snapshot.scan(limit=value).to_arrow().num_rows == 7
    assert snapshot.scan(limit=value).count() == 7
    assert snapshot.scan(batch_size=value).to_arrow().num_rows == 7


@pytest.mark.parametrize("bound", BOUNDS)
def test_a_bound_below_its_least_is_named(numbers: deltaic.Table, bound: str) -> None:
    least, call = BOUNDS[bound]
    name = bound.partition(".")[2]
    for value in (least - 1, -(2**70)):
        with pytest.raises(ValueError, match=re.escape(f"{name} must be at least {least}, not {value}")):
            call(numbers, value)


@pytest.mark.parametrize("bound", BOUNDS)
@pytest.mark.parametrize("value", ["1", True, 1.0], ids=repr)
def test_a_bound_that_is_not_a_number_is_named(numbers: deltaic.Table, bound: str, value: object) -> None:
    name = bound.partition(".")[2]
    with pytest.raises(TypeError, match=f"{name} must be an integer, not {type(value).__name__}"):
        BOUNDS[bound][1](numbers, value)


@pytest.mark.parametrize("value", ["1", True, 1.0, b"1"], ids=repr)
def test_a_version_is_a_whole_number(numbers: deltaic.Table, value: Any) -> None:
    with pytest.raises(TypeError, match=f"version must be an integer, not {type(value).__name__}"):
        numbers.snapshot(version=value)


def test_a_version_may_be_a_number_of_another_library(numbers: deltaic.Table) -> None:
    numpy = pytest.importorskip("numpy")
    assert numbers.snapshot(version=numpy.int64(1)).version == 1


def test_progress_is_a_function(numbers: deltaic.Table, root: Path) -> None:
    """Raised before any I/O: the log is damaged, yet the error is about the argument."""
    commit_file(root, 0).unlink()
    with pytest.raises(TypeError, match="progress must be a function of three arguments, or True, not int"):
        numbers.check(progress=5)  # type: ignore[arg-type]


PLACES: dict[str, Callable[[Any], object]] = {
    "uri of Table": deltaic.Table,
    "uri of create": lambda place: deltaic.Table.create(place, ROW.schema),
    "uri of exists": deltaic.Table.exists,
    "uri of probe_store": deltaic.probe_store,
    "allowed_roots of Table": lambda place: deltaic.Table("memory://t", allowed_roots=[place]),
}


@pytest.mark.parametrize("call", PLACES)
def test_a_path_that_is_not_text_is_reported_to_be_none(call: str, tmp_path: Path) -> None:
    name = call.partition(" ")[0]
    folder = tmp_path / os.fsdecode(b"SECRET\xff")
    for path in (folder, str(folder)):
        with pytest.raises(
            ValueError, match=f"{name} is not valid UTF-8: character {len(str(folder)) - 1} "
        ) as e:
            PLACES[call](path)
        assert type(e.value) is ValueError
        assert "SECRET" not in str(e.value)
    for wrong in (b"bytes", 5, None):
        with pytest.raises(TypeError, match=f"{name} must be a path or URI .* not {type(wrong).__name__}"):
            PLACES[call](wrong)


ID = pa.schema([("id", pa.int64()), ("l", pa.list_(pa.int64()))])
HALF = "\ud800"


def create(**options: Any) -> Callable[[deltaic.Table], object]:
    return lambda table: deltaic.Table.create(f"{table.uri}new", ID, **options)


def staged(call: Callable[[deltaic.Transaction], object]) -> Callable[[deltaic.Table], object]:
    def within(table: deltaic.Table) -> None:
        with table.transaction() as tx:
            call(tx)

    return within


def given(**more: object) -> Callable[[deltaic.Table], object]:
    file: dict[str, object] = {"path": "a.parquet", "size": 1, "modification_time": 0, **more}
    return staged(lambda tx: tx.add([{key: value for key, value in file.items() if value is not ...}]))


WRONG: dict[str, tuple[Callable[[deltaic.Table], object], type[Exception], str]] = {
    "a property of another type": (
        create(properties={"delta.appendOnly": True}),
        TypeError,
        """the value of 'delta.appendOnly' in properties must be a string, not bool: write "true\"""",
    ),
    "a number of a property": (
        create(properties={"delta.checkpointInterval": 10}),
        TypeError,
        "the value of 'delta.checkpointInterval' in properties must be a string, not int: put it in quotes",
    ),
    "properties": (
        create(properties="x"),
        TypeError,
        "properties must be a mapping of names to strings, not str",
    ),
    "half a character": (create(properties={"owner": HALF}), ValueError, "properties contains bytes"),
    "constraints of another type": (
        create(constraints={"c": 1}),
        TypeError,
        "the value of 'c' in constraints must be a string, not int: put it in quotes",
    ),
    "constraints": (
        create(constraints=["id>0"]),
        TypeError,
        "constraints must be a mapping of names to strings, not list",
    ),
    "partitions of another type": (
        create(partition_by=[1]),
        TypeError,
        "each of partition_by must be a string, not int: put it in quotes",
    ),
    "no partitions": (
        create(partition_by=None),
        TypeError,
        "partition_by must be a list of names, not NoneType",
    ),
    "one partition": (create(partition_by="id"), TypeError, "write partition_by=['id']"),
    "clustering": (create(cluster_by={"id": 1}), TypeError, "cluster_by must be a list of names, not dict"),
    "a list to partition by": (
        create(partition_by=["l"]),
        ValueError,
        "a table cannot be partitioned by l of type array<bigint>",
    ),
    "name": (create(name=5), TypeError, "name must be a string, not int: put it in quotes"),
    "half a name": (create(name=HALF), ValueError, "name cannot be encoded as UTF-8"),
    "description": (
        create(description=b"x"),
        TypeError,
        "description must be a string, not bytes: put it in quotes",
    ),
    "if_exists": (create(if_exists=None), TypeError, "if_exists must be a string, not NoneType"),
    "if_exists in words": (create(if_exists="maybe"), ValueError, 'if_exists is "maybe"'),
    "upkeep of create": (create(upkeep="no"), TypeError, "upkeep must be True or False, not 'no'"),
    "upkeep of append": (
        lambda table: table.append(ROW, upkeep="no"),  # type: ignore[arg-type]
        TypeError,
        "upkeep must be True or False, not 'no'",
    ),
    "a type for a schema": (
        lambda table: deltaic.Table.create(f"{table.uri}new", pa.int64()),
        TypeError,
        "a schema describes columns, such as pyarrow.schema(…) does, but this is a single type, Int64",
    ),
    "dry_run": (
        lambda table: table.clean_up(dry_run="no"),  # type: ignore[arg-type]
        TypeError,
        "dry_run must be True or False, not 'no'",
    ),
    "operation": (
        lambda table: table.transaction(operation=1),  # type: ignore[arg-type]
        TypeError,
        "operation must be a string, not int: put it in quotes",
    ),
    "a path to remove": (
        staged(lambda tx: tx.remove([1])),  # type: ignore[list-item]
        TypeError,
        "each of paths must be a string, not int: put it in quotes",
    ),
    "paths to remove": (
        staged(lambda tx: tx.remove(1)),  # type: ignore[arg-type]
        TypeError,
        "paths must be a list of paths, not int",
    ),
    "data_change": (
        staged(lambda tx: tx.remove([], data_change=0)),  # type: ignore[arg-type]
        TypeError,
        "data_change must be True or False, not 0",
    ),
    "rows": (
        staged(lambda tx: tx.delete_rows(["x"])),  # type: ignore[arg-type]
        TypeError,
        "rows must be a mapping of paths to positions, not list: write delete_rows({path: [0, 7]})",
    ),
    "positions": (
        staged(lambda tx: tx.delete_rows({"p": 0})),  # type: ignore[dict-item]
        TypeError,
        "the rows of 'p' must be a list of positions, not int: write delete_rows({'p': [0, 7]})",
    ),
    "a path of rows": (
        staged(lambda tx: tx.delete_rows({1: [0]})),  # type: ignore[dict-item]
        TypeError,
        "a path of rows must be a string, not int",
    ),
    "an application": (
        staged(lambda tx: tx.read_app(1)),  # type: ignore[arg-type]
        TypeError,
        "app_id must be a string, not int",
    ),
    "no file": (staged(lambda tx: tx.add([{}])), ValueError, "a file to add has no 'path': each needs path"),
    "a file of another type": (
        staged(lambda tx: tx.add(["a.parquet"])),  # type: ignore[list-item]
        TypeError,
        "a file must be a mapping of its path, size and so on, not str",
    ),
    "one file": (
        staged(lambda tx: tx.add({"path": "a"})),  # type: ignore[dict-item]
        TypeError,
        "files must be a list of mappings, one for each file, not dict",
    ),
    "files": (
        staged(lambda tx: tx.add(5)),  # type: ignore[arg-type]
        TypeError,
        "files must be a list of mappings, one for each file, not int",
    ),
    "a file without its size": (given(size=...), ValueError, "the file 'a.parquet' has no 'size'"),
    "a file without its time": (given(modification_time=None), ValueError, "has no 'modification_time'"),
    "a file with more": (given(siez=1), ValueError, "the file 'a.parquet' has 'siez', which is not one of"),
    "a size in text": (given(size="1"), TypeError, "'size' of the file 'a.parquet' must be an integer"),
    "a size of many bits": (given(size=2**63), ValueError, "'size' of the file 'a.parquet' cannot be"),
    "statistics": (given(stats={}), TypeError, "'stats' of the file 'a.parquet' must be a string, not dict"),
    "a change of data": (
        given(data_change=1),
        TypeError,
        "'data_change' of the file 'a.parquet' must be True or",
    ),
    "partition values": (
        given(partition_values=["x"]),
        TypeError,
        "'partition_values' of the file 'a.parquet' must be a mapping of columns to values, not list",
    ),
    "a path that leads out": (
        given(path="../x"),
        deltaic.PathEscape,
        'the file "../x" cannot be added: its path is outside the table\'s folder: '
        "its .. segments leave the table",
    ),
    "a path of another store": (
        given(path="s3://bucket/x"),
        deltaic.PathEscape,
        "is outside the table's folder: it names another store",
    ),
    "half a name to set": (
        lambda table: table.alter(deltaic.alter.SetName(HALF)),
        ValueError,
        "name of SetName cannot be encoded as UTF-8: '\\ud800'",
    ),
    "a property to set": (
        lambda table: table.alter(deltaic.alter.SetProperties({"delta.appendOnly": True})),  # type: ignore[dict-item]
        TypeError,
        "the value of 'delta.appendOnly' in values of SetProperties must be a string, not bool: "
        'write "true"',
    ),
    "properties to set": (
        staged(lambda tx: tx.set_properties(None)),  # type: ignore[arg-type]
        TypeError,
        "values of SetProperties must be a mapping of names to strings, not NoneType",
    ),
    "a default": (
        lambda table: table.alter(deltaic.alter.SetDefault("id", "foo(")),
        deltaic.InvalidPredicate,
        "the default cannot be read: it ends where",
    ),
    "a domain": (
        lambda table: table.alter(deltaic.alter.RemoveDomain("q")),
        ValueError,
        "hint: snapshot.domain_metadata lists the domains",
    ),
}
"""Calls with an invalid argument, the exception that they raise, and its message."""


@pytest.mark.parametrize("case", WRONG)
def test_a_wrong_argument_is_named(numbers: deltaic.Table, root: Path, case: str) -> None:
    call, error, says = WRONG[case]
    with pytest.raises(error) as caught:
        call(numbers)
    assert says in str(caught.value)
    assert "line 1" not in str(caught.value) or case == "a default"
    assert "backup" not in str(caught.value)
    assert numbers.snapshot().version == 2
    assert not (root / "new").exists()


@pytest.mark.parametrize(
    ("verb", "call"),
    [
        ("append", lambda table, **options: table.append(pa.table({"n": [1]}), **options)),
        ("transaction", lambda table, **options: table.transaction(**options)),
        ("alter", lambda table, **options: table.alter(deltaic.alter.SetName("x"), **options)),
        (
            "create",
            lambda table, **options: deltaic.Table.create(
                table.uri + "other", table.snapshot().schema, **options
            ),
        ),
    ],
)
def test_an_unknown_commit_option_is_named(
    numbers: deltaic.Table, verb: str, call: Callable[..., object]
) -> None:
    version = numbers.snapshot().version
    with pytest.raises(TypeError, match=rf"{verb}\(\) has no option 'retries': .*max_attempts"):
        call(numbers, retries=3)
    with pytest.raises(TypeError, match=rf"{verb}\(\) has no option 'mode': .*overwrite to replace them"):
        call(numbers, mode="overwrite")
    assert numbers.snapshot().version == version


def test_create_records_its_application_transaction(root: Path) -> None:
    schema = pa.schema([("id", pa.int64())])
    table = deltaic.Table.create(root, schema, app_transaction=("loader", 3))
    assert table.snapshot().app_transactions == {"loader": 3}
    assert table.append(pa.table({"id": [1]}), app_transaction=("loader", 3)).skipped
