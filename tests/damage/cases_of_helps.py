"""What derives from the log and may lie: checkpoints, the hint, checksums, compactions, statistics."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

import deltaic
from tests.protocol import handmade_log as log

from . import broken, odd_files
from .case import Survivor, log_case
from .check_damage import UUID, added, both, checkpoint, checksum, compaction, handmade, log_file, state

CLASSIC = f"{1:020}.checkpoint.parquet"
UUID_NAMED = f"{1:020}.checkpoint.{UUID}.parquet"
PARTS = tuple(f"{1:020}.checkpoint.{part:010}.{2:010}.parquet" for part in (1, 2))
MARK: log.Action = {"checkpointMetadata": {"version": 1}}
V2 = log.protocol(3, 7, ["v2Checkpoint"], ["v2Checkpoint"])


def without_commits(root: Path) -> None:
    """The JSON that a checkpoint stands for is gone, as after a cleanup."""
    for version in range(2):
        log.commit_path(root, version).unlink()


def v2(*top: log.Action, change: Any = None, keep_sidecar: bool = True) -> broken.Damage:
    """A checkpoint of the V2 spec with a sidecar, its top level with other marks, its sidecar changed."""

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


def without(kind: str) -> broken.Damage:
    return checkpoint(lambda held: [action for action in held if kind not in action])


def two_of(kind: str) -> broken.Damage:
    return checkpoint(lambda held: [*held, *(action for action in held if kind in action)])


def parts(*held: int, overlap: bool = False) -> broken.Damage:
    """Parts of a multi-part checkpoint; of two writers, the parts overlap."""

    def apply(root: Path) -> None:
        actions = state(root)
        adds = [action for action in actions if "add" in action]
        shares = [actions if overlap else actions[:-1], adds if overlap else actions[-1:]]
        for part in held:
            log.write_actions(root / "_delta_log" / PARTS[part], shares[part], log.CHECKPOINT_COLUMNS)

    return apply


def retyped(column: str, field: str, kind: pa.DataType, value: object) -> broken.Damage:
    """A checkpoint one of whose fields has another type."""

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


PASSED_OVER = "a checkpoint was passed over"
BROKEN: dict[str, broken.Damage] = {
    "an empty checkpoint": log_file(CLASSIC, b""),
    "a checkpoint of nonsense": log_file(CLASSIC, b"PAR1" + b"\xee" * 500 + b"PAR1"),
    "a checkpoint whose footer is told too long": log_file(CLASSIC, b"PAR1" + b"\xff" * 4 + b"PAR1"),
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
    "a checkpoint whose sizes are text": retyped("add", "size", pa.string(), "100"),
    "a checkpoint whose sizes are fractions": retyped("add", "size", pa.float64(), 1.5),
    "a checkpoint whose paths are numbers": retyped("add", "path", pa.int64(), 7),
    "a checkpoint with a schema that is no JSON": checkpoint(
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
    "a V2 checkpoint with a sidecar outside": named("../../../outside.parquet"),
    "a V2 checkpoint with an absolute sidecar": named("/etc/passwd"),
    "a V2 checkpoint with an encoded sidecar": named("%2e%2e%2fa.parquet"),
    "a V2 checkpoint with a sidecar without a name": named(""),
    "a V2 checkpoint with a sidecar elsewhere": named("https://example.com/a.parquet"),
}

CHECKPOINTS = [
    *(Survivor(name, damage, PASSED_OVER) for name, damage in BROKEN.items()),
    *(
        log_case(f"{name}, and no commits", both(damage, without_commits), "checkpoint")
        for name, damage in BROKEN.items()
    ),
    Survivor("a missing part", parts(0)),
    log_case("a missing part, and no commits", both(parts(1), without_commits)),
    Survivor("parts that are whole", both(parts(0, 1), without_commits)),
    Survivor("a V2 checkpoint that is whole", both(v2(MARK), without_commits)),
    Survivor(
        "a broken checkpoint behind an older whole one",
        both(
            lambda root: handmade(root).checkpoint(0, log.read_commit(root, 0)),
            broken.without_commit(0),
            log_file(CLASSIC, b"PAR1"),
        ),
        PASSED_OVER,
    ),
]

HINT = "_last_checkpoint was passed over"


def hint(content: str | bytes) -> broken.Damage:
    return log_file("_last_checkpoint", content)


HINTS = [
    *(
        Survivor(f"a hint {name}", hint(content), HINT)
        for name, content in {
            "that is empty": b"",
            "that is torn": '{"version":1,"si',
            "of NUL bytes": b"\0" * 50,
            "that is not UTF-8": b'{"version":1,"\xff":1}',
            "with a byte-order mark": b'\xef\xbb\xbf{"version":1,"size":1}',
            "that is a list": "[1]",
            "that is null": "null",
            "without a version": '{"size":4}',
            "that is dangling": '{"version":1,"size":4}',
            "newer than the log": '{"version":40,"size":4}',
            "at the limit": '{"version":9223372036854775807,"size":4}',
            "past the limit": '{"version":9223372036854775808,"size":4}',
            "that is negative": '{"version":-1,"size":4}',
            "whose version is a fraction": '{"version":1.0,"size":4}',
            "whose version has an exponent": '{"version":1e0,"size":4}',
            "whose version is a text": '{"version":"1","size":4}',
            "whose version is null": '{"version":null,"size":4}',
            "with a key twice": '{"version":1,"version":1,"size":4}',
            "with another checksum": '{"version":1,"size":4,"checksum":"' + "0" * 32 + '"}',
            "whose checksum is a number": '{"version":1,"size":4,"checksum":1}',
            "that is huge": '{"version":1,"size":4,"x":"' + "x" * 3_000_000 + '"}',
            "that is deep": '{"version":1,"x":' + "[" * 100_000 + "]" * 100_000 + "}",
            "with many parts": '{"version":1,"size":4,"parts":2147483647}',
        }.items()
    ),
    Survivor("a hint that is a pipe", odd_files.pipe("_last_checkpoint"), HINT),
    Survivor("a hint that is a socket", odd_files.end_of_a_socket("_last_checkpoint"), HINT),
    Survivor("a hint that is a device", odd_files.device("_last_checkpoint"), HINT),
    Survivor("a hint that is a folder", odd_files.folder("_last_checkpoint"), HINT),
    Survivor(
        "a hint that leads to a broken checkpoint",
        both(hint('{"version":1,"size":4}'), log_file(CLASSIC, b"PAR1")),
        PASSED_OVER,
    ),
    Survivor(
        "a hint to parts that are not there", both(checkpoint(), hint('{"version":1,"size":4,"parts":3}'))
    ),
]

CRC = f"{1:020}.crc"
CHECKSUM = "the version checksum was passed over"


def of_our_commit(**fields: Any) -> broken.Damage:
    """A version checksum that has the commit's own id, and says this."""
    return both(broken.more({"commitInfo": {"txnId": "t"}}), checksum(**fields))


