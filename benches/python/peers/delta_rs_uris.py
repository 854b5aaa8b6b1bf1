"""deltalake (delta-rs) by `file_uris()`: the paths of the files and nothing else, its fastest listing."""

from __future__ import annotations

from typing import Any

from peers import Call
from peers.delta_rs import paths_answer

PROGRAM = "import deltalake, sys\nprint(len(deltalake.DeltaTable(sys.argv[1]).file_uris()))"


def listed(uri: str) -> Any:
    """Open the table and list the paths."""
    import deltalake

    table = deltalake.DeltaTable(uri)
    return uri, table.version(), table.file_uris()


CALLS = {"open_and_list": Call(listed, paths_answer)}
