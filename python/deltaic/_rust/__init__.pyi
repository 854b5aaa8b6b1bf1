"""Types of the Rust core. `deltaic` wraps it; use that instead.

Times are passed as integer milliseconds since the epoch, JSON and predicates as text. Every failure raises
a class of `deltaic.exceptions`; an invalid argument raises a `ValueError` or `TypeError`.
"""

from .arrow_table import ArrowSchema as ArrowSchema
from .arrow_table import ArrowTable as ArrowTable
from .batches import Batches as Batches
from .batches import BatchReader as BatchReader
from .changes import Changes as Changes
from .check import Finding as Finding
from .check import Report as Report
from .commit import Commit as Commit
from .commit_files import CommitFiles as CommitFiles
from .convert import ConvertPreview as ConvertPreview
from .dry_run import DryRun as DryRun
from .log_maintenance import CheckpointWritten as CheckpointWritten
from .log_maintenance import CleanedUp as CleanedUp
from .log_maintenance import Compacted as Compacted
from .native_scan import NativeScanPlan as NativeScanPlan
from .restore import RestorePreview as RestorePreview
from .scan import Scan as Scan
from .scan import ScanTask as ScanTask
from .schema import Schema as Schema
from .shallow_clone import ClonePreview as ClonePreview
from .snapshot import Snapshot as Snapshot
from .table import Table as Table
from .transaction import Transaction as Transaction
from .vacuum import Vacuumed as Vacuumed
from .write_job import WriteJob as WriteJob
from .write_task import WriteTask as WriteTask

__version__: str
"""The version of the package, as in its wheel."""

def is_read_once(data: object) -> bool | None:
    """Whether rows can be read once: a stream. None for objects of other libraries, which may be either."""

def read_rows(data: object, memory: int | None = None) -> ArrowTable:
    """Reads all rows of a stream.

    Raises:
        ValueError: They take more than `memory` bytes.
    """

def set_log_level(level: int | None) -> None:
    """Sets which records are passed to `logging`: those of this level and above, or none."""
