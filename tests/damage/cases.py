"""The table of what can be wrong: how a table is damaged, how it is met, and what must be said."""

from __future__ import annotations

from dataclasses import dataclass, field

import pyarrow as pa

import deltaic
from tests.protocol import handmade_log as log

from . import broken


@dataclass(frozen=True)
class Case:
    """How a table is damaged, how it is met, and what must be said."""

    name: str
    damage: broken.Damage
    meet: broken.Meeting
    error: type[Exception]
    says: tuple[str, ...] = ()
    context: dict[str, object] = field(default_factory=dict[str, object])
    append_too: bool = False


def log_case(name: str, damage: broken.Damage, *says: str, **context: object) -> Case:
    """Damage of the log: the table does not open, and an append meets the same."""
    return Case(name, damage, broken.opened, deltaic.CorruptLog, says, context, append_too=True)


def data_case(name: str, damage: broken.Damage, *says: str) -> Case:
    """Damage of the first data file: a scan names it."""
    return Case(name, damage, broken.scanned, deltaic.CorruptData, (broken.FIRST_FILE, *says))


def question(name: str, meet: broken.Meeting, error: type[Exception], *says: str) -> Case:
    """A question or a demand that a healthy table cannot answer."""
    return Case(name, broken.nothing, meet, error, says)


COMMIT = f"{1:020}.json"
DEEP = '{"add":' + '{"a":' * 200 + "1" + "}" * 201
ADD = log.add("c", values={"day": None})
TWO_CASES = log.schema(log.field("id"), log.field("ID"))
NESTED_CASES = log.schema(log.field("s", {"type": "struct", "fields": [log.field("a"), log.field("A")]}))


def txn_line(body: str) -> broken.Damage:
    return broken.line('{"txn":' + body + "}")


def of_field(kind: str) -> broken.Damage:
    return broken.schema_in_log(log.schema(log.field("x", kind)))


LOG_CASES = [
    log_case("a torn commit", broken.torn, COMMIT, version=1),
    log_case("NUL bytes at the end of a commit", broken.with_nul_bytes, COMMIT, version=1),
    log_case("a commit that is not UTF-8", broken.not_utf8, COMMIT, version=1),
    log_case("an empty commit", broken.body(b""), COMMIT, version=1),
    log_case("a commit of blank lines", broken.body(b"\n\n"), COMMIT, version=1),
    log_case("a commit of NUL bytes", broken.body(b"\0" * 100), COMMIT, version=1),
    log_case("a commit that is no JSON", broken.body(b"PAR1\n"), COMMIT, version=1),
    log_case("a commit of a list", broken.body(b"[1]\n"), COMMIT, version=1),
    log_case("a commit of a text", broken.body(b'"add"\n'), COMMIT, version=1),
    log_case("UTF-16 with its mark", broken.body('{"commitInfo":{}}\n'.encode("utf-16")), COMMIT, version=1),
    log_case(
        "two actions on a line", broken.line('{"txn":{"appId":"a","version":1}}{"commitInfo":{}}'), version=1
    ),
    log_case(
        "two actions in an object",
        broken.line('{"txn":{"appId":"a","version":1},"commitInfo":{}}'),
        version=1,
    ),
    log_case("a key twice", txn_line('{"appId":"a","version":1,"version":2}'), "version", version=1),
    log_case("an action twice in an object", broken.line('{"commitInfo":{},"commitInfo":{}}'), version=1),
    log_case("deep JSON", broken.line(DEEP), version=1),
    log_case("a bomb of brackets", broken.line("[" * 1_000_000), version=1),
    log_case("two metaData", broken.more(log.metadata(), log.metadata()), "metaData", version=1),
    log_case("two protocol", broken.more(log.protocol(), log.protocol()), "protocol", version=1),
    log_case("add and remove of a file", broken.more(ADD, log.remove("c")), "c", version=1),
    log_case("a file twice", broken.more(ADD, ADD), "c", version=1),
    log_case("a number beyond 64 bits", txn_line('{"appId":"a","version":9223372036854775808}'), version=1),
    log_case("a number with a fraction", txn_line('{"appId":"a","version":1.5}'), version=1),
    log_case("an action that is a text", broken.line('{"add":"a.parquet"}'), version=1),
    log_case("the first commit is missing", broken.without_commit(0), f"{0:020}.json"),
    log_case("a gap", broken.with_a_gap, "2", version=2),
    log_case("a folder where a commit should be", broken.folder_as_commit, f"{2:020}.json", version=2),
    log_case("a version at the limit", broken.at_the_limit),
    log_case("no protocol", broken.instead(log.metadata()), "protocol"),
    log_case("no metaData", broken.instead(log.protocol()), "metaData"),
    log_case("a schema that is no JSON", broken.schema_in_log("{"), "schemaString"),
    log_case("a schema that is no struct", broken.schema_in_log('"long"'), "schemaString"),
    log_case("names that differ only by case", broken.schema_in_log(TWO_CASES), "ID"),
    log_case("nested names that differ only by case", broken.schema_in_log(NESTED_CASES), "A"),
    log_case("a name twice", broken.schema_in_log(log.schema(log.field("id"), log.field("id"))), "id"),
    log_case("a partition column that is not there", broken.schema_in_log(log.ONE_LONG, ("day",)), "day"),
]

DATA_CASES = [
    data_case("a missing data file", broken.without_data),
    data_case("a truncated data file", broken.truncated_data),
    data_case("a data file of nonsense", broken.data_of_nonsense),
    data_case("an empty data file", broken.empty_data),
    data_case("a data file of another type", broken.data_of_another_type, "id"),
]

