"""Files that Spark's own writer writes are those of deltaic's tasks: values, statistics, columns."""

# ruff: noqa: S608 - queries of our own

from __future__ import annotations

import json
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

pytest.importorskip("pyspark", reason="missing: PySpark")

import deltaic
import deltaic.spark as ds
from deltaic.exceptions import ConstraintViolation, SchemaMismatch, UnsupportedFeature
from deltaic.spark.frame_write import parquet_tasks
from deltaic.spark.frame_write.parquet_tasks import ParquetTasks, why_not
from deltaic.spark.runtime.classes import RuntimeUnavailable
from tests.programs.footers import columns_of

from .as_arrow import by_arrow

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from .conftest import Settings


@pytest.fixture
def runs(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The writes that Spark's own writer ran."""
    seen: list[str] = []
    run = ParquetTasks.run

    def counted(self: ParquetTasks) -> str:
        seen.append("run")
        return run(self)

    monkeypatch.setattr(ParquetTasks, "run", counted)
    return seen


# The values of one column in six rows of two tasks; NULL and the ends of each type are among them.
COLUMNS = {
    "byte": "CAST(IF(id = 1, NULL, id * 40 - 120) AS byte)",
    "short": "CAST(IF(id < 3, -32768, NULL) AS short)",
    "int": "CAST(id * 1000000 - 7 AS int)",
    "long": "CASE id WHEN 0 THEN 9223372036854775807L WHEN 5 THEN -9223372036854775808L ELSE id END",
    "float": "IF(id = 2, CAST('NaN' AS float), CAST(id / 3 AS float))",
    "double": "CASE id WHEN 0 THEN -0D WHEN 1 THEN 0D WHEN 4 THEN DOUBLE('-Infinity') ELSE DOUBLE('NaN') END",
    "only_nan": "DOUBLE('NaN')",
    "flag": "id = 4",
    "small": "CAST(id - 2.5 AS decimal(5, 2))",
    "large": "CAST(id - 2.5 AS decimal(17, 3))",
    "huge": "CAST(IF(id = 3, -99999999999999999999999999999999999.999, id) AS decimal(38, 3))",
    "day": "DATE '1500-01-01' + CAST(id * 100000 AS int)",
    "late": "IF(id = 5, DATE '+10000-01-01', DATE '2026-01-01')",
    "at": "TIMESTAMP_MICROS(id * 1234567891)",
    "old": "TIMESTAMP '0001-01-01 00:00:00Z' + MAKE_DT_INTERVAL(id)",
    "ntz": "TIMESTAMP_NTZ '1969-12-31 23:59:59.999999' + MAKE_DT_INTERVAL(id)",
    "text": "CONCAT(REPEAT('é', 40 - id), id)",
    "long_text": "REPEAT(CHAR(65 + id), 5000)",
    "top": "CONCAT(REPEAT(DECODE(X'F48FBFBF', 'UTF-8'), 33), id)",
    "empty": "IF(id = 0, '', NULL)",
    "bytes": "X'00FF'",
    "void_like": "CAST(NULL AS int)",
    "list": "IF(id = 0, NULL, ARRAY(id, NULL))",
    "texts": "IF(id < 3, ARRAY('a', NULL), ARRAY())",
    "map": "IF(id = 5, NULL, MAP('k', id))",
    "struct": "IF(id = 2, NULL, NAMED_STRUCT('x', IF(id = 1, NULL, id), 'y', IF(id = 4, NULL, ARRAY(id)),"
    " 'z', NAMED_STRUCT('day', DATE '2026-01-01', 'm', MAP(id, 'v'))))",
    "structs": "ARRAY(NAMED_STRUCT('x', id, 'y', 'text'))",
}
# A dot in a name is no path.
NAMES = {"struct": "a.b", "ntz": "struct.x", "at": "atü"}
SHAPES = {
    "none": {},
    "mapped by name": {"delta.columnMapping.mode": "name"},
    "mapped by id": {"delta.columnMapping.mode": "id"},
    "few statistics": {"delta.dataSkippingNumIndexedCols": "3"},
    "chosen statistics": {"delta.dataSkippingStatsColumns": "text,`a.b`.z,`struct.x`"},
    "short text": {"delta.dataSkippingStringPrefixLength": "3"},
    "long text": {"delta.dataSkippingStringPrefixLength": "6000"},
    "second version": {"delta.parquet.format.version": "2.12.0"},
    "snappy": {"delta.parquet.compression.codec": "snappy"},
    "random folders": {"delta.randomizeFilePrefixes": "true", "delta.randomPrefixLength": "3"},
    "change feed": {"delta.enableChangeDataFeed": "true", "delta.enableRowTracking": "true"},
}


def frame_of(spark: SparkSession) -> DataFrame:
    columns = (f"{sql} AS `{NAMES.get(name, name)}`" for name, sql in COLUMNS.items())
    return spark.sql(f"SELECT id, {', '.join(columns)} FROM RANGE(0, 6, 1, 2)")


def described(path: Path) -> list[list[str]]:
    """What the log and the footers say of the files of a table, without their names."""
    log = [line for each in (path / "_delta_log").glob("*.json") for line in each.read_text().splitlines()]
    return sorted(
        [
            str({name: add[name] for name in ("partitionValues", "dataChange", "stats")}),
            "/".join("folder" for _ in Path(add["path"]).parts[:-1]),
            "".join(Path(add["path"]).suffixes[-2:]).removeprefix(".c000"),
            columns_of(path / add["path"]),
            str([group.column(0).compression for group in groups_of(path / add["path"])]),
        ]
        for add in (json.loads(line).get("add") for line in log)
        if add is not None
    )


def groups_of(path: Path) -> list[Any]:
    footer = pq.read_metadata(path)
    return [footer.row_group(number) for number in range(footer.num_row_groups)]


def written(path: Path, frame: DataFrame, properties: dict[str, str]) -> list[list[str]]:
    writer = ds.write(frame)
    for name, value in properties.items():
        writer = writer.option(name, value)
    writer.save(path)
    ds.write(frame).mode("append").save(path)
    shown = described(path)
    # Physical names are random.
    names = physical_names(path)
    return [[renamed(text, names) for text in file] for file in shown]


def physical_names(path: Path) -> dict[str, str]:
    found: dict[str, str] = {}

    def visit(kind: Any, above: str) -> None:
        if not isinstance(kind, dict):
            return
        for field in kind.get("fields", []):
            physical = field["metadata"].get("delta.columnMapping.physicalName")
            if physical is not None:
                found[physical] = f"<{above}{field['name']}>"
            visit(field["type"], f"{above}{field['name']}.")
        for part in ("elementType", "keyType", "valueType"):
            visit(kind.get(part), f"{above}{part}.")

    visit(json.loads(deltaic.Table(path).snapshot().schema.to_json()), "")
    return found


def renamed(text: str, names: dict[str, str]) -> str:
    for physical, name in names.items():
        text = text.replace(physical, name)
    return text


@pytest.mark.parametrize("shape", SHAPES)
def test_both_ways_write_the_same_files(
    spark: SparkSession, tmp_path: Path, runs: list[str], shape: str
) -> None:
    frame, properties = frame_of(spark), SHAPES[shape]
    by_spark = written(tmp_path / "spark", frame, properties)
    assert len(runs) == 2
    with by_arrow():
        expected = written(tmp_path / "arrow", frame, properties)
    assert len(by_spark) == 4
    assert by_spark == expected
    tables = [deltaic.Table(tmp_path / name).to_arrow().sort_by("id") for name in ("spark", "arrow")]
    assert str(tables[0]) == str(tables[1])
    assert [child.name for child in tmp_path.rglob("*.crc") if "_delta_log" not in str(child)] == []


def test_bounds_of_several_row_groups_are_those_of_the_file(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(parquet_tasks, "_SETTINGS", {"parquet.block.size": "10000"})
    frame = spark.range(0, 3_000, 1, 1).selectExpr(
        "id",
        "1000 - id AS down",
        "IF(id = 2999, DOUBLE('NaN'), id / 7) AS part",
        "IF(id % 2 = 0, NULL, MAP(SHA2(CAST(id AS string), 512), id)) AS map",
    )
    ds.write(frame).save(tmp_path / "t")
    [path] = (tmp_path / "t").glob("*.parquet")
    assert len(groups_of(path)) > 2
    [found] = deltaic.Table(tmp_path / "t").snapshot().files(stats=True).to_arrow().to_pylist()
    assert (found["num_records"], found["null_count"]["map"]) == (3_000, 1_500)
    assert found["min"] == {"id": 0, "down": -1_999, "part": 0.0}
    assert (found["max"]["id"], found["max"]["down"]) == (2_999, 1_000)
    assert found["max"].get("part") is None


def test_rows_per_file_and_codec(spark: SparkSession, tmp_path: Path, runs: list[str]) -> None:
    frame = spark.range(0, 95, 1, 2)
    writer = ds.write(frame).option("maxRecordsPerFile", 10).option("compression", "gzip")
    writer.option("optimizeWrite", "true").save(tmp_path / "t")
    assert runs == ["run"]
    counts = [pq.read_metadata(path).num_rows for path in (tmp_path / "t").glob("*.gz.parquet")]
    assert max(counts) == 10
    assert sum(counts) == 95


def test_no_rows(spark: SparkSession, tmp_path: Path, runs: list[str]) -> None:
    ds.write(spark.range(0)).save(tmp_path / "t")
    assert runs == ["run"]
    assert deltaic.Table(tmp_path / "t").snapshot().scan().count() == 0
    assert list((tmp_path / "t").glob("*.parquet")) == []


def test_columns_in_another_order_and_missing_ones(
    spark: SparkSession, tmp_path: Path, runs: list[str]
) -> None:
    columns = [
        deltaic.Column("id", "bigint", nullable=False),
        deltaic.Column("n", "int"),
        deltaic.Column("s", "struct<a: bigint, b: string>"),
    ]
    deltaic.Table.create(tmp_path / "t", columns)
    frame = spark.sql("SELECT NAMED_STRUCT('B', 'x', 'a', 1) AS S, 7 AS ID")
    ds.write(frame).mode("append").save(tmp_path / "t")
    ds.write(spark.sql("SELECT 8L AS id, 9 AS n")).mode("append").save(tmp_path / "t")
    assert runs == ["run"] * 2
    rows = sorted(deltaic.Table(tmp_path / "t").to_arrow().to_pylist(), key=lambda row: row["id"])
    assert rows == [
        {"id": 7, "n": None, "s": {"a": 1, "b": "x"}},
        {"id": 8, "n": 9, "s": None},
    ]


def test_refused_rows_leave_nothing(spark: SparkSession, tmp_path: Path, runs: list[str]) -> None:
    columns = [deltaic.Column("id", "bigint", nullable=False), deltaic.Column("text", "string")]
    table = deltaic.Table.create(tmp_path / "t", columns)
    table.alter(deltaic.alter.AddConstraint("small", "id < 100"))
    version = table.version
    rows = "SELECT {} AS id, {} AS text FROM RANGE(0, 20, 1, 2)"
    refused = [
        ("IF(id = 19, NULL, id)", "'a'", ConstraintViolation, "the column id must not be NULL"),
        ("id * 10", "'a'", ConstraintViolation, "small"),
        ("id", "IF(id = 19, CAST(X'ff' AS string), 'a')", SchemaMismatch, "text is not valid UTF-8"),
    ]
    for number, text, error, match in refused:
        with pytest.raises(error, match=match):
            ds.write(spark.sql(rows.format(number, text))).mode("append").save(tmp_path / "t")
    assert len(runs) == 3
    assert table.version == version
    assert list((tmp_path / "t").glob("*.parquet")) == []


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT ARRAY('é', 'twelve bytes', CAST(X'ff' AS string)) AS v",
        "SELECT ARRAY(CONCAT('eight by', CAST(X'ff' AS string), 'more than')) AS v",
        "SELECT MAP(CAST(X'ff' AS string), 1) AS v",
        "SELECT MAP(1, CAST(X'c3' AS string)) AS v",
        "SELECT NAMED_STRUCT('x', ARRAY(NAMED_STRUCT('y', CAST(X'ff' AS string)))) AS v",
    ],
)
def test_invalid_text_within_columns(spark: SparkSession, tmp_path: Path, runs: list[str], sql: str) -> None:
    with pytest.raises(SchemaMismatch, match="the text of column v is not valid UTF-8"):
        ds.write(spark.sql(f"{sql}, 1 AS a, 2 AS b, 3 AS c")).save(tmp_path / "t")
    assert runs == ["run"]


