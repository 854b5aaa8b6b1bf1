"""Columns that a read adds to the table's own.

Protocol: *Row Tracking*, *Change Data Files*.
"""

from __future__ import annotations

from pyspark.sql.types import LongType, StringType, StructField, TimestampType

__all__ = [
    "CHANGE_COLUMNS",
    "CHANGE_TYPE",
    "COMMIT_TIMESTAMP",
    "COMMIT_VERSION",
    "MODIFICATION_TIME",
    "ROW_COMMIT_VERSION",
    "ROW_ID",
]

ROW_ID, ROW_COMMIT_VERSION = "_row_id", "_row_commit_version"
MODIFICATION_TIME = "_file_modification_time"
CHANGE_TYPE, COMMIT_VERSION, COMMIT_TIMESTAMP = "_change_type", "_commit_version", "_commit_timestamp"

CHANGE_COLUMNS = (
    StructField(CHANGE_TYPE, StringType()),
    StructField(COMMIT_VERSION, LongType()),
    StructField(COMMIT_TIMESTAMP, TimestampType()),
)
"""The change columns of each row of a change data feed."""
