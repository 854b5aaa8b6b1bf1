"""What the runner of all parts makes of the Rust tests' output."""

from __future__ import annotations

import importlib
import subprocess
import sys
from types import ModuleType

import pytest

from tests.border.planted import MARKS
from tests.house.markdown import TOP

RESULT = "test result: ok. 3 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s"


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """`tests/run.py`, which finds its neighbours as a script does."""
    monkeypatch.syspath_prepend(TOP / "tests")
    return importlib.import_module("run")


def rust_tests_print(run: ModuleType, monkeypatch: pytest.MonkeyPatch, *lines: str) -> tuple[int, int]:
    monkeypatch.setattr(run, "echo", lambda _: (0, [*lines, RESULT]))
    outcome = run.cargo_test()
    return outcome.passed, outcome.failed


def test_what_rust_tests_print_is_counted(run: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    assert rust_tests_print(run, monkeypatch, "running 3 tests") == (3, 0)


def test_what_rust_tests_skip_is_counted(run: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    lines = ["skipped: no reference tables", "not skipped: this", "skipped: no reference tables"]
    monkeypatch.setattr(run, "echo", lambda _: (0, [*lines, RESULT]))
    outcome = run.cargo_test()
    assert (outcome.passed, outcome.failed, outcome.skipped) == (1, 0, 2)
    assert outcome.reasons == {"no reference tables": 2}


@pytest.mark.parametrize("mark", MARKS)
def test_a_secret_in_what_rust_tests_print_is_a_failure(
    run: ModuleType, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], mark: str
) -> None:
    assert rust_tests_print(run, monkeypatch, f"the server said {mark}-x", f"again {mark}") == (3, 1)
    said = capsys.readouterr().out
    assert f"a secret was told: {MARKS[mark]} stands in" in said
    assert mark not in said


def test_rust_plants_what_is_looked_for() -> None:
    source = (TOP / "rust/testkit/src/secrets.rs").read_text()
    marks = source.split("pub const MARKS: [&str; 2] = [")[1].split("]")[0]
    planted = [mark.strip().strip('"') for mark in marks.split(",")]
    assert len(planted) == 2
    assert set(planted) <= set(MARKS)


def names(run: ModuleType, *asked: str) -> list[str]:
    return list(run.chosen(list(asked)))


def test_the_whole_suite_has_the_oldest_spark_and_the_newest(
    run: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("CI", raising=False)
    assert names(run) == ["rust", "python", "stores", "spark40", "interop"]
    monkeypatch.setenv("CI", "true")
    assert names(run) == ["lints", "rust", "python", "stores", "spark40", "interop"]


def test_the_matrix_has_a_part_for_each_spark(run: ModuleType) -> None:
    said = subprocess.run(
        ["make", "--dry-run", "test-spark-matrix"], cwd=TOP, capture_output=True, text=True, check=True
    ).stdout
    asked = said.splitlines()[-1].partition("run.py ")[2].split()
    assert asked == ["spark40", "spark41", "spark42", "spark43"]
    assert names(run, *asked) == asked


def test_the_runner_starts_as_a_script() -> None:
    """Its folder is first on its path then, and holds a `typing` that is not Python's."""
    said = subprocess.run(
        [sys.executable, "tests/run.py", "--help"], cwd=TOP, capture_output=True, text=True, check=True
    ).stdout
    assert "spark41" in said


@pytest.mark.parametrize("line", ["4.0", "4.1", "4.2"])
def test_a_part_of_the_matrix_has_the_spark_that_it_names(line: str) -> None:
    packages = (TOP / "envs" / f"spark{line.replace('.', '')}.txt").read_text()
    assert f"\npyspark=={line}." in packages
