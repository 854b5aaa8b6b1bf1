"""Logs with wrong files, and wrong protocol, metadata, schema or properties."""

from __future__ import annotations

import json

import deltaic
from tests.protocol import handmade_log as log

from . import broken, odd_files
from .case import TABLE, Case, Survivor, commit_case, line_case, log_case, refusal, state_case, writer_refusal
from .cases_of_commits import metadata_of
from .check_damage import VECTORS, both, checkpoint, handmade, state, timed, vector

TWO_CASES = log.schema(log.field("id"), log.field("ID"))
NESTED_CASES = log.schema(log.field("s", {"type": "struct", "fields": [log.field("a"), log.field("A")]}))
COMMIT_1, COMMIT_2 = (f"{version:020}.json" for version in (1, 2))
NO_LOG: dict[str, object] = {"path": TABLE, "log": "_delta_log"}


def of_field(kind: object) -> broken.Damage:
    return broken.schema_in_log(log.schema(log.field("x", kind)))


def protocol_line(fields: str) -> broken.Damage:
    return broken.line('{"protocol":{' + fields + "}}")


def only_a_far_checkpoint(root: broken.Path) -> None:
    handmade(root).checkpoint(2**63 - 1, state(root))
    for version in range(2):
        log.commit_path(root, version).unlink()


def deep_schema(levels: int) -> str:
    """Returns a schema of nested lists that is too deep for Python's JSON encoder."""
    kind = '{"type":"array","containsNull":true,"elementType":' * levels + '"long"' + "}" * levels
    return log.schema(log.field("x", "?")).replace('"?"', kind)


GAPS = [
    commit_case("the first commit is missing", broken.without_commit(0), "commit 0 is missing", version=0),
    commit_case("a gap", broken.with_a_gap, "commit 2 is missing", version=2),
    commit_case("two gaps", both(broken.with_a_gap, odd_files.far_commit(5)), "commit 2", version=2),
    commit_case("a commit a million versions on", odd_files.far_commit(10**6), "commit 2", version=2),
    commit_case("a version at the limit", broken.at_the_limit, "commit 2", version=2),
    commit_case("a version one below the limit", odd_files.far_commit(2**63 - 2), "commit 2", version=2),
    commit_case(
        "a gap after a checkpoint",
        both(checkpoint(), broken.without_commit(0), broken.with_a_gap),
        "commit 2",
        version=2,
    ),
    Case(
        "a table at the largest possible version",
        only_a_far_checkpoint,
        broken.appended,
        deltaic.CorruptLog,
        ("highest possible version",),
        {"version": 2**63 - 1},
    ),
    Survivor("a gap before a checkpoint", both(checkpoint(), broken.without_commit(0))),
    commit_case("a folder where a commit should be", broken.folder_as_commit, "folder", version=2),
    commit_case("a full folder where a commit was", odd_files.folder(COMMIT_1), "folder"),
    commit_case("a pipe where a commit was", odd_files.pipe(COMMIT_1), "no regular file"),
    commit_case("a pipe where a commit should be", odd_files.pipe(COMMIT_2), "no regular file", version=2),
    commit_case("a socket where a commit was", odd_files.end_of_a_socket(COMMIT_1), "no regular file"),
    commit_case("an endless device where a commit was", odd_files.device(COMMIT_1)),
    commit_case("a commit that is a link to itself", odd_files.link(COMMIT_1, COMMIT_1), "no regular file"),
    commit_case("a commit that is a dangling link", odd_files.link(COMMIT_1, "nowhere"), "no regular file"),
    Survivor("a checksum that is a link to itself", odd_files.link(f"{1:020}.crc", f"{1:020}.crc")),
    Survivor("a link from the log to itself", odd_files.link("loop", ".")),
    Survivor("a name that is not UTF-8", odd_files.named_in_bytes(b"\xff\xfe.json")),
    *(Survivor(f"a file named {name[:44]!a}", odd_files.named(name)) for name in odd_files.NEARLY),
    Survivor("a folder where a checkpoint should be", odd_files.folder(f"{1:020}.checkpoint.parquet")),
    Survivor("a pipe where a checkpoint should be", odd_files.pipe(f"{1:020}.checkpoint.parquet")),
    Survivor("a folder where a checksum should be", odd_files.folder(f"{1:020}.crc")),
    Survivor("a pipe where a checksum should be", odd_files.pipe(f"{1:020}.crc")),
    Survivor("a folder where a compaction should be", odd_files.folder(f"{0:020}.{1:020}.compacted.json")),
    Survivor("a pipe where a compaction should be", odd_files.pipe(f"{0:020}.{1:020}.compacted.json")),
    Survivor("a folder in the log", odd_files.folder("sub")),
    *(
        Case(
            f"_delta_log is {what}",
            odd_files.log_is(what),
            broken.opened,
            deltaic.TableNotFound,
            context=NO_LOG,
        )
        for what in ("a file", "a pipe", "a dangling link", "an empty folder")
    ),
]

