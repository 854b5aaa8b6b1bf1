"""`Table.check`, its report, and the command that shows it."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

import pytest

import deltaic
from deltaic.cli import main
from deltaic.maintenance.check import Finding, Report
from tests.api.command_line import run
from tests.api.log_files import commit_file


def finding(severity: str, code: str = "SOME_CODE", message: str = "odd") -> Finding:
    return Finding(code, severity, message, "a.json", 3, 2, "add", "It means this.", "Do that.")  # type: ignore[arg-type]


def test_a_healthy_table(numbers: deltaic.Table) -> None:
    report = numbers.check()
    assert (report.findings, report.counts, report.is_healthy, report.severity) == ((), {}, True, None)
    assert (report.versions, report.commits, report.live_files, report.data_files) == ((0, 2), 3, 2, 0)
    assert numbers.check(deep=True).data_files == 2
    assert report.diagnosis == "The table is healthy."
    assert report.examined in str(report).replace("\n", " ")
    assert repr(report).endswith(": healthy>")


def test_the_worst_decides() -> None:
    info, warning, damage = (finding(severity) for severity in ("info", "warning", "damage"))
    for findings, severity, healthy in (
        ((info,), "info", True),
        ((info, warning), "warning", False),
        ((damage, warning, info), "damage", False),
    ):
        report = Report("file:///t/", findings)
        assert (report.severity, report.is_healthy) == (severity, healthy)


def test_the_letter_has_the_diagnosis_before_the_findings_and_the_worst_first() -> None:
    findings = (finding("damage", "BAD"), finding("damage", "BAD", "worse"), finding("info", "GOOD"))
    letter = str(Report("file:///t/", findings, {"BAD": 25, "GOOD": 1}, (0, 3), 4))
    order = [
        "Check of file:///t/",
        "Versions 0 to 3: 4 commits",
        "The table is damaged",
        "\nDamage\n",
        "BAD (25 times)",
        "odd (a.json, version 3, line 2, add)",
        "worse",
        "and 23 more",
        "What it means: It means this.",
        "What to do: Do that.",
        "Good to know",
        "GOOD\n",
    ]
    places = [letter.index(part) for part in order]
    assert places == sorted(places)
    assert max(len(line) for line in letter.splitlines()) <= 100


def test_nothing_of_the_log_steers_a_terminal() -> None:
    letter = str(Report("file:///t/", (finding("damage", message="a\x1b[31m\nDamage"),)))
    assert "\x1b" not in letter
    assert "a\\x1b[31m\\nDamage" in letter


def test_a_report_as_json() -> None:
    report = Report("file:///t/", (finding("warning"),), {"SOME_CODE": 1}, (0, 1), 2, live_files=None)
    said = json.loads(report.to_json())
    assert said["findings"] == [
        {
            "code": "SOME_CODE",
            "severity": "warning",
            "message": "odd",
            "path": "a.json",
            "version": 3,
            "line": 2,
            "field": "add",
            "meaning": "It means this.",
            "remedy": "Do that.",
        }
    ]
    assert (said["is_healthy"], said["severity"], said["counts"]) == (False, "warning", {"SOME_CODE": 1})
    assert said["examined"]["versions"] == [0, 1]
    assert said["examined"]["live_files"] is None


@pytest.mark.usefixtures("numbers")
def test_the_command_ends_with_a_code_for_each_severity(root: Path) -> None:
    assert run("check", root).returncode == 0
    (root / "_delta_log" / "_last_checkpoint").write_text("{")
    done = run("check", root)
    assert (done.returncode, done.stderr) == (3, "")
    assert "BROKEN_HINT" in done.stdout
    commit_file(root, 1).write_text("{")
    done = run("check", root, "--json")
    assert (done.returncode, done.stderr) == (4, "")
    said = json.loads(done.stdout)
    assert said["counts"] == {"BROKEN_HINT": 1, "CANNOT_BE_OPENED": 1, "DAMAGED_COMMIT": 1}
    assert [found["severity"] for found in said["findings"]] == ["damage", "damage", "warning"]


@pytest.mark.usefixtures("numbers")
def test_the_command_reads_the_data_when_it_is_requested(root: Path) -> None:
    next(root.glob("*.parquet")).unlink()
    assert run("check", root).returncode == 0
    done = run("check", root, "--deep")
    assert done.returncode == 4
    assert "MISSING_DATA_FILE" in done.stdout


def test_the_command_fails_without_a_table(tmp_path: Path) -> None:
    done = run("check", tmp_path / "nothing")
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith("error: ")


@pytest.mark.usefixtures("numbers")
def test_a_terminal_gets_the_same_letter_in_colours(
    root: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (root / "_delta_log" / "_last_checkpoint").write_text("{")
    letter = str(deltaic.Table(root).check())
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    assert main(["check", str(root)]) == 3
    drawn = capsys.readouterr().out
    assert "\x1b[" in drawn
    assert re.sub(r"\x1b\[[0-9;]*m", "", drawn).strip() == letter.strip()
    monkeypatch.setitem(sys.modules, "rich.console", None)
    assert main(["check", str(root)]) == 3
    assert capsys.readouterr().out.strip() == letter.strip()


def test_progress_is_a_line_on_stderr_that_goes_away(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    from deltaic.values.progress import ProgressLine

    with ProgressLine({"log": "reading the log"}) as progress:
        progress.show("log", 1, 2)
    assert capsys.readouterr().err == ""
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    with ProgressLine({"log": "reading the log"}) as progress:
        progress.show("log", 1, 2000)
    shown = capsys.readouterr().err
    assert shown.startswith("\rreading the log: 1 of 2,000")
    assert shown.endswith(" \r")


@pytest.mark.parametrize("deep", [False, True])
def test_any_client_listens_hears_of_the_end(numbers: deltaic.Table, deep: bool) -> None:
    heard: list[tuple[str, int, int]] = []
    numbers.check(deep=deep, progress=lambda *told: heard.append(told))
    assert heard[-1] == (("files", 2, 2) if deep else ("log", 3, 3))


@pytest.mark.parametrize(
    "error", [ValueError("not now"), KeyboardInterrupt(), deltaic.DeltaicError("enough")]
)
def test_an_exception_of_the_listener_ends_the_check(numbers: deltaic.Table, error: BaseException) -> None:
    def broken(*_: object) -> None:
        raise error

    with pytest.raises(type(error)) as caught:
        numbers.check(progress=broken)
    assert caught.value is error
    assert numbers.check().is_healthy
