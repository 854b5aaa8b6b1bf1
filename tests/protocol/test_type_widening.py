"""The feature *Type Widening*: files of every former type of a column are read as its current type."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import deltaic
from deltaic.alter import ChangeType, DropFeature, UnsetProperties

from .handmade_log import Action, HandmadeTable, field, metadata, protocol, schema

NAMES = ["typeWidening", "timestampNtz"]
FEATURES = protocol(3, 7, NAMES, NAMES)


@dataclass(frozen=True)
class Era:
    """A former type of a column: its name, its Arrow type in files, and values of it."""

    name: str
    kind: pa.DataType
    values: tuple[Any, ...]


def integers(name: str, kind: pa.DataType, bits: int) -> Era:
    return Era(name, kind, (-(2 ** (bits - 1)), 0, 2 ** (bits - 1) - 1))


def decimals(precision: int, scale: int, *values: str) -> Era:
    kind = pa.decimal128(precision, scale)
    return Era(f"decimal({precision},{scale})", kind, tuple(Decimal(value) for value in values))


BYTE = integers("byte", pa.int8(), 8)
SHORT = integers("short", pa.int16(), 16)
INTEGER = integers("integer", pa.int32(), 32)
LONG = integers("long", pa.int64(), 64)
# 0.1 and 6.1 cannot be represented as float: the stored value is returned, not the intended one.
FLOAT = Era("float", pa.float32(), (0.10000000149011612, 6.099999904632568, -3.4028234663852886e38))
DOUBLE = Era("double", pa.float64(), (0.1, 6.1, 1e308))
DATE = Era("date", pa.date32(), (date(1, 1, 1), date(1960, 1, 31), date(9999, 12, 31)))
EARLY, LATE = datetime(1960, 1, 31, 0, 0, 0, 1), datetime(9999, 12, 31, 23)  # noqa: DTZ001
NTZ = Era("timestamp_ntz", pa.timestamp("us"), (EARLY, LATE))
SMALL = decimals(4, 2, "-99.99", "0.00", "12.30")
PAIRS: list[tuple[Era, Era]] = [
    *((BYTE, era) for era in (SHORT, INTEGER, LONG, DOUBLE)),
    *((SHORT, era) for era in (INTEGER, LONG, DOUBLE)),
    *((INTEGER, era) for era in (LONG, DOUBLE)),
    (FLOAT, DOUBLE),
    (DATE, NTZ),
    *(
        (era, decimals(precision, scale, "1", "-7"))
        for era in (BYTE, SHORT, INTEGER)
        for precision, scale in ((10, 0), (11, 1), (12, 0), (18, 8), (20, 10), (38, 28))
    ),
    *((LONG, decimals(precision, scale, "1", "-7")) for precision, scale in ((20, 0), (22, 2), (38, 18))),
    *(
        (SMALL, decimals(precision, scale, "1", "-7"))
        for precision, scale in ((5, 2), (5, 3), (9, 2), (10, 8), (18, 2), (19, 4), (38, 2), (38, 36))
    ),
    (decimals(18, 0, "999999999999999999"), decimals(28, 10, "0.0000000001")),
    (decimals(37, 5, "-99999999999999999999999999999999.99999"), decimals(38, 6, "0.000001")),
]


def change(before: Era, after: Era, **others: Any) -> dict[str, Any]:
    return {"fromType": before.name, "toType": after.name, **others}


def changed(*changes: dict[str, Any]) -> dict[str, Any]:
    return {"delta.typeChanges": list(changes)}


def widened(value: Any, era: Era) -> Any:
    """Converts a value of an older type to this one."""
    if value is None:
        return None
    if pa.types.is_floating(era.kind):
        return float(value)
    if pa.types.is_decimal(era.kind):
        return Decimal(value)
    if pa.types.is_timestamp(era.kind) and type(value) is date:
        return datetime(value.year, value.month, value.day)  # noqa: DTZ001
    return value


def table_of(root: Path, *eras: Era, name: str = "c") -> HandmadeTable:
    """A table with a column that had these types in order, and a file of each type."""
    table = HandmadeTable(root)
    steps: list[dict[str, Any]] = []
    for number, era in enumerate(eras):
        if number:
            steps.append(change(eras[number - 1], era))
        needs: list[Action] = [] if number else [FEATURES]
        rows = pa.table({name: pa.array([*era.values, None], era.kind)})
        about = metadata(schema(field(name, era.name, **(changed(*steps) if steps else {}))))
        table.commit(*needs, about, table.data(f"{number}.parquet", rows))
    return table


def rows_of(table: HandmadeTable, version: int | None = None, **how: Any) -> list[Any]:
    rows = deltaic.Table(table.root).snapshot(version=version).scan(**how).to_arrow()
    return sorted((row["c"] for row in rows.to_pylist()), key=lambda value: (value is None, value or 0, 0))


def in_order(values: list[Any]) -> list[Any]:
    return sorted(values, key=lambda value: (value is None, value or 0, 0))


@pytest.mark.parametrize(("before", "after"), PAIRS, ids=[f"{a.name} to {b.name}" for a, b in PAIRS])
def test_files_of_both_types_are_read_as_the_newer(tmp_path: Path, before: Era, after: Era) -> None:
    """protocol: beyond:type-widening.1."""
    table = table_of(tmp_path / "t", before, after)
    old = [widened(value, after) for value in before.values]
    found = deltaic.Table(table.root).snapshot().scan().to_arrow()
    assert found.schema.field("c").type == after.kind
    by_name = lambda values: sorted(values, key=str)  # noqa: E731
    assert by_name(found["c"].to_pylist()) == by_name([*old, *after.values, None, None])
    # The version before the change has the former type.
    then = deltaic.Table(table.root).snapshot(version=0).scan().to_arrow()
    assert then.schema.field("c").type == before.kind
    assert then["c"].to_pylist() == [*before.values, None]


@pytest.mark.parametrize(("before", "after"), PAIRS, ids=[f"{a.name} to {b.name}" for a, b in PAIRS])
def test_the_parts_of_a_column_widen_too(tmp_path: Path, before: Era, after: Era) -> None:
    """In structs, arrays, and maps: keys, values, and both in nested types.

    protocol: beyond:type-widening.1, beyond:type-widening.3
    """

    def types(kind: pa.DataType) -> dict[str, pa.DataType]:
        return {
            "s": pa.struct([("x", kind), ("y", pa.list_(pa.struct([("z", kind)])))]),
            "l": pa.list_(kind),
            "m": pa.map_(kind, kind),
            "deep": pa.list_(pa.map_(pa.string(), pa.list_(kind))),
        }

    def rows(values: tuple[Any, ...]) -> dict[str, Any]:
        return {
            "s": {"x": values[0], "y": [{"z": value} for value in values] + [{"z": None}, None]},
            "l": [*values, None],
            "m": [(value, value) for value in values],
            "deep": [[("k", [*values, None]), ("n", None)], None],
        }

    def columns(name: str, **steps: list[dict[str, Any]]) -> str:
        def told(key: str) -> dict[str, Any]:
            return changed(*steps[key]) if steps else {}

        item = {"type": "struct", "fields": [field("z", name, **told("own"))]}
        items = {"type": "array", "elementType": item, "containsNull": True}
        struct = {"type": "struct", "fields": [field("x", name, **told("own")), field("y", items)]}
        array = {"type": "array", "elementType": name, "containsNull": True}
        map_type = {"type": "map", "keyType": name, "valueType": name, "valueContainsNull": True}
        inner = {"type": "map", "keyType": "string", "valueType": array, "valueContainsNull": True}
        deep = {"type": "array", "elementType": inner, "containsNull": True}
        return schema(
            field("s", struct),
            field("l", array, **told("element")),
            field("m", map_type, **told("both")),
            field("deep", deep, **told("deep")),
        )

    steps = {
        "own": [change(before, after)],
        "element": [change(before, after, fieldPath="element")],
        "both": [change(before, after, fieldPath="key"), change(before, after, fieldPath="value")],
        "deep": [change(before, after, fieldPath="element.value.element")],
    }
    table = HandmadeTable(tmp_path / "t")
    for number, (era, text) in enumerate(
        ((before, columns(before.name)), (after, columns(after.name, **steps)))
    ):
        data = pa.Table.from_pylist([rows(era.values)], pa.schema(list(types(era.kind).items())))
        table.commit(*([] if number else [FEATURES]), metadata(text), table.data(f"{number}.parquet", data))
    found = deltaic.Table(table.root).snapshot().scan().to_arrow().to_pylist()
    old = rows(tuple(widened(value, after) for value in before.values))
    new = rows(after.values)
    assert sorted(found, key=str) == sorted([old, new], key=str)


CHAINS = [
    (BYTE, SHORT, INTEGER, LONG, decimals(20, 0, "1"), decimals(24, 2, "1.25"), decimals(38, 10, "0.5")),
    (BYTE, SHORT, INTEGER, DOUBLE),
    (SMALL, decimals(6, 2, "1234.56"), decimals(12, 5, "1.00001"), decimals(30, 10, "0.0000000001")),
]


@pytest.mark.parametrize("eras", CHAINS, ids=lambda eras: " ".join(era.name for era in eras))
def test_a_scan_goes_over_the_files_of_all_eras(tmp_path: Path, eras: tuple[Era, ...]) -> None:
    """protocol: beyond:type-widening.1."""
    table = table_of(tmp_path / "t", *eras)
    for version, newest in enumerate(eras):
        expected = [widened(value, newest) for era in eras[: version + 1] for value in (*era.values, None)]
        assert rows_of(table, version) == in_order(expected)
    newest = eras[-1]
    values = [widened(value, newest) for era in eras for value in era.values]
    assert rows_of(table, predicate="c > 0") == in_order([value for value in values if value > 0])
    assert rows_of(table, predicate="c <= 0") == in_order([value for value in values if value <= 0])
    assert rows_of(table, predicate="c = 127") == [value for value in values if value == 127]
    nulls = deltaic.Table(table.root).snapshot().scan(predicate="c IS NULL")
    assert nulls.count() == len(eras)


@dataclass(frozen=True)
class Told:
    """Statistics in the older type's format, the value, and predicates that match and that do not."""

    before: Era
    after: Era
    text: Any
    value: Any
    hits: list[str]
    misses: list[str]


