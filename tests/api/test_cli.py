"""The command ``deltaic``: what it prints, and its exit codes."""

from __future__ import annotations

import re
import sys
from datetime import date, datetime, timezone
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import deltaic
from deltaic.cli import main
from deltaic.cli.output import emit_table
from deltaic.maintenance.check import printable
from tests.api.command_line import as_json, lines, run
from tests.api.log_files import commit_file, of_kind, set_commit_time, write_commit

T0 = 1_793_491_200_000  # 2026-11-01T00:00:00Z


def test_show(regions: deltaic.Table, root: Path) -> None:
    shown = as_json("show", root)
    snapshot = regions.snapshot()
    assert shown["uri"] == root.as_uri() + "/"
    assert (shown["version"], shown["num_files"], shown["num_rows"]) == (1, 3, 6)
    assert shown["size_in_bytes"] == snapshot.size_in_bytes
    assert datetime.fromisoformat(shown["timestamp"].replace("Z", "+00:00")) == snapshot.timestamp
    assert shown["timestamp"].endswith("Z")
    assert shown["partition_columns"] == ["region"]
    assert shown["protocol"] == {"minReaderVersion": 1, "minWriterVersion": 2}
    assert [field["name"] for field in shown["schema"]["fields"]] == ["region", "id"]
    assert shown["id"] == snapshot.metadata.id
    text = "\n".join(lines("show", root))
    for part in (root.as_uri(), "version", "6", "3, ", "region", "reader 1, writer 2", "|-- id: long"):
        assert part in text


@pytest.mark.usefixtures("numbers")
def test_show_at_an_earlier_time(root: Path) -> None:
    for version in range(3):
        set_commit_time(root, version, T0 + version * 1000)
    assert as_json("show", root, "--version", "1")["num_rows"] == 3
    assert as_json("show", root, "--timestamp", "2026-11-01T00:00:01.500Z")["version"] == 1
    assert as_json("show", root, "--version", "2")["timestamp"] == "2026-11-01T00:00:02Z"


@pytest.mark.usefixtures("numbers")
def test_history(root: Path) -> None:
    commits = as_json("history", root)
    assert [commit["version"] for commit in commits] == [2, 1, 0]
    assert commits[0]["operation"] == "WRITE"
    assert commits[0]["metrics"]["numOutputRows"] == 3
    assert commits[0]["commit_info"]["operation"] == "WRITE"
    assert [commit["version"] for commit in as_json("history", root, "--limit", "1")] == [2]
    header, *rows = lines("history", root)
    assert header.split() == ["version", "time", "operation", "metrics", "engine"]
    assert [row.split()[0] for row in rows] == ["2", "1", "0"]
    assert "CREATE TABLE" in rows[2]


def test_files(regions: deltaic.Table, root: Path) -> None:
    files = as_json("files", root)
    assert sorted(str(file["partition_values"]["region"]) for file in files) == ["EU", "None", "US"]
    assert sum(file["size_in_bytes"] for file in files) == regions.snapshot().size_in_bytes
    assert all(file["modification_time"].endswith("Z") for file in files)
    [only] = as_json("files", root, "--where", "region = 'EU'")
    assert only["partition_values"] == {"region": "EU"}
    assert only["num_records"] == 3
    assert sum(file["num_records"] for file in files) == 6
    assert (root / only["path"]).is_file()
    header, *rows = lines("files", root)
    assert header.split() == ["region", "rows", "size", "modified", "path"]
    assert len(rows) == 3
    assert any(row.startswith("NULL") for row in rows)
    assert as_json("files", root, "--version", "0") == []


@pytest.mark.usefixtures("numbers")
def test_head(root: Path) -> None:
    rows = as_json("head", root)
    assert sorted(row["id"] for row in rows) == [0, 1, 2, 3, 4, 5]
    assert len(as_json("head", root, "-n", "2")) == 2
    assert as_json("head", root, "--where", "name = 'four'", "--columns", "name") == [{"name": "four"}]
    assert as_json("head", root, "--where", "id > 2", "--columns", "id", "--limit", "1")[0]["id"] > 2
    assert as_json("head", root, "--where", "id = 2", "--columns", "name, id") == [{"name": None, "id": 2}]
    assert len(as_json("head", root, "--version", "1")) == 3
    header, row = lines("head", root, "--where", "id = 2")
    assert header.split() == ["id", "name"]
    assert row.split() == ["2", "NULL"]


