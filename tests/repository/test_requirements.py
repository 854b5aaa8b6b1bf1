"""The tool for `make requirements`: a row counts as proved only if a test that names it ran and passed."""

from __future__ import annotations

import importlib
import os
from pathlib import Path
from types import ModuleType

import pytest

from tests.evidence.claims import claims_of
from tests.evidence.reports import FAILED, PASSED, SKIPPED, Result, write_report

TOP = Path(__file__).resolve().parents[2]
MARK = "protocol" + ":"  # in two pieces, so that the tool does not read this file's examples as claims
REFUSED = "protocol" + " (refused):"
RUST = Result("rust/protocol/src/lib.rs", "tests::holds", PASSED)
PYTHON = Result("tests.test_d", "test_d[1]", PASSED)


@pytest.fixture
def tool(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """`tests/requirements.py`, imported with its folder on the path as for a script."""
    monkeypatch.syspath_prepend(TOP / "tests")
    return importlib.import_module("requirements")


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project of four requirements: one named in Rust, one in Python, one excepted, one open."""
    (tmp_path / "shared" / "protocol").mkdir(parents=True)
    rows = ["a.1\tA\tmust\tone", "a.2\tA\tmust not\ttwo", "b-c.1\tB c\tshould\tthree", "x:d.10\tD\tmay\tfour"]
    write_table(tmp_path / "shared" / "protocol" / "requirements.tsv", "id\tsection\tforce\ttext", *rows[:3])
    write_table(tmp_path / "shared" / "protocol" / "requirements-x.tsv", "id\tsection\tforce\ttext", rows[3])
    (tmp_path / "rust" / "protocol" / "src").mkdir(parents=True)
    rust = f"mod tests {{\n    /// {MARK} a.1\n    #[test]\n    fn holds() {{}}\n}}\n"
    (tmp_path / "rust" / "protocol" / "src" / "lib.rs").write_text(rust)
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests" / "test_d.py").write_text(python_test(f"{MARK} x:d.10"))
    write_table(tmp_path / "tests" / "requirements_exceptions.tsv", "id\treason", "b-c.1\tno duty")
    record(tmp_path, RUST, PYTHON)
    return tmp_path


def python_test(claim: str, name: str = "test_d") -> str:
    return f'def {name}():\n    """{claim}."""\n'


def record(project: Path, *results: Result, part: str = "python") -> Path:
    report = project / "target" / "test-reports" / f"{part}.xml"
    write_report(report, results)
    return report


def write_table(path: Path, *lines: str) -> None:
    path.write_text("\n".join(lines) + "\n")


def states(tool: ModuleType, project: Path) -> dict[str, str]:
    found = tool.coverage(project / "shared", project)
    return {requirement.id: found.state(requirement) for requirement in found.requirements}


def state_of_x(tool: ModuleType, project: Path, *results: Result) -> str:
    record(project, *results)
    return states(tool, project)["x:d.10"]


def test_each_requirement_is_verified_excepted_or_open(tool: ModuleType, project: Path) -> None:
    assert states(tool, project) == {
        "x:d.10": "proved",
        "a.1": "proved",
        "a.2": "open",
        "b-c.1": "exception",
    }
    assert tool.coverage(project / "shared", project).errors() == []


@pytest.mark.parametrize(
    ("results", "state"),
    [
        ([PYTHON], "proved"),
        ([], "open"),
        ([Result("tests.test_d", "test_d[1]", FAILED)], "open"),
        ([Result("tests.test_d", "test_d[1]", SKIPPED, "no Java")], "open"),
        ([Result("tests.test_d", "test_d[2]", SKIPPED, "no Java"), PYTHON], "proved"),
        ([Result("tests.test_d", "test_d[2]", FAILED), PYTHON], "open"),
        ([Result("tests.test_d", "test_other", FAILED), PYTHON], "proved"),
        ([Result("tests.other.test_d", "test_d", PASSED)], "open"),
    ],
)
def test_a_row_is_verified_only_by_a_test_that_passed(
    tool: ModuleType, project: Path, results: list[Result], state: str
) -> None:
    assert state_of_x(tool, project, *results) == state


def test_one_of_several_tests_that_fails_leaves_a_row_open(tool: ModuleType, project: Path) -> None:
    tests = python_test(f"{MARK} x:d.10") + python_test(f"{MARK} x:d.10", "test_e")
    (project / "tests" / "test_d.py").write_text(tests)
    assert state_of_x(tool, project, PYTHON) == "proved"
    assert state_of_x(tool, project, PYTHON, Result("tests.test_d", "test_e", FAILED)) == "open"


def test_a_failure_in_another_environment_leaves_a_row_open(tool: ModuleType, project: Path) -> None:
    record(project, Result("tests.test_d", "test_d[1]", FAILED), part="spark40")
    assert states(tool, project)["x:d.10"] == "open"


def test_a_row_whose_tests_prove_a_refusal_is_refused(tool: ModuleType, project: Path) -> None:
    (project / "tests" / "test_d.py").write_text(python_test(f"{REFUSED} x:d.10"))
    assert state_of_x(tool, project, PYTHON) == "refused"
    (project / "tests" / "test_e.py").write_text(python_test(f"{MARK} x:d.10", "test_e"))
    assert state_of_x(tool, project, PYTHON, Result("tests.test_e", "test_e", PASSED)) == "refused"
    assert state_of_x(tool, project, Result("tests.test_e", "test_e", PASSED)) == "proved"


@pytest.mark.parametrize(
    ("path", "root", "name"),
    [
        ("rust/log/src/lib.rs", "rust/log/src/lib.rs", "tests::holds"),
        ("rust/log/src/a/b.rs", "rust/log/src/lib.rs", "a::b::tests::holds"),
        ("rust/log/src/a/mod.rs", "rust/log/src/lib.rs", "a::tests::holds"),
        ("rust/log/tests/alone.rs", "rust/log/tests/alone.rs", "tests::holds"),
        ("rust/log/tests/it/main.rs", "rust/log/tests/it/main.rs", "tests::holds"),
        ("rust/log/tests/it/replay.rs", "rust/log/tests/it/main.rs", "replay::tests::holds"),
        ("rust/log/tests/it/alter/mod.rs", "rust/log/tests/it/main.rs", "alter::tests::holds"),
        ("rust/log/tests/it/alter/files.rs", "rust/log/tests/it/main.rs", "alter::files::tests::holds"),
    ],
)
def test_a_rust_test_is_found_by_its_module_path(
    tool: ModuleType, project: Path, path: str, root: str, name: str
) -> None:
    (project / "rust" / "protocol" / "src" / "lib.rs").rename(project / "moved.rs")
    (project / path).parent.mkdir(parents=True)
    (project / "moved.rs").rename(project / path)
    record(project, Result(root, name, PASSED))
    assert states(tool, project)["a.1"] == "proved"
    record(project, Result("rust/table/src/lib.rs", name, PASSED))
    assert states(tool, project)["a.1"] == "open"


@pytest.mark.parametrize(
    ("lines", "test"),
    [
        (["/// {}", "#[test]", "fn a() {}"], ("a",)),
        (["/// More of it.", "/// {}", "#[tokio::test(start_paused = true)]", "async fn a() {}"], ("a",)),
        (["/// {}", "#[cfg(unix)]", "#[test]", "#[expect(", '    reason = "x"', ")]", "fn a() {}"], ("a",)),
        (["#[test]", "fn a() {", "    // {}", "    b();", "}"], ("a",)),
        (
            ["mod m {", "    mod n {", "        /// {}", "        #[test]", "        fn a() {}"],
            ("m", "n", "a"),
        ),
        (["mod m {", "}", "/// {}", "#[test]", "fn a() {}"], ("a",)),
        (["proptest! {", "    /// {}", "    #[test]", "    fn a(b in 0..9) {}", "}"], ("a",)),
        (["/// {}", "fn a() {}"], None),
        (["// {}", "", "#[test]", "fn a() {}"], None),
    ],
)
def test_a_claim_in_rust_belongs_to_a_test(lines: list[str], test: tuple[str, ...] | None) -> None:
    [claim] = claims_of("rust/x.rs", "\n".join(lines).replace("{}", f"{MARK} a.1", 1))
    assert claim.test == test


@pytest.mark.parametrize(
    ("text", "test"),
    [
        ('def test_a():\n    """{}."""\n', ("test_a",)),
        ("def test_a():\n    # {}\n    pass\n", ("test_a",)),
        ("@mark(\n    # {}\n)\ndef test_a(): ...\n", ("test_a",)),
        ("class TestB:\n    def test_a(self):\n        # {}\n        pass\n", ("TestB", "test_a")),
        ('"""{}."""\n', None),
        ('def a():\n    """{}."""\n', None),
    ],
)
def test_a_claim_in_python_belongs_to_a_test(text: str, test: tuple[str, ...] | None) -> None:
    [claim] = claims_of("tests/x.py", text.replace("{}", f"{MARK} a.1"))
    assert claim.test == test


@pytest.mark.parametrize(
    ("text", "ids"),
    [
        (f"# {MARK} a.1, a.2", ["a.1", "a.2"]),
        (f"// {MARK} a.1,\n//  a.2 and more words", ["a.1", "a.2"]),
        (f'"""It holds ({MARK} beyond:type-widening.1)."""', ["beyond:type-widening.1"]),
        (f"{MARK} a.1; {MARK} b-c.12.", ["a.1", "b-c.12"]),
        (f"# {REFUSED} a.1, a.2", ["a.1", "a.2"]),
        ("use deltaic_protocol::version; a.1", []),
        ("Protocol { protocol: Protocol, a: 1.1 }", []),
    ],
)
def test_ids_are_found_in_claims(text: str, ids: list[str]) -> None:
    assert [claim.id for claim in claims_of("rust/x.rs", text)] == ids


def test_an_unknown_id_is_an_error_that_names_the_file(tool: ModuleType, project: Path) -> None:
    (project / "tests" / "test_z.py").write_text(python_test(f"{MARK} z.1", "test_z"))
    assert tool.coverage(project / "shared", project).errors() == [
        "tests/test_z.py:2 test_z: there is no requirement z.1"
    ]


def test_an_id_outside_of_a_test_is_an_error(tool: ModuleType, project: Path) -> None:
    (project / "tests" / "test_z.py").write_text(f"# {MARK} a.2\n")
    assert tool.coverage(project / "shared", project).errors() == [
        "tests/test_z.py:1: a.2 is named outside of a test"
    ]


def test_an_exception_may_not_have_a_test(tool: ModuleType, project: Path) -> None:
    write_table(project / "tests" / "requirements_exceptions.tsv", "id\treason", "a.1\tno duty")
    assert tool.coverage(project / "shared", project).errors() == [
        "exceptions: a.1 has a test too, rust/protocol/src/lib.rs:2 holds"
    ]


def test_an_exception_needs_a_reason_and_a_requirement(tool: ModuleType, project: Path) -> None:
    write_table(project / "tests" / "requirements_exceptions.tsv", "id\treason", "b-c.1\t", "n.1\tno duty")
    assert tool.coverage(project / "shared", project).errors() == [
        "exceptions: b-c.1 has no reason",
        "exceptions: there is no requirement n.1",
    ]


def test_the_table_sums_the_sections_up(
    tool: ModuleType, project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    tool.show_table(tool.coverage(project / "shared", project))
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[-5:] for line in lines if line.startswith(("A ", "all "))] == [
        ["1", "0", "0", "0", "1"],
        ["2", "0", "1", "0", "1"],
    ]


def test_the_results_are_listed_with_their_age(
    tool: ModuleType, project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    changed = tool.last_change(project)
    report = record(project, RUST, PYTHON)
    os.utime(report, (changed + 1, changed + 1))
    tool.show_results(tool.coverage(project / "shared", project), changed)
    assert "older" not in capsys.readouterr().out
    os.utime(report, (changed - 1, changed - 1))
    tool.show_results(tool.coverage(project / "shared", project), changed)
    assert "Some results are older than the sources" in capsys.readouterr().out
    report.unlink()
    tool.show_results(tool.coverage(project / "shared", project), changed)
    assert "There was no test run yet" in capsys.readouterr().out


def test_open_rows_are_listed_with_the_outcome_of_their_tests(
    tool: ModuleType, project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    record(project, RUST, Result("tests.test_d", "test_d[1]", SKIPPED, "no Java"))
    tool.show_open(tool.coverage(project / "shared", project))
    printed = capsys.readouterr().out
    assert "    tests/test_d.py:2 test_d: skipped: no Java\n" in printed
    assert "a.2  (must not)\n    two\n" in printed


def test_claims_of_this_project(tool: ModuleType, shared: Path) -> None:
    """Every id that a source or test names exists, and no exception has a test."""
    found = tool.coverage(shared, TOP)
    assert found.errors() == []
    assert len(found.requirements) > 400


def test_rows_of_later_operations_are_a_state_of_their_own(tool: ModuleType, project: Path) -> None:
    write_table(project / "tests" / "requirements_exceptions.tsv", "id\treason", "b-c.1\tlater: a writer")
    assert states(tool, project)["b-c.1"] == "later"
    write_table(project / "tests" / "requirements_exceptions.tsv", "id\treason", "b-c.1\tlater:")
    assert tool.coverage(project / "shared", project).errors() == ["exceptions: b-c.1 has no reason"]
