"""The advice on a table: findings, clustering of columns, clients and the downgrade path."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from deltaic.advice.as_html import advice_html
from deltaic.advice.as_text import advice_lines
from deltaic.advice.recommendation import Recommendation
from deltaic.advice.results import AdviceResults

__all__ = ["Advice"]


@dataclass(frozen=True, repr=False)
class Advice(AdviceResults):
    """The result of `Table.advise`: iterable over its findings, the most important first.

    As text, at most 80 columns wide: the size of the table, then the findings with what to do, the clustering
    of columns, the clients, and how to drop features that clients lack. Notebooks show it as HTML.

    >>> import deltaic, pyarrow
    >>> table = deltaic.Table.create("barrels", pyarrow.schema([("id", pyarrow.int64())]))
    >>> commits = [table.append(pyarrow.table({"id": [n]}), upkeep=False) for n in range(24)]
    >>> [(finding.code, finding.severity) for finding in table.advise()]
    [('NO_CHECKPOINT', 'advice'), ('SMALL_FILES', 'advice')]
    """

    def __iter__(self) -> Iterator[Recommendation]:
        return iter(self.findings)

    def __len__(self) -> int:
        return len(self.findings)

    def __bool__(self) -> bool:
        # Advice without findings is a result too.
        return True

    def to_dict(self) -> dict[str, Any]:
        """Returns the whole advice as plain values."""
        return {
            "uri": self.uri,
            "version": self.version,
            "num_files": self.num_files,
            "size_in_bytes": self.size_in_bytes,
            "num_rows": self.num_rows,
            "findings": [finding.to_dict() for finding in self.findings],
            "columns": [column.to_dict() for column in self.columns],
            "clients": [client.to_dict() for client in self.clients],
            "downgrade": [step.to_dict() for step in self.downgrade],
        }

    def to_json(self) -> str:
        """Returns the whole advice as a JSON object.

        >>> json.loads(Advice("file:///t/", 3, 0, 0, 0).to_json())["version"]
        3
        """
        return json.dumps(self.to_dict(), ensure_ascii=False, indent=2)

    def __str__(self) -> str:
        return "\n".join(advice_lines(self))

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str:
        return advice_html(self)