def with_statistics(root: Path, told: Told) -> deltaic.Snapshot:
    """A file of one row from before the change."""
    table = HandmadeTable(root)
    bound = {"c": told.text}
    stats = {"numRecords": 1, "minValues": bound, "maxValues": bound, "nullCount": {"c": 0}}
    rows = pa.table({"c": pa.array([told.value], told.before.kind)})
    file = table.data("0.parquet", rows, stats=json.dumps(stats))
    table.commit(FEATURES, metadata(schema(field("c", told.before.name))), file)
    changes = changed(change(told.before, told.after))
    table.commit(metadata(schema(field("c", told.after.name, **changes))))
    return deltaic.Table(root).snapshot()


@pytest.mark.parametrize(
    "told",
    [
        Told(
            FLOAT, DOUBLE, 6.1, 6.1, ["c < 6.1", "c > 6.09", "c = 6.099999904632568"], ["c < 6.09", "c = 7"]
        ),
        Told(
            DATE,
            NTZ,
            "1960-01-31",
            date(1960, 1, 31),
            ["c = TIMESTAMP_NTZ '1960-01-31 00:00:00'", "c < TIMESTAMP_NTZ '1960-01-31 00:00:00.000001'"],
            ["c > TIMESTAMP_NTZ '1960-02-01 00:00:00'", "c < TIMESTAMP_NTZ '1960-01-30 00:00:00'"],
        ),
        Told(INTEGER, decimals(12, 2), 7, 7, ["c = 7", "c < 7.01", "c > 6.99"], ["c > 7.5", "c < 6.5"]),
        Told(LONG, decimals(22, 2), 2**40, 2**40, [f"c = {2**40}"], [f"c < {2**40 - 2}"]),
        Told(SMALL, decimals(10, 4), 0.25, Decimal("0.25"), ["c = 0.25", "c < 0.2501"], ["c > 0.26"]),
        Told(BYTE, DOUBLE, 100, 100, ["c = 100", "c < 100.5"], ["c < 99.5"]),
        Told(SHORT, LONG, -5, -5, ["c = -5"], ["c > -5"]),
    ],
    ids=lambda told: f"{told.before.name} to {told.after.name}",
)
def test_statistics_are_read_as_the_older_type_wrote_them(tmp_path: Path, told: Told) -> None:
    """protocol: beyond:type-widening.8."""
    snapshot = with_statistics(tmp_path / "t", told)
    for predicate in told.hits:
        assert snapshot.files(predicate=predicate).num_rows == 1, predicate
        assert snapshot.scan(predicate=predicate).to_arrow().num_rows == 1, predicate
    for predicate in told.misses:
        assert snapshot.files(predicate=predicate).num_rows == 0, predicate
        assert snapshot.scan(predicate=predicate).to_arrow().num_rows == 0, predicate


