"""Tables that the scripts use."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import deltaic
from deltaic import _rust
from tests.required import skip_without_development_build
from tests.stores.strict_store import StrictStore, strict_store

from .opened import Watch
from .place import OUTSIDE, SCHEMA, Place

FILES = 40_000


@pytest.fixture(autouse=True)
def _faults_on_demand(request: pytest.FixtureRequest) -> None:
    if request.node.get_closest_marker("breaks_off") and not hasattr(_rust, "provoke"):
        skip_without_development_build("provoke")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A table of six rows in two files."""
    table = deltaic.Table.create(tmp_path / "table", SCHEMA)
    table.append(pa.table({"id": [0, 1, 2]}))
    table.append(pa.table({"id": [3, 4, 5]}))
    return tmp_path / "table"


@pytest.fixture(scope="session")
def large(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A table whose log takes seconds to read, and so do its rows."""
    root = tmp_path_factory.mktemp("large") / "table"
    table = deltaic.Table.create(root, SCHEMA)
    table.append(pa.table({"id": range(50_000)}))
    files = table.snapshot().files().to_arrow()
    [path], [size] = files["path"].to_pylist(), files["size"].to_pylist()
    add = {"size": size, "partitionValues": {}, "modificationTime": 1, "dataChange": True}
    for version in range(2, 6):
        lines = []
        for number in range(FILES // 4):
            name = f"v{version}-{number}.parquet"
            if number < 200:
                os.link(root / path, root / name)
            statistics = json.dumps(
                {"numRecords": 50_000, "minValues": {"id": 0}, "maxValues": {"id": number}}
            )
            lines.append(json.dumps({"add": {"path": name, **add, "stats": statistics}}))
        (root / "_delta_log" / f"{version:020}.json").write_text("\n".join(lines))
    return root


@pytest.fixture
def strict() -> Iterator[StrictStore]:
    """A store that can be made to never respond."""
    with strict_store() as made:
        yield made


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Place]:
    """A table of one row, and a watched folder outside of it with its files."""
    root, outside = tmp_path / "table", tmp_path / "outside"
    deltaic.Table.create(root, SCHEMA).append(pa.table({"id": [1]}))
    outside.mkdir()
    pq.write_table(pa.table({"id": [OUTSIDE]}), outside / "rows.parquet")
    made = Place(root, outside, Watch())
    made.watch_all()
    yield made
    made.watch.close()
