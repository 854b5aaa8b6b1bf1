"""The HTML page about a table: complete, self-contained, and safe whatever the table contains."""

from __future__ import annotations

import re
from collections import Counter
from html.parser import HTMLParser
from pathlib import Path

import pyarrow as pa
import pytest

import deltaic
from deltaic.html_report.charts import Bar, column_chart, line_chart, row_chart
from deltaic.html_report.contents import changed_rows
from tests.api.command_line import as_json, lines, run
from tests.api.log_files import write_commit

UNTRUSTED = "<script>alert('1')</script>\"&"
VOID = {"meta", "br"}


class Page(HTMLParser):
    """Collects the elements, attributes and texts of a page, and requires that elements are closed."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.elements: Counter[str] = Counter()
        self.attributes: Counter[str] = Counter()
        self.texts: list[str] = []
        self.open: list[str] = []
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements[tag] += 1
        self.attributes.update(name for name, _ in attrs)
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements[tag] += 1
        self.attributes.update(name for name, _ in attrs)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.texts.append(data)


def partitioned(root: Path, name: str = "shop", value: str = "Oslo") -> deltaic.Table:
    schema = pa.schema([(name, pa.string()), ("id", pa.int64())])
    table = deltaic.Table.create(
        root,
        schema,
        partition_by=[name],
        name=f"name {value}",
        description=value,
        properties={"owner": value},
    )
    for number in range(8):
        rows = {name: [value, "other"], "id": [number, 100]}
        table.append(pa.table(rows, schema=schema), commit_info={"job": value})
    table.delete("id = 3")
    return table


def without_time(page: str) -> str:
    changed, count = re.subn(r"Written by deltaic at [^<]*", "", page)
    assert count == 1
    return changed


def test_the_page_has_the_facts_of_the_table(root: Path) -> None:
    table = partitioned(root)
    page = Page(table.html_report(["id"]))
    text = " ".join(page.texts)
    for heading in ("Size over time", "Sizes of files", "Partitions", "Rows changed by commits", "Advice"):
        assert heading in text
    assert "shop=Oslo" in text
    assert "SMALL_FILES" in text
    assert "Measured at 10 versions." in text
    assert [operation for operation in ("WRITE", "DELETE", "CREATE TABLE") if operation not in text] == []
    # A row for each commit, each client and each examined column, and three headers.
    advice = table.advise(["id"])
    assert page.elements["tr"] == 10 + len(advice.clients) + len(advice.columns) + 3


def test_names_and_values_are_escaped(root: Path) -> None:
    table = partitioned(root, "<script>x", UNTRUSTED)
    write_commit(
        root,
        10,
        {"commitInfo": {"operation": UNTRUSTED, "engineInfo": UNTRUSTED, "timestamp": 1_700_000_000_000}},
    )
    page = Page(table.html_report(["id"]))
    assert page.elements["script"] == 0
    assert page.elements["b"] == len(table.advise(["id"])) * 2, "only those of the page itself"
    assert not [name for name in page.attributes if name.startswith("on")]
    texts = "\n".join(page.texts)
    assert texts.count(UNTRUSTED) >= 5
    assert "<script>x=" in texts


def test_nothing_is_loaded(root: Path) -> None:
    text = partitioned(root).html_report()
    page = Page(text)
    assert not {"href", "src", "srcset", "action"} & set(page.attributes)
    assert not {"link", "img", "iframe", "object", "script"} & set(page.elements)
    assert "url(" not in text
    assert "@import" not in text
    assert "default-src 'none'" in text
    assert "prefers-color-scheme:dark" in text


def test_the_same_version_gives_the_same_page(root: Path) -> None:
    table = partitioned(root)
    assert without_time(table.html_report(["id"])) == without_time(deltaic.Table(root).html_report(["id"]))


def test_versions_that_cannot_be_read(root: Path) -> None:
    table = partitioned(root)
    table.checkpoint()
    for version in range(5):
        (root / "_delta_log" / f"{version:020}.json").unlink()
    assert "Not known" in table.html_report()
    table.append(pa.table({"shop": ["Rome"], "id": [1]}))
    assert "versions before 9 cannot be read" in table.html_report()


def test_a_table_without_files(root: Path) -> None:
    text = " ".join(Page(deltaic.Table.create(root, pa.schema([("id", pa.int64())])).html_report()).texts)
    assert "The table has no files." in text
    assert "The table is not partitioned." in text
    assert "Not known" in text


@pytest.mark.parametrize("count", [1, 5, 70])
def test_charts_are_within_their_frames(count: int) -> None:
    bars = [Bar(f"<{number}>", number, str(number)) for number in range(count)]
    for chart in (row_chart(bars), column_chart(bars, "top", "first", "last")):
        assert f"&lt;{count - 1}&gt;" in chart
        for number in re.findall(r'(?: x| y|width|height)="(-?[\d.]+)"', chart):
            assert 0 <= float(number) <= 1000
    drawn = line_chart([(float(n), n * 10.0, f"at {n}") for n in range(count)], "top", "first", "last")
    assert drawn.count("<title>") == count
    assert all(-0.01 <= float(number) <= 1000 for number in re.findall(r"[MHV]\s?(-?[\d.]+)", drawn))


def test_changed_rows_of_a_merge_are_not_its_output(root: Path) -> None:
    table = deltaic.Table.create(root, pa.schema([("id", pa.int64())]))
    table.append(pa.table({"id": range(10)}))
    merge = table.merge(pa.table({"id": [3, 77]}), on="target.id = source.id")
    merge.when_matched_delete().when_not_matched_insert_all().execute()
    assert [changed_rows(commit) for commit in table.history()] == [2, 10, None]


def test_command(root: Path, tmp_path: Path) -> None:
    table = partitioned(root)
    page = tmp_path / "report.html"
    [shown] = lines("report", root, "-o", page, "--filter", "id")
    assert shown.startswith(f"{page}: ")
    assert without_time(page.read_text(encoding="utf-8")) == without_time(table.html_report(["id"]))
    assert as_json("report", root, "-o", page)["size_in_bytes"] == page.stat().st_size
    assert without_time(run("report", root, "-o", "-").stdout) == without_time(
        page.read_text(encoding="utf-8")
    )
    assert run("report", root).returncode == 2
    assert run("report", root, "-o", tmp_path / "missing" / "x.html").returncode == 1
