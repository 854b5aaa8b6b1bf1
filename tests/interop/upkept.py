"""Tables whose log is what deltaic's upkeep left of it: a checkpoint or a compaction file, fewer commits."""

from __future__ import annotations

import shutil
from pathlib import Path

import deltaic

from .written import contents

__all__ = ["FORMS", "upkept"]

FORMS = ("checkpoint", "checkpoint with sidecars", "compaction file")


def upkept(folder: Path, name: str, form: str) -> Path:
    """One of `contents`, of which a reader has to take what the upkeep wrote."""
    content = contents()[name]
    properties = {"delta.checkpointPolicy": "v2"} if "sidecars" in form else {}
    root = folder / form / name
    shutil.rmtree(root, ignore_errors=True)
    table = deltaic.Table.create(
        root, content.rows.schema, partition_by=content.partition_by, properties=properties
    )
    half = content.rows.num_rows // 2
    table.append(content.rows.slice(0, half))
    table.append(content.rows.slice(half))
    if form == "compaction file":
        table.compact_log(1)
        return root
    table.checkpoint()
    # delta-spark wants the commit of a checkpoint's own version.
    for version in range(2):
        (root / "_delta_log" / f"{version:020}.json").unlink()
    return root
