"""Pairs of operations on one small table, with their reads, removes and adds, for two implementations."""

from __future__ import annotations

import itertools
import json
import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.protocol import handmade_vectors
from tests.seed import generator

# Partitions `a` and `b` of column p, two files each; and a domain for changes of domain metadata.
FILES = {"a0.parquet": "a", "a1.parquet": "a", "b0.parquet": "b", "b1.parquet": "b"}
IN_A = "p = 'a'"
IN_B = "p = 'b'"
# A predicate without partition columns.
BY_ID = "id > 0"
ALL = ""
DOMAIN = "app.limits"
ROWS = 2


@dataclass(frozen=True)
class Setting:
    """The configuration of the table."""

    isolation: str = "Serializable"
    vectors: bool = False
    row_tracking: bool = False

    def __str__(self) -> str:
        named = {"deletion vectors": self.vectors, "row tracking": self.row_tracking}
        return ", ".join([self.isolation, *(name for name, has in named.items() if has)])

    def permits(self, operation: Operation) -> bool:
        """Whether the operation is possible: rows are deleted only if the table has deletion vectors."""
        return self.vectors or not operation.deletes


SETTINGS = [
    Setting(isolation, vectors, row_tracking)
    for isolation in ("Serializable", "WriteSerializable")
    for vectors in (False, True)
    for row_tracking in (False, True)
]


@dataclass(frozen=True)
class Operation:
    """The operations of one transaction: it reads the files of each predicate, and stages the rest."""

    name: str
    reads: tuple[str, ...] = ()
    removes: tuple[str, ...] = ()
    # The partitions of added files.
    adds: tuple[str, ...] = ()
    # Rows that get a deletion vector, by file.
    deletes: dict[str, int] = field(default_factory=dict[str, int])
    data_change: bool = True
    app_read: str | None = None
    # An application id that is read, and its new version.
    app: tuple[str, int] | None = None
    domain: str | None = None
    properties: dict[str, str] = field(default_factory=dict[str, str])
    column: str | None = None

    @property
    def only_files(self) -> bool:
        """Whether it changes nothing but files."""
        return not (self.properties or self.column or self.domain or self.app)


OPERATIONS = [
    Operation("append to a", adds=("a",)),
    Operation("append to b", adds=("b",)),
    Operation("append to both", adds=("a", "b")),
    Operation("read a, append to a", reads=(IN_A,), adds=("a",)),
    Operation("read a, append to b", reads=(IN_A,), adds=("b",)),
    Operation("read by id, append to b", reads=(BY_ID,), adds=("b",)),
    Operation("read all, append to a", reads=(ALL,), adds=("a",)),
    Operation("delete a file of a", reads=(IN_A,), removes=("a0.parquet",)),
    Operation("delete the other file of a", reads=(IN_A,), removes=("a1.parquet",)),
    Operation("delete partition b", reads=(IN_B,), removes=("b0.parquet", "b1.parquet")),
    Operation("delete by id", reads=(BY_ID,), removes=("a0.parquet",)),
    Operation("update a file of a", reads=(IN_A,), removes=("a0.parquet",), adds=("a",)),
    Operation("move a file from a to b", reads=(IN_A,), removes=("a1.parquet",), adds=("b",)),
    Operation(
        "optimize a", reads=(IN_A,), removes=("a0.parquet", "a1.parquet"), adds=("a",), data_change=False
    ),
    Operation("optimize all", reads=(ALL,), removes=tuple(FILES), adds=("a", "b"), data_change=False),
    Operation("overwrite", reads=(ALL,), removes=tuple(FILES), adds=("a",)),
    Operation("an application", adds=("a",), app=("app", 1)),
    Operation("another application", adds=("a",), app=("other", 1)),
    Operation("ask for the application", adds=("b",), app_read="app"),
    Operation("a domain", domain=DOMAIN),
    Operation("another domain", domain="app.other"),
    Operation("a property", properties={"note": "x"}),
    Operation("another property", properties={"delta.logRetentionDuration": "interval 9 days"}),
    Operation("a column", column="more"),
    Operation("delete a row of a", reads=(IN_A,), deletes={"a0.parquet": 0}),
    Operation("delete another row of a", reads=(IN_A,), deletes={"a0.parquet": 1}),
    Operation("delete rows of both", reads=(BY_ID,), deletes={"a1.parquet": 0, "b0.parquet": 1}),
]


@dataclass(frozen=True)
class Pair:
    """A transaction, the concurrent commit of another, and the table of both."""

    loser: Operation
    winner: Operation
    setting: Setting