PROTOCOL = [
    commit_case(
        "a deletion vector in a table without the feature",
        broken.more(log.add("c", values={"day": None}, **vector())),
        "the table's protocol lacks the feature",
        field="add.deletionVector",
    ),
    commit_case(
        "a path live with two deletion vectors",
        both(
            broken.instead(VECTORS, log.metadata(broken.SCHEMA_STRING, ["day"])),
            broken.more(log.add("c", values={"day": None})),
            broken.more(log.add("c", values={"day": None}, **vector())),
        ),
        "two deletion vectors: c",
    ),
    log_case("no protocol", broken.instead(log.metadata()), "protocol", table=TABLE, version=1),
    log_case("no metaData", broken.instead(log.protocol()), "metaData", table=TABLE, version=1),
    log_case("neither", broken.instead({"commitInfo": {}}), "protocol", table=TABLE, version=1),
    *(
        state_case(
            f"reader version {version}",
            broken.more(log.protocol(version, 2)),
            str(version),
            field="minReaderVersion",
        )
        for version in (0, -1, -(2**31))
    ),
    *(
        state_case(
            f"writer version {version}",
            broken.more(log.protocol(1, version)),
            str(version),
            field="minWriterVersion",
        )
        for version in (0, -1)
    ),
    line_case(
        "a reader version beyond 32 bits",
        json.dumps(log.protocol(2**31, 7)),
        "2147483648",
        field="protocol.minReaderVersion",
    ),
    state_case("features without a list", broken.more(log.protocol(3, 7)), field="readerFeatures"),
    state_case(
        "reader features with an old writer",
        broken.more(log.protocol(3, 6, [], [])),
        field="minWriterVersion",
    ),
    commit_case(
        "features that are a string",
        protocol_line('"minReaderVersion":3,"minWriterVersion":7,"readerFeatures":"x","writerFeatures":[]'),
        line=2,
        field="protocol.readerFeatures",
    ),
    commit_case(
        "a feature that is null",
        protocol_line(
            '"minReaderVersion":3,"minWriterVersion":7,"readerFeatures":[null],"writerFeatures":[]'
        ),
        line=2,
        field="protocol.readerFeatures[0]",
    ),
    refusal("an unknown reader feature", broken.more(log.protocol(3, 7, ["new"], ["new"])), "new"),
    refusal(
        "a feature in another case",
        broken.more(log.protocol(3, 7, ["DeletionVectors"], ["DeletionVectors"])),
        "DeletionVectors",
    ),
    refusal(
        "a feature with a space",
        broken.more(log.protocol(3, 7, ["deletionVectors "], ["deletionVectors "])),
        "deletionVectors ",
    ),
    refusal("a feature without a name", broken.more(log.protocol(3, 7, [""], [""])), ""),
    # The message contains only the beginning.
    Case(
        "a feature of many letters",
        broken.more(log.protocol(3, 7, ["x" * 100_000], ["x" * 100_000])),
        broken.opened,
        deltaic.UnsupportedFeature,
        ("feature xxx",),
        {"feature": "x" * 100_000, "table": TABLE, "version": 1},
        append_too=True,
    ),
    refusal("an unknown reader version", broken.more(log.protocol(9, 9)), "reader version 9"),
    refusal("the next reader version", broken.more(log.protocol(4, 7, [], [])), "reader version 4"),
    writer_refusal("an unknown writer feature", broken.more(log.protocol(1, 7, None, ["new"])), "new"),
    writer_refusal("an unknown writer version", broken.more(log.protocol(1, 8)), "writer version 8"),
    # Reading rows does not need the timestamp.
    Case(
        "an in-commit timestamp that is a string",
        timed([{"commitInfo": {"inCommitTimestamp": "x"}}]),
        broken.asked_for_history,
        deltaic.CorruptLog,
        ("is not an integer",),
        {"version": 3, "path": f"_delta_log/{3:020}.json", "field": "commitInfo.inCommitTimestamp"},
    ),
    line_case("metaData of nothing", '{"metaData":{}}', field="metaData"),
    line_case("a format that is a string", metadata_of(format="parquet"), field="metaData.format"),
    line_case("a format that is a list", metadata_of(format=["parquet", {}]), field="metaData.format"),
    refusal(
        "a format other than parquet",
        broken.more(log.metadata(format={"provider": "orc", "options": {}})),
        "format orc",
        field="format.provider",
    ),
    line_case("a schema that is an object", metadata_of(schemaString={}), field="metaData.schemaString"),
    line_case(
        "partition columns that are a string",
        metadata_of(partitionColumns="day"),
        field="metaData.partitionColumns",
    ),
    line_case(
        "a property that is a number", metadata_of(configuration={"a": 1}), field="metaData.configuration.a"
    ),
]

