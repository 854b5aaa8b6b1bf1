"""What a scan skips: row groups, pages and columns; and which predicate a task still evaluates."""

from __future__ import annotations

import pickle
import re
from pathlib import Path
from threading import Thread

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import deltaic
from tests.api.log_files import write_commit

ROWS = 10_000


def of_parquet(folder: Path, data: pa.Table, **how: object) -> deltaic.Table:
    """A table with one file written by pyarrow, without statistics in the log."""
    table = deltaic.Table.create(folder, data.schema)
    pq.write_table(data, folder / "part.parquet", store_schema=False, **how)
    size = (folder / "part.parquet").stat().st_size
    add = {
        "path": "part.parquet",
        "partitionValues": {},
        "size": size,
        "modificationTime": 0,
        "dataChange": True,
    }
    write_commit(folder, 1, {"add": add})
    return table


@pytest.fixture
def numbers(tmp_path: Path) -> deltaic.Table:
    """Ten row groups of ten pages, sorted by `id`; each `word` occurs in every second row group only."""
    ids = range(ROWS)
    data = pa.table(
        {
            "id": pa.array(ids, pa.int64()),
            "word": [("even" if i // 1000 % 2 == 0 else "odd") + str(i % 7) for i in ids],
            "code": pa.array([i * 7919 % 100_003 for i in ids], pa.int64()),
            "place": [{"city": f"c{i % 5}", "street": "s" * 40} for i in ids],
        }
    )
    return of_parquet(
        tmp_path / "numbers",
        data,
        row_group_size=1000,
        write_page_index=True,
        write_batch_size=100,
        data_page_size=1,
        use_dictionary=["word"],
    )


def said(scan: deltaic.Scan, name: str) -> list[int]:
    """Returns the integers in one line of `explain()`."""
    [line] = [line for line in scan.explain().splitlines() if line.strip().startswith(name)]
    return [int(number) for number in re.findall(r"\d+", line)]


def test_row_groups_and_pages_that_cannot_match_are_left_alone(numbers: deltaic.Table) -> None:
    scan = numbers.snapshot().scan(predicate="id BETWEEN 4250 AND 4260")
    assert scan.to_arrow()["id"].to_pylist() == list(range(4250, 4261))
    assert said(scan, "row groups") == [10, 1]
    all_pages, decoded = said(scan, "pages")
    assert 0 < decoded <= all_pages / 5
    assert said(scan, "rows")[0] == ROWS
    assert said(scan, "rows")[1] == 100  # one page of ids


def test_a_whole_scan_leaves_nothing_alone(numbers: deltaic.Table) -> None:
    scan = numbers.snapshot().scan()
    assert said(scan, "row groups") == [10, 10]
    assert said(scan, "rows") == [ROWS, ROWS]


def test_texts_between_the_bounds_are_looked_for_in_the_dictionary(numbers: deltaic.Table) -> None:
    snapshot = numbers.snapshot()
    # `ew` is outside of the bounds of all row groups; `even9` is within those of five.
    for word, groups in [("even9", 0), ("even3", 5), ("odd2", 5), ("f", 0)]:
        scan = snapshot.scan(predicate=f"word = '{word}'")
        expected = [row for row in snapshot.scan().to_arrow()["word"].to_pylist() if row == word]
        assert scan.to_arrow()["word"].to_pylist() == expected
        assert said(scan, "row groups") == [10, groups], word


def test_bloom_filters_rule_out_what_bounds_cannot(tmp_path: Path) -> None:
    codes = [i * 7919 % 100_003 for i in range(ROWS)]
    data = pa.table({"code": pa.array(codes, pa.int64()), "text": [f"t{code}" for code in codes]})
    filters = {name: {"ndv": 1000, "fpp": 0.001} for name in ("code", "text")}
    try:
        table = of_parquet(
            tmp_path / "bloom", data, row_group_size=1000, bloom_filter_options=filters, use_dictionary=False
        )
    except TypeError:
        pytest.skip("this pyarrow writes no Bloom filters")
    for predicate in (f"code = {codes[4321]}", f"text = 't{codes[4321]}'"):
        scan = table.snapshot().scan(predicate=predicate)
        assert scan.to_arrow()["code"].to_pylist() == [codes[4321]]
        total, decoded = said(scan, "row groups")
        assert total == 10
        assert 1 <= decoded <= 3


def test_fields_of_structs_come_alone(numbers: deltaic.Table) -> None:
    scan = numbers.snapshot().scan(["place.city", "id"])
    assert scan.schema.to_arrow() == pa.schema(
        [("place", pa.struct([("city", pa.string())])), ("id", pa.int64())]
    )
    rows = scan.to_arrow().slice(0, 2).to_pylist()
    assert rows == [{"place": {"city": "c0"}, "id": 0}, {"place": {"city": "c1"}, "id": 1}]
    # The street column is not fetched.
    assert said(numbers.snapshot().scan(["place.city"]), "packed") < said(
        numbers.snapshot().scan(["place"]), "packed"
    )
    found = numbers.snapshot().scan(["place.street"], "place.city = 'c3' AND id < 10").to_arrow()
    assert found.to_pylist() == [{"place": {"street": "s" * 40}}] * 2


def test_a_task_of_fields_can_be_sent(numbers: deltaic.Table) -> None:
    [task] = numbers.snapshot().scan(["place.city"], "id = 3").tasks()
    again = pickle.loads(pickle.dumps(task))
    assert again.schema.to_arrow() == task.schema.to_arrow()
    assert again.read().read_all().to_pylist() == [{"place": {"city": "c3"}}]


def test_a_task_states_what_its_partition_leaves_of_the_predicate(regions: deltaic.Table) -> None:
    tasks = regions.snapshot().scan(predicate="region = 'EU' AND id > 3 OR region = 'US' AND id < 3").tasks()
    left = {task.predicate for task in tasks}
    assert left <= {"`id` > 3", "id > 3", "`id` < 3", "id < 3"}
    assert len(left) == 2
    assert {task.predicate for task in regions.snapshot().scan(predicate="region = 'EU'").tasks()} == {None}
    assert {task.predicate for task in regions.snapshot().scan().tasks()} == {None}


def test_a_limit_gives_the_first_rows(numbers: deltaic.Table) -> None:
    assert numbers.snapshot().scan(limit=3).to_arrow()["id"].to_pylist() == [0, 1, 2]
    assert numbers.snapshot().scan(limit=1500).to_arrow()["id"].to_pylist() == list(range(1500))
    found = numbers.snapshot().scan(predicate="id > 7", limit=2)
    assert found.to_arrow()["id"].to_pylist() == [8, 9]


@pytest.mark.parametrize("place", ["folder", "memory://test_scan_planning/large"])
def test_a_batch_may_be_larger_than_what_may_wait(tmp_path: Path, place: str) -> None:
    rows = 1_000_000
    data = pa.table({name: pa.array(range(rows), pa.int64()) for name in "abcd"})
    table = deltaic.Table.create(tmp_path / place if place == "folder" else place, data.schema)
    table.append(data)
    counts: list[int] = []
    scan = table.snapshot().scan(predicate="a >= 0", batch_size=rows)
    reader = Thread(target=lambda: counts.extend(batch.num_rows for batch in scan), daemon=True)
    reader.start()
    reader.join(300)  # only a hang takes so long
    assert sum(counts) == rows


def test_batches_of_large_rows_have_fewer(tmp_path: Path) -> None:
    texts = [f"{number:06}" + "x" * 65_536 for number in range(1000)]
    table = deltaic.Table.create(tmp_path / "texts", pa.schema([("text", pa.string())]))
    table.append(pa.table({"text": texts}))
    batches = list(table.snapshot().scan())
    assert [text for batch in batches for text in batch["text"].to_pylist()] == texts
    assert max(batch.nbytes for batch in batches) < 32 << 20
    whole = list(table.snapshot().scan(batch_size=1000))
    assert [batch.num_rows for batch in whole] == [1000]


def test_a_column_that_does_not_fit_is_reported_and_not_passed_over(tmp_path: Path) -> None:
    table = deltaic.Table.create(tmp_path / "misfit", pa.schema([("c", pa.int64())]))
    data = pa.table({"c": [{"a": 1, "b": 2}]})
    pq.write_table(data, tmp_path / "misfit" / "part.parquet")
    size = (tmp_path / "misfit" / "part.parquet").stat().st_size
    add = {
        "path": "part.parquet",
        "partitionValues": {},
        "size": size,
        "modificationTime": 0,
        "dataChange": True,
    }
    write_commit(tmp_path / "misfit", 1, {"add": add})
    for predicate in (None, "c = 1", "c IS NOT NULL", "c IS NULL"):
        with pytest.raises(deltaic.CorruptData, match="c"):
            table.snapshot().scan(predicate=predicate).to_arrow()
