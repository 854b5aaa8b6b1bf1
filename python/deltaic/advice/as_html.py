"""Advice as HTML: a fragment for notebooks and for the report."""

from __future__ import annotations

from collections.abc import Iterator
from html import escape

from deltaic.advice.recommendation import Recommendation
from deltaic.advice.results import AdviceResults
from deltaic.values.sizes import counted, readable_size

__all__ = ["advice_html", "findings_html"]

_CELL = 'style="text-align:left;vertical-align:top"'


def advice_html(advice: AdviceResults) -> str:
    """Returns the advice as HTML without styles of its own, except for the alignment of cells."""
    rows = "" if advice.num_rows is None else f", {counted(advice.num_rows, 'row')}"
    size = f"{counted(advice.num_files, 'file')}, {readable_size(advice.size_in_bytes)}{rows}"
    head = f"<p><b>Advice on {escape(advice.uri)}</b><br>version {advice.version}: {escape(size)}</p>"
    return f"<div>{head}{findings_html(advice)}</div>"


def findings_html(advice: AdviceResults) -> str:
    """Returns the findings, the clustering, the clients and the downgrade path as HTML."""
    findings = "".join(_finding(finding) for finding in advice.findings)
    parts = [findings or "<p>Nothing to improve was found.</p>", *_columns(advice), *_clients(advice)]
    return "".join([*parts, *_downgrade(advice)])


def _finding(finding: Recommendation) -> str:
    detail = f"<p>{escape(finding.detail)}</p>" if finding.detail else ""
    effect = f"<p><i>Effect:</i> {escape(finding.effect)}.</p>" if finding.effect else ""
    action = f"<pre>{escape(finding.action)}</pre>" if finding.action else ""
    head = (
        f'<p><b class="severity">{escape(finding.severity)}</b> '
        f"<b>{escape(finding.title)}</b> <code>{escape(finding.code)}</code></p>"
    )
    return f'<div class="finding {escape(finding.severity)}">{head}{detail}{effect}{action}</div>'


def _columns(advice: AdviceResults) -> Iterator[str]:
    known = [column for column in advice.columns if column.average_depth is not None]
    if known:
        header = ("column", "files", "files with a value, on average", "at most", "overlapping files")
        rows = [
            (
                column.name,
                f"{column.files:,}",
                f"{column.average_depth:,.1f}",
                f"{column.maximum_depth:,}",
                f"{column.overlapping_files:,}",
            )
            for column in known
        ]
        yield f"<h3>Clustering</h3>{_table(header, rows)}"


def _clients(advice: AdviceResults) -> Iterator[str]:
    if advice.clients:
        header = ("client", "reads", "writes", "features that it lacks", "known from")
        rows = [
            (
                client.name,
                client.reads,
                client.writes,
                ", ".join([*client.obstacles, *(f"{name}?" for name in client.unknown)]),
                client.source,
            )
            for client in advice.clients
        ]
        yield f"<h3>Clients</h3>{_table(header, rows)}"


def _downgrade(advice: AdviceResults) -> Iterator[str]:
    if advice.downgrade:
        steps = "".join(
            f"<li><code>{escape(step.feature)}</code>: {escape(step.note)}"
            + (f"<pre>{escape(step.action)}</pre>" if step.action else " (it remains)")
            + "</li>"
            for step in advice.downgrade
        )
        yield f"<h3>To let more clients in, drop features in this order</h3><ol>{steps}</ol>"


def _table(header: tuple[str, ...], rows: list[tuple[str, ...]]) -> str:
    head = "".join(f"<th {_CELL}>{escape(name)}</th>" for name in header)
    body = "".join(
        "<tr>" + "".join(f"<td {_CELL}>{escape(cell)}</td>" for cell in row) + "</tr>" for row in rows
    )
    return f'<div class="wide"><table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>'
