"""Ways to damage a table, and operations on it. Each function takes the table's folder.

The table: two commits, each with one file of two rows, columns `id` (long) and `name` (string, not null),
partitioned by `day` (date).
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable
from datetime import date
from functools import cache
from pathlib import Path
from typing import Any

import pyarrow as pa

import deltaic
from tests.protocol.handmade_log import (
    Action,
    HandmadeTable,
    add,
    commit_path,
    field,
    metadata,
    protocol,
    read_commit,
    schema,
)

Damage = Callable[[Path], object]
Meeting = Callable[[Path], object]

SCHEMA_STRING = schema(field("id"), field("name", "string", nullable=False), field("day", "date"))
ARROW = pa.schema([("id", pa.int64()), pa.field("name", pa.string(), nullable=False), ("day", pa.date32())])
FIRST_FILE = "day=2026-11-01/a.parquet"


def healthy(root: Path) -> HandmadeTable:
    """Writes the undamaged table."""
    table = HandmadeTable(root)
    for name, content in _healthy_files().items():
        (root / name).parent.mkdir(exist_ok=True)
        (root / name).write_bytes(content)
        table.next_version += name.endswith(".json")
    return table


@cache
def _healthy_files() -> dict[str, bytes]:
    """Returns the files of the undamaged table, made once for hundreds of cases."""
    with tempfile.TemporaryDirectory() as folder:
        table = HandmadeTable(Path(folder))
        for number, actions in enumerate(([protocol(), metadata(SCHEMA_STRING, ["day"])], [])):
            day = f"2026-11-0{number + 1}"
            file = table.data(
                f"day={day}/{'ab'[number]}.parquet",
                pa.table({"id": [10 * number + 1, 10 * number + 2], "name": ["x", "y"]}),
                values={"day": day},
                stats=json.dumps({"numRecords": 2}),
            )
            table.commit(*actions, file)
        files = (path for path in table.root.rglob("*") if path.is_file())
        return {str(path.relative_to(table.root)): path.read_bytes() for path in files}


def good_rows() -> pa.Table:
    """Returns rows that match the schema."""
    return pa.table({"id": [7], "name": ["z"], "day": [date(2026, 11, 3)]}, ARROW)


# Operations on a table.


def opened(root: Path) -> object:
    return deltaic.Table(root).snapshot()


def scanned(root: Path) -> object:
    return deltaic.Table(root).snapshot().scan().to_arrow()


def appended(root: Path) -> object:
    return deltaic.Table(root).append(good_rows())


def asked_for_history(root: Path) -> object:
    return deltaic.Table(root).history()


def travelled(**where: Any) -> Meeting:
    return lambda root: deltaic.Table(root).snapshot(**where)


def selected(predicate: str) -> Meeting:
    return lambda root: deltaic.Table(root).snapshot().scan(predicate=predicate).to_arrow()


def files_selected(predicate: str) -> Meeting:
    return lambda root: deltaic.Table(root).snapshot().files(predicate=predicate)


def projected(*columns: str) -> Meeting:
    return lambda root: deltaic.Table(root).snapshot().scan(columns=list(columns)).to_arrow()


def appended_rows(**columns: pa.Array | list[Any]) -> Meeting:
    return lambda root: deltaic.Table(root).append(pa.table(columns))


# Kinds of damage.


def nothing(_: Path) -> None:
    pass


def body(content: bytes, *, version: int = 1) -> Damage:
    """Replaces the whole content of a commit."""
    return lambda root: commit_path(root, version).write_bytes(content)


def torn(root: Path) -> None:
    path = commit_path(root, 1)
    path.write_bytes(path.read_bytes()[:-40])


def with_nul_bytes(root: Path) -> None:
    path = commit_path(root, 1)
    path.write_bytes(path.read_bytes() + b"\0" * 512)


def not_utf8(root: Path) -> None:
    path = commit_path(root, 1)
    path.write_bytes(path.read_bytes().replace(b"b.parquet", b"\xff\xfe.parquet"))


def more(*actions: Action, version: int = 1) -> Damage:
    """Appends actions to a commit."""

    def apply(root: Path) -> None:
        with commit_path(root, version).open("a") as file:
            file.writelines(json.dumps(action) + "\n" for action in actions)

    return apply


def instead(*actions: Action, version: int = 0) -> Damage:
    """Replaces the actions of a commit."""

    def apply(root: Path) -> None:
        commit_path(root, version).write_text("".join(json.dumps(action) + "\n" for action in actions))

    return apply


def line(text: str, *, version: int = 1) -> Damage:
    """Appends a line to a commit, verbatim."""

    def apply(root: Path) -> None:
        with commit_path(root, version).open("a") as file:
            file.write(text + "\n")

    return apply


def without_commit(version: int) -> Damage:
    return lambda root: commit_path(root, version).unlink()


def with_a_gap(root: Path) -> None:
    commit_path(root, 3).write_text(json.dumps({"commitInfo": {}}) + "\n")


def folder_as_commit(root: Path) -> None:
    commit_path(root, 2).mkdir()


def at_the_limit(root: Path) -> None:
    (root / "_delta_log" / f"{2**63 - 1:020}.json").write_text("{}\n")


def without_data(root: Path) -> None:
    (root / FIRST_FILE).unlink()


def truncated_data(root: Path) -> None:
    path = root / FIRST_FILE
    path.write_bytes(path.read_bytes()[:-20])


def data_of_nonsense(root: Path) -> None:
    path = root / FIRST_FILE
    path.write_bytes(b"PAR1" + b"\xee" * (path.stat().st_size - 8) + b"PAR1")


def data_spoilt_in_the_middle(root: Path) -> None:
    """The footer is valid, a data page is not."""
    path = root / FIRST_FILE
    body = bytearray(path.read_bytes())
    body[4:40] = b"\xee" * 36
    path.write_bytes(body)


def empty_data(root: Path) -> None:
    (root / FIRST_FILE).write_bytes(b"")


def data_of_another_type(root: Path) -> None:
    import pyarrow.parquet as pq

    pq.write_table(pa.table({"id": ["one", "two"], "name": ["x", "y"]}), root / FIRST_FILE)


def path_in_log(path: str, **fields: Any) -> Damage:
    """Adds a file with this path."""
    return more(add(path, values={"day": "2026-11-05"}, **fields), version=1)


def schema_in_log(text: str, partition_by: tuple[str, ...] = ()) -> Damage:
    def apply(root: Path) -> None:
        actions = [action for action in read_commit(root, 0) if "metaData" not in action]
        instead(*actions, metadata(text, partition_by))(root)

    return apply


def link_out_of_the_table(root: Path) -> None:
    outside = root.parent / "outside.parquet"
    (root / FIRST_FILE).rename(outside)
    (root / FIRST_FILE).symlink_to(outside)