CHECKSUMS = [
    *(
        Survivor(f"a checksum {name}", log_file(CRC, content), CHECKSUM)
        for name, content in {
            "that is empty": b"",
            "that is torn": b'{"txnId":"t","numF',
            "of NUL bytes": b"\0" * 50,
            "that is not UTF-8": b'{"\xff":1}',
            "that is a list": b"[]",
            "of a bomb of brackets": b"[" * 300_000,
        }.items()
    ),
    Survivor("a checksum without an id", checksum(txnId=None, numFiles=99), "numFiles"),
    Survivor(
        "a checksum of another commit",
        both(broken.more({"commitInfo": {"txnId": "mine"}}), checksum(numFiles=99)),
        "of another commit",
    ),
    Survivor(
        "a checksum of another table",
        both(
            broken.more({"commitInfo": {"txnId": "t"}}),
            checksum(txnId="theirs", tableSizeBytes=0, numFiles=0),
        ),
        "of another commit",
    ),
    Survivor("a checksum that counts other files", of_our_commit(numFiles=99), "numFiles"),
    Survivor("a checksum that counts other bytes", of_our_commit(tableSizeBytes=0), "tableSizeBytes"),
    Survivor(
        "a checksum with another protocol",
        of_our_commit(protocol={"minReaderVersion": 9, "minWriterVersion": 9}),
        "protocol",
    ),
    Survivor("a checksum with negative counts", of_our_commit(numFiles=-1), CHECKSUM),
]

COMPACTED = f"{0:020}.{1:020}.compacted.json"
COMPACTION = "compaction files were passed over"

