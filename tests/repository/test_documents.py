"""What the documents show works, and what they point to is there. Those with Spark are in `tests/spark`."""

from __future__ import annotations

import datetime as dt
import os
import re
import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pytest

import deltaic
from deltaic import exceptions
from tests.repository.example_tables import make_prices, make_rides, make_stock, make_trips
from tests.repository.links import broken_links, links
from tests.repository.markdown import TOP, blocks, run_python

DOCUMENTS = sorted([*TOP.glob("*.md"), *TOP.glob("docs/**/*.md"), *TOP.glob("benches/**/*.md")])
PAGES = [
    "docs/guides/alter.md",
    "docs/guides/python.md",
    "docs/guides/query-engines.md",
    "docs/reference/errors.md",
    "docs/reference/check.md",
    "docs/guides/transactions.md",
    "docs/guides/log-maintenance.md",
]
MENTION = re.compile(r"\bdocs/[\w/-]+\.md\b")
SOURCES = ["python", "rust", "tests", "benches", "fuzz", "examples", "envs", "Makefile", "pyproject.toml"]


@pytest.mark.parametrize("document", PAGES)
def test_the_python_examples_run(document: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    run_python(document)


def test_the_page_on_reading(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make_rides(tmp_path)
    monkeypatch.chdir(tmp_path)
    run_python("docs/guides/reading.md")


def test_the_page_on_predicates(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make_trips(tmp_path)
    monkeypatch.chdir(tmp_path)
    run_python("docs/reference/predicates.md")


def test_the_page_on_changes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make_stock(tmp_path)
    make_prices(tmp_path)
    monkeypatch.chdir(tmp_path)
    run_python("docs/guides/changes.md")
    run_commands("docs/guides/changes.md", tmp_path)


def test_the_command_lines_run(tmp_path: Path) -> None:
    day = dt.date(2026, 11, 1)
    data = pa.table({"id": [1, 2], "city": ["Oslo", None], "day": [day, day], "fare": [9.5, 12.0]})
    feed = {"delta.enableChangeDataFeed": "true"}
    deltaic.Table.create(tmp_path / "rides", data.schema, partition_by=["day"], properties=feed).append(data)
    assert run_commands("docs/reference/cli.md", tmp_path) >= 5


def run_commands(document: str, folder: Path) -> int:
    """Run a document's command lines, which are ours alone, and give their number."""
    lines = [line for text in blocks(document, "sh") for line in text.splitlines()]
    for line in lines:
        assert line.startswith("deltaic ")
        command = f'"{sys.executable}" -m {line}'
        done = subprocess.run(
            ["bash", "-c", command], cwd=folder, env=os.environ, capture_output=True, text=True, check=False
        )
        assert (done.returncode, done.stderr) == (0, ""), line
        assert done.stdout, line
    return len(lines)


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
    """`make` lists each recipe that a person may call; what is only a step is not one of them."""
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
        for name in re.findall(r"(?:^|`)make ([a-z]+)\b", document.read_text(), re.MULTILINE):
            assert re.search(rf"^{name}:", makefile, re.MULTILINE), f"{document.name} names make {name}"


def test_the_page_of_errors_has_every_exception() -> None:
    page = (TOP / "docs/reference/errors.md").read_text()
    assert [name for name in exceptions.__all__ if not re.search(rf"`(deltaic\.)?{name}`", page)] == []
