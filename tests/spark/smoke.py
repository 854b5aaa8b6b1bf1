"""The tests of a Spark version that is neither the newest nor asked for: each layer once.

They read both ways, with filters and options, and cover errors, schemas, settings, streams, Spark Connect and
what depends on the version: pushed filters, missing fields of structs, and triggers of streams.
`make test-spark-matrix` runs all files.
"""

from __future__ import annotations

FILES = [
    "tests/spark/test_bad_input.py",
    "tests/spark/test_connect.py",
    "tests/spark/test_enable.py",
    "tests/spark/test_golden.py",
    "tests/spark/test_index.py",
    "tests/spark/test_native_columns.py",
    "tests/spark/test_native_scan.py",
    "tests/spark/test_native_vectors.py",
    "tests/spark/test_pruning.py",
    "tests/spark/test_reader.py",
    "tests/spark/test_session_settings.py",
    "tests/spark/test_source.py",
    "tests/spark/test_stream.py",
    "tests/spark/test_struct_type.py",
]
