"""A disk that takes no more bytes: a verb raises, the table is unchanged, and what was written is deleted.

The limit is on the size of each file, and it is an error like that of a full disk.
"""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest

import deltaic

from .scripts import run

ROWS = 20_000
SCHEMA = pa.schema([("id", pa.int64()), ("part", pa.int64()), ("text", pa.string())])
VECTORS = {"delta.enableDeletionVectors": "true"}
FEED = {"delta.enableChangeDataFeed": "true"}

NEW = "pa.table({'id': range(50_000), 'part': [i % 2 for i in range(50_000)], 'text': texts(50_000)})"
VERBS = {
    "append": f"table.append({NEW})",
    "overwrite": f"table.overwrite({NEW})",
    "overwrite where": f"table.overwrite({NEW}, 'id >= 0')",
    "overwrite partitions": f"table.overwrite({NEW}, partitions='dynamic')",
    "write": f"deltaic.write(sys.argv[1], {NEW}, mode='append')",
    "delete": "table.delete('id % 3 = 0')",
    "update": "table.update({'text': \"concat('x', text)\"}, 'id % 3 > 0')",
    "transaction": "together()",
}


@pytest.mark.parametrize("form", ["plain", "vectors", "feed"])
@pytest.mark.parametrize("verb", VERBS)
def test_nothing_remains_of_a_failed_verb(tmp_path: Path, verb: str, form: str) -> None:
    root = tmp_path / "table"
    properties = {"plain": {}, "vectors": VECTORS, "feed": FEED}[form]
    table = deltaic.Table.create(root, SCHEMA, partition_by=["part"], properties=properties)
    texts = [f"{i * 7919 % 100_003}-{i}" for i in range(ROWS)]
    rows = pa.table({"id": range(ROWS), "part": [i % 2 for i in range(ROWS)], "text": texts})
    table.append(rows)
    # Deletion vectors of this table are smaller than the limit.
    limit = 1_000 if verb == "delete" and form == "vectors" else 30_000
    said = run(
        f"""
        import resource
        from pathlib import Path
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        table = deltaic.Table(sys.argv[1])

        def texts(count):
            return [f"{{i * 7919 % 100_003}}-{{i}}" for i in range(count)]

        def together():
            with table.transaction() as tx:
                tx.append(pa.table({{'id': [-1], 'part': [0], 'text': ['small']}}))
                tx.update({{'text': "concat('x', text)"}}, 'id % 3 > 0')

        def files():
            return {{str(path) for path in Path(sys.argv[1]).rglob("*") if path.is_file()}}

        def limited(size):
            resource.setrlimit(resource.RLIMIT_FSIZE, (size, resource.RLIM_INFINITY))

        before = files()
        limited({limit})
        try:
            {VERBS[verb]}
            say("finished")
        except deltaic.StorageError as error:
            limited(resource.RLIM_INFINITY)
            say(type(error).__name__)
        say(str(sorted(files() - before)))
        say(str(table.snapshot().version))
        {VERBS[verb]}
        say(str(table.snapshot().version))
        sound()
        """,
        str(root),
    )
    assert said == ["StorageError", "[]", "1", "2", "sound"]
    assert deltaic.Table(root).check(deep=True).is_healthy
