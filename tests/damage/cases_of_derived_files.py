"""Redundant information in the log that may be wrong: hint, checksums, compactions, statistics."""

from __future__ import annotations

from typing import Any

import deltaic
from tests.protocol import handmade_log as log

from . import broken, odd_files
from .case import Survivor
from .cases_of_checkpoints import CLASSIC, PASSED_OVER
from .check_damage import added, both, checkpoint, checksum, compaction, handmade, log_file

HINT = "_last_checkpoint was skipped"


def hint(content: str | bytes) -> broken.Damage:
    return log_file("_last_checkpoint", content)


HINTS = [
    *(
        Survivor(f"a hint {name}", hint(content), HINT)
        for name, content in {
            "that is empty": b"",
            "that is truncated": '{"version":1,"si',
            "of NUL bytes": b"\0" * 50,
            "that is not UTF-8": b'{"version":1,"\xff":1}',
            "with a byte-order mark": b'\xef\xbb\xbf{"version":1,"size":1}',
            "that is a list": "[1]",
            "that is null": "null",
            "without a version": '{"size":4}',
            "that is dangling": '{"version":1,"size":4}',
            "newer than the log": '{"version":40,"size":4}',
            "at the limit": '{"version":9223372036854775807,"size":4}',
            "beyond the limit": '{"version":9223372036854775808,"size":4}',
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
        "a hint to a damaged checkpoint",
        both(hint('{"version":1,"size":4}'), log_file(CLASSIC, b"PAR1")),
        PASSED_OVER,
    ),
    Survivor("a hint to missing parts", both(checkpoint(), hint('{"version":1,"size":4,"parts":3}'))),
]

CRC = f"{1:020}.crc"
CHECKSUM = "the version checksum was skipped"


def of_our_commit(**fields: Any) -> broken.Damage:
    """A version checksum with the txnId of the commit and the given fields."""
    return both(broken.more({"commitInfo": {"txnId": "t"}}), checksum(**fields))


CHECKSUMS = [
    *(
        Survivor(f"a checksum {name}", log_file(CRC, content), CHECKSUM)
        for name, content in {
            "that is empty": b"",
            "that is truncated": b'{"txnId":"t","numF',
            "of NUL bytes": b"\0" * 50,
            "that is not UTF-8": b'{"\xff":1}',
            "that is a list": b"[]",
            "of extremely nested brackets": b"[" * 300_000,
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
COMPACTION = "compaction files were skipped"

COMPACTIONS = [
    *(
        Survivor(f"a compaction {name}", damage, COMPACTION)
        for name, damage in {
            "that is empty": log_file(COMPACTED, b""),
            "that is truncated": log_file(COMPACTED, b'{"add"'),
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
            "beyond the end": f"{1:020}.{2:020}.compacted.json",
            "to the largest possible version": f"{0:020}.{2**63 - 1:020}.compacted.json",
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
    """Expects that the file is not skipped."""

    def holds(snapshot: deltaic.Snapshot) -> bool:
        return path in snapshot.files(predicate=predicate).to_arrow()["path"].to_pylist()

    return holds


def statistics(name: str, text: Any, predicate: str = "id = 5") -> Survivor:
    return Survivor(f"statistics {name}", added(text), files=3, rows=None, holds=found(predicate))


STATISTICS = [
    statistics("that are truncated", "{"),
    statistics("that are empty", ""),
    statistics("that are a list", "[1]"),
    statistics("that are null", "null"),
    statistics("of extremely nested brackets", "[" * 200_000),
    statistics("with a negative count", {"numRecords": -1}),
    statistics("with a count beyond 64 bits", '{"numRecords":9223372036854775808}'),
    statistics("with a count of no rows and a fraction", '{"numRecords":0.0}'),
    statistics(
        "with a minimum above the maximum", {"numRecords": 1, "minValues": {"id": 9}, "maxValues": {"id": 1}}
    ),
    statistics(
        "with bounds of another type", {"numRecords": 1, "minValues": {"id": "x"}, "maxValues": {"id": []}}
    ),
    statistics(
        "with bounds beyond 64 bits",
        '{"numRecords":1,"minValues":{"id":99999999999999999999},"maxValues":{"id":1e99}}',
    ),
    statistics("with more NULLs than rows", {"numRecords": 1, "nullCount": {"id": 2}}),
    statistics("with negative NULLs", {"numRecords": 1, "nullCount": {"id": -1}}, "id IS NULL"),
    statistics("with NULLs that are a string", {"numRecords": 1, "nullCount": {"id": "0"}}, "id IS NULL"),
    statistics(
        "with bounds of unknown columns", {"numRecords": 1, "minValues": {"x": 1}, "maxValues": {"x": 0}}
    ),
    Survivor(
        "statistics that are an object, not text",
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