COMPACTIONS = [
    *(
        Survivor(f"a compaction {name}", damage, COMPACTION)
        for name, damage in {
            "that is empty": log_file(COMPACTED, b""),
            "that is torn": log_file(COMPACTED, b'{"add"'),
            "of NUL bytes": log_file(COMPACTED, b"\0" * 40),
            "that is not UTF-8": log_file(COMPACTED, b'{"x":"\xff"}\n'),
            "with a file twice": compaction(
                log.add("c", values={"day": None}), log.add("c", values={"day": None})
            ),
            "with a removed file twice": compaction(log.remove("c"), log.remove("c")),
            "with two protocols": compaction(log.protocol()),
            "without metaData": compaction(leave_out="metaData"),
            "with commitInfo": compaction({"commitInfo": {}}),
            "with cdc": compaction(
                {"cdc": {"path": "c", "partitionValues": {}, "size": 1, "dataChange": False}}
            ),
        }.items()
    ),
    *(
        Survivor(f"a compaction {name}", log_file(file, b"{"))
        for name, file in {
            "that is reversed": f"{1:020}.{0:020}.compacted.json",
            "of one version": f"{1:020}.{1:020}.compacted.json",
            "past the end": f"{1:020}.{2:020}.compacted.json",
            "to the last version there can be": f"{0:020}.{2**63 - 1:020}.compacted.json",
        }.items()
    ),
    Survivor(
        "compactions that overlap",
        lambda root: (
            handmade(root).commit(log.txn("a", 1)),
            log_file(COMPACTED, b"{")(root),
            log_file(f"{1:020}.{2:020}.compacted.json", b"{")(root),
        ),
        COMPACTION,
        version=2,
    ),
]


def found(predicate: str, path: str = "c.parquet") -> Any:
    """The file is not skipped."""

    def holds(snapshot: deltaic.Snapshot) -> bool:
        return path in snapshot.files(predicate=predicate).to_arrow()["path"].to_pylist()

    return holds


def statistics(name: str, text: Any, predicate: str = "id = 5") -> Survivor:
    return Survivor(f"statistics {name}", added(text), files=3, rows=None, holds=found(predicate))


STATISTICS = [
    statistics("that are torn", "{"),
    statistics("that are empty", ""),
    statistics("that are a list", "[1]"),
    statistics("that are null", "null"),
    statistics("of a bomb of brackets", "[" * 200_000),
    statistics("with a negative count", {"numRecords": -1}),
    statistics("with a count past 64 bits", '{"numRecords":9223372036854775808}'),
    statistics("with a count of no rows and a fraction", '{"numRecords":0.0}'),
    statistics(
        "with a minimum above the maximum", {"numRecords": 1, "minValues": {"id": 9}, "maxValues": {"id": 1}}
    ),
    statistics(
        "with bounds of another type", {"numRecords": 1, "minValues": {"id": "x"}, "maxValues": {"id": []}}
    ),
    statistics(
        "with bounds past 64 bits",
        '{"numRecords":1,"minValues":{"id":99999999999999999999},"maxValues":{"id":1e99}}',
    ),
    statistics("with more NULLs than rows", {"numRecords": 1, "nullCount": {"id": 2}}),
    statistics("with negative NULLs", {"numRecords": 1, "nullCount": {"id": -1}}, "id IS NULL"),
    statistics("with NULLs that are a text", {"numRecords": 1, "nullCount": {"id": "0"}}, "id IS NULL"),
    statistics(
        "with bounds of unknown columns", {"numRecords": 1, "minValues": {"x": 1}, "maxValues": {"x": 0}}
    ),
    Survivor(
        "statistics that are an object and no text",
        broken.line(
            '{"add":{"path":"c.parquet","partitionValues":{"day":null},"size":1,"modificationTime":1,"dataChange":true,"stats":{"numRecords":0}}}'
        ),
        files=3,
        rows=None,
        holds=found("id = 5"),
    ),
    Survivor(
        "statistics that are half a character pair",
        broken.line(
            '{"add":{"path":"c.parquet","partitionValues":{"day":null},"size":1,"modificationTime":1,"dataChange":true,"stats":"\\ud800"}}'
        ),
        files=3,
        rows=None,
        holds=found("id = 5"),
    ),
]
