"""Where Spark finds the data source "deltaic" by itself: it imports each module named ``pyspark_…``.

An error here would take all other Python data sources from the session. So without PyArrow, or with a PySpark
that is too old, nothing is found.
"""

import contextlib

with contextlib.suppress(ImportError):
    from deltaic.spark.source import DeltaicSource as DefaultSource  # noqa: F401 - Spark looks for it
