"""The first lines that people type: rows of a table without a snapshot, and the names of other libraries."""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import Any

import polars as pl
import pyarrow as pa
import pytest

import deltaic
from deltaic.values.foreign_names import ARGUMENTS, OF_MODULE, OF_TABLES

ROWS = pa.table({"id": [1, 2], "name": ["a", None]})


@pytest.fixture
def table(root: Path) -> deltaic.Table:
    return deltaic.write(root, ROWS)


@pytest.mark.parametrize("kind", ["table", "snapshot"])
def test_all_rows(table: deltaic.Table, kind: str) -> None:
    of = table if kind == "table" else table.snapshot()
    assert of.to_arrow().equals(ROWS)
    assert of.to_pandas()["id"].tolist() == [1, 2]
    assert of.to_polars().equals(pl.DataFrame(ROWS))
    assert of.count() == 2
    assert (of.version, of.schema.names, of.files("id = 7").num_rows) == (0, ["id", "name"], 0)
    assert "num_records" in of.files(stats=True).to_arrow().column_names


def test_a_table_tells_of_its_newest_version(table: deltaic.Table, root: Path) -> None:
    assert table.version == 0
    deltaic.Table(root).append(ROWS, schema_mode="merge")
    deltaic.Table(root).append(pa.table({"id": [3], "more": [1]}), schema_mode="merge")
    assert (table.version, table.count(), table.schema.names) == (2, 5, ["id", "name", "more"])
    assert table.files().num_rows == 3


def test_the_home_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    deltaic.write("~/table", ROWS)
    assert (tmp_path / "table" / "_delta_log").is_dir()
    assert deltaic.Table(Path("~/table")).count() == 2
    assert deltaic.Table.exists("~/table")


@pytest.mark.parametrize("name", OF_MODULE)
def test_names_of_other_modules(name: str) -> None:
    module: Any = importlib.import_module("deltaic")
    with pytest.raises(AttributeError, match=name) as caught:
        getattr(module, name)
    assert str(caught.value).endswith(f"use {OF_MODULE[name]}")
    with pytest.raises(ImportError, match=f"cannot import name '{name}'"):
        exec(f"from deltaic import {name}")  # noqa: S102 - as people write it


@pytest.mark.parametrize("name", OF_TABLES)
def test_names_of_other_tables(table: deltaic.Table, name: str) -> None:
    of: Any
    for of in (table, table.snapshot()):
        with pytest.raises(AttributeError, match=name) as caught:
            getattr(of, name)
        assert str(caught.value).endswith(f"use {OF_TABLES[name]}")


def test_other_names_are_as_usual(table: deltaic.Table) -> None:
    of: Any
    for of in (table, table.snapshot(), importlib.import_module("deltaic")):
        assert not hasattr(of, "no_such_name")
        with pytest.raises(AttributeError, match=r"has no attribute 'no_such_name'$"):
            _ = of.no_such_name


VERBS: dict[str, Any] = {
    "append": lambda table, **options: table.append(ROWS, **options),
    "overwrite": lambda table, **options: table.overwrite(ROWS, **options),
    "delete": lambda table, **options: table.delete(**options),
    "update": lambda table, **options: table.update({"name": "'x'"}, **options),
    "merge": lambda table, **options: (
        table.merge(ROWS, "target.id = source.id").when_matched_delete().execute(**options)
    ),
    "write": lambda table, **options: deltaic.write(table.uri, ROWS, **options),
    "transaction": lambda table, **options: table.transaction(**options),
}
TAKEN = {
    "append": {"schema_mode"},
    "overwrite": {"schema_mode", "partition_by"},
    "write": {"schema_mode", "partition_by", "mode", "storage_options"},
}


@pytest.mark.parametrize("verb", VERBS)
def test_arguments_of_other_libraries(table: deltaic.Table, verb: str) -> None:
    for name, hint in ARGUMENTS.items():
        if name in TAKEN.get(verb, ()):
            continue
        with pytest.raises(TypeError) as caught:
            VERBS[verb](table, **{name: "x"})
        assert str(caught.value).endswith(f"has no option {name!r}: use {hint}")
    assert table.version == 0


def started(table: deltaic.Table) -> Any:
    return table.merge(ROWS, "target.id = source.id")


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda table: table.merge(ROWS, predicate="s.id = t.id"), r"Table\.merge.*'predicate': use on=…"),
        (lambda table: started(table).when_matched_update(updates={}), r"Merge\..*'updates': use set="),
        (lambda table: started(table).when_not_matched_insert(updates={}), "use values="),
        (
            lambda table: started(table).when_matched_update_all(except_cols=["id"]),
            "use the clause without _all",
        ),
        (lambda table: started(table).when_matched_delete(predicate="true"), "use condition=…"),
        (
            lambda table: deltaic.Table(table.uri, version=1),
            r"Table\.__init__.*use deltaic.Table\(uri\)\.snapshot",
        ),
        (lambda table: deltaic.Table.create(table.uri, ROWS.schema, partitionBy=["id"]), "use partition_by="),
        (lambda table: table.snapshot(versionAsOf=0), r"Table\.snapshot\(\).*use version=…"),
        (lambda table: table.changes(starting_version=0), r"Table\.changes\(\).*use start=…"),
        (lambda table: table.delete(condition="true"), "'condition': use where=…"),
        (lambda table: table.restore(target=0), "'target': use version=… or timestamp=…"),
        (lambda table: table.vacuum(retention_hours=1), r"use retention=timedelta\(hours=…\)"),
        (lambda table: table.vacuum(enforce_retention_duration=False), "use force=True"),
        (lambda table: table.update(), r"^Table\.update\(\) missing 1"),
        (lambda table: table.append(), r"^Table\.append\(\) missing 1"),
        (lambda table: table.checkpoint(1, 2, 3), r"^Table\.checkpoint\(\) takes"),
        (lambda table: started(table).when_matched_update(), r"^Merge\.when_matched_update\(\) missing 1"),
    ],
)
def test_calls_that_fit_no_method(table: deltaic.Table, call: Any, message: str) -> None:
    with pytest.raises(TypeError, match=message):
        call(table)
    assert table.version == 0


def shown(table: deltaic.Table) -> str:
    return table.uri


def test_a_class_of_the_user_keeps_its_names(table: deltaic.Table) -> None:
    class Own(deltaic.Table):
        show = shown

    assert Own(table.uri).show() == table.uri
    assert shown.__qualname__ == "shown"
    assert deltaic.Table.append.__qualname__ == "Table.append"
