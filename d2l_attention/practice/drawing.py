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
STOPS = list(zip(*map(bytes.fromhex, BLUES.split()), strict=True))  # of red, of green, of blue


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


def background(value: float) -> str:
    """Return the style of a heat map's cell, in a text color that is readable on it."""
    if math.isnan(value):
        return "background-color:#bdbdbd;color:#1a1a1a"
    place = min(max(value, 0.0), 1.0) * 8
    mixed = bytes(int(np.interp(place, range(9), stops) + 0.5) for stops in STOPS)
    return f"background-color:#{mixed.hex()};color:{'#ffffff' if place > 5.75 else '#000000'}"


def asset(name: str) -> str:
    """Return a script or a style sheet of this folder, without comments and indents."""
    text = (Path(__file__).parent / name).read_text(encoding="utf-8")
    lines = (re.sub(r"(^|\s)//.*", "", line).strip() for line in text.splitlines())
    return "\n".join(filter(None, lines))


STYLE = "".join(asset("tables.css").splitlines())


@dataclass(frozen=True)
class Row:
    """A row of a table."""

    values: Sequence[float | str]  # numbers, or words
    name: str = ""  # its head
    digits: int = DIGITS
    colored: bool = False  # whether cells have the colors of a heat map, from 0 to 1
    zeros: str = ""  # cells with 0: "empty", "masked" (hatched), "absent"; others get a title
    outlined: Sequence[bool] = ()  # which cells have a red outline
    wide: int = 0  # letters for which each cell has room
    at: int | None = None  # where an explorer finds the values in a frame
    now: bool = False  # whether the row is marked

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
        pairs = zip(styles, map(str, columns), strict=True)
        heads = "".join(f'<th scope="col"{style}>{escape(name)}</th>' for style, name in pairs)
        lines.append(f"<thead><tr>{'<td></td>' * headed}{heads}</tr></thead>")
    return "\n".join([*lines, "<tbody>", *(row.html(headed) for row in rows), "</tbody></table>"])


def text_rows(rows: Sequence[Row]) -> list[str]:
    """Return rows as aligned text, numbers that are outlined with a star."""
    lines = []
    for row in rows:
        pairs = zip(row.values, row.outlined, strict=True)
        lines.append([number_text(v, row.digits) + ("*" if off else " ") for v, off in pairs])
    width = max((len(text) for line in lines for text in line), default=0)
    return [" ".join(text.rjust(width) for text in line).rstrip() for line in lines]


def ticks(low: float, high: float, steps: float = 4) -> list[float]:
    """Return round numbers from low to high, with about so many steps between them."""
    if not high > low:
        return [low]
    rough = (high - low) / steps
    unit = 10.0 ** math.floor(math.log10(rough))
    step = min((m * unit for m in (1, 2, 2.5, 5, 10)), key=lambda s: abs(s - rough))
    first = math.ceil(low / step - 1e-9)
    return [round(i * step, 10) for i in range(first, math.floor(high / step + 1e-9) + 1)]
