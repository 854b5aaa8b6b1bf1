"""The tool behind `make requirements` finds what is named, and what cannot be right."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest

TOP = Path(__file__).resolve().parents[2]
MARK = "protocol" + ":"  # in two pieces, so that the tool does not read this file's examples as claims


@pytest.fixture(scope="module")
def tool() -> ModuleType:
    spec = importlib.util.spec_from_file_location("requirements_tool", TOP / "tests" / "requirements.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project of four requirements: one named in Rust, one in Python, one excepted, one open."""
    (tmp_path / "shared" / "protocol").mkdir(parents=True)
    rows = ["a.1\tA\tmust\tone", "a.2\tA\tmust not\ttwo", "b-c.1\tB c\tshould\tthree", "x:d.10\tD\tmay\tfour"]
    write_table(tmp_path / "shared" / "protocol" / "requirements.tsv", "id\tsection\tforce\ttext", *rows[:3])
    write_table(tmp_path / "shared" / "protocol" / "requirements-x.tsv", "id\tsection\tforce\ttext", rows[3])
    (tmp_path / "rust" / "protocol").mkdir(parents=True)
    (tmp_path / "rust" / "protocol" / "lib.rs").write_text(f"/// {MARK} a.1\nfn holds() {{}}\n")
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests" / "test_d.py").write_text(f'"""{MARK} x:d.10"""\n')
    write_table(tmp_path / "tests" / "requirements_exceptions.tsv", "id\treason", "b-c.1\tno duty")
    return tmp_path


def write_table(path: Path, *lines: str) -> None:
    path.write_text("\n".join(lines) + "\n")


def states(tool: ModuleType, project: Path) -> dict[str, str]:
    found = tool.coverage(project / "shared", project)
    return {requirement.id: found.state(requirement) for requirement in found.requirements}


def test_each_requirement_is_covered_excepted_or_open(tool: ModuleType, project: Path) -> None:
    assert states(tool, project) == {
        "x:d.10": "covered",
        "a.1": "covered",
        "a.2": "open",
        "b-c.1": "exception",
    }
    assert tool.coverage(project / "shared", project).errors() == []


@pytest.mark.parametrize(
    ("text", "ids"),
    [
        (f"# {MARK} a.1, a.2", ["a.1", "a.2"]),
        (f"// {MARK} a.1,\n//  a.2 and more words", ["a.1", "a.2"]),
        (f'"""It holds ({MARK} beyond:type-widening.1)."""', ["beyond:type-widening.1"]),
        (f"{MARK} a.1; {MARK} b-c.12.", ["a.1", "b-c.12"]),
        ("use deltaic_protocol::version; a.1", []),
        ("Protocol { protocol: Protocol, a: 1.1 }", []),
    ],
)
def test_ids_are_found_where_they_are_claimed(tool: ModuleType, text: str, ids: list[str]) -> None:
    assert tool.ids_in(text) == ids


def test_an_unknown_id_is_an_error_that_names_the_file(tool: ModuleType, project: Path) -> None:
    (project / "tests" / "test_z.py").write_text(f"# {MARK} z.1\n")
    assert tool.coverage(project / "shared", project).errors() == [
        "tests/test_z.py: there is no requirement z.1"
    ]


def test_an_exception_may_not_have_a_test(tool: ModuleType, project: Path) -> None:
    write_table(project / "tests" / "requirements_exceptions.tsv", "id\treason", "a.1\tno duty")
    assert tool.coverage(project / "shared", project).errors() == [
        "exceptions: a.1 has a test too, in rust/protocol/lib.rs"
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
    assert [line.split()[-4:] for line in lines if line.startswith(("A ", "all "))] == [
        ["1", "0", "0", "1"],
        ["2", "1", "0", "1"],
    ]


def test_what_this_project_claims_is_right(tool: ModuleType, shared: Path) -> None:
    """Every id that a source or test names exists, and no exception has a test."""
    found = tool.coverage(shared, TOP)
    assert found.errors() == []
    assert len(found.requirements) > 400


def test_what_waits_for_something_is_counted_by_itself(tool: ModuleType, project: Path) -> None:
    write_table(project / "tests" / "requirements_exceptions.tsv", "id\treason", "b-c.1\tlater: a writer")
    assert states(tool, project)["b-c.1"] == "later"
    write_table(project / "tests" / "requirements_exceptions.tsv", "id\treason", "b-c.1\tlater:")
    assert tool.coverage(project / "shared", project).errors() == ["exceptions: b-c.1 has no reason"]
