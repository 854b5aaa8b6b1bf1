"""deltaic: Delta Lake without the jar.

A `Table` is a handle; its `Snapshot` is the table at one version; `Snapshot.scan` reads rows. All results
are Arrow data, and all Arrow data is accepted. Importing this package loads no data library: pyarrow, pandas
and polars are imported on first use.

>>> import deltaic, pyarrow
>>> fleet = pyarrow.table({"id": [1, 2], "kind": ["tram", "bus"]})
>>> table = deltaic.Table.create("fleet", fleet.schema)
>>> commit = table.append(fleet)
>>> table.snapshot().scan(predicate=deltaic.col("kind") == "bus").to_arrow()["id"].to_pylist()
[2]
"""

from typing import TYPE_CHECKING

from deltaic._rust import __version__
from deltaic.advice.advice import Advice
from deltaic.advice.recommendation import Recommendation
from deltaic.commit import Commit
from deltaic.exceptions import (
    CommitConflict,
    CommitUnknown,
    ConcurrentAppend,
    ConcurrentDeleteDelete,
    ConcurrentDeleteRead,
    ConcurrentTransaction,
    ConcurrentWrite,
    ConstraintViolation,
    CorruptData,
    CorruptLog,
    DeltaicError,
    DeltaicWarning,
    InternalError,
    InvalidPredicate,
    MetadataChanged,
    PathEscape,
    ProtocolChanged,
    SchemaMismatch,
    StorageError,
    TableExists,
    TableNotFound,
    UnsupportedExpression,
    UnsupportedFeature,
    VersionNotFound,
)
from deltaic.maintenance.check import Finding, Report
from deltaic.maintenance.diagnostics import disable_logging, enable_logging
from deltaic.maintenance.log_maintenance import Checkpoint, CleanUp, LogCompaction
from deltaic.maintenance.probe import probe_store
from deltaic.maintenance.repair import Repair
from deltaic.maintenance.restore import RestorePreview
from deltaic.maintenance.symlink_manifest import SymlinkManifest
from deltaic.maintenance.vacuum import Vacuum
from deltaic.reading.arrow_table import ArrowTable
from deltaic.reading.scan import Scan, ScanTask
from deltaic.reading.schema import Schema
from deltaic.reading.snapshot import Metadata, Protocol, Snapshot
from deltaic.table import Table
from deltaic.transaction import Transaction
from deltaic.values.column import Column, Identity
from deltaic.values.commit_options import CommitOptions
from deltaic.values.foreign_names import OF_MODULE, missing
from deltaic.values.predicates import Expression, col
from deltaic.write import write
from deltaic.writing.clone import CloneCommit, ClonePreview
from deltaic.writing.convert import ConvertPreview
from deltaic.writing.dry_run import DryRun
from deltaic.writing.merge import Merge, StagedMerge
from deltaic.writing.write_task import WriteTask

__all__ = [
    "Advice",
    "ArrowTable",
    "Checkpoint",
    "CleanUp",
    "CloneCommit",
    "ClonePreview",
    "Column",
    "Commit",
    "CommitConflict",
    "CommitOptions",
    "CommitUnknown",
    "ConcurrentAppend",
    "ConcurrentDeleteDelete",
    "ConcurrentDeleteRead",
    "ConcurrentTransaction",
    "ConcurrentWrite",
    "ConstraintViolation",
    "ConvertPreview",
    "CorruptData",
    "CorruptLog",
    "DeltaicError",
    "DeltaicWarning",
    "DryRun",
    "Expression",
    "Finding",
    "Identity",
    "InternalError",
    "InvalidPredicate",
    "LogCompaction",
    "Merge",
    "Metadata",
    "MetadataChanged",
    "PathEscape",
    "Protocol",
    "ProtocolChanged",
    "Recommendation",
    "Repair",
    "Report",
    "RestorePreview",
    "Scan",
    "ScanTask",
    "Schema",
    "SchemaMismatch",
    "Snapshot",
    "StagedMerge",
    "StorageError",
    "SymlinkManifest",
    "Table",
    "TableExists",
    "TableNotFound",
    "Transaction",
    "UnsupportedExpression",
    "UnsupportedFeature",
    "Vacuum",
    "VersionNotFound",
    "WriteTask",
    "__version__",
    "col",
    "disable_logging",
    "enable_logging",
    "probe_store",
    "write",
]


if not TYPE_CHECKING:

    def __getattr__(name: str) -> object:
        raise missing("deltaic", name, OF_MODULE)
