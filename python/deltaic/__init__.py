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
from deltaic.arrow_table import ArrowTable
from deltaic.check import Finding, Report
from deltaic.clone_preview import ClonePreview
from deltaic.column import Column, Identity
from deltaic.commit import Commit
from deltaic.commit_options import CommitOptions
from deltaic.convert_preview import ConvertPreview
from deltaic.diagnostics import disable_logging, enable_logging
from deltaic.dry_run import DryRun
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
from deltaic.foreign_names import OF_MODULE, missing
from deltaic.log_maintenance import Checkpoint, CleanUp, LogCompaction
from deltaic.merge import Merge, StagedMerge
from deltaic.predicates import Expression, col
from deltaic.probe import probe_store
from deltaic.repair import Repair
from deltaic.restore_preview import RestorePreview
from deltaic.scan import Scan, ScanTask
from deltaic.schema import Schema
from deltaic.snapshot import Metadata, Protocol, Snapshot
from deltaic.symlink_manifest import SymlinkManifest
from deltaic.table import Table
from deltaic.transaction import Transaction
from deltaic.vacuum import Vacuum
from deltaic.write import write
from deltaic.write_task import WriteTask

__all__ = [
    "Advice",
    "ArrowTable",
    "Checkpoint",
    "CleanUp",
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
