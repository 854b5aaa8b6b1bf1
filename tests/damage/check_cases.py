"""Every kind of finding and the damage that causes it; `test_check.py` runs the cases."""

from __future__ import annotations

from dataclasses import dataclass

from tests.protocol import handmade_log as log

from . import broken, odd_files
from .check_damage import (
    COMMIT_1,
    UUID,
    VECTORS,
    added,
    added_as,
    both,
    checkpoint,
    checksum,
    compaction,
    configured,
    cut_off,
    grown,
    handmade,
    hinted,
    info,
    json_checkpoint,
    later_checkpoint,
    log_file,
    other_rows,
    schema_of,
    staged,
    timed,
    two_in_a_row,
    v2_checkpoint,
    vector,
    vector_behind_a_link,
    with_statistics,
    with_vector,
    without_file,
    without_statistics_in_commits,
)


@dataclass(frozen=True)
class Case:
    """Damage of a healthy table and the codes that a check reports; the first code is the main one."""

    name: str
    damage: broken.Damage
    codes: tuple[str, ...]
    place: str = ""
    deep: bool = False


def found(damage: broken.Damage, *codes: str, at: str = "", name: str = "", deep: bool = False) -> Case:
    return Case(name or codes[0], damage, codes, at, deep)


COMMITS = [
    found(broken.torn, "DAMAGED_COMMIT", "CANNOT_BE_OPENED", at=COMMIT_1, name="a torn commit"),
    found(broken.body(b""), "DAMAGED_COMMIT", "CANNOT_BE_OPENED", at=COMMIT_1, name="an empty commit"),
    found(broken.not_utf8, "DAMAGED_COMMIT", "CANNOT_BE_OPENED", at=COMMIT_1, name="not UTF-8"),
    found(broken.with_a_gap, "MISSING_COMMIT", "CANNOT_BE_OPENED", at=f"{2:020}.json"),
    found(broken.without_commit(0), "MISSING_COMMIT", "CANNOT_BE_OPENED", name="the first commit is missing"),
    found(
        both(
            checkpoint(), broken.without_commit(1), lambda root: handmade(root).commit(info(None), version=2)
        ),
        "MISSING_COMMIT",
        name="a missing commit that a checkpoint stands in for",
    ),
    found(broken.folder_as_commit, "FOLDER_AS_COMMIT", "CANNOT_BE_OPENED", at=f"{2:020}.json"),
    found(
        broken.more(log.txn("a", 1), log.txn("a", 2)), "DUPLICATE_ACTION", "CANNOT_BE_OPENED", name="two txn"
    ),
    found(
        broken.more(log.domain("d"), log.domain("d")),
        "DUPLICATE_ACTION",
        "CANNOT_BE_OPENED",
        name="two domainMetadata",
    ),
    found(
        broken.more(log.protocol(), log.protocol()),
        "DUPLICATE_ACTION",
        "CANNOT_BE_OPENED",
        name="two protocol",
    ),
    found(
        both(added(), broken.more(log.remove("c.parquet"))),
        "DUPLICATE_FILE",
        "CANNOT_BE_OPENED",
        at="c.parquet",
    ),
    found(broken.instead({"commitInfo": {}}), "NO_PROTOCOL_OR_METADATA", "CANNOT_BE_OPENED"),
    found(timed([info(None)]), "MISSING_IN_COMMIT_TIMESTAMP"),
    found(timed([info(2000)], [info(2000)]), "IN_COMMIT_TIMESTAMP_GOES_BACK", at=f"{4:020}.json"),
    found(timed([log.txn("a", 1), info(2000)]), "COMMIT_INFO_NOT_FIRST"),
    found(timed([info(2**63 - 1)]), "IMPOSSIBLE_TIME", at="inCommitTimestamp"),
    found(
        broken.more({"commitInfo": {"timestamp": -(2**63)}}),
        "IMPOSSIBLE_TIME",
        at="timestamp",
        name="a timestamp before the first year",
    ),
    found(
        broken.line('{"commitInfo":{"operation":"WRITE","operation":"MERGE"}}'), "LOOSE_JSON", at="commitInfo"
    ),
]

