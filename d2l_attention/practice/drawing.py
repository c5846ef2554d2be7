"""Numbers and tables as text and as HTML that is readable in light and in dark pages.

Tables carry their colors in the cells, because these are what viewers leave in a page that they do
not trust.
"""

import math
from collections.abc import Sequence
from decimal import ROUND_HALF_UP, Decimal
from html import escape

import numpy as np

DIGITS = 4
BLUES = "f7fbff deebf7 c6dbef 9ecae1 6baed6 4292c6 2171b5 08519c 08306b"  # as in show_heatmaps


def number_text(value: float, digits: int = DIGITS) -> str:
    """Return a number as readers see it; the script of an explorer writes the same."""
    if isinstance(value, str):
        return value
    if not math.isfinite(value):
        return str(float(value))  # nan, inf, -inf
    if digits == 0:
        return f"{value:,.0f}"
    exact = Decimal(float(value))  # as a browser does, to the last bit
    text = str(exact.quantize(Decimal(1).scaleb(-digits), ROUND_HALF_UP))
    return text.removeprefix("-") if float(text) == 0 else text


def color(value: float, low: float = 0.0, high: float = 1.0) -> tuple[str, str]:
    """Return the background of a heat map's cell and a text color that is readable on it."""
    if math.isnan(value):
        return "#bdbdbd", "#1a1a1a"
    place = min(max((value - low) / (high - low), 0.0), 1.0) * 8
    step = min(int(place), 7)
    below, above = (bytes.fromhex(stop) for stop in BLUES.split()[step : step + 2])
    mixed = (int(a + (b - a) * (place - step) + 0.5) for a, b in zip(below, above, strict=True))
    return "#" + bytes(mixed).hex(), "#ffffff" if place > 5.75 else "#000000"


def table(
    matrix: np.ndarray,
    *,
    title: str = "",
    rows: Sequence[str] | None = None,
    columns: Sequence[str] | None = None,
    digits: int = DIGITS,
    scale: tuple[float, float] | None = (0.0, 1.0),
    marked: np.ndarray | None = None,
    zeros: str = "",
    lit: bool = False,
    now: int | None = None,
) -> str:
    """Return a matrix as an HTML table.

    It is a heat map with `scale`, with outlined cells where `marked`. With `zeros` ("empty", or
    "masked": hatched, or "absent": no cell at all), a cell is empty where there is an exact 0;
    others than whole numbers then have their full value as a title. If `lit`, the names of columns
    have the colors of the first row. Row `now` is outlined.
    """
    lines = [f'<table class="d2l-cells{" lit" * lit}" data-digits="{digits}"']
    lines[0] += f' data-scale="{scale[0]:g} {scale[1]:g}"' if scale else ""
    lines[0] += f' data-zeros="{zeros}">' if zeros else ">"
    if title:
        lines.append(f"<caption>{escape(title)}</caption>")
    if columns is not None:
        corner = "<td></td>" if rows is not None else ""
        styles = [
            ' style="background-color:{};color:{}"'.format(*color(v)) if lit else ""
            for v in matrix[0]
        ]
        heads = "".join(
            f'<th scope="col"{style}>{escape(str(name))}</th>'
            for name, style in zip(columns, styles, strict=True)
        )
        lines.append(f"<thead><tr>{corner}{heads}</tr></thead>")
    lines.append("<tbody>")
    for i, row in enumerate(matrix):
        head = f'<th scope="row">{escape(str(rows[i]))}</th>' if rows is not None else ""
        shown = cells(row, digits, scale, zeros, marked[i] if marked is not None else None)
        marks = ' class="now"' * (i == now)
        lines.append(f"<tr{marks}>{head}{shown}</tr>")
    return "\n".join(lines) + "</tbody></table>"


def cells(
    row: np.ndarray,
    digits: int,
    scale: tuple[float, float] | None,
    zeros: str = "",
    marked: np.ndarray | None = None,
) -> str:
    """Return the cells of one row of a table."""
    html = []
    for j, value in enumerate(row):
        style = ""
        if scale:
            style = "background-color:{};color:{}".format(*color(value, *scale))
        if marked is not None and marked[j]:
            style += f"{';' if style else ''}outline:2px solid #d1242f"
        style = f' style="{style}"' if style else ""
        text, more = escape(number_text(value, digits)), "v"
        if zeros and digits:
            style += f' title="{number_text(value)}"'
            more = "v masked" if zeros == "masked" and value == 0 else "v"
        html.append(f'<td class="{more}"{style}>{"" if zeros and value == 0 else text}</td>')
    return "".join(html)


def text_rows(
    matrix: np.ndarray, marked: np.ndarray | None = None, digits: int = DIGITS
) -> list[str]:
    """Return the rows of a matrix as aligned text, numbers that are marked with a star."""
    cells = [[number_text(v, digits) for v in row] for row in matrix]
    width = max((len(text) for row in cells for text in row), default=0)
    stars = np.where(np.zeros(matrix.shape, bool) if marked is None else marked, "*", " ")
    return [
        " ".join(text.rjust(width) + star for text, star in zip(*pair, strict=True)).rstrip()
        for pair in zip(cells, stars, strict=True)
    ]


def place(value: float, source: tuple[float, float], goal: tuple[float, float]) -> str:
    part = (value - source[0]) / (source[1] - source[0] or 1.0)
    return f"{goal[0] + part * (goal[1] - goal[0]):.1f}"


def ticks(low: float, high: float, steps: float = 4) -> list[float]:
    """Return round numbers from low to high, with about so many steps between them."""
    if not high > low:
        return [low]
    rough = (high - low) / steps
    unit = 10.0 ** math.floor(math.log10(rough))
    step = min((m * unit for m in (1, 2, 2.5, 5, 10)), key=lambda s: abs(s - rough))
    first = math.ceil(low / step - 1e-9)
    return [round(i * step, 10) for i in range(first, math.floor(high / step + 1e-9) + 1)]
