"""The examples of the documents run, their links resolve, and their lists are complete."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from deltaic import exceptions
from tests.repository.links import broken_links, links
from tests.repository.markdown import EXAMPLE, TOP, read_document, run_page

DOCUMENTS = sorted([*TOP.glob("*.md"), *TOP.glob("docs/**/*.md"), *TOP.glob("benches/**/*.md")])
# Pages that need a Spark session or an object store run in tests/spark and tests/stores.
ELSEWHERE = {
    "docs/guides/coming-from-delta-spark.md",
    "docs/guides/spark.md",
    "docs/guides/stores.md",
    "docs/guides/streaming.md",
}
PAGES = sorted(
    name
    for name in (path.relative_to(TOP).as_posix() for path in TOP.glob("docs/**/*.md"))
    if name not in ELSEWHERE and EXAMPLE.search(read_document(name))
)
MENTION = re.compile(r"\bdocs/[\w/-]+\.md\b")
SOURCES = ["python", "rust", "tests", "benches", "fuzz", "examples", "envs", "Makefile", "pyproject.toml"]


@pytest.mark.parametrize("document", PAGES)
def test_the_examples_run_in_an_empty_folder(
    document: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert run_page(document, tmp_path) > 0


def test_most_guides_have_examples_that_run() -> None:
    assert len(PAGES) >= 12


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.relative_to(TOP).as_posix())
def test_every_link_resolves(document: Path) -> None:
    assert broken_links(document) == []


def test_every_page_that_the_sources_name_exists() -> None:
    listed = subprocess.run(
        ["git", "ls-files", *SOURCES], cwd=TOP, capture_output=True, text=True, check=True
    )
    missing: list[str] = []
    for name in listed.stdout.splitlines():
        path = TOP / name
        if path.suffix in {".rs", ".py", ".pyi", ".sh", ".toml", ".md"} or name == "Makefile":
            text = path.read_text(encoding="utf-8") if path.is_file() else ""
            missing += [f"{name}: {page}" for page in MENTION.findall(text) if not (TOP / page).is_file()]
    assert missing == []


def test_the_index_links_to_every_page() -> None:
    index = TOP / "docs" / "README.md"
    linked = {(index.parent / link.partition("#")[0]).resolve() for link in links(index)}
    pages = set(TOP.glob("docs/*/*.md")) - set(TOP.glob("docs/decisions/[0-9]*.md"))
    assert sorted(page.name for page in pages if page.resolve() not in linked) == []


def test_every_recipe_is_in_the_help() -> None:
    """`make` lists every recipe except the internal steps."""
    makefile = (TOP / "Makefile").read_text()
    recipes = {
        name for line in re.findall(r"^\.PHONY: (.*)$", makefile, re.MULTILINE) for name in line.split()
    }
    steps = {"venv", "need-cargo", "need-python", "need-java"}
    said = subprocess.run(["make", "help"], cwd=TOP, capture_output=True, text=True, check=True).stdout
    assert {line.split()[1] for line in said.splitlines()} == recipes - steps


def test_recipes_that_the_documents_name_exist() -> None:
    makefile = (TOP / "Makefile").read_text()
    for document in DOCUMENTS:
        for name in re.findall(r"(?:^|`)make ([a-z-]+)\b", document.read_text(), re.MULTILINE):
            assert re.search(rf"^{name}:", makefile, re.MULTILINE), f"{document.name} names make {name}"


def test_the_page_of_errors_has_every_exception() -> None:
    page = (TOP / "docs/reference/errors.md").read_text()
    assert [name for name in exceptions.__all__ if not re.search(rf"`(deltaic\.)?{name}`", page)] == []