ESCAPES = [
    "../outside.parquet",
    "day=2026-11-05/../../outside.parquet",
    "..%2Foutside.parquet",
    "%2e%2e/outside.parquet",
    "/etc/passwd",
    "file:///etc/passwd",
    "s3://bucket/a.parquet",
    "https://example.com/a.parquet",
    "file://host/share/a.parquet",
]
ESCAPE_CASES = [
    Case(f"a path to {path}", broken.path_in_log(path), broken.scanned, deltaic.PathEscape)
    for path in ESCAPES
] + [Case("a link out of the table", broken.link_out_of_the_table, broken.scanned, deltaic.PathEscape)]

QUESTIONS = [
    question("a version after the last", broken.travelled(version=2), deltaic.VersionNotFound, "0", "1"),
    question("a far version", broken.travelled(version=2**62), deltaic.VersionNotFound, "0", "1"),
    question(
        "a time before the first commit",
        broken.travelled(timestamp="1999-01-01T00:00:00Z"),
        deltaic.VersionNotFound,
        "1999",
    ),
    question("a time without a zone", broken.travelled(timestamp="2026-01-01T00:00:00"), ValueError, "zone"),
    question("a time that is none", broken.travelled(timestamp="yesterday"), ValueError, "yesterday"),
    question("an unknown column in columns=", broken.projected("id", "nmae"), ValueError, "nmae", "name"),
    question("a column twice in columns=", broken.projected("id", "id"), ValueError, "id"),
    question(
        "an unknown column in a predicate",
        broken.selected("nmae = 'x'"),
        deltaic.InvalidPredicate,
        "nmae",
        "name",
    ),
    question(
        "an unknown nested column in a predicate",
        broken.selected("id.deep = 1"),
        deltaic.InvalidPredicate,
        "id",
    ),
    question("a predicate that breaks off", broken.selected("id >"), deltaic.InvalidPredicate, "id >"),
    question("a predicate of nonsense", broken.selected("id = = 3"), deltaic.InvalidPredicate),
    question("an open quote", broken.selected("name = 'x"), deltaic.InvalidPredicate),
    question("an empty predicate", broken.selected(" "), deltaic.InvalidPredicate),
    question("a predicate that is no truth value", broken.selected("id"), deltaic.InvalidPredicate, "id"),
    question("a text compared with a number", broken.selected("id = 'one'"), deltaic.InvalidPredicate, "one"),
    question("a date that is none", broken.selected("day = DATE '2026-02-30'"), deltaic.InvalidPredicate),
    question("several statements", broken.selected("id = 1; DROP TABLE x"), deltaic.InvalidPredicate),
    question(
        "a deep predicate", broken.selected("(" * 50_000 + "id = 1" + ")" * 50_000), deltaic.InvalidPredicate
    ),
    question("a subquery", broken.selected("id IN (SELECT 1)"), deltaic.DeltaicError),
    question(
        "files by an unknown column",
        broken.files_selected("dya IS NULL"),
        deltaic.InvalidPredicate,
        "dya",
        "day",
    ),
]

ONE_DAY = pa.array([20_000], pa.date32())
APPENDS = [
    question(
        "an extra column",
        broken.appended_rows(id=[1], name=["x"], day=ONE_DAY, more=[1]),
        deltaic.SchemaMismatch,
        "more",
    ),
    question(
        "a column of another type",
        broken.appended_rows(id=["one"], name=["x"], day=ONE_DAY),
        deltaic.SchemaMismatch,
        "id",
    ),
    question(
        "a column that would lose digits",
        broken.appended_rows(id=[1.5], name=["x"], day=ONE_DAY),
        deltaic.SchemaMismatch,
        "id",
    ),
    question(
        "a column that cannot be null is missing",
        broken.appended_rows(id=[1], day=ONE_DAY),
        deltaic.SchemaMismatch,
        "name",
    ),
    Case(
        "NULL where it is forbidden",
        broken.nothing,
        broken.appended_rows(id=[1, 2], name=["x", None], day=pa.array([1, 2], pa.date32())),
        deltaic.ConstraintViolation,
        ("name",),
    ),
    question(
        "a name in another case",
        broken.appended_rows(ID=[1], name=["x"], day=ONE_DAY, id=[2]),
        deltaic.SchemaMismatch,
        "id",
    ),
    question("no columns at all", broken.appended_rows(), deltaic.SchemaMismatch, "name"),
]

GATES = [
    Case(
        "an unknown type",
        of_field("quaternion"),
        broken.scanned,
        deltaic.UnsupportedFeature,
        ("quaternion", "x"),
        append_too=True,
    ),
    Case(
        "a decimal that is too wide",
        of_field("decimal(39,0)"),
        broken.scanned,
        deltaic.UnsupportedFeature,
        ("decimal(39,0)", "x"),
        append_too=True,
    ),
    Case(
        "a format other than parquet",
        broken.more(log.metadata(format={"provider": "orc", "options": {}})),
        broken.opened,
        deltaic.UnsupportedFeature,
        ("orc",),
        append_too=True,
    ),
    Case(
        "a reader feature that is not known",
        broken.more(log.protocol(3, 7, ["fromTheFuture"], ["fromTheFuture"])),
        broken.opened,
        deltaic.UnsupportedFeature,
        ("fromTheFuture",),
        append_too=True,
    ),
    Case(
        "a writer feature that is not known",
        broken.more(log.protocol(1, 7, None, ["fromTheFuture"])),
        broken.appended,
        deltaic.UnsupportedFeature,
        ("fromTheFuture",),
    ),
    Case(
        "a reader version that is not known",
        broken.more(log.protocol(9, 9)),
        broken.opened,
        deltaic.UnsupportedFeature,
        ("9",),
        append_too=True,
    ),
]

CASES = [*LOG_CASES, *DATA_CASES, *ESCAPE_CASES, *QUESTIONS, *APPENDS, *GATES]