# Numbers of winning operations per table configuration, and of configurations per losing operation, unless
# all pairs are requested.
WINNERS = 4
CONFIGURATIONS = 3


def every_pair() -> list[Pair]:
    """Returns all pairs that their table configurations permit."""
    every = itertools.starmap(Pair, itertools.product(OPERATIONS, OPERATIONS, SETTINGS))
    return [pair for pair in every if all(map(pair.setting.permits, (pair.loser, pair.winner)))]


def chosen(label: str = "conflict pairs") -> list[Pair]:
    """Returns a random winner for each loser and some table configurations; all pairs with `PAIRS=all`."""
    if os.environ.get("PAIRS") == "all":
        return every_pair()
    # delta-spark commits the winners, which takes as long as a pair: use only a few per configuration.
    chance = generator(label)
    winners = {setting: chance.sample(OPERATIONS, WINNERS) for setting in SETTINGS}
    pairs: list[Pair] = []
    for loser in OPERATIONS:
        for setting in chance.sample(
            [setting for setting in SETTINGS if setting.permits(loser)], CONFIGURATIONS
        ):
            permitted = [winner for winner in winners[setting] if setting.permits(winner)]
            pairs.append(Pair(loser, chance.choice(permitted), setting))
    return pairs


def make_table(root: Path, setting: Setting) -> Path:
    """Writes the initial table: version 0, without data files."""
    columns = [("id", "long"), ("p", "string")]
    fields = [{"name": name, "type": kind, "nullable": True, "metadata": {}} for name, kind in columns]
    protocol: dict[str, Any] = {"minReaderVersion": 1, "minWriterVersion": 7}
    features = ["domainMetadata"]
    properties = {"delta.isolationLevel": setting.isolation}
    if setting.vectors:
        protocol |= {"minReaderVersion": 3, "readerFeatures": ["deletionVectors"]}
        features.append("deletionVectors")
        properties["delta.enableDeletionVectors"] = "true"
    if setting.row_tracking:
        features.append("rowTracking")
        properties |= {
            "delta.enableRowTracking": "true",
            "delta.rowTracking.materializedRowIdColumnName": "_row-id",
            "delta.rowTracking.materializedRowCommitVersionColumnName": "_row-version",
        }
    mark = {"domain": "delta.rowTracking", "removed": False}
    mark["configuration"] = json.dumps({"rowIdHighWaterMark": ROWS * len(FILES) - 1})
    lines = [
        {"commitInfo": {"operation": "CREATE TABLE AS SELECT", "timestamp": 1}},
        {"protocol": {**protocol, "writerFeatures": features}},
        {
            "metaData": {
                "id": "pairs",
                "format": {"provider": "parquet", "options": {}},
                "schemaString": json.dumps({"type": "struct", "fields": fields}),
                "partitionColumns": ["p"],
                "configuration": properties,
                "createdTime": 1,
            }
        },
        *({"add": first_add(path, setting)} for path in FILES),
        *([{"domainMetadata": mark}] if setting.row_tracking else []),
    ]
    log = root / "_delta_log"
    log.mkdir(parents=True)
    (log / f"{0:020}.json").write_text("".join(json.dumps(line) + "\n" for line in lines))
    return root


def first_add(path: str, setting: Setting) -> dict[str, Any]:
    """Returns the add of one of the first files."""
    ids = {"baseRowId": ROWS * list(FILES).index(path), "defaultRowCommitVersion": 0}
    return add(path, FILES[path]) | (ids if setting.row_tracking else {})


def add(path: str, partition: str, *, data_change: bool = True, rows: int = ROWS) -> dict[str, Any]:
    """Returns an add of rows with the id 7."""
    stats = {"numRecords": rows, "minValues": {"id": 7}, "maxValues": {"id": 7}, "nullCount": {"id": 0}}
    return {
        "path": path,
        "partitionValues": {"p": partition},
        "size": 1,
        "modificationTime": 1,
        "dataChange": data_change,
        "stats": json.dumps(stats),
    }


def delete_by_vector(path: str, row: int, setting: Setting) -> list[dict[str, dict[str, Any]]]:
    """Returns the remove and the add that delete a row of one of the first files."""
    came = first_add(path, setting) | handmade_vectors.without(row)
    came["stats"] = json.dumps({**json.loads(came["stats"]), "tightBounds": False})
    ids = {name: came[name] for name in ("baseRowId", "defaultRowCommitVersion") if name in came}
    went = {
        "path": path,
        "deletionTimestamp": 1,
        "dataChange": True,
        "extendedFileMetadata": True,
        "partitionValues": {"p": FILES[path]},
        "size": 1,
        **ids,
    }
    return [{"remove": went}, {"add": came}]