SCHEMA = [
    state_case("a schema that is not JSON", broken.schema_in_log("{"), field="schemaString"),
    state_case("a schema that is not a struct", broken.schema_in_log('"long"'), field="schemaString"),
    state_case("a schema that is null", broken.schema_in_log("null"), field="schemaString"),
    state_case("a schema of another struct", broken.schema_in_log('{"type":"struct"}'), field="schemaString"),
    state_case(
        "a field without a type",
        broken.schema_in_log('{"type":"struct","fields":[{"name":"id","nullable":true,"metadata":{}}]}'),
        "type",
        field="id",
    ),
    state_case(
        "a field without a name",
        broken.schema_in_log('{"type":"struct","fields":[{"type":"long","nullable":true,"metadata":{}}]}'),
        "name",
        field="schemaString",
    ),
    state_case("names that differ only by case", broken.schema_in_log(TWO_CASES), "ID", field="ID"),
    state_case(
        "names of one letter in two cases",
        broken.schema_in_log(log.schema(log.field("É"), log.field("é"))),
        "é",
        field="é",
    ),
    state_case("nested names that differ only by case", broken.schema_in_log(NESTED_CASES), "A", field="s.A"),
    state_case(
        "a name twice", broken.schema_in_log(log.schema(log.field("id"), log.field("id"))), "id", field="id"
    ),
    state_case(
        "a partition column that is not there",
        broken.schema_in_log(log.ONE_LONG, ("day",)),
        "day",
        field="partitionColumns",
    ),
    state_case(
        "a partition column in another case",
        broken.schema_in_log(log.ONE_LONG, ("ID",)),
        "ID",
        field="partitionColumns",
    ),
    state_case(
        "a partition column twice",
        broken.schema_in_log(broken.SCHEMA_STRING, ("day", "day")),
        "day",
        field="partitionColumns",
    ),
    state_case("a deep schema", broken.schema_in_log(deep_schema(5_000)), field="schemaString"),
    state_case(
        "extremely nested brackets for a schema", broken.schema_in_log("[" * 200_000), field="schemaString"
    ),
    *(
        refusal(f"the type {kind}", of_field(kind), kind, meet=broken.scanned, field="x")
        for kind in ("quaternion", "decimal(39,0)", "Long", "void ")
    ),
    Survivor(
        "names that differ by their normal form",
        broken.more(
            log.metadata(
                log.schema(
                    log.field("\u00e9"),
                    log.field("e\u0301"),
                    log.field("id"),
                    log.field("name", "string"),
                    log.field("day", "date"),
                ),
                ["day"],
            )
        ),
        holds=lambda s: s.schema.names[:2] == ["\u00e9", "e\u0301"],
    ),
]

PROPERTIES = [
    *(
        Survivor(
            f"delta.{key} that is {value[:12]!a}",
            broken.more(log.metadata(broken.SCHEMA_STRING, ["day"], {f"delta.{key}": value})),
            holds=lambda s, key=key, value=value: s.properties == {f"delta.{key}": value},
        )
        for key, value in (
            ("logRetentionDuration", "a while"),
            ("deletedFileRetentionDuration", "interval -1 days"),
            ("checkpointInterval", "-1"),
            ("checkpointInterval", "9" * 40),
            ("randomPrefixLength", "\u0663"),
        )
    ),
    Case(
        "delta.dataSkippingNumIndexedCols that does not parse",
        broken.more(log.metadata(broken.SCHEMA_STRING, ["day"], {"delta.dataSkippingNumIndexedCols": "all"})),
        broken.appended,
        deltaic.CorruptLog,
        ("all",),
        {"field": "delta.dataSkippingNumIndexedCols", "table": TABLE, "version": 1},
    ),
]