FILES = [
    found(added(values={"day": "tomorrow"}), "BAD_PARTITION_VALUE", at="c.parquet"),
    found(added(values={}), "MISSING_PARTITION_VALUE", at="c.parquet"),
    found(added(size=-1), "BAD_FILE_SIZE", "CANNOT_BE_OPENED"),
    found(added("{"), "STATISTICS_NOT_JSON", at="c.parquet"),
    found(added({"numRecords": -1}), "IMPOSSIBLE_STATISTICS", at="numRecords", name="a negative count"),
    found(
        added({"minValues": {"id": 2}, "maxValues": {"id": 1}}),
        "IMPOSSIBLE_STATISTICS",
        at="id",
        name="a minimum above the maximum",
    ),
    found(
        added({"numRecords": 1, "nullCount": {"id": 2}}),
        "IMPOSSIBLE_STATISTICS",
        at="id",
        name="more NULLs than rows",
    ),
    *(
        found(added(text), "IMPOSSIBLE_STATISTICS", at=field, name=f"statistics of a wrong type: {text}")
        for field, text in (
            ("numRecords", '{"numRecords":"x"}'),
            ("minValues", '{"minValues":3}'),
            ("nullCount", '{"nullCount":[]}'),
            ("id", '{"nullCount":{"id":"none"}}'),
        )
    ),
    *(
        found(added(text), "LOOSE_JSON", at="stats", name=f"loose statistics {number}")
        for number, text in enumerate(
            (
                '{"numRecords":2,"numRecords":3}',
                '{"minValues":{"id":1,"id":1}}',
                '{"x":' + "[" * 200 + "]" * 200 + "}",
            )
        )
    ),
    found(broken.more(log.remove("gone", timestamp=-5)), "ODD_TOMBSTONE_TIME", at="gone"),
    found(broken.more(log.remove("gone", timestamp=2**60)), "ODD_TOMBSTONE_TIME", name="a time to come"),
    found(broken.path_in_log("../c.parquet"), "FILE_OUTSIDE_OF_TABLE", at="../c.parquet"),
    found(added(**vector()), "DELETION_VECTOR_WITHOUT_FEATURE", "CANNOT_BE_OPENED"),
    found(
        both(broken.instead(VECTORS, log.metadata(broken.SCHEMA_STRING, ["day"])), added(**vector(-1))),
        "BAD_DELETION_VECTOR",
    ),
    found(
        configured(
            log.protocol(1, 7, None, ["domainMetadata", "rowTracking"]),
            enableRowTracking="true",
            rowTracking__materializedRowIdColumnName="_row_id",
            rowTracking__materializedRowCommitVersionColumnName="_row_commit_version",
        ),
        "MISSING_ROW_IDS",
        at="a.parquet",
    ),
    found(
        both(
            broken.instead(VECTORS, log.metadata(broken.SCHEMA_STRING, ["day"])),
            added(),
            added(**vector()),
        ),
        "PATH_LIVE_TWICE",
        "CANNOT_BE_OPENED",
        at="c.parquet",
    ),
]

SPELLINGS = [
    found(added_as(spelling), "PLACE_LIVE_TWICE", *more, at=".parquet", name=f"a file also as {spelling}")
    for spelling, *more in (
        ("./day=2026-11-01/a.parquet",),
        ("day=2026-11-01//a.parquet",),
        ("day%3D2026-11-01/%61.parquet",),
        ("z/../day=2026-11-01/a.parquet",),
        ("{root}/day=2026-11-01/a.parquet",),
        ("FILE://{root}/day=2026-11-01/a.parquet",),
        ("file://localhost{root}/day=2026-11-01/a.parquet", "FILE_OUTSIDE_OF_TABLE"),
    )
]

METADATA = [
    found(broken.more(log.protocol(0, 2)), "BROKEN_PROTOCOL", "CANNOT_BE_OPENED"),
    found(configured(log.protocol(1, 7, None, ["clustering"])), "PROTOCOL_CONTRADICTION", at="clustering"),
    found(
        broken.schema_in_log(log.schema(log.field("id"), log.field("ID"))),
        "BROKEN_METADATA",
        "CANNOT_BE_OPENED",
    ),
    found(
        schema_of(log.field("id"), protocol=log.protocol(2, 5), columnMapping__mode="name"),
        "BROKEN_COLUMN_MAPPING",
    ),
    found(schema_of(log.field("id", **{"delta.invariants": "{"})), "ODD_SCHEMA", at="id"),
    found(configured(checkpointInterval="soon"), "BAD_PROPERTY", at="delta.checkpointInterval"),
    found(configured(enableDeletionVectors="true"), "PROPERTY_WITHOUT_FEATURE", at="enableDeletionVectors"),
    found(schema_of(log.field("at", "timestamp_ntz")), "TYPE_WITHOUT_FEATURE", at="at"),
    found(
        both(
            configured(log.protocol(1, 7, None, ["domainMetadata"])),
            broken.more(log.domain("delta.clustering", "{"), version=2),
        ),
        "BAD_DOMAIN",
        at="delta.clustering",
    ),
    found(broken.more(log.protocol(9, 9)), "UNSUPPORTED_FEATURE"),
]

