"""Checks every golden table, including those with intentional damage: all findings are known."""

from __future__ import annotations

from pathlib import Path

import pytest

import deltaic

# Tables with findings, by folder name. Each was verified by hand.
UNSOUND = {
    "catalog-owned-preview": {"PROTOCOL_CONTRADICTION"},
    "cdf-table-with-dv": {"BAD_DELETION_VECTOR"},
    "compacted-log-files-table": {"COMPACTION_DISAGREES", "COMPACTION_FORBIDDEN_ACTION"},
    "crc-full": {"CHECKSUM_DISAGREES"},
    "parquet_row_group_skipping": {"FOREIGN_CHECKPOINT"},
    "corrupted-last-checkpoint-kernel": {"BROKEN_HINT"},
    "data-reader-absolute-paths-escaped-chars": {"CANNOT_BE_OPENED", "NO_PROTOCOL_OR_METADATA"},
    "deltalog-state-reconstruction-from-checkpoint-missing-protocol": {"BROKEN_CHECKPOINT", "DANGLING_HINT"},
    "deltalog-state-reconstruction-without-protocol": {"CANNOT_BE_OPENED", "NO_PROTOCOL_OR_METADATA"},
}
# It contains only a version checksum.
NO_TABLE = "crc-malformed"
# Findings about data files: many of these tables were stored without theirs.
OF_THE_DATA = {"MISSING_DATA_FILE", "UNREFERENCED_FILES"}


def tables(golden_root: Path) -> list[Path]:
    return sorted(path.parent for path in golden_root.rglob("_delta_log") if path.is_dir())


def wrong_with(report: deltaic.Report) -> set[str]:
    return {finding.code for finding in report.findings if finding.severity != "info"}


def test_every_golden_table_is_checked_and_only_the_unsound_are_reported(golden_root: Path) -> None:
    found: dict[str, set[str]] = {}
    for path in tables(golden_root):
        name = path.parent.name if path.name == "delta" else path.name
        if name == NO_TABLE:
            with pytest.raises(deltaic.TableNotFound):
                deltaic.Table(path).check()
            continue
        if codes := wrong_with(deltaic.Table(path).check()):
            found[name] = codes
    assert found == UNSOUND


def test_a_look_at_the_data_of_every_golden_table(golden_root: Path) -> None:
    checked = 0
    for path in tables(golden_root):
        if path.parent.name == NO_TABLE:
            continue
        report, deep = deltaic.Table(path).check(), deltaic.Table(path).check(deep=True)
        assert wrong_with(deep) - OF_THE_DATA == wrong_with(report), path
        missing = {finding.path for finding in deep.findings if finding.code == "MISSING_DATA_FILE"}
        assert not [name for name in missing if name is not None and (path / name).exists()]
        checked += deep.data_files
        if report.live_files is not None and "FILE_OUTSIDE_OF_TABLE" not in deep.counts:
            assert deep.data_files == report.live_files
    assert checked > 500
