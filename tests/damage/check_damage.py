"""Ways to damage files that supplement the commits, and subtle damage of commits that readers may ignore."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from tests.protocol import handmade_log as log

from . import broken

UUID = "80a083e8-7026-4e79-81be-64bd76c43a11"
VALUES = {"day": "2026-11-01"}


def both(*damages: broken.Damage) -> broken.Damage:
    def apply(root: Path) -> None:
        for damage in damages:
            damage(root)

    return apply


def log_file(name: str, content: str | bytes) -> broken.Damage:
    body = content.encode() if isinstance(content, str) else content
    return lambda root: (root / "_delta_log" / name).write_bytes(body)


def lines(*actions: log.Action) -> str:
    return "".join(json.dumps(action) + "\n" for action in actions)


def state(root: Path) -> list[log.Action]:
    """Returns the contents of a checkpoint of version 1 of the healthy table."""
    actions = [*log.read_commit(root, 0), *log.read_commit(root, 1)]
    return [action for action in actions if "commitInfo" not in action]


def handmade(root: Path) -> log.HandmadeTable:
    table = log.HandmadeTable.__new__(log.HandmadeTable)
    table.root, table.log, table.next_version = root, root / "_delta_log", 2
    return table


def checkpoint(change: Any = None) -> broken.Damage:
    """A checkpoint of version 1 with changed actions."""

    def apply(root: Path) -> None:
        actions = state(root)
        if change is not None:
            actions = change(actions)
        handmade(root).checkpoint(1, actions)

    return apply


def with_statistics(stats: Any) -> Callable[[list[log.Action]], list[log.Action]]:
    """Replaces the statistics of each file; None removes them."""
    text = {} if stats is None else {"stats": stats if isinstance(stats, str) else json.dumps(stats)}

    def changed(action: log.Action) -> log.Action:
        if "add" not in action:
            return action
        return {"add": {**{name: value for name, value in action["add"].items() if name != "stats"}, **text}}

    return lambda held: [changed(action) for action in held]


def without_statistics_in_commits(root: Path) -> None:
    for version in range(2):
        broken.instead(*with_statistics(None)(log.read_commit(root, version)), version=version)(root)


def json_checkpoint(change: Any) -> broken.Damage:
    """A V2 checkpoint of version 1 with all actions in its top-level JSON, changed."""

    def apply(root: Path) -> None:
        v2_checkpoint(root)
        name = f"{1:020}.checkpoint.{UUID}.json"
        (root / "_delta_log" / "_sidecars" / "a.parquet").unlink()
        handmade(root).top_level(name, change([{"checkpointMetadata": {"version": 1}}, *state(root)]))

    return apply


def v2_checkpoint(root: Path) -> None:
    """A checkpoint of version 1 with a sidecar, and its table feature in version 0."""
    features = ["v2Checkpoint"]
    actions = [
        log.protocol(3, 7, features, features) if "protocol" in action else action
        for action in log.read_commit(root, 0)
    ]
    broken.instead(*actions)(root)
    table = handmade(root)
    held = state(root)
    files = table.sidecar("a.parquet", [action for action in held if "add" in action])
    mark = {"checkpointMetadata": {"version": 1}}
    top = [action for action in held if "add" not in action]
    table.top_level(f"{1:020}.checkpoint.{UUID}.json", [mark, *top, files])


def checksum(**fields: Any) -> broken.Damage:
    """A version checksum of version 1, valid except for the given fields."""

    def apply(root: Path) -> None:
        held = state(root)
        adds = [action["add"] for action in held if "add" in action]
        body = {
            "txnId": "t",
            "tableSizeBytes": sum(add["size"] for add in adds),
            "numFiles": len(adds),
            "numMetadata": 1,
            "numProtocol": 1,
            "metadata": next(action["metaData"] for action in held if "metaData" in action),
            "protocol": next(action["protocol"] for action in held if "protocol" in action),
        }
        text = json.dumps({**body, **fields})
        (root / "_delta_log" / f"{1:020}.crc").write_text(text)

    return apply


def compaction(*more: log.Action, leave_out: str = "", change: Any = None) -> broken.Damage:
    def apply(root: Path) -> None:
        held = [action for action in state(root) if leave_out not in action] if leave_out else state(root)
        held = held if change is None else change(held)
        (root / "_delta_log" / f"{0:020}.{1:020}.compacted.json").write_text(lines(*held, *more))

    return apply


def added(stats: Any = None, **others: Any) -> broken.Damage:
    """Adds a file with these statistics."""
    if stats is not None:
        others["stats"] = stats if isinstance(stats, str) else json.dumps(stats)
    return broken.more(log.add("c.parquet", **{"values": VALUES, **others}))


def added_as(spelling: str) -> broken.Damage:
    """Adds the first file again in another spelling of its path; `{root}` is the table's folder."""
    return lambda root: broken.path_in_log(spelling.format(root=root))(root)


def configured(protocol: log.Action | None = None, **properties: str) -> broken.Damage:
    """A third commit that sets properties and optionally a protocol."""
    keys = {f"delta.{name.replace('__', '.')}": value for name, value in properties.items()}
    actions = [log.metadata(broken.SCHEMA_STRING, ["day"], keys)]
    return both(broken.body(b"", version=2), broken.instead(*filter(None, [protocol]), *actions, version=2))


