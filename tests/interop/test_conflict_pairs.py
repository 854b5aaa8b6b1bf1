"""Two transactions of one version, the second of which meets the first: delta-spark and deltaic agree.

Each pair has its turn in one of three runs of the usual kind; `make interop PAIRS=all` runs all of them.
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
from .pairs import ALL, OPERATIONS, Operation, add, make_table
from .test_delta_spark import spark  # noqa: F401 - a fixture

# delta-spark's names for what deltaic names.
NAMES = {
    "ConcurrentAppendException": "ConcurrentAppend",
    "ConcurrentDeleteReadException": "ConcurrentDeleteRead",
    "ConcurrentDeleteDeleteException": "ConcurrentDeleteDelete",
    "ConcurrentTransactionException": "ConcurrentTransaction",
    "MetadataChangedException": "MetadataChanged",
    "ProtocolChangedException": "ProtocolChanged",
}

# Where deltaic says something else on purpose: the loser, the winner, and what it says.
INTENDED = {
    # The winner has brought the application as far as the loser would, so its work is done
    # (docs/decisions/0027).
    ("an application", "an application"): "skipped",
    ("another application", "another application"): "skipped",
}

SHARE = 1 if os.environ.get("PAIRS") == "all" else 3


@pytest.fixture(scope="module")
def delta(spark: SparkSession) -> DeltaSpark:  # noqa: F811 - the fixture
    return DeltaSpark(spark)


@pytest.fixture(scope="module")
def winners(delta: DeltaSpark, tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """The commit of each operation at version 1, by delta-spark."""
    commits: dict[str, bytes] = {}
    for number, operation in enumerate(OPERATIONS):
        root = make_table(tmp_path_factory.mktemp("winner") / str(number))
        assert delta.begin(root, operation).commit() == "committed"
        commits[operation.name] = commit_path(root, 1).read_bytes()
    return commits


@pytest.fixture(autouse=True)
def forgetting(delta: DeltaSpark) -> Iterator[None]:
    yield
    delta.forget()


@pytest.mark.parametrize("loser", OPERATIONS, ids=lambda operation: operation.name)
def test_a_loser_behind_every_winner(
    delta: DeltaSpark, winners: dict[str, bytes], tmp_path: Path, loser: Operation
) -> None:
    differences: list[str] = []
    met = [pair for pair in enumerate(winners.items()) if (pair[0] + OPERATIONS.index(loser)) % SHARE == 0]
    for number, (winner, commit) in met:
        told = outcome_of_delta_spark(delta, make_table(tmp_path / f"theirs{number}"), loser, commit)
        ours = outcome_of_deltaic(make_table(tmp_path / f"ours{number}"), loser, commit)
        expected = INTENDED.get((loser.name, winner), NAMES.get(told, told))
        if ours != expected:
            differences.append(f"behind {winner!r}: deltaic {ours}, delta-spark {told}")
    assert not differences, "\n".join([loser.name, *differences])
    shutil.rmtree(tmp_path)


def test_there_are_a_hundred_pairs() -> None:
    assert len(OPERATIONS) ** 2 // SHARE >= 100
    assert len({operation.name for operation in OPERATIONS}) == len(OPERATIONS)


def outcome_of_delta_spark(delta: DeltaSpark, root: Path, loser: Operation, winner: bytes) -> str:
    transaction = delta.begin(root, loser)
    commit_path(root, 1).write_bytes(winner)
    return transaction.commit()


def outcome_of_deltaic(root: Path, loser: Operation, winner: bytes) -> str:
    table = deltaic.Table(root)
    transaction = table.transaction(app_transaction=loser.app, row_level=False)
    try:
        with transaction as tx:
            stage(tx, loser, root)
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
    if operation.adds:
        tx.add([given(root, number, operation) for number in range(len(operation.adds))])


def given(root: Path, number: int, operation: Operation) -> dict[str, object]:
    # Without a change of data all rows that go come again.
    rows = 1 if operation.data_change else len(operation.removes) // len(operation.adds)
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
