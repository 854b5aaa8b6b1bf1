"""The benchmark harness at a small scale: answers are checked, times never."""

from __future__ import annotations

import filecmp
import importlib.util
import json
import subprocess
import sys
from pathlib import Path

import pytest

HARNESS = Path(__file__).resolve().parents[2] / "benches" / "python"
WORKLOADS = {
    path.stem: json.loads(path.read_text()) for path in sorted((HARNESS.parent / "workloads").glob("*.json"))
}
ANSWERS = [
    (name, operation["name"], peer)
    for name, workload in WORKLOADS.items()
    for operation in workload["operations"]
    for peer in operation["peers"]
]


def harness(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, str(HARNESS / "run.py"), *arguments], capture_output=True, text=True, check=False
    )


def need_peers() -> None:
    for name in ("deltalake", "polars"):
        if importlib.util.find_spec(name) is None:
            pytest.skip(f"missing: {name}, a peer")


@pytest.fixture(scope="module")
def checked(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """Returns the output of a check of everything, as lines."""
    need_peers()
    tables = tmp_path_factory.mktemp("tables")
    done = harness("--check", "--scale", "0.01", "--tables", str(tables))
    assert done.returncode in {0, 1}, done.stderr
    assert ("WRONG" in done.stdout or "wrong" in done.stdout) == (done.returncode == 1)
    return done.stdout.splitlines()


@pytest.mark.parametrize(("workload", "operation", "peer"), ANSWERS)
def test_the_peer_answers_right(checked: list[str], workload: str, operation: str, peer: str) -> None:
    (line,) = (line for line in checked if line.startswith(f"{workload} {operation}: {peer} "))
    if peer == "daft" and "is not installed" in line:
        pytest.skip("daft, a peer, is not installed")
    (declared,) = (one for one in WORKLOADS[workload]["operations"] if one["name"] == operation)
    able = peer not in declared.get("unable", [])
    assert ("answers right" in line) == able, line  # update `unable` if the peer now supports it
    if peer == "deltaic":
        assert "keeps" not in line


def test_a_wrong_answer_is_not_timed_and_no_page_is_written(tmp_path: Path) -> None:
    need_peers()
    options = ["--only", "many_commits", "--scale", "0.001", "--tables", str(tmp_path / "tables")]
    assert harness("--check", *options).returncode == 0
    (manifest,) = (tmp_path / "tables").glob("*/manifest.json")
    content = json.loads(manifest.read_text())
    manifest.write_text(json.dumps({**content, "num_files": content["num_files"] + 1}))
    page, figures = tmp_path / "page.md", tmp_path / "figures.json"
    done = harness("--repeat", "1", "--markdown", str(page), "--json", str(figures), *options)
    assert done.returncode == 1
    assert "wrong answer: many_commits open_and_list: deltaic" in done.stderr
    lines = {line["peer"]: line for line in json.loads(figures.read_text())["lines"]}
    assert [lines[peer]["repetitions"] for peer in ("deltaic", "deltalake", "floor")] == [0, 0, 1]
    assert not page.exists()


def test_the_page_has_every_figure_and_retains_the_requests(tmp_path: Path) -> None:
    need_peers()
    page, figures = tmp_path / "page.md", tmp_path / "figures.json"
    marks = ["<!-- requests: kept when the page is rewritten -->", "<!-- /requests -->"]
    page.write_text(f"# Benchmarks\n\n{marks[0]}\n| a table | of requests |\n{marks[1]}\n")
    names = ["many_commits", "tiny"]
    options = ["--only", ",".join(names), "--markdown", str(page), "--json", str(figures)]
    done = harness("--scale", "0.001", "--repeat", "1", "--tables", str(tmp_path), *options)
    assert done.returncode == 0, done.stderr
    lines = json.loads(figures.read_text())["lines"]
    found = [(line["workload"], line["operation"], line["peer"]) for line in lines]
    assert found == [answer for answer in ANSWERS if answer[0] in names]
    assert all(line["ratios"]["wall"] == 1 for line in lines if line["peer"] == "deltaic")
    assert all(line["peak_mib"] > 1 for line in lines)
    assert {line["repetitions"] for line in lines if line["workload"] == "many_commits"} == {1}
    assert {line["repetitions"] for line in lines if line["workload"] == "tiny"} == {4}
    text = page.read_text()
    for name in names:
        rows = text.partition(f"## {name}\n")[2].partition("## ")[0].splitlines()
        for operation in WORKLOADS[name]["operations"]:
            assert any(row.startswith(f"| `{operation['name']}` | wall s | ") for row in rows)
    assert "\n| a table | of requests |\n" in text
    assert "fails" not in text


def test_rows_that_are_not_right_are_a_wrong_answer(tmp_path: Path) -> None:
    """The number of rows, a value, and the combination of values in a row are each checked."""
    need_peers()
    options = ["--check", "--only", "data_mapped", "--scale", "0.001", "--tables", str(tmp_path)]
    assert harness(*options).returncode == 0
    (manifest,) = tmp_path.glob("*/manifest.json")
    content = json.loads(manifest.read_text())
    right = content["answers"]["scan_filter"]
    columns = right["columns"]
    for change, said in [
        ({"rows": right["rows"] + 1}, "the number of rows is"),
        (
            {"columns": {**columns, "note": columns["note"] ^ 1}},
            "column note is not as written",
        ),
        ({"whole": right["whole"] ^ 1}, "values stand in rows that are not theirs"),
    ]:
        content["answers"]["scan_filter"] = {**right, **change}
        manifest.write_text(json.dumps(content))
        done = harness(*options)
        assert done.returncode == 1
        assert f"wrong answer: data_mapped scan_filter: deltaic: {said}" in done.stderr
        assert f"wrong answer: data_mapped scan_filter: deltalake: {said}" in done.stderr
        assert "polars" not in done.stderr  # it is listed as unable


@pytest.mark.parametrize("shift", [0, 1])
def test_a_digest_knows_rows_in_any_order_and_no_others(shift: int) -> None:
    program = (
        "import sys; import pyarrow as pa; from row_digest import digest_of\n"
        "from rows import numbers_in, rows_of; from workload import RowsSpec\n"
        "spec = RowsSpec(seed=1, rows=640, files=2)\n"
        "table = rows_of(spec, numbers_in(spec, 0))\n"
        "order = [(7 * row + 3) % 320 for row in range(320)]\n"
        "moved = table.take(order)\n"
        "notes = moved['note'].take([(row + int(sys.argv[1])) % 320 for row in range(320)])\n"
        "moved = moved.set_column(6, 'note', notes.cast(pa.large_string()))\n"
        "found = digest_of(moved.slice(begin, 64).to_batches()[0] for begin in range(0, 320, 64))\n"
        "right = digest_of([table])\n"
        "print(found.rows == right.rows, found.columns == right.columns, found.whole == right.whole)"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, str(shift)], cwd=HARNESS, check=True, capture_output=True, text=True
    )
    assert done.stdout.split() == ["True", "True", str(shift == 0)]


