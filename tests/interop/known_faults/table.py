"""The known faults of delta-spark 4.4; `test_known_faults.py` shows that they still exist."""

from __future__ import annotations

from tests.programs import random_definition

from . import of_merges, of_verbs
from .fault import Fault

FEED = "TBLPROPERTIES ('delta.enableChangeDataFeed' = 'true')"
VECTORS = "TBLPROPERTIES ('delta.enableDeletionVectors' = 'true')"
MAPPED = "'delta.columnMapping.mode' = 'name'"
NUMBERS = ("CREATE TABLE {t} (id BIGINT) USING delta", "INSERT INTO {t} VALUES (0), (1)")
HISTORY = "DESCRIBE HISTORY {t}"

FAULTS = [
    Fault(
        "rows lost by a merge",
        "With a change feed, it finds rows that several source rows delete by a number, and drops copied and "
        "inserted rows that have the same number.",
        "Each row that no clause deletes stays, and each row that a clause inserts is added.",
        of_merges.loses_rows,
        (
            f"CREATE TABLE {{t}} (id BIGINT) USING delta {FEED}",
            "INSERT INTO {t} VALUES (1), (2), (0), (3)",
            "MERGE INTO {t} AS t USING (VALUES (0), (5), (6), (0), (7) AS s(id)) AS s ON t.id = s.id "
            "WHEN MATCHED THEN DELETE WHEN NOT MATCHED THEN INSERT *",
        ),
        query="SELECT id FROM {t} ORDER BY id",
        rows=((1,), (2,), (3,), (5,), (6,), (7,)),
    ),
    Fault(
        "BETWEEN in the condition of an overwrite",
        "An internal error of Spark.",
        "BETWEEN is a predicate like any other.",
        of_verbs.can_run,
    ),
    Fault(
        "BETWEEN in a merge",
        "With some of such conditions, an internal error: a row did not match any merge clause.",
        "A row that matches no clause stays as it is.",
        of_merges.is_internal_error,
    ),
    Fault(
        "new column without a time zone",
        "A write that adds the first column of this type is refused; ALTER TABLE must add the feature.",
        "Other features are added by the write that needs them; Spark's own CREATE TABLE adds this one.",
        of_merges.lacks_feature,
        (
            *NUMBERS,
            "MERGE WITH SCHEMA EVOLUTION INTO {t} AS t "
            "USING (SELECT 7L AS id, TIMESTAMP_NTZ '2026-01-01' AS at) AS s ON t.id = s.id "
            "WHEN NOT MATCHED THEN INSERT *",
        ),
        "DELTA_FEATURES_REQUIRE_MANUAL_ENABLEMENT",
    ),
    Fault(
        "identity column replaced by another column",
        "An overwrite with another schema keeps the identity of a column of the same name, or is refused.",
        "The new schema has no identity columns.",
        of_verbs.can_run,
    ),
    Fault(
        "columns dropped with a change feed",
        "An overwrite that drops columns is refused if the table has column mapping and a change feed.",
        "The protocol allows it; without column mapping delta-spark does it.",
        of_verbs.can_run,
    ),
    Fault(
        "rows lost by pushdown: negative zero",
        "A filter that Spark pushes down into Parquet does not find -0.0 as 0.0.",
        "Spark's own rule: 0.0 = -0.0.",
        of_verbs.loses_in_pushdown,
        (
            "CREATE TABLE {t} (x DOUBLE) USING delta",
            "INSERT INTO {t} SELECT CAST('-0.0' AS DOUBLE) FROM range(10)",
        ),
        query="SELECT count(*) FROM {t} WHERE x IN (0.0D, 5.0D)",
        rows=((10,),),
    ),
    Fault(
        "rows lost by pushdown: days of October 1582",
        "The literal of a pushed-down filter passes through a calendar that lacks ten days.",
        "The proleptic Gregorian calendar, in which Spark computes and the protocol stores, has these days.",
        of_verbs.loses_in_pushdown,
        ("CREATE TABLE {t} (d DATE) USING delta", "INSERT INTO {t} VALUES (DATE '1582-10-10')"),
        query="SELECT count(*) FROM {t} WHERE d = DATE '1582-10-10'",
        rows=((1,),),
    ),
    Fault(
        "days of October 1582 in a change feed",
        "Rows of a feed pass through the same calendar.",
        "The feed has the values of the table.",
        of_verbs.feed_is_exact,
        (
            f"CREATE TABLE {{t}} (d DATE) USING delta {FEED}",
            "INSERT INTO {t} VALUES (DATE '1582-10-10')",
            "DELETE FROM {t}",
        ),
        query="SELECT DISTINCT CAST(d AS STRING) FROM table_changes_by_path('{path}', 1)",
        rows=(("1582-10-10",),),
    ),
    Fault(
        "empty partition value",
        "An empty text is written as NULL.",
        "The protocol has one text for both, so a writer must refuse the row or change it knowingly.",
        of_verbs.writes_null_instead,
        (
            "CREATE TABLE {t} (id INT, p STRING) USING delta PARTITIONED BY (p)",
            "INSERT INTO {t} VALUES (1, '')",
        ),
        query="SELECT count(*) FROM {t} WHERE p = ''",
        rows=((1,),),
    ),
    Fault(
        "files that an update removes",
        "Files that get a deletion vector count as removed, and replaced vectors do not.",
        "DELETE counts no removed file, and each vector.",
        of_verbs.counts_otherwise,
        (
            f"CREATE TABLE {{t}} (id BIGINT) USING delta {VECTORS}",
            "INSERT INTO {t} SELECT id FROM range(0, 100, 1, 1)",
            "UPDATE {t} SET id = -1 WHERE id = 7",
        ),
        query=f"{HISTORY} LIMIT 1",
        column="operationMetrics.numRemovedFiles",
        rows=(("0",),),
    ),
    Fault(
        "rows of an overwrite without files",
        "The metrics of rows are missing if an overwrite writes no file.",
        "Other verbs record 0.",
        of_verbs.counts_otherwise,
        (*NUMBERS, "INSERT INTO {t} REPLACE WHERE id = 0 SELECT id FROM {t} WHERE false"),
        query=f"{HISTORY} LIMIT 1",
        column="operationMetrics.numOutputRows",
        rows=(("0",),),
    ),
    Fault(
        "high-water mark of given values",
        "Values that rows contain do not move the mark, so that it may generate them again.",
        "The protocol: the mark is the highest value that was generated; unique values need more.",
        of_verbs.marks,
        (
            "CREATE TABLE {t} (key BIGINT GENERATED BY DEFAULT AS IDENTITY, id INT) USING delta",
            "INSERT INTO {t} (key, id) VALUES (1, 0)",
            "INSERT INTO {t} (id) VALUES (1)",
        ),
        query="SELECT count(DISTINCT key) FROM {t}",
        rows=((2,),),
    ),
    Fault(
        "order of identity values",
        "Tasks generate values separately, in any order.",
        "Any unique values are right; the model numbers rows in their order.",
        of_merges.random_table,
    ),
    Fault(
        "dot in the name of a partition column",
        "A merge looks for a field of a column.",
        "Column mapping allows any name.",
        of_merges.random_table,
        (
            "CREATE TABLE {t} (id BIGINT, `x.y` INT) USING delta PARTITIONED BY (`x.y`) "
            f"TBLPROPERTIES ({MAPPED})",
            "INSERT INTO {t} VALUES (0, 1)",
            "MERGE INTO {t} AS t USING (SELECT 0L AS id) AS s ON t.id = s.id "
            "WHEN MATCHED THEN UPDATE SET id = 7",
        ),
        "UNRESOLVED_COLUMN",
    ),
    Fault(
        "type of a widened column",
        "A merge that widens a column computes its values with the type that it had, and overflows.",
        "The value has the type of the column that it is assigned to.",
        of_merges.computes_narrower,
    ),
    Fault(
        "source that is not read",
        "No row of the source is counted if the join condition is the same for all of them.",
        "`numSourceRows` is the number of rows of the source.",
        of_merges.reads_no_source,
    ),
    Fault(
        "unchanged rows written again",
        "With a clause that is not a matched one, the join condition alone decides which files to rewrite.",
        "A merge that changes nothing needs no commit.",
        of_merges.rewrites_unchanged,
        (
            *NUMBERS,
            "MERGE INTO {t} AS t USING (SELECT 7L AS id) AS s ON t.id = s.id "
            "WHEN NOT MATCHED BY SOURCE AND t.id = 99 THEN DELETE",
        ),
        query=HISTORY,
        column="count(*)",
        rows=((2,),),
    ),
    Fault(
        "decimal partition column with IcebergCompatV2",
        "The table is refused.",
        "The protocol restricts no types of partition columns.",
        random_definition.random_definition,
        (
            "CREATE TABLE {t} (id INT, p DECIMAL(5, 2)) USING delta PARTITIONED BY (p) "
            f"TBLPROPERTIES ({MAPPED}, 'delta.enableIcebergCompatV2' = 'true')",
        ),
        "DELTA_ICEBERG_COMPAT_VIOLATION.UNSUPPORTED_PARTITION_DATA_TYPE",
    ),
    Fault(
        "partition value that is longer than the name of a file",
        "The folder of the partition cannot be created. The same holds for a last space and a NUL byte.",
        "The protocol does not require folders named after values.",
        random_definition._as_folder_in_spark,
        (
            "CREATE TABLE {t} (id INT, p STRING) USING delta PARTITIONED BY (p)",
            "INSERT INTO {t} VALUES (1, repeat('y', 300))",
        ),
        "TASK_WRITE_FAILED",
    ),
    Fault(
        "backtick in a name",
        "With a change feed, an update does not find the column.",
        "Column mapping allows any name.",
        random_definition._as_in_spark,
        (
            "CREATE TABLE {t} (`q``t` INT) USING delta "
            f"TBLPROPERTIES ({MAPPED}, 'delta.enableChangeDataFeed' = 'true')",
            "INSERT INTO {t} VALUES (1)",
            "UPDATE {t} SET `q``t` = 2",
        ),
        "INVALID_ATTRIBUTE_NAME_SYNTAX",
    ),
    Fault(
        "NULL struct with a field that is NOT NULL",
        "The row is refused.",
        "SQL: a field of NULL has no value to check.",
        random_definition._as_in_spark,
        (
            "CREATE TABLE {t} (id INT, s STRUCT<x: INT NOT NULL>) USING delta",
            "INSERT INTO {t} VALUES (1, NULL)",
        ),
        "DELTA_NOT_NULL_CONSTRAINT_VIOLATED",
    ),
    Fault(
        "invariant of a column that is NOT NULL",
        "The invariant is not checked.",
        "The protocol: writers must check every invariant.",
        random_definition._add_conditions,
    ),
    Fault(
        "last value of an identity column",
        "The largest `bigint` is not generated.",
        "It is a value of the type.",
        random_definition._add_identity,
        (
            "CREATE TABLE {t} (id INT, key BIGINT GENERATED ALWAYS AS IDENTITY "
            "(START WITH 9223372036854775807)) USING delta",
            "INSERT INTO {t} (id) VALUES (1)",
        ),
        "long overflow",
    ),
]
