"""Operations that change a log: each on a copy of the table, made before the clock starts."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pyarrow as pa

    from answers import Answer

ADDED = 1
"""Files that `append_row` adds."""


def copied(table: str) -> str:
    """Copies the table; its checkpoint is linked, since no writer changes an existing one."""
    copy = Path(table).with_name(f"{Path(table).name}-changed")
    shutil.rmtree(copy, ignore_errors=True)
    shutil.copytree(table, copy, copy_function=copy_or_link)
    return str(copy)


def copy_or_link(source: str, target: str) -> None:
    """Copies or links one file."""
    if source.endswith(".parquet"):
        os.link(source, target)
    else:
        shutil.copyfile(source, target)


def row_of(schema: Any) -> pa.Table:
    """Returns a row of NULLs in the first partition."""
    import pyarrow as pa

    fields = pa.schema(schema)
    values = {field.name: pa.nulls(1, field.type) for field in fields}
    values["day"] = pa.array(["2025-01-01"]).cast(fields.field("day").type)
    return pa.table(values, schema=fields)


def checkpoint_answer(uri: str) -> Answer:
    """Returns the files in the newest checkpoint, and removes the copy of the table."""
    import pyarrow.compute as pc
    import pyarrow.parquet as pq

    from answers import Answer

    newest = max(Path(uri, "_delta_log").glob("*.checkpoint*.parquet"))
    adds = pq.ParquetFile(newest).read(columns=["add.path", "add.size"])["add"].combine_chunks()
    adds = adds.filter(pc.is_valid(pc.struct_field(adds, "path")))
    version = int(newest.name.partition(".")[0])
    shutil.rmtree(uri)
    columns: dict[str, pa.Array] = {name: pc.struct_field(adds, name) for name in ("path", "size")}
    return Answer(version=version, columns=columns)


def append_answer(uri: str) -> Answer:
    """Returns the newest version and its number of files, and removes the copy of the table."""
    import deltaic
    from answers import Answer

    snapshot = deltaic.Table(uri).snapshot()
    answer = Answer(version=snapshot.version, num_files=snapshot.num_files)
    shutil.rmtree(uri)
    return answer