CHECKPOINTS = [
    found(log_file(f"{1:020}.checkpoint.parquet", b"PAR1"), "BROKEN_CHECKPOINT", at="checkpoint.parquet"),
    found(
        checkpoint(lambda held: [*held, *[action for action in held if "add" in action][:1]]),
        "BROKEN_CHECKPOINT",
        name="a file twice in a checkpoint",
    ),
    found(
        both(
            checkpoint(lambda held: [*held, log.remove(broken.FIRST_FILE)]),
            without_file(f"_delta_log/{0:020}.json"),
            without_file(f"_delta_log/{1:020}.json"),
        ),
        "BROKEN_CHECKPOINT",
        at=broken.FIRST_FILE,
        name="a file that a checkpoint adds and removes",
    ),
    found(
        log_file(f"{1:020}.checkpoint.{1:010}.{2:010}.parquet", b"PAR1"),
        "INCOMPLETE_CHECKPOINT",
        at="checkpoint",
    ),
    *(
        found(two_in_a_row(name), "BROKEN_CHECKPOINT", at=name, name=f"a file and {name} in one row")
        for name in ("remove", "txn", "domainMetadata")
    ),
    found(
        two_in_a_row("remove", statistics=False),
        "BROKEN_CHECKPOINT",
        name="two actions in one row, unnoticed",
    ),
    found(
        both(v2_checkpoint, without_file("_delta_log/_sidecars/a.parquet")),
        "MISSING_SIDECAR",
        at="_sidecars/a.parquet",
    ),
    found(
        checkpoint(
            lambda held: [
                {"metaData": {**a["metaData"], "id": "another"}} if "metaData" in a else a for a in held
            ]
        ),
        "FOREIGN_CHECKPOINT",
    ),
    *(
        found(checkpoint(change), "CHECKPOINT_CONTRADICTS_COMMITS", at=field, name=name)
        for name, field, change in (
            ("a checkpoint that lacks a file", "add", lambda held: held[:-1]),
            (
                "a checkpoint with another file",
                "add",
                lambda held: [*held, log.add("x", values={"day": "2026-11-01"})],
            ),
            ("a checkpoint with a transaction", "txn", lambda held: [*held, log.txn("a", 1)]),
            ("a checkpoint with a domain", "domainMetadata", lambda held: [*held, log.domain("d")]),
            ("a checkpoint with a tombstone", "add", lambda held: [*held, log.remove(broken.FIRST_FILE)]),
        )
    ),
    found(
        both(checkpoint(), broken.more(log.txn("a", 1))),
        "CHECKPOINT_CONTRADICTS_COMMITS",
        at="txn",
        name="a checkpoint without the newest transaction",
    ),
    *(
        found(damage, "CHECKPOINT_CONTRADICTS_COMMITS", at="add.stats", name=name)
        for name, damage in (
            ("a checkpoint with other statistics", checkpoint(with_statistics({"numRecords": 3}))),
            ("a JSON checkpoint with other statistics", json_checkpoint(with_statistics({"numRecords": 3}))),
            (
                "a checkpoint with statistics that no commit has",
                both(
                    without_statistics_in_commits,
                    checkpoint(with_statistics({"numRecords": 2, "minValues": {"id": 1}})),
                ),
            ),
        )
    ),
    found(
        both(v2_checkpoint, lambda root: handmade(root).sidecar("orphan.parquet", [])),
        "ORPHANED_SIDECAR",
        at="orphan",
    ),
]