PARTITIONS = [
    (BYTE, LONG, "-128", -128),
    (INTEGER, decimals(12, 2), "7", Decimal("7.00")),
    (SHORT, DOUBLE, "7", 7.0),
    (SMALL, decimals(10, 4), "1.50", Decimal("1.5000")),
    (DATE, NTZ, "1960-01-31", datetime(1960, 1, 31)),  # noqa: DTZ001
]


@pytest.mark.parametrize(
    ("before", "after", "text", "value"), PARTITIONS, ids=[f"{a.name} to {b.name}" for a, b, *_ in PARTITIONS]
)
def test_partition_values_widen(tmp_path: Path, before: Era, after: Era, text: str, value: Any) -> None:
    """The partition value of the older type is parsed as the newer type."""
    table = HandmadeTable(tmp_path / "t")
    rows = table.data("0.parquet", pa.table({"id": [1]}), values={"c": text})
    table.commit(FEATURES, metadata(schema(field("id"), field("c", before.name)), ["c"]), rows)
    now = field("c", after.name, **changed(change(before, after)))
    table.commit(metadata(schema(field("id"), now), ["c"]))
    snapshot = deltaic.Table(table.root).snapshot()
    assert snapshot.scan().to_arrow().to_pylist() == [{"id": 1, "c": value}]
    assert snapshot.files().to_arrow()["partition_values"].to_pylist() == [{"c": value}]


