"""Headings *Table Features* and *Supported Features*: more tables can be opened than read.

``docs/reference/features.md`` lists what is supported; every row of that page is tested here.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pytest

import deltaic

from .handmade_log import HandmadeTable, add, domain, ids, metadata, protocol, read_commit

PAGE = Path(__file__).resolve().parents[2] / "docs/reference/features.md"
IN_COMMIT_TIME = {"commitInfo": {"inCommitTimestamp": 1_700_000_000_000, "txnId": "t", "operation": "X"}}


@dataclass(frozen=True)
class Row:
    """A row of the page."""

    name: str
    binds_readers: bool
    opens: bool
    read: str
    append: str
    needs: tuple[str, ...]
    aliases: tuple[str, ...]


def _page() -> dict[str, Row]:
    rows: dict[str, Row] = {}
    for line in PAGE.read_text().splitlines():
        if not line.startswith("| `"):
            continue
        name, binds, _, opens, read, append, _, needs, _, aliases = (
            cell.strip() for cell in line.strip("|").split("|")
        )
        rows[name.strip("`")] = Row(
            name.strip("`"), "readers" in binds, opens == "yes", read, append, _names(needs), _names(aliases)
        )
    return rows


def _names(cell: str) -> tuple[str, ...]:
    return tuple(name.strip().strip("`") for name in cell.split(",") if name.strip())


FEATURES = _page()


def with_needs(row: Row) -> list[Row]:
    """Returns a feature and all features that it requires."""
    found, waiting = [row], list(row.needs)
    while waiting:
        needed = FEATURES[waiting.pop()]
        waiting += needed.needs
        found.append(needed)
    return found


def asking_for(root: Path, name: str, row: Row) -> HandmadeTable:
    """A table with a data file that lists a feature, by its name or an alias, and all that it requires."""
    needed = with_needs(row)[1:]
    writers = sorted({name, *(one.name for one in needed)})
    readers = sorted(
        {one.name for one in needed if one.binds_readers} | ({name} if row.binds_readers else set())
    )
    table = HandmadeTable(root)
    needs = protocol(3, 7, readers, writers) if readers else protocol(1, 7, None, writers)
    table.commit(IN_COMMIT_TIME, needs, metadata(), table.data("a.parquet", ids(1, 2)))
    return table


def test_the_page_has_been_read() -> None:
    assert len(FEATURES) > 30
    assert {"deletionVectors", "columnMapping", "v2Checkpoint", "catalogManaged"} <= set(FEATURES)


SPELLINGS = [(name, row) for row in FEATURES.values() for name in (row.name, *row.aliases)]


@pytest.mark.parametrize(("name", "row"), SPELLINGS, ids=[name for name, _ in SPELLINGS])
def test_a_table_that_lists_a_feature(tmp_path: Path, name: str, row: Row) -> None:
    """Opened, read or refused as the page says; an error uses the feature name of the table.

    protocol: table-features.3, table-features.4, supported-features.1, beyond:aliases.1
    """
    table = asking_for(tmp_path / "t", name, row)
    asked = with_needs(row)
    if not all(one.opens for one in asked):
        with pytest.raises(deltaic.UnsupportedFeature, match=name) as caught:
            deltaic.Table(table.root).snapshot()
        assert caught.value.hint
        return
    snapshot = deltaic.Table(table.root).snapshot()
    assert name in snapshot.protocol.writer_features
    assert (name in snapshot.protocol.reader_features) == row.binds_readers
    assert snapshot.num_files == 1
    assert snapshot.files().to_arrow()["path"].to_pylist() == ["a.parquet"]
    assert snapshot.tombstones().to_arrow().num_rows == 0
    assert [commit.version for commit in deltaic.Table(table.root).history()] == [0]
    if any(one.read == "no" for one in asked if one.binds_readers):
        for ask in (lambda: snapshot.scan().to_arrow(), lambda: snapshot.scan().count()):
            with pytest.raises(deltaic.UnsupportedFeature) as caught:
                ask()
            assert name in caught.value.message or row.read != "no"
            assert caught.value.hint
    else:
        assert snapshot.scan().to_arrow()["id"].to_pylist() == [1, 2]


@pytest.mark.parametrize(("name", "row"), SPELLINGS, ids=[name for name, _ in SPELLINGS])
def test_nothing_is_written_to_a_table_that_lists_what_we_do_not_write(
    tmp_path: Path, name: str, row: Row
) -> None:
    """protocol: table-features.5, table-features.6, supported-features.1, supported-features.2."""
    table = asking_for(tmp_path / "t", name, row)
    before = sorted(path.name for path in table.root.rglob("*"))
    handle = deltaic.Table(table.root)
    if all(one.append != "no" for one in with_needs(row)):
        assert handle.append(ids(3)).version == 1
        assert not [action for action in read_commit(table.root, 1) if "protocol" in action]
        assert name in handle.snapshot().protocol.writer_features
        return
    with pytest.raises(deltaic.UnsupportedFeature) as caught:
        handle.append(ids(3))
    assert caught.value.hint
    assert sorted(path.name for path in table.root.rglob("*")) == before


def test_a_mapping_that_only_writers_are_reported_of_is_tolerated(tmp_path: Path) -> None:
    """protocol: beyond:aliases.1."""
    for name, needs in {
        "readers 1": protocol(1, 7, None, ["columnMapping"]),
        "readers 3": protocol(3, 7, ["timestampNtz"], ["columnMapping", "timestampNtz"]),
    }.items():
        table = HandmadeTable(tmp_path / name)
        table.commit(needs, metadata(), table.data("a.parquet", ids(1)))
        assert deltaic.Table(table.root).snapshot().scan().to_arrow()["id"].to_pylist() == [1]


def test_a_feature_that_comes_later_counts_at_once(tmp_path: Path) -> None:
    """protocol: supported-features.1, beyond:unknown.1."""
    table = HandmadeTable(tmp_path / "t")
    table.create(table.data("a.parquet", ids(1)))
    handle = deltaic.Table(table.root)
    snapshot = handle.snapshot()
    table.commit(protocol(3, 7, ["fromTheFuture"], ["fromTheFuture"]))
    for ask in (snapshot.refresh, handle.snapshot, lambda: handle.append(ids(2))):
        with pytest.raises(deltaic.UnsupportedFeature, match="fromTheFuture"):
            ask()
    assert snapshot.scan().to_arrow()["id"].to_pylist() == [1]


def test_v2_checkpoints_are_a_feature_of_readers_and_writers(tmp_path: Path) -> None:
    """protocol: v2-checkpoint-table-feature.1, v2-checkpoint-table-feature.2."""
    right = HandmadeTable(tmp_path / "right")
    right.commit(protocol(3, 7, ["v2Checkpoint"], ["v2Checkpoint"]), metadata(), add("a.parquet"))
    assert deltaic.Table(right.root).snapshot().num_files == 1
    wrong = {
        "at writer version 6": protocol(3, 6, ["v2Checkpoint"], ["v2Checkpoint"]),
        "with no list for readers": protocol(3, 7, None, ["v2Checkpoint"]),
        "with no list for writers": protocol(3, 7, ["v2Checkpoint"]),
    }
    for name, action in wrong.items():
        table = HandmadeTable(tmp_path / name)
        table.commit(action, metadata(), add("a.parquet"))
        with pytest.raises(deltaic.CorruptLog):
            deltaic.Table(table.root).snapshot()


def test_a_system_domain_of_a_feature_that_is_not_known_is_carried(tmp_path: Path) -> None:
    table = HandmadeTable(tmp_path / "t")
    table.commit(protocol(1, 7, None, ["domainMetadata"]), metadata(), domain("delta.fromTheFuture", "{}"))
    assert deltaic.Table(table.root).snapshot().domain_metadata == {"delta.fromTheFuture": "{}"}
