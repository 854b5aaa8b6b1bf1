"""Rows are appended to a copy of every reference table that can be read, except those with a reason.

Each table gets some of its own rows once more. A reader that opens the table again reads its rows and the
appended ones.
"""

from __future__ import annotations

import shutil
import warnings
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pytest

import deltaic

from .expectations import readable
from .opening import needs_golden
from .reference import GOLDEN, reference
from .rows import difference

# The error of an append, by the reason for it.
REFUSED: dict[str, tuple[type[deltaic.DeltaicError], str]] = {
    "delta-rs/checkpoint-v2-table": (deltaic.SchemaMismatch, "always generated"),
    "delta-rs/issue-2152": (deltaic.SchemaMismatch, "always generated"),
    "delta-spark-fresh/identity_columns": (deltaic.SchemaMismatch, "always generated"),
}
# Columns of type `char(n)`, which are padded when they are written.
PADDED = {"delta-spark-fresh/primitives": {"c": 5}}
APPENDED = 40


def copied(name: str, place: Path) -> Path:
    source = reference(name).folder
    shutil.copytree(source, place, ignore=shutil.ignore_patterns(".*"), copy_function=shutil.copyfile)
    for path in place.rglob("*"):
        if path.is_dir():
            path.chmod(0o755)
    return place


def scanned(root: Path) -> pa.Table:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", deltaic.DeltaicWarning)
        # Variants are written in other bytes.
        return deltaic.Table(root).snapshot().scan(variant="json").to_arrow()


@needs_golden
@pytest.mark.parametrize("name", readable() if GOLDEN.is_dir() else [])
def test_rows_are_appended(name: str, tmp_path: Path) -> None:
    root = copied(name, tmp_path / "table")
    before = scanned(root)
    table = deltaic.Table(root)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", deltaic.DeltaicWarning)
        version = table.snapshot().version
        more = table.snapshot().scan().to_arrow().slice(0, APPENDED)
        if name in REFUSED:
            kind, message = REFUSED[name]
            with pytest.raises(kind, match=message):
                table.append(more)
            assert deltaic.Table(root).snapshot().version == version
            return
        # Without rows nothing is committed.
        assert table.append(more).version == version + (1 if more.num_rows else 0)
    more = before.slice(0, APPENDED)
    for column, length in PADDED.get(name, {}).items():
        padded = pc.utf8_rpad(more[column], length)
        more = more.set_column(more.column_names.index(column), more.schema.field(column), padded)
    found = difference(scanned(root), pa.concat_tables([before, more]))
    assert found is None, found


@needs_golden
def test_refused_tables_exist() -> None:
    assert set(REFUSED) <= set(readable())
