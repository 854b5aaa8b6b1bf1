"""The Spark benchmark: its tables, and its section of the page. It compares answers before it measures."""

from __future__ import annotations

from pathlib import Path

import deltaic

from .harness import printed


def test_many_files_are_a_table_of_few(tmp_path: Path) -> None:
    """Each name is a file of the table, with the rows and the bounds of the file that it links to."""
    text = (
        "import sys; from pathlib import Path; from spark_tables import made, many_files\n"
        "found = made(many_files('files_100', 100), Path(sys.argv[1]))\n"
        "print(found.path, found.rows)"
    )
    path, rows = printed(text, str(tmp_path)).split()[-2:]
    snapshot = deltaic.Table(path).snapshot()
    inodes = {file.stat().st_ino for file in Path(path).glob("region=*/*.parquet")}
    assert (snapshot.num_files, len(inodes), int(rows)) == (100, 32, 100 * 200)
    found = snapshot.scan(columns=["id", "region"]).to_arrow()
    assert found.num_rows == int(rows)
    assert snapshot.scan(predicate="region = 'coast'").count() == 12 * 200  # file 5, 13, … 93
    ids = found.column("id").to_pylist()
    bound = sorted(ids)[2000]
    assert snapshot.scan(predicate=f"id < {bound}").count() == sum(value < bound for value in ids)


def test_files_by_id_have_ids_of_their_own(tmp_path: Path) -> None:
    text = (
        "import sys; from pathlib import Path; from spark_tables import made, many_files\n"
        "print(made(many_files('sorted_20', 20, by_id=True), Path(sys.argv[1])).path)"
    )
    snapshot = deltaic.Table(printed(text, str(tmp_path)).split()[-1]).snapshot()
    assert (snapshot.num_files, snapshot.num_rows) == (20, 20 * 200)
    assert snapshot.files("id = 510000017").num_rows <= 1
    assert len(snapshot.scan(columns=["id"]).to_arrow().column("id").unique()) == 20 * 200


def test_a_section_of_the_page_is_replaced_and_the_others_stay() -> None:
    text = (
        "from page_sections import section_of, with_section\n"
        "page = '# Page\\n\\nhead\\n\\n## One\\n\\na\\n\\n### Within\\n\\n## Two\\n\\nb\\n'\n"
        "assert section_of(page, '## One') == '## One\\n\\na\\n\\n### Within'\n"
        "assert section_of(page, '## Three') == ''\n"
        "assert with_section(page, '## One', section_of(page, '## One')) == page\n"
        "assert with_section(page, '## Two', '## Two\\n\\nc\\n') == page.replace('b', 'c')\n"
        "changed = with_section(page, '## One', '## One\\n\\nd')\n"
        "assert changed == '# Page\\n\\nhead\\n\\n## One\\n\\nd\\n\\n## Two\\n\\nb\\n'\n"
        "assert with_section(page, '## Three', '## Three\\n\\ne') == page + '\\n## Three\\n\\ne\\n'"
    )
    printed(text)


def test_the_other_benchmarks_retain_the_section_of_spark() -> None:
    text = (
        "from report import page\n"
        "before = '# Benchmarks\\n\\n## data\\n\\nold\\n\\n## Spark\\n\\nkept\\n\\n## Others\\n\\nx\\n'\n"
        "print(page([], [], 1, 1, before))"
    )
    found = printed(text)
    assert "## Spark\n\nkept\n" in found
    assert "## data" not in found


def test_a_goal_is_judged_beside_delta_spark_alone() -> None:
    """The ratio is to delta-spark; a filter before the load is compared with the query that it repeats."""
    text = (
        "from dataclasses import replace; from spark_report import Conditions, Line, section\n"
        "from spark_tables import many_files\n"
        "table = replace(many_files('files_10', 10), goal=0.8)\n"
        "walls = {'count': (1, 0.1, 0.8, None), 'sum': (1, 2, 0.84, 0.2)}\n"
        "walls |= {'sum_partition': (1, 2, 1.2, 0.2), 'sum_partition_told': (None, None, 0.4, None)}\n"
        "ways = ('delta-spark', 'parquet', 'deltaic', 'deltalake')\n"
        "notes = ('', '', '', 'fails: x')\n"
        "lines = [Line('files_10', question, way, note, None, wall, None, None, 1)\n"
        "         for question, mine in walls.items() for way, note, wall in zip(ways, notes, mine)]\n"
        "print(section(lines, [table], Conditions(1, 1, 1, '4g', 1, {})))\n"
        "print(section(lines, [table], Conditions(0.5, 1, 1, '4g', 1, {})))"
    )
    full, half = printed(text).split("## Spark\n")[1:]
    rows = {row.split("|")[2].strip(): row for row in full.splitlines() if row.startswith("| ")}
    assert rows["`count`"].endswith("| fails | 0.80 | 0.8 | yes |")
    assert rows["`sum`"].endswith("| 0.200 | 0.84 | 0.8 | within noise |")
    assert rows["`sum_partition`"].endswith("| 1.20 | 0.8 | **no, 1.50 times it** |")
    assert rows["`sum_partition`, before load"].endswith(
        "| 1.000 | – | – | 0.400 | – | – | 0.40 | 0.8 | yes |"
    )
    assert "yes" not in half.partition("### Many files")[2]


def test_the_section_shows_the_spread_and_judges_by_it() -> None:
    text = (
        "from dataclasses import replace\n"
        "from spark_report import Conditions, line_of, section; from spark_tables import many_files\n"
        "def line(way, *walls):\n"
        "    return line_of('files_10', 'count', way, '', [{'first': wall} for wall in walls])\n"
        "lines = [line('delta-spark', 1, 1.5, 0.5), line('deltaic', 1, 1, 1)]\n"
        "table = replace(many_files('files_10', 10), goal=0.8)\n"
        "print(section(lines, [table], Conditions(1, 3, 1, '4g', 1, {})))"
    )
    [row] = [row for row in printed(text).splitlines() if "| `count` |" in row]
    assert row.split(" | ")[2:] == [
        "1.000 (0.500–1.500)",
        "–",
        "–",
        "1.000 (1.000–1.000)",
        "–",
        "–",
        "1.00",
        "0.8",
        "within noise |",
    ]