def test_head_writes_every_type_as_text(root: Path) -> None:
    row = {
        "day": date(2026, 11, 1),
        "at": datetime(2026, 11, 1, 12, 0, 0, 5, tzinfo=timezone.utc),
        "price": Decimal("9.50"),
        "raw": b"\x00\xff",
        "x": float("nan"),
        "l": [1, None],
        "s": {"a": "ü"},
        "m": [("k", 1.5)],
    }
    schema = pa.schema(
        [
            ("day", pa.date32()),
            ("at", pa.timestamp("us", "UTC")),
            ("price", pa.decimal128(5, 2)),
            ("raw", pa.binary()),
            ("x", pa.float64()),
            ("l", pa.list_(pa.int32())),
            ("s", pa.struct([("a", pa.string())])),
            ("m", pa.map_(pa.string(), pa.float64())),
        ]
    )
    deltaic.Table.create(root, schema).append(pa.Table.from_pylist([row], schema=schema))
    assert as_json("head", root) == [
        {
            "day": "2026-11-01",
            "at": "2026-11-01T12:00:00.000005Z",
            "price": "9.50",
            "raw": "AP8=",
            "x": "NaN",
            "l": [1, None],
            "s": {"a": "ü"},
            "m": [["k", 1.5]],
        }
    ]
    _, text = lines("head", root)
    for part in ("2026-11-01T12:00:00.000005Z", "9.50", "0x00ff", "NaN", "[1, null]", '{"a": "ü"}'):
        assert part in text


def test_a_row_is_a_line_and_steers_no_terminal(root: Path) -> None:
    data = pa.table({"s": ["two\nlines", "\x1b[31mred", "x" * 500]})
    deltaic.Table.create(root, data.schema).append(data)
    _, *rows = lines("head", root)
    assert sorted(rows) == sorted(["two\\nlines", "\\x1b[31mred", "x" * 59 + "…"])


@pytest.mark.usefixtures("regions")
def test_count(root: Path) -> None:
    assert lines("count", root) == ["6"]
    assert lines("count", root, "--where", "region = 'EU'") == ["3"]
    assert as_json("count", root, "--where", "id > 100") == {"count": 0}
    assert lines("count", root, "--version", "0") == ["0"]


@pytest.mark.usefixtures("numbers")
def test_changes(root: Path) -> None:
    gone = of_kind(root, 1, "add")[0]["path"]
    write_commit(root, 3, {"remove": {"path": gone, "deletionTimestamp": T0, "dataChange": True}})
    for version in range(4):
        set_commit_time(root, version, T0 + version * 1000)
    feed = as_json("changes", root, "--from", "0", "--infer")
    told = [(row["_commit_version"], row["_change_type"], row["id"]) for row in feed]
    assert [version for version, _, _ in told] == [1, 1, 1, 2, 2, 2, 3, 3, 3]
    kept, went = [(1, "insert", id_) for id_ in range(3)], [(3, "delete", id_) for id_ in range(3)]
    assert sorted(told) == [*kept, *((2, "insert", id_) for id_ in range(3, 6)), *went]
    assert feed[0]["_commit_timestamp"] == "2026-11-01T00:00:01Z"

    def rows(*arguments: str) -> list[dict[str, Any]]:
        return as_json("changes", root, "--infer", *arguments)

    assert rows("--from", "2") == feed[3:]
    assert rows("--from", "1", "--to", "2") == feed[:6]
    assert rows("--from", "2026-11-01T00:00:00.500Z", "--to", "2026-11-01T02:00:02+02:00") == feed[:6]
    assert rows("--from", "3", "-n", "2") == feed[6:8]
    assert rows("--from", "2", "-n", "4") == feed[3:7]
    assert rows("--from", "0", "-n", "0") == []
    assert list(rows("--from", "3", "--columns", "_commit_version, name")[0]) == [
        "_commit_version",
        "name",
        "_change_type",
        "_commit_timestamp",
    ]
    header, row = lines("changes", root, "--from", "3", "--infer", "--columns", "id", "-n", "1")
    assert header.split() == ["id", "_change_type", "_commit_version", "_commit_timestamp"]
    assert row.split() == ["0", "delete", "3", "2026-11-01T00:00:03Z"]
    assert lines("changes", root, "--from", "0", "--to", "0", "--infer", "--columns", "id") == [header]


