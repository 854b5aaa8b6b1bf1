"""The runner of all parts: what it counts, records and selects."""

from __future__ import annotations

import importlib
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from threading import Event
from types import ModuleType
from typing import Any

import pytest

from tests.boundary.planted import MARKS
from tests.evidence.reports import Result, read_report, write_report
from tests.repository.markdown import TOP
from tests.required import RELEASE_WHEEL

ARTIFACT = (
    '{"reason":"compiler-artifact","target":{"kind":["test"],"src_path":"TOP/rust/log/tests/replay.rs"},'
    '"executable":"TOP/target/debug/deps/replay-0f"}'
).replace("TOP", str(TOP))
BINARY = "     Running tests/replay.rs (target/debug/deps/replay-0f)"
PASSING = [ARTIFACT, BINARY, "running 3 tests", "test a ... ok", "test m::b ... ok", "test c ... ok"]


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> ModuleType:
    """`tests/run.py`, imported with its folder on the path as for a script, writing reports elsewhere."""
    monkeypatch.syspath_prepend(TOP / "tests")
    module = importlib.import_module("run")
    monkeypatch.setattr(module, "REPORTS", tmp_path)
    return module


Printing = Callable[..., Any]


@pytest.fixture
def shown() -> list[str]:
    """The lines of `rust_tests` that a user sees."""
    return []


@pytest.fixture
def rust_tests(run: ModuleType, monkeypatch: pytest.MonkeyPatch, shown: list[str]) -> Printing:
    """Run the part of the Rust tests with a cargo that prints the given lines."""

    def part(*lines: str, code: int = 0) -> Any:
        def run_command(command: list[str], *_: Any, shows: Callable[[str], bool] = lambda _: True) -> Any:
            if command[0] == "cargo":
                shown.extend(line for line in lines if shows(line))
            return code, list(lines)

        monkeypatch.setattr(run, "run_command", run_command)
        return run.cargo_test()

    return part


def test_rust_tests_are_counted_and_recorded(rust_tests: Printing, tmp_path: Path) -> None:
    outcome = rust_tests(*PASSING, "test d ... FAILED", "test e ... ignored", code=101)
    assert (outcome.passed, outcome.failed, outcome.reasons) == (3, 1, {"#[ignore] in Rust": 1})
    recorded = {(result.group, result.name): result.outcome for result in read_report(tmp_path / "rust.xml")}
    assert recorded == {
        ("rust/log/tests/replay.rs", "a"): "passed",
        ("rust/log/tests/replay.rs", "m::b"): "passed",
        ("rust/log/tests/replay.rs", "c"): "passed",
        ("rust/log/tests/replay.rs", "d"): "failed",
        ("rust/log/tests/replay.rs", "e"): "skipped",
    }


def test_a_rust_test_that_prints_skipped_is_counted_as_skipped(rust_tests: Printing) -> None:
    skip = "skipped: no reference tables"
    shown = ["successes:", "---- a stdout ----", skip, "---- m::b stdout ----", "not skipped: x", skip]
    outcome = rust_tests(*PASSING, *shown)
    assert (outcome.passed, outcome.failed, outcome.skipped) == (1, 0, 2)
    assert outcome.reasons == {"no reference tables": 2}


def test_only_what_failed_tests_print_is_shown(
    rust_tests: Printing, shown: list[str], tmp_path: Path
) -> None:
    passing = ["successes:", "---- a stdout ----", "caught: a panic", "successes:", "    a"]
    failing = ["failures:", "---- d stdout ----", "at a.rs:7\x1b", "left: 1", "", "failures:", "    d"]
    outcome = rust_tests(*PASSING, "test d ... FAILED", *passing, *failing, "test result: FAILED.", code=101)
    assert "caught: a panic" not in shown
    assert "left: 1" in shown
    assert "test result: FAILED." in shown
    assert outcome.failures == [("rust/log/tests/replay.rs::d", "at a.rs:7\x1b\nleft: 1")]
    [recorded] = [result.reason for result in read_report(tmp_path / "rust.xml") if result.reason]
    assert recorded == "at a.rs:7\ufffd\nleft: 1"


def test_the_summary_ends_with_what_failed_tests_printed(
    run: ModuleType, capsys: pytest.CaptureFixture[str]
) -> None:
    lines = "\n".join(f"line {number}." for number in range(100))
    total = run.summary({"rust": run.Outcome(passed=2, failed=1, failures=[("a::b", lines)])})
    assert (total.passed, total.failed) == (2, 1)
    printed = capsys.readouterr().out.splitlines()
    start = printed.index("failed: a::b")
    assert printed[start + 1 :] == [f"    line {number}." for number in range(70, 100)] + [
        "",
        "2 passed, 1 failed, 0 skipped",
    ]


def test_a_build_that_fails_is_a_failure(rust_tests: Printing) -> None:
    outcome = rust_tests("error: could not compile", code=101)
    assert (outcome.passed, outcome.failed) == (0, 1)


@pytest.mark.parametrize("mark", MARKS)
def test_a_secret_printed_by_a_rust_test_is_a_failure(
    rust_tests: Printing, capsys: pytest.CaptureFixture[str], mark: str
) -> None:
    outcome = rust_tests(*PASSING, f"the server said {mark}-x", f"again {mark}")
    assert (outcome.passed, outcome.failed) == (3, 1)
    printed = capsys.readouterr().out
    assert f"secret leaked: the Rust tests printed {MARKS[mark]}" in printed
    assert mark not in printed


