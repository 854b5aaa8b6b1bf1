"""The rows of every reference table are read as delta-spark reads them, or refused with the reason.

``expectations.json`` has one entry per table: ``read``, ``refused:<feature>`` or ``error:<CODE>``; an entry
``<table>@<version>`` is an older version with another result than the latest. If the result of a table
changes, its test fails until ``pytest tests/golden --update-golden`` has rewritten the file. Wrong rows fail
in any case. Which tables open at all, and their state without rows, is tested in `test_open.py`.
"""

from __future__ import annotations

import json
from typing import Any

import pytest

import deltaic

from .arrow_schema import arrow_schema, describe
from .conftest import OUTCOME
from .expectations import expectations, update
from .expected_rows import as_read, padded
from .opening import OPENED_ALL_THE_SAME, needs_golden
from .reference import GOLDEN, Content, Reference, manifest, reference
from .rows import difference
from .variants import as_text, holds_variants, rendered

READ_AT_LEAST = 150
# The newest version has a deletion vector with invalid Z85 text; readers treat it differently, so the
# reference omits it.
ILLEGAL_TEXT = ("kernel-rs-data/cdf-table-with-dv", 5)
TABLES = manifest() if GOLDEN.is_dir() else sorted(name for name in expectations() if "@" not in name)


@needs_golden
@pytest.mark.parametrize("name", TABLES)
def test_table(name: str, request: pytest.FixtureRequest) -> None:
    found = compare(reference(name))
    request.node.user_properties.append((OUTCOME, found[name]))
    if request.config.getoption("--update-golden", default=False):
        update(name, found)
    expected = {key: outcome for key, outcome in expectations().items() if key.partition("@")[0] == name}
    assert found == expected, "if this is meant, run pytest tests/golden --update-golden"


@needs_golden
def test_expectations_name_every_table_and_no_other() -> None:
    assert sorted({name.partition("@")[0] for name in expectations()}) == manifest()


def test_enough_tables_are_read() -> None:
    read = [name for name, outcome in expectations().items() if outcome == "read"]
    assert len(read) >= READ_AT_LEAST


def compare(known: Reference) -> dict[str, str]:
    """Returns the result of a table and of older versions with another result; fails on wrong rows."""
    table = deltaic.Table(known.folder)
    try:
        latest = read(table.snapshot(), known, known.latest)
    except deltaic.UnsupportedFeature as error:
        latest = refused(error, known.protocol or None)
    except deltaic.DeltaicError as error:
        if known.failed_at is None or known.failure.startswith("FAILED_READ_FILE"):
            pytest.fail(f"delta-spark opens it, deltaic does not: {error}")
        latest = f"error:{error.code}"
    else:
        theirs_too = known.failed_at != "snapshot" or known.name in OPENED_ALL_THE_SAME
        assert theirs_too, f"delta-spark does not open it ({known.failure})"
    found = {known.name: latest}
    for version, content in known.older.items():
        outcome = compare_older(table, version, known, content)
        if outcome != latest:
            found[f"{known.name}@{version}"] = outcome
    return found


def compare_older(table: deltaic.Table, version: int, known: Reference, content: Content) -> str:
    try:
        snapshot = table.snapshot(version=version)
        assert snapshot.version == version
        return read(snapshot, known, content)
    except deltaic.UnsupportedFeature as error:
        return refused(error)


def refused(error: deltaic.UnsupportedFeature, protocol: dict[str, Any] | None = None) -> str:
    feature = error.context.get("feature")
    assert isinstance(feature, str)
    assert feature
    assert feature in error.message
    assert error.hint
    if protocol is not None:
        assert set(feature.split(", ")) <= demanded(protocol), (
            "refused by a name that the table does not ask for"
        )
    return f"refused:{feature}"


def demanded(protocol: dict[str, Any]) -> set[str]:
    """Returns the names of the features that a table's protocol requires of readers."""
    version = protocol["minReaderVersion"]
    legacy = {"columnMapping"} if version == 2 else set[str]()
    return legacy | set(protocol.get("readerFeatures") or ()) | {f"reader version {version}"}


def read(snapshot: deltaic.Snapshot, known: Reference, content: Content) -> str:
    """Reads a version and compares it; a scan may fail only if delta-spark's does."""
    if content.num_files is not None:
        assert snapshot.num_files == content.num_files
    scan = snapshot.scan()
    try:
        actual = scan.to_arrow()
    except (deltaic.CorruptData, deltaic.CorruptLog) as error:
        is_illegal = (known.name, snapshot.version) == ILLEGAL_TEXT and "Z85" in error.message
        if not is_illegal and known.failed_at != "scan" and known.name not in OPENED_ALL_THE_SAME:
            pytest.fail(f"delta-spark reads it, deltaic does not: {error}")
        return f"error:{error.code}"
    schema = json.loads(snapshot.schema.to_json())
    assert describe(actual.schema) == describe(arrow_schema(schema))
    if holds_variants(schema):
        decoded, actual = as_text(actual, schema), snapshot.scan(variant="json").to_arrow()
        found = difference(actual, decoded)
        assert found is None, f"JSON is not what the bytes say: {found}"
    if content.rows is None and known.failure.startswith("FAILED_READ_FILE"):
        pytest.fail(f"data files are missing, and {actual.num_rows} rows were read")
    assert scan.count() == actual.num_rows
    assert snapshot.num_rows in (actual.num_rows, None)
    if content.rows is not None:
        if holds_variants(schema):
            actual = rendered(actual, schema, content.read().schema)
        found = difference(padded(actual, known.schema), as_read(content, actual))
        assert found is None, f"version {snapshot.version}: {found}"
    return "read"