def test_a_recorded_feed_needs_no_inference(root: Path) -> None:
    rows = pa.table({"id": [1, 2]})
    deltaic.Table.create(root, rows.schema, properties={"delta.enableChangeDataFeed": "true"}).append(rows)
    feed = as_json("changes", root, "--from", "1")
    assert [(row["id"], row["_change_type"]) for row in feed] == [(1, "insert"), (2, "insert")]


@pytest.mark.parametrize("command", ["show", "history", "files", "head", "count", "changes --from 0"])
def test_a_failure_is_one_message_with_a_hint(command: str, tmp_path: Path) -> None:
    name, *rest = command.split()
    done = run(name, tmp_path / "nothing", *rest)
    assert done.returncode == 1
    assert done.stdout == ""
    assert done.stderr.startswith("error: ")
    assert "\nhint: " in done.stderr


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["show", "--version", "9"], "9"),
        (["show", "--timestamp", "2026-11-01"], "zone"),
        (["head", "--columns", "idd"], "id"),
        (["count", "--where", "id >"], "id >"),
        (["files", "--where", "soundex(name) = 'X'"], "soundex"),
        (["changes", "--from", "0"], "not enabled at version 0"),
        (["changes", "--infer", "--from", "yesterday"], "yesterday"),
        (["changes", "--infer", "--from", "2", "--to", "1"], "greater than the last"),
        (["changes", "--infer", "--from", "1", "--to", "9"], "0 to 2"),
        (["changes", "--infer", "--from", "1", "--columns", "idd"], "id"),
    ],
)
@pytest.mark.usefixtures("numbers")
def test_findings_are_reported(root: Path, arguments: list[str], says: str) -> None:
    command, *rest = arguments
    done = run(command, root, *rest)
    assert done.returncode == 1
    assert says in done.stderr
    assert done.stdout == ""


@pytest.mark.parametrize(
    "arguments",
    [
        [],
        ["shwo", "."],
        ["show"],
        ["show", ".", "--version", "one"],
        ["show", ".", "--version", "-1"],
        ["show", ".", "--version", "1", "--timestamp", "2026-11-01T00:00:00Z"],
        ["history", ".", "--where", "x"],
        ["count", ".", "--no-such"],
        ["changes", "."],
        ["changes", ".", "--from", "-1"],
        ["changes", ".", "--from", "1", "--version", "1"],
    ],
    ids=" ".join,
)
def test_wrong_usage_is_2(arguments: list[str]) -> None:
    done = run(*arguments)
    assert done.returncode == 2
    assert "usage: deltaic" in done.stderr


@pytest.mark.usefixtures("numbers")
def test_a_warning_is_one_line_on_stderr(root: Path) -> None:
    (root / "_delta_log" / "_last_checkpoint").write_text("not json")
    done = run("count", root)
    assert (done.returncode, done.stdout) == (0, "6\n")
    [line] = done.stderr.splitlines()
    assert line.startswith("warning: ")
    assert "_last_checkpoint" in line


@pytest.mark.usefixtures("numbers")
def test_an_unsupported_table_is_named(root: Path) -> None:
    protocol = {"minReaderVersion": 3, "minWriterVersion": 7, "readerFeatures": ["noSuchFeature"]}
    write_commit(root, 3, {"protocol": {**protocol, "writerFeatures": ["noSuchFeature"]}})
    done = run("show", root)
    assert done.returncode == 1
    assert "noSuchFeature" in done.stderr


def test_help_and_version(capsys: pytest.CaptureFixture[str]) -> None:
    for arguments, says in (
        (["--help"], "history"),
        (["--version"], deltaic.__version__),
        (["head", "--help"], "-n"),
    ):
        with pytest.raises(SystemExit) as left:
            main(arguments)
        assert left.value.code == 0
        assert says in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["head", "t", "-n", "many"], "argument -n/--limit: expected a number, not 'many'"),
        (["history", "t", "--limit", "1.5"], "argument --limit: expected a number, not '1.5'"),
        (["show", "t", "--version", "-3"], "argument --version: must be at least 0, not -3"),
        (["changes", "t", "--from", "-3"], "argument --from: must be at least 0, not -3"),
    ],
)
def test_invalid_counts_are_named(
    capsys: pytest.CaptureFixture[str], arguments: list[str], says: str
) -> None:
    with pytest.raises(SystemExit) as left:
        main(arguments)
    assert left.value.code == 2
    assert says in capsys.readouterr().err


