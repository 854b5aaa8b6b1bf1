"""Charts as HTML and inline SVG.

Texts are HTML beside the drawings, so that they remain readable when a phone makes the drawings smaller. The
style sheet of the page has the colours.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

__all__ = ["Bar", "column_chart", "line_chart", "row_chart"]

_WIDTH, _HEIGHT = 1000, 200


@dataclass(frozen=True)
class Bar:
    """One bar: its name, its length, the text of its value, and a class of the style sheet."""

    label: str
    value: float
    shown: str
    kind: str = "plain"


def row_chart(bars: Sequence[Bar]) -> str:
    """Returns horizontal bars with their labels and values; the longest has the full width."""
    most = max((bar.value for bar in bars), default=0) or 1
    rows = "".join(
        f'<div class="row"><span class="label">{escape(bar.label)}</span>'
        f'<svg viewBox="0 0 100 10" preserveAspectRatio="none" aria-hidden="true">'
        f'<rect class="track" width="100" height="10"/>'
        f'<rect class="{escape(bar.kind)}" width="{_number(100 * bar.value / most)}" height="10"/></svg>'
        f'<span class="value">{escape(bar.shown)}</span></div>'
        for bar in bars
    )
    return f'<div class="rows">{rows}</div>'


def column_chart(bars: Sequence[Bar], top: str, first: str, last: str) -> str:
    """Returns vertical bars; the texts are those of the scale's end and of the first and the last bar."""
    most = max((bar.value for bar in bars), default=0) or 1
    # Few bars are not drawn as wide blocks.
    step = _WIDTH / max(len(bars), 12)
    drawn = "".join(
        f'<rect class="{escape(bar.kind)}" x="{_number(step * place + step * 0.1)}" '
        f'y="{_number(_HEIGHT - _height(bar, most))}" width="{_number(step * 0.8)}" '
        f'height="{_number(_height(bar, most))}">'
        f"<title>{escape(bar.label)}: {escape(bar.shown)}</title></rect>"
        for place, bar in enumerate(bars)
    )
    return _framed(drawn, top, first, last if len(bars) >= 12 else "")


def line_chart(points: Sequence[tuple[float, float, str]], top: str, first: str, last: str) -> str:
    """Returns a line with steps through points (x, y, description) with ascending x, from zero up."""
    if not points:
        return ""
    start, end = points[0][0], points[-1][0]
    most = max(point[1] for point in points) or 1
    places = [
        (_WIDTH * (x - start) / ((end - start) or 1), _HEIGHT - 0.94 * _HEIGHT * y / most)
        for x, y, _ in points
    ]
    path = f"M{_number(places[0][0])} {_number(places[0][1])}" + "".join(
        f"H{_number(x)}V{_number(y)}" for x, y in places[1:]
    )
    if len(places) == 1:
        path += f"H{_WIDTH}"
    area = f'<path class="area" d="{path}V{_HEIGHT}H0Z"/><path class="line" d="{path}"/>'
    dots = "".join(
        f'<rect class="point" x="{_number(min(max(x - 8, 0), _WIDTH - 16))}" y="0" width="16" '
        f'height="{_HEIGHT}"><title>{escape(text)}</title></rect>'
        for (x, _), (_, _, text) in zip(places, points, strict=True)
    )
    return _framed(area + dots, top, first, last)


def _framed(drawing: str, top: str, first: str, last: str) -> str:
    lines = "".join(
        f'<path class="grid" d="M0 {_number(_HEIGHT * share)}H{_WIDTH}"/>' for share in (0.06, 0.53, 1)
    )
    return (
        f'<figure><div class="scale">{escape(top)}</div>'
        f'<svg class="drawing" viewBox="0 0 {_WIDTH} {_HEIGHT}" preserveAspectRatio="none" role="img" '
        f'aria-label="{escape(f"{first} to {last}: at most {top}")}">{lines}{drawing}</svg>'
        f"<figcaption><span>{escape(first)}</span><span>{escape(last)}</span></figcaption></figure>"
    )


def _height(bar: Bar, most: float) -> float:
    # A small value is still visible.
    return max(3.0, 0.94 * _HEIGHT * bar.value / most) if bar.value else 1.5


def _number(value: float) -> str:
    return f"{value:.2f}".rstrip("0").rstrip(".")
