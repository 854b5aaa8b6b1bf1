"""Native scans with Spark Connect: a data source whose only row is the plan, created on the driver's host.

The client has no JVM and may be unable to reach the table. The source's planner runs on the driver's host: it
reads the log, writes the list of files there, and returns all that the client needs for the DataFrame.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from pyspark.sql.datasource import DataSource, DataSourceReader, InputPartition

from deltaic.exceptions import UnsupportedFeature
from deltaic.spark.native.folder_scan import ignores_file_list, scan_of_folder
from deltaic.spark.native.pruning import pruning
from deltaic.spark.native.scan_plan import NativeScanPlan, modification_time_unsupported, plan_native_scan
from deltaic.spark.native.stored_sink_logs import store_sink_log
from deltaic.spark.read_options import parse_options
from deltaic.spark.worker_errors import readable_errors
from deltaic.values.optional import require

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession
    from pyspark.sql.types import StructType

__all__ = ["PlanSource", "planned_on_the_server"]


class PlanSource(DataSource):
    """A data source of one row with one column: the plan, as text."""

    @classmethod
    def name(cls) -> str:
        """Returns the format's name."""
        return "deltaic_plan"

    def schema(self) -> str:
        """Returns the column of the plan."""
        return "plan string"

    def reader(self, schema: StructType) -> DataSourceReader:  # noqa: ARG002 - Spark passes it
        """Returns the reader that plans."""
        return PlanReader(dict(self.options))


class _Planned(InputPartition):
    """A plan created on the driver's host."""


class PlanReader(DataSourceReader):
    """Plans on the host of Spark's driver; only the plan is sent to a task."""

    def __init__(self, options: dict[str, str]) -> None:
        self._options = options

    def __getstate__(self) -> dict[str, Any]:
        # The options may contain secrets, and a task does not need them.
        return {}

    def partitions(self) -> list[InputPartition]:
        """Returns the plan."""
        with readable_errors():
            return [_Planned(_plan(self._options))]

    def read(self, partition: InputPartition) -> Iterator[Any]:  # Any: pyarrow ships no types
        """Returns the plan as a row."""
        pa = require("pyarrow", "deltaic.spark.read")
        yield pa.RecordBatch.from_pydict({"plan": [partition.value]})


def _plan(options: dict[str, str]) -> str:
    requested = parse_options(options, streaming=False)
    snapshot = requested.snapshot()
    # Every query analyses a DataFrame again, so the version is pinned for the data source.
    version = {"path": requested.path, "versionasof": str(snapshot.version)}
    plan: dict[str, object] = {"by_source": None if requested.modification_time else version}
    predicate, _ = pruning(snapshot, requested.predicate, requested.time_zone)
    try:
        scan_plan, planned = plan_native_scan(
            snapshot,
            predicate=predicate,
            row_ids=requested.row_ids,
            modification_time=requested.modification_time,
        )
    except UnsupportedFeature as error:
        return json.dumps({**plan, "refused": error.message, "context": error.context})
    folder = store_sink_log(planned.sink_log(ordinals=scan_plan.needs_ordinals))
    return json.dumps({**plan, "folder": folder, "scan_plan": scan_plan.to_json()})


def planned_on_the_server(spark: SparkSession, options: dict[str, str]) -> DataFrame | dict[str, str]:
    """Returns the DataFrame of a native scan with Spark Connect.

    If Spark's own reader cannot read the table, or ignores lists of files: returns the options with which the
    data source reads the same version.

    Raises:
        UnsupportedFeature: The data source must be used, but lacks a requested file time.
    """
    spark.dataSource.register(PlanSource)
    [row] = spark.read.format(PlanSource.name()).options(**options).load().collect()
    plan: dict[str, Any] = json.loads(row[0])
    if why_not := plan.get("refused") or ignores_file_list(spark):
        if plan["by_source"] is None:
            raise modification_time_unsupported(why_not, plan.get("context", {}))
        return plan["by_source"]
    hadoop_options = {name: value for name, value in options.items() if name.startswith("fs.")}
    return scan_of_folder(spark, NativeScanPlan.from_json(plan["scan_plan"]), plan["folder"], hadoop_options)
