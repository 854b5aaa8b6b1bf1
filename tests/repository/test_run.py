"""The runner of all parts: what it counts, records and selects."""

from __future__ import annotations

import importlib
import os
import re
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
    '{"reason":"compiler-artifact","target":{"kind":["test"],"src_path":"TOP/rust/log/tests/it/main.rs"},'
    '"executable":"TOP/target/debug/deps/it-0f"}'
).replace("TOP", str(TOP))
BINARY = "     Running tests/it/main.rs (target/debug/deps/it-0f)"
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
        ("rust/log/tests/it/main.rs", "a"): "passed",
        ("rust/log/tests/it/main.rs", "m::b"): "passed",
        ("rust/log/tests/it/main.rs", "c"): "passed",
        ("rust/log/tests/it/main.rs", "d"): "failed",
        ("rust/log/tests/it/main.rs", "e"): "skipped",
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
    assert outcome.failures == [("rust/log/tests/it/main.rs::d", "at a.rs:7\x1b\nleft: 1")]
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


@pytest.mark.parametrize(
    ("part", "builds"),
    [("release_wheel", ["make", "wheel"]), ("development_wheel", ["envs/build_extension.sh"])],
)
def test_wheels_are_tested_outside_of_the_source_tree(
    run: ModuleType, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, part: str, builds: list[str]
) -> None:
    commands: list[tuple[list[str], Path]] = []

    def run_command(command: list[str], environment: Any = None, *, folder: Path = TOP) -> Any:
        commands.append((command, folder))
        if "pytest" in command:
            assert environment == {RELEASE_WHEEL: "1"}
            for name in ("wheel", "package"):
                write_report(tmp_path / f"{name}.xml", [Result("tests.api.test_x", "test_x", "passed")])
        return 0, []

    monkeypatch.setattr(run, "run_command", run_command)
    outcome = getattr(run, part)()
    assert (outcome.passed, outcome.failed) == (1, 0)
    build, install, tests = commands
    assert build[0][: len(builds)] == builds
    assert install[0][0] == "envs/install_wheel.sh"
    outside = Path(install[0][1])
    assert not outside.is_relative_to(TOP)
    assert tests == ([str(outside / "venv/bin/python"), *tests[0][1:]], outside / "project")
    assert tests[0][1:4] == ["-m", "pytest", "tests/api/test_import.py"]


def test_what_an_installed_wheel_is_tested_for_exists(run: ModuleType) -> None:
    assert [name for name in run.WHEEL_TESTS if not (TOP / name).is_file()] == []


@pytest.mark.parametrize("part", ["release_wheel", "development_wheel"])
def test_a_wheel_that_cannot_be_built_is_a_failure(
    run: ModuleType, monkeypatch: pytest.MonkeyPatch, part: str
) -> None:
    monkeypatch.setattr(run, "run_command", lambda _: (2, []))
    outcome = getattr(run, part)()
    assert (outcome.passed, outcome.failed) == (0, 1)


def test_a_whole_run_drops_the_reports_of_earlier_runs(
    run: ModuleType, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "spark41.xml").write_text("<testsuites/>")
    monkeypatch.setattr(run, "PARTS", {"one": run.Part("one", run.Outcome, imports=False)})
    monkeypatch.setattr(os, "environ", dict(os.environ))
    monkeypatch.setattr(sys, "argv", ["run.py", "one"])
    assert run.main() == 0
    assert (tmp_path / "spark41.xml").exists()
    monkeypatch.setattr(sys, "argv", ["run.py"])
    assert run.main() == 0
    assert not (tmp_path / "spark41.xml").exists()


