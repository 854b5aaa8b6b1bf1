"""Snapshots and conditions for other engines: pyarrow datasets, polars frames, and their expressions."""
