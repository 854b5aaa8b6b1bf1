"""Two concurrent transactions, the second of which conflicts or not: delta-spark and deltaic agree.

The seed (`tests/seed.py`) chooses the pairs; `make interop PAIRS=all` runs all of them.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

import deltaic
from deltaic.alter import AddColumn, SetDomain, SetProperties
from deltaic.exceptions import CommitConflict
from deltaic.transaction import Transaction

from .jvm_transactions import DeltaSpark
from .pairs import (
    ALL,
    OPERATIONS,
    ROWS,
    SETTINGS,
    Operation,
    Pair,
    Setting,
    add,
    chosen,
    make_table,
)

# delta-spark's names of deltaic's exceptions.
NAMES = {
    "ConcurrentAppendException": "ConcurrentAppend",
    "ConcurrentDeleteReadException": "ConcurrentDeleteRead",
    "ConcurrentDeleteDeleteException": "ConcurrentDeleteDelete",
    "ConcurrentTransactionException": "ConcurrentTransaction",
    "MetadataChangedException": "MetadataChanged",
    "ProtocolChangedException": "ProtocolChanged",
}

# Intended differences: the loser, the winner, and deltaic's result.
INTENDED = {
    # The winner has committed the same version of the application, so the loser's work is done
    # (docs/decisions/0027).
    ("an application", "an application"): "skipped",
    ("another application", "another application"): "skipped",
}

PAIRS = chosen()


@pytest.fixture(scope="module")
def delta(spark: SparkSession) -> DeltaSpark:
    return DeltaSpark(spark)


class Winners:
    """delta-spark's commit of each operation at version 1 of each table configuration."""

    def __init__(self, delta: DeltaSpark, folder: Path) -> None:
        self._delta, self._folder = delta, folder
        self._commits: dict[tuple[str, Setting], bytes] = {}

    def commit(self, pair: Pair) -> bytes:
        """Returns the bytes of a winner's commit."""
        key = (pair.winner.name, pair.setting)
        if key not in self._commits:
            root = make_table(self._folder / str(len(self._commits)), pair.setting)
            assert self._delta.begin(root, pair.winner, pair.setting).commit() == "committed"
            self._commits[key] = commit_path(root, 1).read_bytes()
        return self._commits[key]


@pytest.fixture(scope="module")
def winners(delta: DeltaSpark, tmp_path_factory: pytest.TempPathFactory) -> Winners:
    return Winners(delta, tmp_path_factory.mktemp("winners"))


@pytest.fixture(autouse=True)
def forgetting(delta: DeltaSpark) -> Iterator[None]:
    yield
    delta.forget()


@pytest.mark.parametrize("loser", OPERATIONS, ids=lambda operation: operation.name)
def test_a_loser_and_its_winning_commits(
    delta: DeltaSpark, winners: Winners, tmp_path: Path, loser: Operation
) -> None:
    differences: list[str] = []
    for number, pair in enumerate(pair for pair in PAIRS if pair.loser == loser):
        commit = winners.commit(pair)
        told = outcome_of_delta_spark(
            delta, make_table(tmp_path / f"theirs{number}", pair.setting), pair, commit
        )
        ours = outcome_of_deltaic(make_table(tmp_path / f"ours{number}", pair.setting), pair, commit)
        expected = INTENDED.get((loser.name, pair.winner.name), NAMES.get(told, told))
        if ours != expected:
            found = f"deltaic {ours}, delta-spark {told}"
            differences.append(f"behind {pair.winner.name!r} ({pair.setting}): {found}")
    assert not differences, "\n".join([loser.name, *differences])
    shutil.rmtree(tmp_path)


def test_the_pairs_are_of_every_kind() -> None:
    assert len({operation.name for operation in OPERATIONS}) == len(OPERATIONS)
    assert {pair.loser.name for pair in PAIRS} == {operation.name for operation in OPERATIONS}
    assert {pair.setting for pair in PAIRS} == set(SETTINGS)
    assert chosen() == PAIRS
    assert os.environ.get("PAIRS") == "all" or chosen("other pairs") != PAIRS


def outcome_of_delta_spark(delta: DeltaSpark, root: Path, pair: Pair, winner: bytes) -> str:
    transaction = delta.begin(root, pair.loser, pair.setting)
    commit_path(root, 1).write_bytes(winner)
    return transaction.commit()


def outcome_of_deltaic(root: Path, pair: Pair, winner: bytes) -> str:
    table = deltaic.Table(root)
    # delta-spark does not consider the operation of its transaction (`ManualUpdate`) to change data.
    operation = "WRITE" if pair.loser.data_change else "OPTIMIZE"
    transaction = table.transaction(operation=operation, app_transaction=pair.loser.app, row_level=False)
    try:
        with transaction as tx:
            stage(tx, pair.loser, root)
            commit_path(root, 1).write_bytes(winner)
    except CommitConflict as error:
        return type(error).__name__
    assert transaction.committed is not None
    return "skipped" if transaction.committed.skipped else "committed"


def stage(tx: Transaction, operation: Operation, root: Path) -> None:
    for predicate in operation.reads:
        if predicate == ALL:
            tx.read()
        tx.files(predicate or None)
    if operation.app_read:
        tx.read_app(operation.app_read)
    if operation.properties:
        tx.alter(SetProperties(operation.properties))
    if operation.column:
        tx.alter(AddColumn(operation.column, pa.int64()))
    if operation.domain:
        tx.alter(SetDomain(operation.domain, "{}"))
    if operation.removes:
        tx.remove(operation.removes, data_change=operation.data_change)
    if operation.deletes:
        tx.delete_rows({path: [row] for path, row in operation.deletes.items()})
    if operation.adds:
        tx.add([given(root, number, operation) for number in range(len(operation.adds))])


def given(root: Path, number: int, operation: Operation) -> dict[str, object]:
    # Without a data change, all removed rows must be added again.
    rows = ROWS if operation.data_change else ROWS * len(operation.removes) // len(operation.adds)
    told = add(f"n{number}.parquet", operation.adds[number], rows=rows)
    (root / f"n{number}.parquet").write_bytes(b"-")
    return {
        "path": told["path"],
        "size": told["size"],
        "partition_values": told["partitionValues"],
        "modification_time": told["modificationTime"],
        "stats": told["stats"],
        "data_change": operation.data_change,
    }


def commit_path(root: Path, version: int) -> Path:
    return root / "_delta_log" / f"{version:020}.json"