UNKNOWN = [
    ("integer", "string"),
    ("long", "integer"),
    ("long", "double"),
    ("long", "float"),
    ("integer", "float"),
    ("double", "float"),
    ("date", "timestamp"),
    ("timestamp", "date"),
    ("timestamp_ntz", "timestamp"),
    ("integer", "decimal(9,0)"),
    ("integer", "decimal(11,2)"),
    ("long", "decimal(19,0)"),
    ("decimal(10,2)", "decimal(9,2)"),
    ("decimal(10,2)", "decimal(11,4)"),
    ("decimal(10,2)", "decimal(12,1)"),
    ("string", "binary"),
    ("binary", "string"),
    ("integer", "fromTheFuture"),
    ("fromThePast", "long"),
]


@pytest.mark.parametrize(("before", "after"), UNKNOWN, ids=[f"{a} to {b}" for a, b in UNKNOWN])
@pytest.mark.parametrize("place", ["top", "struct", "element", "key"])
def test_a_change_that_is_not_known_is_refused_before_any_row(
    tmp_path: Path, before: str, after: str, place: str
) -> None:
    """Also if no file is older than the change, and if the column is not selected.

    protocol: beyond:type-widening.2
    """
    told = {"fromType": before, "toType": after}
    known = after if after != "fromTheFuture" else "long"
    inner = {"type": "struct", "fields": [field("x", known, **changed(told))]}
    array = {"type": "array", "elementType": known, "containsNull": True}
    map_type = {"type": "map", "keyType": known, "valueType": "long", "valueContainsNull": True}
    column = {
        "top": field("c", known, **changed(told)),
        "struct": field("c", inner),
        "element": field("c", array, **changed({**told, "fieldPath": "element"})),
        "key": field("c", map_type, **changed({**told, "fieldPath": "key"})),
    }[place]
    table = HandmadeTable(tmp_path / "t")
    rows = table.data("0.parquet", pa.table({"id": [1]}), stats='{"numRecords":1}')
    table.commit(FEATURES, metadata(schema(field("id"), column)), rows)
    snapshot = deltaic.Table(table.root).snapshot()
    assert snapshot.num_files == 1
    for ask in (
        snapshot.scan,
        lambda: snapshot.scan(columns=["id"]).to_arrow(),
        lambda: snapshot.scan().count(),
    ):
        with pytest.raises(deltaic.UnsupportedFeature) as caught:
            ask()
        assert caught.value.context["feature"] == "typeWidening"
        assert before in caught.value.message
        assert after in caught.value.message
        assert caught.value.hint