def test_parts_that_import_the_extension_do_not_run_if_it_cannot_be_built(
    run: ModuleType, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(run, "PARTS", {"one": run.Part("one", run.Outcome)})
    monkeypatch.setattr(run, "EXTENSION", run.Part("extension", lambda: run.Outcome(failed=1)))
    monkeypatch.setattr(os, "environ", dict(os.environ))
    monkeypatch.setattr(sys, "argv", ["run.py"])
    assert run.main() == 1
    assert "0 passed, 1 failed" in capsys.readouterr().out


def test_variables_that_select_other_cases_are_removed(
    run: ModuleType, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    given = {"TEST_SEED": "7", "RACE_KILLS": "9", "PROPTEST_CASES": "1", "HOME": "/x"}
    monkeypatch.setattr(os, "environ", given)
    run.remove_selecting_variables()
    assert os.environ == {"HOME": "/x"}
    assert "RACE_KILLS is ignored" in capsys.readouterr().out


def test_every_variable_that_selects_cases_is_known_to_the_runner(run: ModuleType) -> None:
    """Variables in upper case that a test reads either describe the machine or are removed by a run."""
    of_the_machine = re.compile(
        r"(AWS|AZURE|CARGO|DELTAIC|JAVA|LD|PYSPARK|PYTHON|SPARK|STALL|STEPS?|STORE|KILL|CLOCK)_.*|PYTHON.*"
        r"|CI|HOME|LC_ALL|PATH|TMPDIR|TZ|UNHEARD_LINKS"
    )
    read = re.compile(r"""(?:environ(?:\.get\(|\[)|getenv\(|env::var\()\s*"([A-Z_]+)\"""")
    paths = [*(TOP / "tests").rglob("*.py"), *(TOP / "rust").rglob("*.rs")]
    names = {name for path in paths for name in read.findall(path.read_text(encoding="utf-8"))}
    selecting = {name for name in names if not of_the_machine.fullmatch(name)}
    assert selecting
    assert [
        name
        for name in selecting
        if name not in run.SELECTING and not name.startswith(run.SELECTING_PREFIXES)
    ] == []


def test_parts_that_build_run_beside_the_others_and_print_in_one_piece(
    run: ModuleType, capfd: pytest.CaptureFixture[str]
) -> None:
    has_printed, may_end = Event(), Event()

    def building() -> Any:
        run.show("first line")
        has_printed.set()
        assert may_end.wait(300)
        run.show("last line")
        return run.Outcome(passed=1)

    def other() -> Any:
        assert has_printed.wait(300)
        run.show("line of the other part")
        may_end.set()
        return run.Outcome(passed=2)

    parts = {"building": run.Part("a build", building, builds=True), "other": run.Part("no build", other)}
    outcomes = run.run_parts(parts)
    assert [(name, outcome.passed) for name, outcome in outcomes.items()] == [("building", 1), ("other", 2)]
    printed = capfd.readouterr().out
    assert "first line\nlast line\n" in printed
    assert "line of the other part\n" in printed


def test_a_lane_without_builds_left_takes_other_parts(run: ModuleType) -> None:
    ended = {name: Event() for name in ("build", "long", "short")}

    def part(name: str, *, after: str | None = None) -> Any:
        def run_part() -> Any:
            assert after is None or ended[after].wait(300)
            ended[name].set()
            return run.Outcome(passed=1)

        return run.Part(name, run_part, builds=name == "build")

    # The long part ends after the short one, the next in the list.
    parts = {
        "build": part("build"),
        "long": part("long", after="short"),
        "short": part("short", after="build"),
    }
    assert list(run.run_parts(parts)) == ["build", "long", "short"]


def test_an_environment_is_made_once_and_its_script_decides(
    run: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[str] = []

    def run_command(command: list[str]) -> tuple[int, list[str]]:
        made.append(command[1])
        return (3 if command[1] == "broken" else 0), []

    monkeypatch.setattr(sys.modules["lanes"], "run_command", run_command)
    environments = run.Environments()
    environments.begin(["one", "broken"])
    assert [environments.code(name) for name in ("broken", "one", "two")] == [3, 0, 0]
    assert made == ["one", "broken", "two"]


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
    assert names(run) == ["rust", "python", "spark43", "interop", "smoke40", "stores"]
    monkeypatch.setenv("CI", "true")
    assert names(run) == ["lints", "rust", "package", "python", "spark43", "interop", "smoke40", "stores"]


def test_the_matrix_has_a_part_for_each_spark(run: ModuleType) -> None:
    said = subprocess.run(
        ["make", "--dry-run", "test-spark-matrix"], cwd=TOP, capture_output=True, text=True, check=True
    ).stdout
    asked = said.splitlines()[-1].partition("run.py --all-tables ")[2].split()
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
