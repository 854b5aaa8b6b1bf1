"""The options by which `deltaic.spark.write` reaches the data source, whose writer gets nothing else."""

from __future__ import annotations

__all__ = ["ANSI", "CLUSTERING", "MODE", "PARTITIONING"]

ANSI = "__deltaic_ansi"
"""Whether the session is in ANSI mode: ``true`` or ``false``."""

MODE = "__deltaic_mode"
"""The mode, of which Spark gives a data source only ``append`` and ``overwrite``."""
PARTITIONING = "__deltaic_partition_by"
"""The partition columns, as JSON."""
CLUSTERING = "__deltaic_cluster_by"
"""The clustering columns, as JSON."""
