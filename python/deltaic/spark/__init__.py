"""Delta tables in PySpark, without a jar and without a Python UDF.

```python
import deltaic.spark as ds

df = ds.read(spark).option("versionAsOf", 3).load("data/events")

ds.register(spark)
df = spark.read.format("deltaic").option("versionAsOf", 3).load("data/events")

ds.write(df).mode("append").save("data/copy")
```

PySpark is imported only when a function is called.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from deltaic.spark.frame_write.writer import Writer
    from deltaic.spark.reader import Reader

__all__ = ["enable", "explain", "read", "register", "status", "write"]


def read(spark: SparkSession) -> Reader:
    """Returns a reader of Delta tables for this session; set its options, then call `load` with a path.

    deltaic reads the transaction log, and Spark's own vectorised reader the Parquet files. Tables that it
    does not read exactly are read by the data source; `explain` reports the path taken and why.

    Args:
        spark: A Spark session, Classic or Connect, of PySpark 4.0 or newer.

    Raises:
        ImportError: PySpark is not installed.
        TypeError: It is not a Spark session.

    Example:
        >>> import deltaic.spark as ds
        >>> ds.read(spark).load(path).count()  # doctest: +SKIP
        336776
    """
    try:
        from deltaic.spark.reader import Reader
    except ModuleNotFoundError as error:
        raise _without_pyspark(error) from error
    return Reader(spark)


def write(frame: DataFrame) -> Writer:
    """Returns a writer of a DataFrame; set its mode and options, then call `save` with a path.

    Spark's executors write the files, which need only this package, and one commit adds them to the table:
    after failures and retries each row is there once, or none of them.

    Args:
        frame: A DataFrame, Classic or Connect, of PySpark 4.0 or newer.

    Raises:
        ImportError: PySpark is not installed.
        TypeError: It is not a DataFrame, or a streaming one.

    Example:
        >>> import deltaic.spark as ds
        >>> ds.write(df).mode("append").save("data/events")  # doctest: +SKIP
        <deltaic.Commit 1 WRITE at 2026-11-29 09:00:00 UTC: 2 files, 1,000 rows>
    """
    try:
        from deltaic.spark.frame_write.writer import Writer
    except ModuleNotFoundError as error:
        raise _without_pyspark(error) from error
    return Writer(frame)


def explain(frame: DataFrame) -> str:
    """Reports how the Delta tables of this DataFrame are read, as text.

    For each table: the path taken (Spark's own Parquet reader, or the data source) and why, the version, how
    many files the filters of the query leave, and how deleted rows are left out. Use ``frame.explain()`` for
    Spark's own plan.

    Raises:
        ValueError: The DataFrame's plan contains no table that deltaic reads.

    Example:
        >>> print(ds.explain(df))  # doctest: +SKIP
        file:///data/events/ at version 12
          way        native: Spark's own Parquet reader reads the files
          files      40 in all, 5 after partitions, 5 after statistics; 96.3 MiB to read
    """
    from deltaic.spark.native.report import explain_frame

    return explain_frame(frame)


def status(spark: SparkSession) -> str:
    """Reports what deltaic can do in this session, as text.

    It says which Spark runs, whether its own reader is used, and whether its SQL reads Delta tables.

    Example:
        >>> print(ds.status(spark))  # doctest: +SKIP
        Spark 4.3.0, Java 17.0.12
          native reads  yes: classes of deltaic run in the driver
          native writes yes: Spark's own Parquet writer
          sql           after deltaic.spark.enable
    """
    from deltaic.spark.status_text import status_of

    return status_of(spark)


def enable(spark: SparkSession) -> SparkSession:
    """Adds Delta tables to the SQL of this session, and registers the data source (see `register`).

    A path is a table of the schema ``delta``, also with a version or a time, and by `DataFrameReader.table`.
    Tables that a catalog has from delta-spark are read by their names. The session is changed in place: its
    temporary views, functions and settings stay. `status` reports why a session has no SQL of deltaic: Spark
    Connect has none, and a catalog of delta-spark is left alone.

    Args:
        spark: A Spark session of PySpark 4.0 or newer.

    Returns:
        The same session.

    Raises:
        ImportError: PySpark is not installed.

    Example:
        >>> import deltaic.spark as ds
        >>> ds.enable(spark)  # doctest: +SKIP
        >>> spark.sql("SELECT count(*) FROM delta.`data/events` VERSION AS OF 3")  # doctest: +SKIP
        >>> spark.read.table("delta.`data/events`")  # doctest: +SKIP
    """
    try:
        from deltaic.spark.sql.enable import enable_session
    except ModuleNotFoundError as error:
        raise _without_pyspark(error) from error
    enable_session(spark)
    return spark


def register(spark: SparkSession) -> None:
    """Registers ``spark.read.format("deltaic")`` in this session, Classic or Connect.

    deltaic reads the files on the executors, which need only this package. If no jar provides the name,
    ``format("delta")`` is registered as well, so that code written for delta-spark works unchanged.

    Args:
        spark: A Spark session, PySpark 4.0 or newer.

    Raises:
        ImportError: PySpark is not installed.

    Example:
        >>> import deltaic.spark as ds
        >>> ds.register(spark)  # doctest: +SKIP
        >>> spark.read.format("deltaic").load("data/events").count()  # doctest: +SKIP
        336776
        >>> view = "CREATE TEMPORARY VIEW events USING deltaic OPTIONS (path 'data/events')"
        >>> spark.sql(view)  # doctest: +SKIP
    """
    try:
        from deltaic.spark.source.registration import register_sources
    except ModuleNotFoundError as error:
        raise _without_pyspark(error) from error
    register_sources(spark)


def _without_pyspark(error: ModuleNotFoundError) -> ImportError:
    if error.name is None or error.name.partition(".")[0] != "pyspark":
        return error
    return ImportError("deltaic.spark needs PySpark 4.0 or newer: pip install 'deltaic[spark]'")
