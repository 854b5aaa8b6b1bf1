"""Operations that meet: what each reads, removes and adds of one small table, for two implementations."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path

# Partition `a` and `b` of column p, two files each; and a domain, so that domains can be changed.
FILES = {"a0.parquet": "a", "a1.parquet": "a", "b0.parquet": "b", "b1.parquet": "b"}
IN_A = "p = 'a'"
IN_B = "p = 'b'"
# A predicate that says nothing of partitions.
BY_ID = "id > 0"
ALL = ""
DOMAIN = "app.limits"


@dataclass(frozen=True)
class Operation:
    """What one transaction does: it reads where each predicate says, and stages the rest."""

    name: str
    reads: tuple[str, ...] = ()
    removes: tuple[str, ...] = ()
    # The partitions that files are added to.
    adds: tuple[str, ...] = ()
    data_change: bool = True
    app_read: str | None = None
    # An application that is read, and how far this brings it.
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
]


def make_table(root: Path) -> Path:
    """The table that both start from: version 0, without any data file behind it."""
    columns = [("id", "long"), ("p", "string")]
    fields = [{"name": name, "type": kind, "nullable": True, "metadata": {}} for name, kind in columns]
    lines = [
        {"commitInfo": {"operation": "CREATE TABLE AS SELECT", "timestamp": 1}},
        {"protocol": {"minReaderVersion": 1, "minWriterVersion": 7, "writerFeatures": ["domainMetadata"]}},
        {
            "metaData": {
                "id": "pairs",
                "format": {"provider": "parquet", "options": {}},
                "schemaString": json.dumps({"type": "struct", "fields": fields}),
                "partitionColumns": ["p"],
                "configuration": {},
                "createdTime": 1,
            }
        },
        *({"add": add(path, partition)} for path, partition in FILES.items()),
    ]
    log = root / "_delta_log"
    log.mkdir(parents=True)
    (log / f"{0:020}.json").write_text("".join(json.dumps(line) + "\n" for line in lines))
    return root


def add(path: str, partition: str, *, data_change: bool = True, rows: int = 1) -> dict[str, object]:
    """An add of rows with the id 7."""
    stats = {"numRecords": rows, "minValues": {"id": 7}, "maxValues": {"id": 7}, "nullCount": {"id": 0}}
    return {
        "path": path,
        "partitionValues": {"p": partition},
        "size": 1,
        "modificationTime": 1,
        "dataChange": data_change,
        "stats": json.dumps(stats),
    }
