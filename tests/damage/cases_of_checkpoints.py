"""Damaged or wrong checkpoints, with and without the commits they replace."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from tests.protocol import handmade_log as log

from . import broken, odd_files
from .case import TABLE, Survivor, commit_case, log_case
from .check_damage import UUID, both, checkpoint, handmade, log_file, state, two_in_a_row

CLASSIC = f"{1:020}.checkpoint.parquet"
UUID_NAMED = f"{1:020}.checkpoint.{UUID}.parquet"
PARTS = tuple(f"{1:020}.checkpoint.{part:010}.{2:010}.parquet" for part in (1, 2))
MARK: log.Action = {"checkpointMetadata": {"version": 1}}
V2 = log.protocol(3, 7, ["v2Checkpoint"], ["v2Checkpoint"])


def without_commits(root: Path) -> None:
    """Deletes the commits that a checkpoint includes, as cleanup does."""
    for version in range(2):
        log.commit_path(root, version).unlink()


def v2(*top: log.Action, change: Any = None, keep_sidecar: bool = True) -> broken.Damage:
    """A V2 checkpoint with a sidecar, with the given top-level marks and a changed sidecar."""

    def apply(root: Path) -> None:
        actions = [V2 if "protocol" in action else action for action in log.read_commit(root, 0)]
        broken.instead(*actions)(root)
        table, held = handmade(root), state(root)
        adds = [action for action in held if "add" in action]
        sidecar = table.sidecar("a.parquet", adds)
        if not keep_sidecar:
            (table.log / "_sidecars" / "a.parquet").unlink()
        if change is not None:
            sidecar = change(root, sidecar)
        table.top_level(UUID_NAMED, [*top, *(action for action in held if "add" not in action), sidecar])

    return apply


def named(path: str) -> broken.Damage:
    return v2(MARK, change=lambda _, sidecar: {"sidecar": {**sidecar["sidecar"], "path": path}})


def spoilt_sidecar(content: bytes) -> broken.Damage:
    def change(root: Path, sidecar: log.Action) -> log.Action:
        (root / "_delta_log" / "_sidecars" / "a.parquet").write_bytes(content)
        return sidecar

    return v2(MARK, change=change)


def piped_sidecar(root: Path) -> None:
    v2(MARK)(root)
    odd_files.pipe("_sidecars/a.parquet")(root)


TWICE = [("day", "2026-11-01"), ("day", "2026-11-02")]


def many_broken(root: Path) -> None:
    """Adds fifty commits, each with an unreadable checkpoint."""
    for version in range(2, 52):
        log.commit_path(root, version).write_text('{"commitInfo":{}}\n')
        log_file(f"{version:020}.checkpoint.parquet", b"PAR1 and no more")(root)


def without(kind: str) -> broken.Damage:
    return checkpoint(lambda held: [action for action in held if kind not in action])


def two_of(kind: str) -> broken.Damage:
    return checkpoint(lambda held: [*held, *(action for action in held if kind in action)])


def parts(*held: int, overlap: bool = False) -> broken.Damage:
    """Parts of a multi-part checkpoint; with `overlap`, as two writers would write them."""

    def apply(root: Path) -> None:
        actions = state(root)
        adds = [action for action in actions if "add" in action]
        shares = [actions if overlap else actions[:-1], adds if overlap else actions[-1:]]
        for part in held:
            log.write_actions(root / "_delta_log" / PARTS[part], shares[part], log.CHECKPOINT_COLUMNS)

    return apply


def retyped(column: str, field: str, kind: pa.DataType, value: object) -> broken.Damage:
    """A checkpoint with another type for one field."""

    def apply(root: Path) -> None:
        kinds = dict(log.CHECKPOINT_COLUMNS)
        fields = [pa.field(f.name, kind if f.name == field else f.type) for f in kinds[column]]
        kinds[column] = pa.struct(fields)
        held = [
            {name: {**body, field: value} if name == column else body}
            for action in state(root)
            for name, body in action.items()
        ]
        log.write_actions(root / "_delta_log" / CLASSIC, held, kinds)

    return apply


def cut(at: slice) -> broken.Damage:
    def apply(root: Path) -> None:
        checkpoint()(root)
        path = root / "_delta_log" / CLASSIC
        path.write_bytes(path.read_bytes()[at])

    return apply


def other_parquet(root: Path) -> None:
    pq.write_table(pa.table({"id": [1, 2, 3]}), root / "_delta_log" / CLASSIC)


OUTSIDE = {
    "a sidecar outside": "../../../outside.parquet",
    "an absolute sidecar": "/etc/passwd",
    "an encoded sidecar": "%2e%2e%2fa.parquet",
    "a sidecar without a name": "",
    "a sidecar elsewhere": "https://example.com/a.parquet",
}
UNREADABLE = ("missing", "empty", "nonsense", "a pipe")
PASSED_OVER = "a checkpoint was skipped"
BROKEN: dict[str, broken.Damage] = {
    "a checkpoint with a partition value twice": checkpoint(
        lambda held: [{"add": {**a["add"], "partitionValues": TWICE}} if "add" in a else a for a in held]
    ),
    "an empty checkpoint": log_file(CLASSIC, b""),
    "a checkpoint of nonsense": log_file(CLASSIC, b"PAR1" + b"\xee" * 500 + b"PAR1"),
    "a checkpoint whose footer length is too large": log_file(CLASSIC, b"PAR1" + b"\xff" * 4 + b"PAR1"),
    "a checkpoint that is JSON": log_file(CLASSIC, b'{"protocol":{}}\n'),
    "a checkpoint without its end": cut(slice(None, -9)),
    "a checkpoint without its beginning": cut(slice(200, None)),
    "a checkpoint of other columns": other_parquet,
    "a checkpoint of no rows": checkpoint(lambda _: []),
    "a checkpoint without protocol": without("protocol"),
    "a checkpoint without metaData": without("metaData"),
    "a checkpoint with two protocols": two_of("protocol"),
    "a checkpoint with two metaData": two_of("metaData"),
    "a checkpoint with a file twice": two_of("add"),
    "a checkpoint with a file and a remove in one row": two_in_a_row("remove"),
    "a checkpoint with a file and a txn in one row": two_in_a_row("txn"),
    "a checkpoint whose sizes are text": retyped("add", "size", pa.string(), "100"),
    "a checkpoint whose sizes are fractions": retyped("add", "size", pa.float64(), 1.5),
    "a checkpoint whose paths are numbers": retyped("add", "path", pa.int64(), 7),
    "a checkpoint with a schema that is not JSON": checkpoint(
        lambda held: [
            {"metaData": {**a["metaData"], "schemaString": "{"}} if "metaData" in a else a for a in held
        ]
    ),
    "parts of two writers": parts(0, 1, overlap=True),
    "a V2 checkpoint without its mark": v2(),
    "a V2 checkpoint with two marks": v2(MARK, MARK),
    "a V2 checkpoint of another version": v2({"checkpointMetadata": {"version": 7}}),
    "a V2 checkpoint whose sidecar is missing": v2(MARK, keep_sidecar=False),
    "a V2 checkpoint whose sidecar is empty": spoilt_sidecar(b""),
    "a V2 checkpoint whose sidecar is nonsense": spoilt_sidecar(b"PAR1" * 100),
    "a V2 checkpoint whose sidecar is a pipe": piped_sidecar,
    **{f"a V2 checkpoint with {name}": named(path) for name, path in OUTSIDE.items()},
}

SIDECAR = {"path": "_delta_log/_sidecars/a.parquet"}
# Location that the error names if it is not the checkpoint file itself.
PLACES: dict[str, dict[str, object]] = {
    "a checkpoint with a schema that is not JSON": {"field": "schemaString", "table": TABLE},
    "parts of two writers": {"path": f"_delta_log/{PARTS[0]}"},
    **dict.fromkeys((f"a V2 checkpoint whose sidecar is {what}" for what in UNREADABLE), SIDECAR),
    **{
        f"a V2 checkpoint with {name}": {"path": path, "field": "sidecar.path"}
        for name, path in OUTSIDE.items()
    },
}


def place(name: str) -> dict[str, object]:
    own = UUID_NAMED if name.startswith("a V2 checkpoint") else CLASSIC
    return PLACES.get(name, {"path": f"_delta_log/{own}"})


CHECKPOINTS = [
    Survivor("fifty damaged checkpoints", many_broken, PASSED_OVER, version=51),
    *(Survivor(name, damage, PASSED_OVER) for name, damage in BROKEN.items()),
    *(
        log_case(f"{name}, and no commits", both(damage, without_commits), version=1, **place(name))
        for name, damage in BROKEN.items()
    ),
    Survivor("a missing part", parts(0)),
    commit_case("a missing part, and no commits", both(parts(1), without_commits), version=0),
    Survivor("complete parts", both(parts(0, 1), without_commits)),
    Survivor("a V2 checkpoint that is complete", both(v2(MARK), without_commits)),
    Survivor(
        "a damaged checkpoint after a valid older one",
        both(
            lambda root: handmade(root).checkpoint(0, log.read_commit(root, 0)),
            broken.without_commit(0),
            log_file(CLASSIC, b"PAR1"),
        ),
        PASSED_OVER,
    ),
]