def test_a_part_that_cannot_run_is_skipped_and_in_ci_fails(
    run: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(run, "succeeds", lambda _: False)
    monkeypatch.delenv("CI", raising=False)
    assert (run.in_environment("spark40").skipped, run.in_environment("spark40").failed) == (1, 0)
    monkeypatch.setenv("CI", "true")
    assert (run.in_environment("spark40").skipped, run.in_environment("spark40").failed) == (0, 1)


def test_the_wheel_is_tested_outside_of_the_source_tree(
    run: ModuleType, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    commands: list[tuple[list[str], Path]] = []

    def run_command(command: list[str], environment: Any = None, *, folder: Path = TOP) -> Any:
        commands.append((command, folder))
        if "pytest" in command:
            assert environment == {RELEASE_WHEEL: "1", run.GOLDEN_SHARE: run.SHARE}
            write_report(tmp_path / "wheel.xml", [Result("tests.api.test_x", "test_x", "passed")])
        return 0, []

    monkeypatch.setattr(run, "run_command", run_command)
    monkeypatch.delenv(run.GOLDEN_SHARE, raising=False)
    assert (run.wheel().passed, run.wheel().failed) == (1, 0)
    build, install, tests = commands[:3]
    assert (build[0], install[0][0]) == (["make", "wheel"], "envs/install_wheel.sh")
    outside = Path(install[0][1])
    assert not outside.is_relative_to(TOP)
    assert tests == ([str(outside / "venv/bin/python"), *tests[0][1:]], outside / "project")
    assert tests[0][1:5] == ["-m", "pytest", "tests/api", "tests/golden"]


def test_a_wheel_that_cannot_be_built_is_a_failure(run: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run, "run_command", lambda _: (2, []))
    assert (run.wheel().passed, run.wheel().failed) == (0, 1)


def test_a_whole_run_drops_the_reports_of_earlier_runs(
    run: ModuleType, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "spark41.xml").write_text("<testsuites/>")
    monkeypatch.setattr(run, "PARTS", {"one": run.Part("one", run.Outcome)})
    monkeypatch.setenv(run.VARIABLE, "7")
    monkeypatch.setattr(sys, "argv", ["run.py", "one"])
    assert run.main() == 0
    assert (tmp_path / "spark41.xml").exists()
    monkeypatch.setattr(sys, "argv", ["run.py"])
    assert run.main() == 0
    assert not (tmp_path / "spark41.xml").exists()


def test_parts_that_build_run_beside_the_others_and_print_in_one_piece(
    run: ModuleType, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    has_printed, may_end = Event(), Event()

    def building() -> Any:
        run.show("first line")
        has_printed.set()
        assert may_end.wait(60)
        run.show("last line")
        return run.Outcome(passed=1)

    def other() -> Any:
        assert has_printed.wait(60)
        run.show("line of the other part")
        may_end.set()
        return run.Outcome(passed=2)

    parts = {"building": run.Part("a build", building, builds=True), "other": run.Part("no build", other)}
    monkeypatch.setattr(run, "PARTS", parts)
    outcomes = run.run_parts(["building", "other"])
    assert [(name, outcome.passed) for name, outcome in outcomes.items()] == [("building", 1), ("other", 2)]
    printed = capfd.readouterr().out
    assert "first line\nlast line\n" in printed
    assert "line of the other part\n" in printed


def test_a_lane_without_builds_left_takes_other_parts(
    run: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    ended = {name: Event() for name in ("build", "long", "short")}

    def part(name: str, *, after: str | None = None) -> Any:
        def run_part() -> Any:
            assert after is None or ended[after].wait(60)
            ended[name].set()
            return run.Outcome(passed=1)

        return run.Part(name, run_part, builds=name == "build")

    # The long part ends after the short one, the next in the list.
    parts = {
        "build": part("build"),
        "long": part("long", after="short"),
        "short": part("short", after="build"),
    }
    monkeypatch.setattr(run, "PARTS", parts)
    assert list(run.run_parts(["build", "long", "short"])) == ["build", "long", "short"]


def test_rust_plants_what_is_looked_for() -> None:
    source = (TOP / "rust/testkit/src/secrets.rs").read_text()
    marks = source.split("pub const MARKS: [&str; 2] = [")[1].split("]")[0]
    planted = [mark.strip().strip('"') for mark in marks.split(",")]
    assert len(planted) == 2
    assert set(planted) <= set(MARKS)


def names(run: ModuleType, *asked: str) -> list[str]:
    return list(run.selected(list(asked)))


def test_the_whole_suite_has_the_oldest_spark_and_the_newest(
    run: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("CI", raising=False)
    assert names(run) == ["rust", "python", "spark43", "interop", "spark40", "stores"]
    monkeypatch.setenv("CI", "true")
    assert names(run) == ["lints", "rust", "python", "spark43", "interop", "spark40", "stores"]


def test_the_matrix_has_a_part_for_each_spark(run: ModuleType) -> None:
    said = subprocess.run(
        ["make", "--dry-run", "test-spark-matrix"], cwd=TOP, capture_output=True, text=True, check=True
    ).stdout
    asked = said.splitlines()[-1].partition("run.py ")[2].split()
    assert asked == ["spark40", "spark41", "spark42", "spark43"]
    assert names(run, *asked) == ["spark43", "spark40", "spark41", "spark42"]


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