def test_tables_of_one_seed_hold_the_same_rows() -> None:
    """Otherwise the cost of partitions or mapping would be measured on other rows."""
    program = (
        "import numpy as np; from rows import REGIONS, numbers_in, region_in, rows_of\n"
        "from workload import RowsSpec\n"
        "spec = RowsSpec(seed=1, rows=6400, files=16, partitioned=True)\n"
        "files = [numbers_in(spec, file) for file in range(16)]\n"
        "assert sorted(np.concatenate(files)) == list(range(6400))\n"
        "for file, numbers in enumerate(files):\n"
        "    assert rows_of(spec, numbers)['region'].unique().to_pylist() == [region_in(spec, file)]\n"
        "    assert (np.diff(numbers.astype(int)) > 0).all()"
    )
    subprocess.run([sys.executable, "-c", program], cwd=HARNESS, check=True)


def test_a_budget_is_judged_beside_the_best_peer_and_beside_ourselves() -> None:
    program = (
        "from figures import Peer, line_of; from report import page; from workload import read_all\n"
        "workload = next(one for one in read_all() if one.name == 'data_vectors')\n"
        "def measured(operation, peer, wall):\n"
        "    runs = [{'wall': wall, 'cpu': wall, 'peak_mib': 300}]\n"
        "    return line_of(workload.name, operation, Peer(peer, '1', ''), runs if wall else [])\n"
        "walls = {'scan': (1.05, 2, 1, None), 'scan_filter': (1.2, 9, 8, None)}\n"
        "walls |= {'scan_filter_undeleted': (1, 2, 0.9, None), 'count': (3, 4, 5, None)}\n"
        "lines = [measured(operation, peer, wall) for operation in workload.operations\n"
        "         for peer, wall in zip(operation.peers, walls[operation.name])]\n"
        "print(page(lines, [workload], 1, 1, ''))"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=HARNESS, check=True, capture_output=True, text=True
    )
    rows = {row.split("`")[1]: row for row in done.stdout.splitlines() if row.startswith("| `")}
    assert "| 0.952 polars | 1.000 | within noise, 1.05 times it |" in rows["scan"]
    assert "| 6.67 polars | 1.150 | **no, 1.04 times it** |" in rows["scan_filter"]
    assert "| 0.9 polars | 0.900 | **no, 1.11 times it** |" in rows["scan_filter_undeleted"]
    assert "| fails | 1.33 deltalake | 4.000 | yes, 75% of it |" in rows["count"]


def test_a_budget_is_judged_only_at_full_scale() -> None:
    program = (
        "import json; from figures import Peer, line_of\n"
        "from report import page; from workload import read_all\n"
        "workload = next(one for one in read_all() if one.name == 'many_commits')\n"
        "operation = workload.operations[0]\n"
        "wall, peak = 2 * operation.budget['wall'], operation.budget['peak_mib'] / 2\n"
        "runs = [{'wall': wall, 'cpu': 1, 'peak_mib': peak}]\n"
        "lines = [line_of(workload.name, operation, Peer('deltaic', '1', ''), runs)]\n"
        "print(json.dumps([page(lines, [workload], scale, 1, '') for scale in (1, 0.5)]))"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=HARNESS, check=True, capture_output=True, text=True
    )
    full, half = json.loads(done.stdout)
    assert "**no, 2.00 times it**" in full
    assert "yes, 50% of it" in full
    assert "times it" not in half
    assert "of it" not in half.partition("## many_commits")[2]


