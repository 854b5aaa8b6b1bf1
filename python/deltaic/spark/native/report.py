"""Reports of `deltaic.spark.explain`: how the rows of a DataFrame are read, and why."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass, field
from threading import Lock
from typing import TYPE_CHECKING, Any, cast
from urllib.parse import unquote

from deltaic.sizes import readable_size

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

__all__ = ["Report", "explain_frame", "remember", "remember_relation", "report_of_file"]

# Maximum number of remembered loads; each takes a few hundred bytes.
_MOST = 10_000


@dataclass(frozen=True)
class Report:
    """How one load reads its table."""

    table: str
    version: int
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
        lines = [f"{self.table} at version {self.version}", f"  way        {self.way}: {self.why}"]
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


def remember(root: str, report: Report) -> None:
    """Stores the report of a native scan, by the folder of its sink log."""
    with _lock:
        _reports[root] = report
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
    found = [report for leaf in _leaves(frame) if (report := _report(leaf))]
    if not found:
        raise ValueError("the plan of this DataFrame has no table that deltaic reads")
    return "\n".join(dict.fromkeys(found))


def _leaves(frame: DataFrame) -> list[Any]:
    # PySpark has no public way to a plan.
    leaves: Any = cast("Any", frame)._jdf.queryExecution().analyzed().collectLeaves()  # noqa: SLF001
    return [leaves.apply(index) for index in range(leaves.size())]


def _key_of_relation(leaf: Any) -> str:
    options = leaf.options()
    return " ".join(str(options.get(name)) for name in ("path", "versionAsOf", "predicate"))


def _is_ours(table: Any) -> bool:
    # The tables of delta-spark have names too.
    return table.getClass().getSimpleName() == "PythonTable" and table.name().lower() in ("deltaic", "delta")


def _report(leaf: Any) -> str | None:
    kind: str = leaf.getClass().getSimpleName()
    if kind == "LogicalRelation" and leaf.relation().getClass().getSimpleName() == "HadoopFsRelation":
        location = leaf.relation().location()
        if location.getClass().getSimpleName() == "MetadataLogFileIndex":
            report = _reports.get(location.rootPaths().mkString(","))
            return None if report is None else str(report)
    if kind == "DataSourceV2Relation" and _is_ours(leaf.table()):
        report = _reports.get(_key_of_relation(leaf))
        path: str = leaf.options().get("path")
        return (
            f"{path}\n  way        data source: its format was asked for" if report is None else str(report)
        )
    return None