@pytest.mark.usefixtures("numbers")
def test_a_terminal_gets_a_drawn_table(
    root: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    assert main(["history", str(root)]) == 0
    drawn = capsys.readouterr().out
    assert "CREATE TABLE" in drawn
    assert "─" in drawn
    monkeypatch.setitem(sys.modules, "rich", None)
    monkeypatch.setitem(sys.modules, "rich.console", None)
    assert main(["history", str(root)]) == 0
    plain = capsys.readouterr().out
    assert "CREATE TABLE" in plain
    assert "─" not in plain


def test_a_long_table_on_a_terminal_is_plain_lines(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Up to 1,000 rows are formatted as a table: rich would need more than a minute for 100,000."""
    untrusted = [
        "\x1b[31mred",
        "two\nlines",
        "東京\t🚋",
        "[bold]x[/]",
        "e\u0301",
        "\u202eleft",
        "x" * 300,
        "",
    ]
    rows = [[f"{number:,}", untrusted[number % len(untrusted)]] for number in range(1001)]

    def shown(count: int) -> str:
        emit_table(["rows", "path"], rows[:count], numeric={"rows"})
        return capsys.readouterr().out

    plain = shown(1001)
    assert len(plain.splitlines()) == 1002
    assert not {"\x1b", "\u202e", "─"} & set(plain)
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    assert "─" in shown(1000)
    assert shown(1001) == plain


def test_only_unprintable_characters_are_escaped() -> None:
    every = [chr(code) for code in range(0x110000)]
    escaped = [sign if sign.isprintable() else repr(sign)[1:-1] for sign in every]
    assert [printable(sign) for sign in every] == escaped
    assert printable("a".join(every)) == "a".join(escaped)


@pytest.mark.usefixtures("numbers")
def test_a_damaged_log_names_the_file(root: Path) -> None:
    commit_file(root, 1).write_text("{")
    done = run("count", root)
    assert done.returncode == 1
    assert commit_file(root, 1).name in done.stderr


@pytest.mark.usefixtures("numbers")
def test_optimize(root: Path) -> None:
    assert lines("optimize", root, "--dry-run") == lines("optimize", root, "--dry-run")
    planned = as_json("optimize", root, "--dry-run")
    assert (planned["operation"], planned["rewritten_files"], planned["added_files"]) == ("OPTIMIZE", 2, 1)
    assert lines("optimize", root, "--target-file-size", "1") == [
        "Nothing to do: no files of version 2 can be combined."
    ]
    [line] = lines("optimize", root)
    assert re.fullmatch(r"Version 3: 2 files \(.* B\) became 1 \(.* B\)\.", line.replace("KiB", "B")), line
    assert as_json("optimize", root) == {"version": None, "metrics": {}}
    refused = run("optimize", root, "--where", "id = 1")
    assert (refused.returncode, refused.stdout) == (1, "")
    assert '"id" is no partition column' in refused.stderr
    assert as_json("optimize", root, "--zorder-by", "name, id")["metrics"]["numAddedFiles"] == 1
    refused = run("optimize", root, "--target-file-size", "huge")
    assert refused.stderr.startswith("error: --target-file-size may not be")


def test_optimize_of_a_clustered_table(root: Path) -> None:
    rows = pa.table({"id": [3, 1, 2], "name": ["a", "b", "c"]})
    table = deltaic.Table.create(root, rows.schema, cluster_by=["id"])
    table.append(rows)
    assert as_json("optimize", root)["metrics"]["numAddedFiles"] == 1
    table.alter(deltaic.alter.ClusterBy("name"))
    assert as_json("optimize", root) == {"version": None, "metrics": {}}
    assert as_json("optimize", root, "--full", "--dry-run")["rewritten_files"] == 1
    assert as_json("optimize", root, "--full")["metrics"]["numRemovedFiles"] == 1
    for option, value in {"--zorder-by": "id", "--where": "id = 1"}.items():
        refused = run("optimize", root, option, value)
        assert refused.returncode == 1
        assert f"omit {option}: rows are clustered" in refused.stderr
    table.alter(deltaic.alter.ClusterBy())
    assert "omit --full" in run("optimize", root, "--full").stderr


def test_optimize_of_a_partition(regions: deltaic.Table, root: Path) -> None:
    regions.append(regions.snapshot().scan())
    done = as_json("optimize", root, "--where", "region = 'EU'")
    assert (done["version"], done["metrics"]["numRemovedFiles"]) == (3, 2)
