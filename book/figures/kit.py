"""What all diagrams are drawn with: roles, boxes, arrows and texts.

Standard library only, and every number in a diagram is computed here. One color for each part of
attention, in all diagrams; the colors are those of the plots (d2l_attention/figures.py):

    query   vermilion  #D55E00      key     purple  #CC79A7
    value   green      #009E73      weight  blue    #0072B2, the darker the larger
    masked  hatched gray            all else  gray  #555555

A box is filled with a pale tint of its color, so that dark text on it can be read. No meaning hangs
on color alone: everything is labeled.

Markup in texts: **bold**, *italic*, _{subscript}, ^{superscript}.
"""

import re
from collections.abc import Callable, Sequence
from html import escape
from inspect import cleandoc
from math import exp, sqrt
from typing import NamedTuple

CARD, INK, SOFT, PALE = "#FFFFFF", "#222222", "#555555", "#B4B4B4"
TEXT, SMALL, TINY = 17, 15, 13  # font sizes; subscripts are TINY
STROKE = 2
HALO = f' stroke="{CARD}" stroke-width="5" stroke-linejoin="round" paint-order="stroke"'

Vector = Sequence[float]


class Role(NamedTuple):
    """The fill and the edge of what plays one part."""

    fill: str
    edge: str


QUERY = Role("#FBE0CC", "#D55E00")
KEY = Role("#F5E4ED", "#CC79A7")
VALUE = Role("#CCECE3", "#009E73")
WEIGHT = Role("#E0EEF6", "#0072B2")
PLAIN = Role("#F4F4F4", "#555555")
DARK = Role("#D4D4D4", "#555555")
MASKED = Role("url(#hatch)", "#555555")
EMPTY = Role(CARD, "#555555")
OUTLINE = Role("none", INK)
HATCH = (
    '<defs><pattern id="hatch" width="8" height="8" patternUnits="userSpaceOnUse">'
    '<rect width="8" height="8" fill="#F4F4F4"/>'
    '<path d="M-2 2l4 -4M0 8l8 -8M6 10l4 -4" stroke="#D0D0D0" stroke-width="2"/></pattern></defs>'
)


def number(x: float, digits: int = 2) -> str:
    """Return x with so many digits, and a true minus sign."""
    return f"{x:.{digits}f}".replace("-", "−")


def shade(weight: float) -> Role:
    """Return the role of a weight between 0 and 1: the larger, the darker."""
    part = 0.06 + 0.5 * weight
    rgb = (int(WEIGHT.edge[i : i + 2], 16) for i in (1, 3, 5))
    fill = "#" + "".join(f"{round(255 + part * (c - 255)):02X}" for c in rgb)
    return Role(fill, WEIGHT.edge)


def path(points: Sequence[tuple[float, float]]) -> str:
    return "M" + "L".join(f"{x:.5g} {y:.5g}" for x, y in points)


def spans(text: str) -> str:
    """Return marked-up text as the inside of a <text> element."""
    parts, shift = [], 0
    for part in re.split(r"(\*\*.+?\*\*|\*.+?\*|_\{.+?\}|\^\{.+?\})", text):
        style, inside, wanted = "", part, 0
        if part.startswith("**"):
            style, inside = ' font-weight="bold"', part[2:-2]
        elif part.startswith("*"):
            style, inside = ' font-style="italic"', part[1:-1]
        elif part[:2] in ("_{", "^{"):
            wanted = 5 if part[0] == "_" else -7
            style, inside = f' font-size="{TINY}"', part[2:-1]
        if wanted != shift and part:
            style += f' dy="{wanted - shift}"'
            shift = wanted
        parts.append(f"<tspan{style}>{escape(inside)}</tspan>" if style else escape(inside))
    return "".join(parts)


