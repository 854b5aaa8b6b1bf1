"""Registers the data source "deltaic" automatically: Spark imports each module named ``pyspark_…``.

An error here would disable all other Python data sources of the session. So without PyArrow, or with a
PySpark that is too old, nothing is registered.
"""

import contextlib

with contextlib.suppress(ImportError):
    from deltaic.spark.source.data_source import DeltaicSource as DefaultSource  # noqa: F401 - Spark looks for it