def test_what_spark_does_not_write(spark: SparkSession, tmp_path: Path, runs: list[str]) -> None:
    """Tasks of deltaic write these: files have more than the rows, or Spark's writer is slower."""
    frames = {
        "partitions": ds.write(spark.range(4).selectExpr("id", "id % 2 AS p")).partitionBy("p"),
        "text": ds.write(spark.sql("SELECT 1 AS id, 'a' AS a, 'b' AS b")),
        "codec": ds.write(spark.range(4)).option("compression", "lz4_raw"),
    }
    for name, writer in frames.items():
        writer.save(tmp_path / name)
    columns = {
        "identity": deltaic.Column("n", "bigint", identity=deltaic.Identity()),
        "length": deltaic.Column("c", "char(3)"),
        "required": deltaic.Column("s", "struct<a: int not null>"),
    }
    for name, column in columns.items():
        others = [deltaic.Column("id", "bigint"), deltaic.Column("other", "int")]
        deltaic.Table.create(tmp_path / name, [column, *others])
        ds.write(spark.range(4)).mode("append").save(tmp_path / name)
    assert runs == []
    for name in (*frames, *columns):
        assert deltaic.Table(tmp_path / name).snapshot().scan().count() in (1, 4)


def test_spark_that_does_not_compile_the_classes(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> Any:
        raise RuntimeUnavailable("a vendor's build")

    monkeypatch.setattr(parquet_tasks, "loaded_classes", refuse)
    assert why_not(spark) == "a vendor's build"
    assert "tasks of deltaic write: a vendor's build" in ds.status(spark)
    ds.write(spark.range(3)).save(tmp_path / "t")
    assert pa.table(deltaic.Table(tmp_path / "t").to_arrow()).num_rows == 3


def test_a_frame_of_an_aggregate_and_one_of_the_table_itself(
    spark: SparkSession, tmp_path: Path, runs: list[str], settings: Settings
) -> None:
    """Adaptive execution runs stages before the writer's, and an overwrite reads what it replaces."""
    with settings({"spark.sql.adaptive.enabled": "true"}):
        ds.write(spark.range(100).selectExpr("id % 7 AS k").groupBy("k").count()).save(tmp_path / "t")
        doubled = ds.read(spark).load(tmp_path / "t").selectExpr("k", "count * 2 AS count")
        ds.write(doubled).mode("overwrite").save(tmp_path / "t")
    assert runs == ["run"] * 2
    rows = deltaic.Table(tmp_path / "t").to_arrow().sort_by("k").to_pylist()
    assert rows == [{"k": k, "count": 30 if k < 2 else 28} for k in range(7)]


def test_a_session_that_encrypts_files(spark: SparkSession, tmp_path: Path, settings: Settings) -> None:
    """Its files would be in plain text. Without keys, the factory only reads."""
    name, key = "parquet.crypto.factory.class", "parquet.encryption.uniform.key"
    factory = {name: "org.apache.parquet.crypto.keytools.PropertiesDrivenCryptoFactory"}
    with settings(factory):
        ds.write(spark.range(3)).save(tmp_path / "plain")
    for keys in ({**factory, key: "k"}, {name: "some.Factory"}):
        with settings(keys), pytest.raises(UnsupportedFeature, match=list(keys)[-1]):
            ds.write(spark.range(3)).save(tmp_path / "t")
    assert not (tmp_path / "t").exists()


@pytest.mark.parametrize(
    ("value", "type_"),
    [
        ("9223372036854775807L", "double"),
        ("9223372036854775807L", "float"),
        ("2147483647", "float"),
        ("ARRAY(9223372036854775807L)", "array<double>"),
        ("9.223372036854775807E18D", "bigint"),
        ("CAST(2147483648 AS float)", "int"),
    ],
)
@pytest.mark.parametrize("check", [None, "other >= 0"])
def test_numbers_that_their_type_does_not_have(
    spark: SparkSession, tmp_path: Path, value: str, type_: str, check: str | None
) -> None:
    """Spark casts the first number above a type to the last one of the type."""
    columns = [deltaic.Column("value", type_), deltaic.Column("other", "int")]
    table = deltaic.Table.create(tmp_path / "t", columns)
    if check is not None:
        table.alter(deltaic.alter.AddConstraint("positive", check))
    frame = spark.sql(f"SELECT {value} AS value, 1 AS other")
    with pytest.raises(SchemaMismatch, match="value"):
        ds.write(frame).mode("append").save(tmp_path / "t")
    ds.write(spark.sql("SELECT NULL AS value, 1 AS other")).mode("append").save(tmp_path / "t")
    assert table.snapshot().num_rows == 1


def test_a_creation_that_fails_leaves_no_folder(
    spark: SparkSession, tmp_path: Path, runs: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    prefixes = {"delta.randomizeFilePrefixes": "true"}
    failing = "IF(id = 19, RAISE_ERROR('no'), id)"
    for number, given in enumerate(({}, prefixes)):
        with pytest.raises(Exception, match="no"):
            ds.write(spark.range(0, 20, 1, 2).selectExpr(f"{failing} AS id")).options(**given).save(
                tmp_path / str(number)
            )

    def refuse(*_: object) -> str:
        raise RuntimeError("the core refuses")

    class Refusing:
        given_files = refuse

    original = ParquetTasks.run

    def run(self: ParquetTasks) -> str:
        self._job = Refusing()  # type: ignore[assignment]
        return original(self)

    monkeypatch.setattr(ParquetTasks, "run", run)
    with pytest.raises(RuntimeError, match="the core refuses"):
        ds.write(spark.range(20)).save(tmp_path / "refused")
    assert len(runs) == 3
    assert list(tmp_path.iterdir()) == []


def test_a_jvm_whose_locale_is_not_utf_8(spark: SparkSession, tmp_path: Path, runs: list[str]) -> None:
    """Java would write to another folder."""
    system: Any = spark._jvm.System  # type: ignore[union-attr]
    before = system.getProperty("sun.jnu.encoding")
    system.setProperty("sun.jnu.encoding", "ANSI_X3.4-1968")
    try:
        ds.write(spark.range(3)).save(tmp_path / "tü")
        ds.write(spark.range(3)).save(tmp_path / "t")
    finally:
        system.setProperty("sun.jnu.encoding", before)
    assert runs == ["run"]
    assert deltaic.Table(tmp_path / "tü").snapshot().scan().count() == 3


def test_modes_of_files_are_those_of_the_process(
    spark: SparkSession, tmp_path: Path, settings: Settings
) -> None:
    """Hadoop would apply a mask of its own."""
    for way in ("spark", "arrow"):
        hadoop = {"fs.permissions.umask-mode": "077"}
        with settings(hadoop), by_arrow() if way == "arrow" else nullcontext():
            ds.write(spark.range(3)).option("delta.randomizeFilePrefixes", "true").save(tmp_path / way)
    modes = [
        {
            (path.is_dir(), path.stat().st_mode)
            for path in (tmp_path / way).rglob("*")
            if "_log" not in str(path)
        }
        for way in ("spark", "arrow")
    ]
    assert modes[0] == modes[1]