@pytest.mark.parametrize(
    "changes",
    [
        [{"fromType": "integer", "toType": "long", "tableVersion": 1}],
        [{"toType": "long", "fromType": "integer", "fieldPath": None}],
        [{"fromType": "byte", "toType": "short", "tableVersion": 1}, {"fromType": "short", "toType": "long"}],
        [],
    ],
)
def test_older_entries_are_read(tmp_path: Path, changes: list[dict[str, Any]]) -> None:
    """protocol: beyond:type-widening.3."""
    table = HandmadeTable(tmp_path / "t")
    old = table.data("0.parquet", pa.table({"c": pa.array([7], pa.int32())}))
    table.commit(FEATURES, metadata(schema(field("c", "long", **changed(*changes)))), old)
    assert rows_of(table) == [7]


@pytest.mark.parametrize(
    "entry",
    [
        "integer",
        {},
        {"fromType": "integer"},
        {"fromType": 1, "toType": "long"},
        {"fromType": "integer", "toType": "long", "fieldPath": "elements"},
        {"fromType": "integer", "toType": "long", "fieldPath": 7},
    ],
)
def test_an_entry_that_is_none_is_damage(tmp_path: Path, entry: Any) -> None:
    table = HandmadeTable(tmp_path / "t")
    rows = table.data("0.parquet", pa.table({"c": [1]}))
    table.commit(FEATURES, metadata(schema(field("c", "long", **changed(entry)))), rows)
    with pytest.raises(deltaic.CorruptLog) as caught:
        rows_of(table)
    assert "delta.typeChanges" in caught.value.message
    assert caught.value.context["field"] == "c"


@pytest.mark.parametrize(
    ("held", "wanted"),
    [
        (pa.array([2**40], pa.int64()), "integer"),
        (pa.array([300], pa.int32()), "byte"),
        (pa.array([1.5], pa.float64()), "float"),
        (pa.array([1.5], pa.float64()), "long"),
        (pa.array([1], pa.int64()), "double"),
        (pa.array([1], pa.int64()), "string"),
        (pa.array([Decimal("1.55")], pa.decimal128(5, 2)), "decimal(4,1)"),
        (pa.array([datetime(2020, 1, 1)], pa.timestamp("us")), "date"),  # noqa: DTZ001
        (pa.array(["1"], pa.string()), "long"),
    ],
    ids=lambda part: part if isinstance(part, str) else str(part.type),
)
def test_nothing_is_narrowed(tmp_path: Path, held: pa.Array, wanted: str) -> None:
    """A value that the column's type cannot represent is an error, never another value."""
    table = HandmadeTable(tmp_path / "t")
    table.commit(
        FEATURES, metadata(schema(field("c", wanted))), table.data("0.parquet", pa.table({"c": held}))
    )
    with pytest.raises(deltaic.CorruptData) as caught:
        rows_of(table)
    assert (caught.value.context["path"], caught.value.context["field"]) == ("0.parquet", "c")