class Drawing:
    """An SVG in the making: a white card with shapes and texts on it."""

    def __init__(self, width: int, height: int, title: str, desc: str):
        self.parts = [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" '
            f'width="{width}" height="{height}" role="img" aria-labelledby="title desc" '
            "font-family=\"'DejaVu Sans',Verdana,'Segoe UI',sans-serif\">",
            f'<title id="title">{escape(title)}</title>',
            f'<desc id="desc">{escape(desc)}</desc>',
            HATCH,
            f'<rect width="{width}" height="{height}" rx="6" fill="{CARD}"/>',
        ]

    def svg(self) -> str:
        """Return the drawing as the text of a file."""
        return "\n".join([*self.parts, "</svg>\n"])

    def text(
        self,
        x: float,
        y: float,
        text: str,
        size: int = TEXT,
        at: str = "middle",
        ink: str = INK,
        halo: str = "",
    ) -> None:
        """Write a line whose middle is at height y; `at`: start, middle or end is at x."""
        self.parts.append(
            f'<text x="{x:g}" y="{y + 0.36 * size:.4g}" font-size="{size}" text-anchor="{at}" '
            f'fill="{ink}"{halo}>{spans(text)}</text>'
        )

    def line(
        self,
        *points: tuple[float, float],
        edge: str = SOFT,
        dash: str = "",
        width: float = STROKE,
    ) -> None:
        """Draw a line through points."""
        dashes = f' stroke-dasharray="{dash}"' if dash else ""
        self.parts.append(
            f'<path d="{path(points)}" fill="none" stroke="{edge}" stroke-width="{width:.3g}" '
            f'stroke-linejoin="round"{dashes}/>'
        )

    def arrow(self, *points: tuple[float, float], edge: str = "") -> None:
        """Draw a line through points with a head at the last one: open in a color, else filled."""
        (x0, y0), (x1, y1) = points[-2:]
        length = sqrt((x1 - x0) ** 2 + (y1 - y0) ** 2)
        u, w = (x1 - x0) / length, (y1 - y0) / length
        long, wide = (8, 4) if edge else (10, 5)
        x, y = x1 - long * u, y1 - long * w
        one, other = (x - wide * w, y + wide * u), (x + wide * w, y - wide * u)
        if edge:
            self.line(*points, edge=edge)
            self.line(one, (x1, y1), other, edge=edge)
            return
        self.line(*points[:-1], (x, y))
        self.parts.append(f'<path d="{path([(x1, y1), one, other])}Z" fill="{SOFT}"/>')

    def disc(self, center: tuple[float, float], r: float, fill: str, edge: str = "") -> None:
        """Draw a disc, with an edge or without."""
        line = f' stroke="{edge}" stroke-width="{STROKE}"' if edge else ""
        self.parts.append(
            f'<circle cx="{center[0]:.5g}" cy="{center[1]:.5g}" r="{r:g}" fill="{fill}"{line}/>'
        )

    def rect(self, x: float, y: float, w: float, h: float, fill: str) -> None:
        """Draw a rectangle without an edge."""
        self.parts.append(f'<rect x="{x:g}" y="{y:g}" width="{w:g}" height="{h:g}" fill="{fill}"/>')

    def bar(self, x: float, y: float, w: float, h: float, role: Role) -> None:
        """Draw a bar or a cell of a heat map, without text."""
        self.parts.append(
            f'<rect x="{x:g}" y="{y:.5g}" width="{w:g}" height="{h:.4g}" fill="{role.fill}" '
            f'stroke="{role.edge}" stroke-width="{STROKE}"/>'
        )

    def box(self, x: float, y: float, w: float, h: float, role: Role, *lines: str) -> None:
        """Draw a box with one line of text, or two, the second smaller."""
        self.parts.append(
            f'<rect x="{x:g}" y="{y:g}" width="{w:g}" height="{h:g}" rx="4" fill="{role.fill}" '
            f'stroke="{role.edge}" stroke-width="{STROKE}"/>'
        )
        for line, size, shift in zip(lines, (TEXT, SMALL), (-11, 11), strict=False):
            self.text(x + w / 2, y + h / 2 + (shift if len(lines) > 1 else 0), line, size)

    def cells(
        self, x: float, y: float, rows: Sequence[Sequence[str]], w: float, h: float, role: Role
    ) -> None:
        """Draw a matrix of cells."""
        for i, row in enumerate(rows):
            for j, text in enumerate(row):
                self.box(x + j * w, y + i * h, w, h, role, text)

    def panel(
        self, x: float, y: float, w: float, head: str, rows: Sequence[str], *roles: Role
    ) -> None:
        """Draw a column: a heading, and under it a row for each text, in one role or one each."""
        roles = roles * len(rows) if len(roles) == 1 else roles
        self.box(x, y, w, panel_height(len(rows)), Role(CARD, roles[0].edge))
        self.text(x + w / 2, y + 20, f"**{head}**")
        for i, (text, role) in enumerate(zip(rows, roles, strict=True)):
            top = y + 40 + 32 * i
            self.parts.append(
                f'<rect x="{x + 8:g}" y="{top}" width="{w - 16:g}" height="28" rx="4" '
                f'fill="{role.fill}"/>'
            )
            self.text(x + w / 2, top + 14, text)


def panel_height(rows: int) -> int:
    """Return how high a panel is."""
    return 44 + 32 * rows


def dot(x: Sequence[float], y: Sequence[float]) -> float:
    """Return the dot product."""
    return sum(a * b for a, b in zip(x, y, strict=True))


def softmax(scores: Sequence[float]) -> list[float]:
    """Return attention weights."""
    return shares([exp(score - max(scores)) for score in scores])


def shares(similarities: Sequence[float]) -> list[float]:
    """Return similarities divided by their sum."""
    return [s / sum(similarities) for s in similarities]


DIAGRAMS: dict[str, Callable[[], str]] = {}  # name of the file: what returns its text


def diagram(width: int, height: int) -> Callable[[Callable[[Drawing], None]], Callable[[], str]]:
    """Register a function that draws on a card; its docstring holds title and description."""

    def register(draw: Callable[[Drawing], None]) -> Callable[[], str]:
        title, _, desc = cleandoc(draw.__doc__ or "").partition(".\n\n")

        def drawn() -> str:
            d = Drawing(width, height, title, " ".join(desc.split()))
            draw(d)
            return d.svg()

        DIAGRAMS[draw.__name__] = drawn
        return drawn

    return register
