"""Numbers and tables as text and as HTML that is readable in light and in dark pages.

Tables carry their colors in the cells, because these are what viewers leave in a page that they do
not trust.
"""

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal
from html import escape
from pathlib import Path

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
        return f"{value:,.0f}" if abs(value) < 1e10 else f"{value:.1e}"
    exact = Decimal(float(value))  # as a browser does, to the last bit
    text = str(exact.quantize(Decimal(1).scaleb(-digits), ROUND_HALF_UP))
    return text.removeprefix("-") if float(text) == 0 else text


def color(value: float) -> tuple[str, str]:
    """Return the background of a heat map's cell and a text color that is readable on it."""
    if math.isnan(value):
        return "#bdbdbd", "#1a1a1a"
    place = min(max(value, 0.0), 1.0) * 8
    step = min(int(place), 7)
    below, above = (bytes.fromhex(stop) for stop in BLUES.split()[step : step + 2])
    mixed = (int(a + (b - a) * (place - step) + 0.5) for a, b in zip(below, above, strict=True))
    return "#" + bytes(mixed).hex(), "#ffffff" if place > 5.75 else "#000000"


def asset(name: str) -> str:
    """Return a script or a style sheet of this folder, without comments and indents."""
    text = (Path(__file__).parent / name).read_text(encoding="utf-8")
    lines = (re.sub(r"(^|\s)//.*", "", line).strip() for line in text.splitlines())
    return "\n".join(filter(None, lines))


STYLE = "".join(asset("tables.css").splitlines())


@dataclass(frozen=True)
class Row:
    """A row of a table.

    Args:
        values: Numbers, or words.
        name: Its head.
        digits: How many decimals are shown.
        colored: Whether cells have the colors of a heat map, from 0 to 1.
        zeros: What a cell with an exact 0 is: "empty", "masked" (hatched) or "absent" (no cell).
            All other cells then have the digits that are not shown as a title.
        outlined: Which cells have a red outline.
        wide: Letters for which each cell has room.
        at: Where an explorer finds the values in a frame.
        now: Whether the row is marked.
    """

    values: Sequence[float | str]
    name: str = ""
    digits: int = DIGITS
    colored: bool = False
    zeros: str = ""
    outlined: Sequence[bool] = ()
    wide: int = 0
    at: int | None = None
    now: bool = False

    def html(self, headed: bool) -> str:
        """Return the row, with a head if the table has heads."""
        marks = ' class="now"' * self.now
        marks += f' style="--cell:{self.wide}ch"' * bool(self.wide)
        if self.at is not None:
            marks += f' data-at="{self.at}" data-digits="{self.digits}"'
            marks += f' data-zeros="{self.zeros}"' * bool(self.zeros)
        head = f'<th scope="row">{escape(self.name)}</th>' * headed
        return f"<tr{marks}>{head}{''.join(map(self.cell, range(len(self.values))))}</tr>"

    def cell(self, j: int) -> str:
        value, kind = self.values[j], "v"
        styles = [background(value)] if self.colored else []
        if len(self.outlined) and self.outlined[j]:
            styles.append("outline:2px solid #d1242f")
        marks = f' style="{";".join(styles)}"' * bool(styles)
        if self.zeros and self.digits:
            marks += f' title="{number_text(value)}"'
            kind += " masked" if self.zeros == "masked" and value == 0 else ""
        text = "" if self.zeros and value == 0 else number_text(value, self.digits)
        return f'<td class="{kind}"{marks}>{escape(text)}</td>'


def background(value: float) -> str:
    return "background-color:{};color:{}".format(*color(value))


def table(
    rows: Sequence[Row],
    *,
    title: str = "",
    columns: Sequence[object] | None = None,
    kind: str = "",
    lit: bool = False,
) -> str:
    """Return rows as an HTML table; if `lit`, the names of columns have the first row's colors."""
    headed = any(row.name for row in rows)
    lines = [f'<table class="d2l-cells{kind}{" lit" * lit}">']
    if title:
        lines.append(f"<caption>{escape(title)}</caption>")
    if columns is not None:
        if len(columns) != len(rows[0].values):
            raise ValueError(f"columns must name {len(rows[0].values)}, got {len(columns)}")
        styles = [f' style="{background(v)}"' * lit for v in rows[0].values]
        heads = "".join(
            f'<th scope="col"{style}>{escape(str(name))}</th>'
            for name, style in zip(columns, styles, strict=True)
        )
        lines.append(f"<thead><tr>{'<td></td>' * headed}{heads}</tr></thead>")
    return "\n".join([*lines, "<tbody>", *(row.html(headed) for row in rows), "</tbody></table>"])


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


def ticks(low: float, high: float, steps: float = 4) -> list[float]:
    """Return round numbers from low to high, with about so many steps between them."""
    if not high > low:
        return [low]
    rough = (high - low) / steps
    unit = 10.0 ** math.floor(math.log10(rough))
    step = min((m * unit for m in (1, 2, 2.5, 5, 10)), key=lambda s: abs(s - rough))
    first = math.ceil(low / step - 1e-9)
    return [round(i * step, 10) for i in range(first, math.floor(high / step + 1e-9) + 1)]
