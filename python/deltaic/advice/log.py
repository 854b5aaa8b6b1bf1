"""The length of the log that opening the newest version reads."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from deltaic.advice.facts import TableFacts
from deltaic.advice.recommendation import Recommendation
from deltaic.values.sizes import counted, readable_size

__all__ = ["check_log", "log_figures"]

_LARGE_JSON = 64 << 20
_LARGE_PART = 1 << 30


def log_figures(log_files: Sequence[tuple[str, int]]) -> dict[str, int | None]:
    """Adds up the checkpoint and the commits after it.

    >>> log_figures([("00000000000000000003.checkpoint.parquet", 9), ("00000000000000000004.json", 5)])
    {'checkpoint_version': 3, 'checkpoint_parts': 1, 'checkpoint_bytes': 9, 'commits': 1, 'json_bytes': 5}
    """
    checkpoint = [(name, size) for name, size in log_files if ".checkpoint." in name]
    commits = [size for name, size in log_files if ".checkpoint." not in name]
    return {
        "checkpoint_version": int(checkpoint[0][0].partition(".")[0]) if checkpoint else None,
        "checkpoint_parts": len(checkpoint),
        "checkpoint_bytes": sum(size for _, size in checkpoint),
        "commits": len(commits),
        "json_bytes": sum(commits),
    }


def check_log(facts: TableFacts) -> Iterator[Recommendation]:
    """Looks for many commits after the checkpoint, no checkpoint, and very large parts."""
    figures = log_figures(facts.log_files)
    commits, size = figures["commits"] or 0, figures["json_bytes"] or 0
    interval = _interval(facts)
    has_checkpoint = figures["checkpoint_version"] is not None
    if commits > 2 * interval or size > _LARGE_JSON:
        since = "since the last checkpoint" if has_checkpoint else "and no checkpoint"
        yield Recommendation(
            "LONG_LOG" if has_checkpoint else "NO_CHECKPOINT",
            "warning" if commits > 20 * interval or size > _LARGE_JSON else "advice",
            f"{counted(commits, 'commit')} ({readable_size(size)}) {since}",
            f"Each reader reads them when it opens the table. Writers should write a checkpoint every "
            f"{counted(interval, 'commit')}.",
            f"opening the table reads one checkpoint instead of {counted(commits, 'commit')}",
            "table.checkpoint()",
            "",
            {**figures, "checkpoint_interval": interval},
        )
    largest = max((size for name, size in facts.log_files if ".checkpoint." in name), default=0)
    if largest > _LARGE_PART:
        yield Recommendation(
            "LARGE_CHECKPOINT",
            "info",
            f"the largest file of the checkpoint has {readable_size(largest)}",
            "It is read and written as a whole. Checkpoints with sidecars divide it, but only readers "
            "with the feature v2Checkpoint can then read the table.",
            "each checkpoint is divided into several files",
            'table.alter(deltaic.alter.SetProperties({"delta.checkpointPolicy": "v2"}))',
            "",
            {**figures, "largest_file_bytes": largest},
        )


def _interval(facts: TableFacts) -> int:
    text = facts.snapshot.properties.get("delta.checkpointInterval", "10")
    return int(text) if text.isascii() and text.isdecimal() and 0 < len(text) < 10 and int(text) else 10
