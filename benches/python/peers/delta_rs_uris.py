"""deltalake (delta-rs) with `file_uris()`: only the paths of the files, its fastest listing."""

from __future__ import annotations

from typing import Any

from peers import Call
from peers.delta_rs import paths_answer

PROGRAM = "import deltalake, sys\nprint(len(deltalake.DeltaTable(sys.argv[1]).file_uris()))"


def listed(uri: str) -> Any:
    """Opens the table and lists the paths."""
    import deltalake

    table = deltalake.DeltaTable(uri)
    return uri, table.version(), table.file_uris()


CALLS = {"open_and_list": Call(listed, paths_answer)}
