"""Reports of `deltaic.spark.explain`: how the rows of a DataFrame are read, and why."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass, field, replace
from threading import Lock
from typing import TYPE_CHECKING, Any, cast
from urllib.parse import unquote

from deltaic.values.sizes import readable_size

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

__all__ = ["Report", "explain_frame", "remember", "remember_relation", "report_of_file"]

# Maximum number of remembered loads; each takes a few hundred bytes.
_MOST = 10_000


@dataclass(frozen=True)
class Report:
    """How one load reads its table."""

    table: str
    version: int | None
    way: str
    why: str
    files: int | None = None
    files_of_snapshot: int | None = None
    files_after_partitions: int | None = None
    size_in_bytes: int | None = None
    predicate: str | None = None
    notes: list[str] = field(default_factory=list[str])

    def __str__(self) -> str:
        """Returns a few lines of text."""
        version = "" if self.version is None else f" at version {self.version}"
        lines = [f"{self.table}{version}", f"  way        {self.way}: {self.why}"]
        if self.predicate is not None:
            lines.append(f"  predicate  {self.predicate}")
        if self.files is not None and self.size_in_bytes is not None:
            lines.append(
                f"  files      {self.files_of_snapshot:,} in all, {self.files_after_partitions:,} after "
                f"partitions, {self.files:,} after statistics; {readable_size(self.size_in_bytes)} to read"
            )
        lines.extend(f"  note       {note}" for note in self.notes)
        return "\n".join(lines)


_reports: OrderedDict[str, Report] = OrderedDict()
_lock = Lock()


def remember(key: str, report: Report) -> None:
    """Stores the report of a native scan, by the key of its index."""
    with _lock:
        _reports[key] = report
        while len(_reports) > _MOST:
            _reports.popitem(last=False)


def remember_relation(frame: DataFrame, report: Report) -> None:
    """Stores the report of a read by the data source."""
    remember(_key_of_relation(_leaves(frame)[0]), report)


def report_of_file(path: str) -> Report | None:
    """Returns the last load of the table that contains a file, given by decoded URI with any scheme."""
    place = _without_scheme(path)
    with _lock:
        reports = list(_reports.values())
    for report in reversed(reports):
        if place.startswith(_without_scheme(unquote(report.table))):
            return report
    return None


def _without_scheme(uri: str) -> str:
    return uri.partition(":")[2].lstrip("/")


def explain_frame(frame: DataFrame) -> str:
    """Returns the text of `deltaic.spark.explain`."""
    if not hasattr(frame, "_jdf"):
        raise ValueError("Spark Connect does not show a DataFrame's plan: explain needs a classic session")
    scans = [report for leaf in _scans(frame) if (report := _scan_report(leaf))]
    # Spark scans nothing if it knows that there are no rows.
    known = {(report.table, report.version) for report in scans}
    others = [report for leaf in _leaves(frame) if (report := _report(leaf))]
    found = [*scans, *(report for report in others if (report.table, report.version) not in known)]
    if not found:
        raise ValueError("the plan of this DataFrame has no table that deltaic reads")
    return "\n".join(dict.fromkeys(map(str, found)))


def _scans(frame: DataFrame) -> list[Any]:
    leaves: Any = cast("Any", frame)._jdf.queryExecution().sparkPlan().collectLeaves()  # noqa: SLF001
    return [leaves.apply(index) for index in range(leaves.size())]


def _scan_report(leaf: Any) -> Report | None:
    """Returns the report of a scan, with the files that the filters of the query leave."""
    if leaf.getClass().getSimpleName() != "FileSourceScanExec":
        return None
    index = leaf.relation().location()
    if index.getClass().getSimpleName() != "SnapshotIndex":
        return None
    report = _reports.get(index.key())
    if report is None:
        return None
    planned, after_partitions, files, size = index.selection(leaf.partitionFilters(), leaf.dataFilters())
    if after_partitions == planned:
        # The predicate of the load has left these.
        after_partitions = report.files_after_partitions
    return replace(report, files=files, files_after_partitions=after_partitions, size_in_bytes=size)


def _leaves(frame: DataFrame) -> list[Any]:
    # PySpark has no public way to a plan.
    leaves: Any = cast("Any", frame)._jdf.queryExecution().analyzed().collectLeaves()  # noqa: SLF001
    return [leaves.apply(index) for index in range(leaves.size())]


def _key_of_relation(leaf: Any) -> str:
    options = leaf.options()
    return " ".join(str(options.get(name)) for name in ("path", "versionAsOf", "predicate"))


def _is_ours(table: Any) -> bool:
    # The tables of delta-spark have names too.
    return table.getClass().getSimpleName() in ("PythonTable", "ReadTable") and table.name().lower() in (
        "deltaic",
        "delta",
    )


def _report(leaf: Any) -> Report | None:
    kind: str = leaf.getClass().getSimpleName()
    if kind == "LogicalRelation" and leaf.relation().getClass().getSimpleName() == "HadoopFsRelation":
        location = leaf.relation().location()
        if location.getClass().getSimpleName() == "SnapshotIndex":
            return _reports.get(location.key())
    if kind == "DataSourceV2Relation" and _is_ours(leaf.table()):
        return _reports.get(_key_of_relation(leaf)) or _requested_source(leaf)
    return None


def _requested_source(leaf: Any) -> Report:
    return Report(leaf.options().get("path"), None, "data source", "its format was asked for")