def schema_of(
    *fields: dict[str, Any], protocol: log.Action | None = None, **properties: str
) -> broken.Damage:
    """A third commit with another schema and the same partitioning."""
    text = log.schema(*fields, log.field("day", "date"))
    keys = {f"delta.{name.replace('__', '.')}": value for name, value in properties.items()}
    actions = [*filter(None, [protocol]), log.metadata(text, ["day"], keys)]
    return both(broken.body(b"", version=2), broken.instead(*actions, version=2))


def vector(cardinality: int = 1, **others: Any) -> dict[str, Any]:
    body = {"storageType": "u", "pathOrInlineDv": "ab^-aqEH.-t@S}K{vb[*k^", "offset": 1, "sizeInBytes": 8}
    return {"deletionVector": {**body, "cardinality": cardinality, **others}}


VECTORS = log.protocol(3, 7, ["deletionVectors"], ["deletionVectors"])
TIMES = log.protocol(1, 7, None, ["inCommitTimestamp"])
COMMIT_1 = f"_delta_log/{1:020}.json"


def timed(*commits: list[log.Action]) -> broken.Damage:
    """In-commit timestamps from version 2 on, with further commits."""
    since = {"enableInCommitTimestamps": "true", "inCommitTimestampEnablementVersion": "2"}
    properties = {f"delta.{name}": value for name, value in since.items()}
    properties["delta.inCommitTimestampEnablementTimestamp"] = "1000"
    start = [info(1000), TIMES, log.metadata(broken.SCHEMA_STRING, ["day"], properties)]

    def apply(root: Path) -> None:
        table = handmade(root)
        for actions in (start, *commits):
            table.commit(*actions)

    return apply


def info(time: int | None) -> log.Action:
    return {"commitInfo": {} if time is None else {"inCommitTimestamp": time}}


def other_rows(root: Path) -> None:
    file = root / broken.FIRST_FILE
    size = file.stat().st_size
    pq.write_table(pa.table({"id": [1, 2, 3], "name": ["x", "y", "z"]}), file)
    grown = file.stat().st_size
    commit = log.commit_path(root, 0)
    commit.write_text(commit.read_text().replace(f'"size":{size}', f'"size":{grown}'))


def grown(root: Path) -> None:
    file = root / broken.FIRST_FILE
    pq.write_table(pa.table({"id": [1, 2], "name": ["xxxxx", "yyyyy"]}), file)


def without_file(name: str) -> broken.Damage:
    return lambda root: (root / name).unlink()


def with_vector(**others: Any) -> broken.Damage:
    """The data file of version 1 gets a deletion vector whose file is missing, or the given one."""

    def apply(root: Path) -> None:
        adds = [action for action in log.read_commit(root, 1) if "add" in action]
        broken.more(VECTORS, version=0)(root)
        actions = [
            action
            for action in log.read_commit(root, 0)
            if action.get("protocol", {}).get("minReaderVersion") != 1
        ]
        broken.instead(*actions)(root)
        broken.instead({"add": {**adds[0]["add"], **vector(**others)}}, version=1)(root)

    return apply


def vector_behind_a_link(root: Path) -> None:
    """The deletion vector file is a symbolic link out of the table."""
    outside = root.parent / "outside.bin"
    outside.write_bytes(b"\1" * 64)
    file = root / "ab" / "deletion_vector_d2c639aa-8816-431a-aaf6-d3fe2512ff61.bin"
    file.parent.mkdir()
    file.symlink_to(outside)
    with_vector()(root)


def staged(root: Path) -> None:
    """A staged commit that is not published."""
    (root / "_delta_log" / "_staged_commits").mkdir()
    log_file(f"_staged_commits/{2:020}.{UUID}.json", "{}")(root)


def hinted(**counts: int) -> broken.Damage:
    return lambda root: handmade(root).hint(1, **counts)


def cut_off(root: Path) -> None:
    """A checkpoint of version 1 without an `add` column, and without the commits."""
    handmade(root).checkpoint(1, [action for action in state(root) if "add" not in action], leave_out=["add"])
    for version in range(2):
        log.commit_path(root, version).unlink()


def two_in_a_row(other: str, *, statistics: bool = True) -> broken.Damage:
    """A checkpoint of version 1 with two actions in its last row, and commits with both of them."""
    more = {"remove": log.remove("gone"), "txn": log.txn("a", 1), "domainMetadata": log.domain("d")}[other]

    def apply(root: Path) -> None:
        broken.more(more)(root)
        held = [action for action in state(root) if other not in action]
        held[-1] = {**held[-1], **more}
        path = root / "_delta_log" / f"{1:020}.checkpoint.parquet"
        log.write_actions(path, held, log.CHECKPOINT_COLUMNS)
        if not statistics:
            pq.write_table(pq.read_table(path), path, write_statistics=False)

    return apply


def later_checkpoint(root: Path) -> None:
    table = handmade(root)
    table.commit(info(None))
    table.checkpoint(2, state(root))