HELPS = [
    found(checksum(numFiles=-1), "BROKEN_CHECKSUM", at=".crc"),
    found(both(broken.more({"commitInfo": {"txnId": "mine"}}), checksum()), "FOREIGN_CHECKSUM", at="txnId"),
    found(checksum(numFiles=7), "CHECKSUM_DISAGREES", at="numFiles"),
    found(checksum(txnId=None), "CHECKSUM_WITHOUT_ID"),
    found(log_file(f"{0:020}.{1:020}.compacted.json", "{"), "BROKEN_COMPACTION", at="compacted"),
    found(log_file(f"{1:020}.{0:020}.compacted.json", "{}"), "REVERSED_COMPACTION"),
    found(compaction({"commitInfo": {}}), "COMPACTION_FORBIDDEN_ACTION", at="commitInfo"),
    found(compaction(leave_out="add"), "COMPACTION_DISAGREES", at="add", name="a compaction without files"),
    found(compaction(log.remove(broken.FIRST_FILE)), "COMPACTION_DISAGREES", name="a compaction with both"),
    found(
        compaction(change=with_statistics({"numRecords": 3})),
        "COMPACTION_DISAGREES",
        at="add",
        name="a compaction with other statistics",
    ),
    found(log_file("_last_checkpoint", "{"), "BROKEN_HINT"),
    found(log_file("_last_checkpoint", '{"version":7}'), "DANGLING_HINT", at="_last_checkpoint"),
    *(
        found(
            both(cut_off, hinted(**counts)),
            "HINT_DISAGREES",
            at=field,
            name=f"a hint that counts more {name}",
        )
        for name, field, counts in (
            ("files", "numOfAddFiles", {"numOfAddFiles": 2}),
            ("actions", "size", {"size": 4}),
        )
    ),
    found(both(checksum(), cut_off), "CHECKSUM_DISAGREES", at=".crc", name="a checkpoint without add"),
    found(
        both(checkpoint(), lambda root: handmade(root).hint(1), later_checkpoint),
        "STALE_HINT",
    ),
    found(log_file("1.json", "{}"), "NEARLY_RIGHT_NAME", at="1.json"),
    *(
        found(put(name), "NO_REGULAR_FILE", at=name, name=f"{what} as {name}")
        for what, put in (
            ("a folder", odd_files.folder),
            ("a pipe", odd_files.pipe),
            ("a link to nowhere", lambda name: odd_files.link(name, "nowhere")),
        )
        for name in (
            f"{1:020}.checkpoint.parquet",
            f"{1:020}.checkpoint.{1:010}.{1:010}.parquet",
            f"{1:020}.checkpoint.{UUID}.json",
            f"{1:020}.crc",
            f"{0:020}.{1:020}.compacted.json",
        )
    ),
    found(log_file(f"{2:020}.json.tmp", "{}"), "TEMPORARY_FILE", at=".tmp"),
    found(staged, "STAGED_COMMIT", at="_staged_commits"),
]


DATA = [
    found(broken.without_data, "MISSING_DATA_FILE", at=broken.FIRST_FILE, deep=True),
    found(broken.truncated_data, "DAMAGED_DATA_FILE", "OTHER_FILE_SIZE", at=broken.FIRST_FILE, deep=True),
    found(broken.data_of_nonsense, "DAMAGED_DATA_FILE", deep=True, name="data of nonsense"),
    found(broken.empty_data, "DAMAGED_DATA_FILE", "OTHER_FILE_SIZE", deep=True, name="an empty data file"),
    found(grown, "OTHER_FILE_SIZE", at="add.size", deep=True),
    found(other_rows, "OTHER_ROW_COUNT", at="numRecords", deep=True),
    found(with_vector(), "MISSING_DELETION_VECTOR", deep=True),
    found(
        with_vector(storageType="p", pathOrInlineDv="/elsewhere/vector.bin"),
        "FILE_OUTSIDE_OF_TABLE",
        at="deletionVector",
        deep=True,
        name="a deletion vector outside of the table",
    ),
    found(
        vector_behind_a_link,
        "FILE_OUTSIDE_OF_TABLE",
        at="deletion_vector_",
        deep=True,
        name="a deletion vector behind a link that leaves the table",
    ),
    found(
        with_vector(storageType="i", pathOrInlineDv="0" * 10, offset=None),
        "BAD_DELETION_VECTOR",
        at="deletionVector",
        deep=True,
        name="a deletion vector of nonsense in the log",
    ),
    found(lambda root: (root / "left.parquet").write_bytes(b"PAR1"), "UNREFERENCED_FILES", deep=True),
    found(
        broken.link_out_of_the_table, "FILE_OUTSIDE_OF_TABLE", deep=True, name="a link that leaves the table"
    ),
]

CASES = [*COMMITS, *FILES, *SPELLINGS, *METADATA, *CHECKPOINTS, *HELPS, *DATA]