@pytest.mark.parametrize("properties", [{}, {"delta.enableDeletionVectors": "true"}])
def test_a_table_with_a_widened_column_is_written_to(tmp_path: Path, properties: dict[str, str]) -> None:
    """New files have the new type; copied rows too.

    protocol: beyond:type-widening.3
    """
    root = tmp_path / "t"
    narrow = pa.schema([("id", pa.int32()), ("n", pa.int16())])
    settings = {"delta.enableTypeWidening": "true", **properties}
    table = deltaic.Table.create(root, narrow, properties=settings)
    table.append(pa.table({"id": [1, 2, 3], "n": [1, 2, 3]}, schema=narrow))
    table.alter(ChangeType("n", pa.int64()))
    table.append(pa.table({"id": pa.array([4], pa.int32()), "n": [1 << 40]}))
    table.delete("id = 2")
    table.update({"n": "n + 4294967296"}, "id = 3")
    rows = table.snapshot().scan().to_arrow().sort_by("id").to_pylist()
    assert rows == [{"id": 1, "n": 1}, {"id": 3, "n": 3 + (1 << 32)}, {"id": 4, "n": 1 << 40}]
    assert table.check(deep=True).is_healthy


def test_the_feature_is_not_dropped_while_files_may_have_an_older_type(tmp_path: Path) -> None:
    # protocol (refused): beyond:type-widening.7
    root = tmp_path / "t"
    settings = {"delta.enableTypeWidening": "true"}
    table = deltaic.Table.create(root, pa.schema([("c", pa.int32())]), properties=settings)
    table.append(pa.table({"c": pa.array([1], pa.int32())}))
    table.alter(ChangeType("c", "bigint"), UnsetProperties(["delta.enableTypeWidening"]))
    version = table.snapshot().version
    with pytest.raises(deltaic.SchemaMismatch, match="typeWidening") as caught:
        table.alter(DropFeature("typeWidening"))
    assert caught.value.context["feature"] == "typeWidening"
    assert table.snapshot().version == version
    assert "typeWidening" in table.snapshot().protocol.writer_features
    assert table.snapshot().scan().to_arrow()["c"].to_pylist() == [1]


@pytest.mark.parametrize(("old", "new"), PAIRS, ids=lambda era: era.name)
def test_a_partition_column_becomes_wider(tmp_path: Path, old: Era, new: Era) -> None:
    """As in delta-spark; the text of the values in the log remains.

    protocol: beyond:type-widening.3
    """
    settings = {"delta.enableTypeWidening": "true"}
    narrow = pa.schema([("id", pa.int64()), ("p", old.kind)])
    table = deltaic.Table.create(tmp_path / "t", narrow, partition_by=["p"], properties=settings)
    values = (0.5, -1.5, 0.25) if old is FLOAT else old.values
    rows = [{"id": at, "p": value} for at, value in enumerate([*values, None])]
    table.append(pa.Table.from_pylist(rows, narrow))
    table.checkpoint()
    table.alter(ChangeType("p", new.kind))
    wide = pa.array([row["p"] for row in rows], old.kind).cast(new.kind)
    found = table.to_arrow().sort_by("id")
    assert found["p"].combine_chunks() == wide
    for at, value in enumerate(wide.to_pylist()):
        if value is not None:
            assert table.snapshot().scan(predicate=deltaic.col("p") == value).to_arrow()[
                "id"
            ].to_pylist() == [at]
    more = pa.table({"id": [100], "p": pa.array([new.values[-1]], new.kind)})
    table.append(more)
    table.update({"id": "id + 1"}, "id = 100 OR p IS NULL")
    ids = table.to_arrow()["id"].to_pylist()
    assert sorted(ids) == [*range(len(values)), len(values) + 1, 101]
    assert table.check(deep=True).is_healthy
