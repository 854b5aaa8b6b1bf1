"""The page about a table."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime, timezone
from html import escape

from deltaic.advice.advice import Advice
from deltaic.advice.as_html import findings_html
from deltaic.advice.facts import TableFacts, clustering_columns
from deltaic.commit import Commit
from deltaic.html_report.charts import Bar, column_chart, line_chart, row_chart
from deltaic.html_report.contents import SizeAt, changed_rows, commit_kind, file_size_bars, partition_bars
from deltaic.html_report.style import STYLE
from deltaic.values.sizes import counted, readable_size

__all__ = ["report_page"]

_MOST_BARS = 60
_MOST_COMMITS = 25
_LONGEST = 200
# Nothing is loaded, and no script runs, whatever a value contains.
_POLICY = "default-src 'none'; style-src 'unsafe-inline'"


def report_page(facts: TableFacts, advice: Advice, sizes: Sequence[SizeAt], now: datetime) -> str:
    """Returns the page as one HTML document, which loads nothing.

    Args:
        facts: The table.
        advice: The advice on it.
        sizes: The sizes of versions, the oldest first.
        now: The time to show on the page.
    """
    title = escape(_short(facts.snapshot.metadata.name or _last_part(facts.snapshot.uri)))
    sections = "".join(
        [
            _header(facts, advice),
            _sizes(sizes, facts.commits),
            '<div class="two">',
            _files(facts),
            _partitions(facts),
            "</div>",
            _commits(facts.commits),
            f"<section><h2>Advice</h2>{findings_html(advice)}</section>",
        ]
    )
    return (
        '<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{title}</title><style>{STYLE}</style></head><body><main>\n"
        f"{sections}\n"
        f'<p class="soft">Written by deltaic at {_utc(now)}</p>\n</main></body></html>\n'
    )


def _header(facts: TableFacts, advice: Advice) -> str:
    snapshot = facts.snapshot
    metadata, protocol = snapshot.metadata, snapshot.protocol
    large = [
        ("version", f"{snapshot.version:,}"),
        ("size", readable_size(snapshot.size_in_bytes)),
        ("files", f"{snapshot.num_files:,}"),
        ("rows", "not in the log" if advice.num_rows is None else f"{advice.num_rows:,}"),
        ("columns", f"{len(snapshot.schema):,}"),
    ]
    small = [
        ("committed", _utc(facts.commits[0].timestamp) if facts.commits else "not in the log"),
        ("protocol", f"reader {protocol.min_reader_version}, writer {protocol.min_writer_version}"),
        ("partitioned by", ", ".join(snapshot.partition_columns) or "no column"),
        ("clustered by", ", ".join(clustering_columns(snapshot)) or "no column"),
        ("features", ", ".join(sorted(facts.features)) or "none"),
    ]
    small += [(name, value) for name, value in sorted(snapshot.properties.items())]
    description = f"<p>{escape(_short(metadata.description))}</p>" if metadata.description else ""
    return (
        f"<header><h1>{escape(_short(metadata.name or _last_part(snapshot.uri)))}</h1>"
        f'<p class="soft">{escape(snapshot.uri)}</p>{description}</header>'
        f"<section>{_facts(large, 'facts')}{_facts(small, 'facts small')}</section>"
    )


def _facts(pairs: Sequence[tuple[str, str]], kind: str) -> str:
    items = "".join(
        f"<div><dt>{escape(_short(name))}</dt><dd>{escape(_short(value))}</dd></div>" for name, value in pairs
    )
    return f'<dl class="{kind}">{items}</dl>'


def _sizes(sizes: Sequence[SizeAt], commits: Sequence[Commit]) -> str:
    if len(sizes) < 2:
        return (
            "<section><h2>Size over time</h2>"
            '<p class="soft">Not known: the log holds no other version that can be read, or the table has so '
            "many files that reading its versions would take long.</p></section>"
        )
    times = {commit.version: commit.timestamp for commit in commits}
    points = [(float(size.version), float(size.size_in_bytes), _description(size, times)) for size in sizes]
    most = readable_size(max(size.size_in_bytes for size in sizes))
    ends = [f"version {size.version:,}{_day(times.get(size.version))}" for size in (sizes[0], sizes[-1])]
    measured = counted(len(sizes), "version")
    before = f"; versions before {sizes[0].version:,} cannot be read" if sizes[0].version else ""
    return (
        f"<section><h2>Size over time</h2>{line_chart(points, most, *ends)}"
        f'<p class="soft">Measured at {measured}{before}.</p></section>'
    )


def _description(size: SizeAt, times: dict[int, datetime]) -> str:
    much = f"{readable_size(size.size_in_bytes)}, {counted(size.files, 'file')}"
    return f"version {size.version:,}{_day(times.get(size.version))}: {much}"


def _files(facts: TableFacts) -> str:
    bars = file_size_bars(facts)
    shown = row_chart(bars) if bars else '<p class="soft">The table has no files.</p>'
    return f"<section><h2>Sizes of files</h2>{shown}</section>"


def _partitions(facts: TableFacts) -> str:
    bars, count = partition_bars(facts)
    if not bars:
        text = "The table is not partitioned." if not facts.snapshot.partition_columns else "It has no files."
        return f'<section><h2>Partitions</h2><p class="soft">{text}</p></section>'
    title = "Partitions" if count <= len(bars) else f"The {len(bars)} largest of {count:,} partitions"
    return f"<section><h2>{title}</h2>{row_chart(bars)}</section>"


def _commits(commits: Sequence[Commit]) -> str:
    if not commits:
        return '<section><h2>Commits</h2><p class="soft">The log holds no commit.</p></section>'
    drawn = list(commits[:_MOST_BARS])[::-1]
    rows = [changed_rows(commit) for commit in drawn]
    bars = [
        Bar(
            f"version {commit.version:,}, {_operation(commit)}",
            float(count or 0),
            "rows not known" if count is None else counted(count, "row"),
            commit_kind(commit),
        )
        for commit, count in zip(drawn, rows, strict=True)
    ]
    most = counted(max((count or 0 for count in rows), default=0), "row")
    chart = column_chart(bars, most, f"version {drawn[0].version:,}", f"version {drawn[-1].version:,}")
    legend = "".join(
        f'<span><i class="{kind}"></i>{text}</span>'
        for kind, text in (("add", "adds rows"), ("change", "changes rows"), ("remove", "removes rows"),
                           ("other", "other"))
    )  # fmt: skip
    head = (
        '<tr><th>version</th><th>operation</th><th class="number">rows</th><th>time</th><th>engine</th></tr>'
    )
    body = "".join(_commit_rows(commits[:_MOST_COMMITS]))
    note = f"The newest {_MOST_COMMITS} commits." if len(commits) > _MOST_COMMITS else ""
    return (
        f'<section><h2>Rows changed by commits</h2>{chart}<div class="legend">{legend}</div>'
        f'<h3>Commits</h3><div class="wide commits"><table><thead>{head}</thead>'
        f"<tbody>{body}</tbody></table></div>"
        f'<p class="soft">{note}</p></section>'
    )


def _commit_rows(commits: Sequence[Commit]) -> Iterator[str]:
    for commit in commits:
        count = changed_rows(commit)
        yield (
            f"<tr><td>{commit.version:,}</td><td>{escape(_operation(commit))}</td>"
            f'<td class="number">{"" if count is None else f"{count:,}"}</td>'
            f"<td>{_utc(commit.timestamp)}</td><td>{escape(_short(commit.engine or '', 60))}</td></tr>"
        )


def _operation(commit: Commit) -> str:
    return _short(commit.operation or "not specified", 60)


def _short(text: str, longest: int = _LONGEST) -> str:
    return text if len(text) <= longest else text[: longest - 1] + "…"


def _last_part(uri: str) -> str:
    return uri.rstrip("/").rpartition("/")[2] or uri


def _utc(moment: datetime) -> str:
    return f"{moment.astimezone(timezone.utc):%Y-%m-%d %H:%M:%S} UTC"


def _day(moment: datetime | None) -> str:
    return "" if moment is None else f" ({moment.astimezone(timezone.utc):%Y-%m-%d})"