def reported(*programs: str) -> list[str]:
    """Returns the output of a program about `many_commits`; `line(peer, *walls)` has a run per wall time."""
    begin = (
        "from figures import Peer, line_of; from report import page; from budgets import missed\n"
        "from dataclasses import replace; from workload import read_all\n"
        "workload = next(one for one in read_all() if one.name == 'many_commits')\n"
        "operation = replace(workload.operations[0], budget={'wall': 1.0}, of_best={'cpu': 1.0})\n"
        "workload = replace(workload, operations=(operation,))\n"
        "def line(peer, *walls, cpu=1):\n"
        "    runs = [{'wall': wall, 'cpu': cpu, 'peak_mib': 9} for wall in walls]\n"
        "    return line_of(workload.name, operation, Peer(peer, '1', ''), runs)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", begin + "\n".join(programs)],
        cwd=HARNESS,
        check=True,
        capture_output=True,
        text=True,
    )
    return done.stdout.splitlines()


def test_the_page_shows_the_spread_of_the_repetitions() -> None:
    rows = reported("print(page([line('deltaic', 0.5, 0.625, 0.25)], [workload], 1, 3, ''))")
    [wall] = [row for row in rows if "| wall s |" in row]
    assert "| 0.500 (0.250–0.625) |" in wall


@pytest.mark.parametrize(
    ("walls", "expected"),
    [
        ([0.9, 1.0, 1.1], []),
        ([1.1, 1.1, 1.1], ["many_commits open_and_list: wall s 1.100, budget 1.000, noise 0%"]),
        # The quartiles are 1.0 and 1.2.
        ([0.9, 1.0, 1.1, 1.2, 1.3], []),
        ([1.3, 1.4, 1.5, 1.6, 1.7], ["many_commits open_and_list: wall s 1.500, budget 1.000, noise 13%"]),
        ([1.2], ["many_commits open_and_list: wall s 1.200, budget 1.000, noise 0%"]),
        ([], []),
    ],
)
def test_a_budget_is_missed_beyond_the_measured_noise(walls: list[float], expected: list[str]) -> None:
    program = f"print('\\n'.join(missed([line('deltaic', *{walls})], [workload])))"
    assert reported(program) == (expected or [""])


@pytest.mark.parametrize(("cpu", "is_missed"), [(1.05, False), (1.1, False), (1.2, True)])
def test_beside_a_peer_a_tenth_is_noise(cpu: float, is_missed: bool) -> None:
    lines = f"[line('deltaic', 0.5, 0.5, cpu={cpu}), line('deltalake', 0.5, 0.5)]"
    assert reported(f"print(len(missed({lines}, [workload])))") == [str(int(is_missed))]


@pytest.mark.parametrize(("budget", "code"), [(1e9, 0), (1e-9, 1)])
def test_the_benchmark_fails_if_a_budget_is_missed(tmp_path: Path, budget: float, code: int) -> None:
    need_peers()
    program = (
        "import sys, run, workload; from dataclasses import replace\n"
        "tiny = next(one for one in workload.read_all() if one.name == 'tiny')\n"
        "operation = replace(tiny.operations[0], budget={'wall': float(sys.argv.pop())}, times=1)\n"
        "run.read_all = lambda: [replace(tiny, operations=(operation,))]\n"
        "sys.exit(run.main())"
    )
    options = ["--repeat", "1", "--tables", str(tmp_path), "--json", str(tmp_path / "figures.json")]
    done = subprocess.run(
        [sys.executable, "-c", program, *options, str(budget)],
        cwd=HARNESS,
        check=False,
        capture_output=True,
        text=True,
    )
    assert done.returncode == code, done.stderr
    assert ("budget missed: tiny fresh_process: wall s" in done.stderr) == bool(code)


@pytest.mark.parametrize("name", WORKLOADS)
def test_a_table_is_the_same_bytes_every_time(name: str, tmp_path: Path) -> None:
    """Otherwise two runs of the benchmark would measure different tables."""
    program = (
        "import sys; from pathlib import Path; from generate import generate; from workload import read_all\n"
        "workload = next(one for one in read_all() if one.name == sys.argv[1])\n"
        "generate(workload.scaled(0.001).table, Path(sys.argv[2]))"
    )
    for folder in ("one", "two"):
        command = [sys.executable, "-c", program, name, str(tmp_path / folder)]
        subprocess.run(command, cwd=HARNESS, check=True)
    names = [path.relative_to(tmp_path / "one") for path in (tmp_path / "one").rglob("*") if path.is_file()]
    assert len(names) >= 3
    same, other, failed = filecmp.cmpfiles(tmp_path / "one", tmp_path / "two", names, shallow=False)
    assert (len(same), other, failed) == (len(names), [], [])
