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
from collections.abc import Callable, Iterator, Sequence
from html import escape
from inspect import cleandoc
from itertools import pairwise
from math import exp, sqrt
from typing import NamedTuple
from unicodedata import combining, east_asian_width

CARD, INK, SOFT, PALE = "#FFFFFF", "#222222", "#555555", "#B4B4B4"
TEXT, SMALL, TINY = 17, 15, 13  # font sizes; subscripts are TINY
STROKE = 2
HALO = f' stroke="{CARD}" stroke-width="5" stroke-linejoin="round" paint-order="stroke"'
MARKUP = re.compile(r"(\*\*.+?\*\*|\*.+?\*|_\{.+?\}|\^\{.+?\})")
KOREAN = "'Noto Sans CJK KR','Apple SD Gothic Neo','Malgun Gothic',"
CHINESE = "'Noto Sans CJK SC','PingFang SC','Microsoft YaHei',"
SMALLEST = 12  # font size of a translation
GAP = 4  # between a translation and what stands beside it
WIDTHS = {"ijl .,:;'’|!": 0.32, "ftrI[]()/-": 0.41, "mwMW%": 0.92}  # em, as DejaVu Sans has them

Vector = Sequence[float]
Say = Callable[[str], str]  # from English to the language of a drawing


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


def runs(text: str) -> Iterator[tuple[str, str, int]]:
    """Yield the parts of a marked-up text: words, style, and how far they are moved down."""
    for part in filter(None, MARKUP.split(text)):
        if part.startswith("**"):
            yield part[2:-2], ' font-weight="bold"', 0
        elif part.startswith("*"):
            yield part[1:-1], ' font-style="italic"', 0
        elif part[:2] in ("_{", "^{"):
            yield part[2:-1], "", 5 if part[0] == "_" else -7
        else:
            yield part, "", 0


def spans(text: str, scale: float = 1) -> str:
    """Return marked-up text as the inside of a <text> element."""
    parts, shift = [], 0
    for words, style, raised in runs(text):
        if raised:
            style = f' font-size="{TINY * scale:.4g}"'
        if raised != shift:
            style += f' dy="{(raised - shift) * scale:.4g}"'
            shift = raised
        parts.append(f"<tspan{style}>{escape(words)}</tspan>" if style else escape(words))
    return "".join(parts)


def extent(text: str, size: float) -> float:
    """Estimate how wide a text is: fonts differ from reader to reader."""
    wide = 0.0
    for words, style, raised in runs(text):
        each = size * (TINY / TEXT if raised else 1.12 if "bold" in style else 1)
        wide += each * sum(map(em, words))
    return wide


def em(letter: str) -> float:
    """Return the width of a letter; capitals and digits are as wide as they are on average."""
    if combining(letter):
        return 0
    if east_asian_width(letter) in "WF":
        return 1
    return next((w for letters, w in WIDTHS.items() if letter in letters), 0.62)


def fonts_for(words: str) -> str:
    """Return the fonts that letters need which the others do not have."""
    if any("가" <= letter <= "힣" for letter in words):
        return KOREAN
    return CHINESE if any("一" <= letter <= "鿿" for letter in words) else ""


class Shape(NamedTuple):
    """What a text must not run into: a box, by its corners, or a line, a disc, another text."""

    left: float
    top: float
    right: float
    bottom: float
    kind: str = ""

    def beside(self, other: "Shape") -> bool:
        """Say whether both are at one height."""
        return self.top < other.bottom and other.top < self.bottom

    def holds(self, x: float, y: float) -> bool:
        """Say whether it is a box around a point."""
        inside = self.left < x < self.right and self.top < y < self.bottom
        return inside and self.kind == "box"


class Text(NamedTuple):
    """A line of words whose middle is at height y; `at`: start, middle or end is at x."""

    x: float
    y: float
    english: str
    words: str  # in the language of the drawing
    size: int
    at: str
    style: str

    def place(self) -> Shape:
        """Return where the English words stand."""
        wide, baseline = extent(self.english, self.size), self.y + 0.36 * self.size
        left = self.x - wide * {"start": 0, "middle": 0.5, "end": 1}[self.at]
        return Shape(left, baseline - 0.75 * self.size, left + wide, baseline + 0.2 * self.size,
                     "text")  # fmt: skip

    def room(self, shapes: Sequence[Shape]) -> float:
        """Return how wide it may be: to the edges of its box, or halfway to the next text.

        It is never less than its English has, which may cross a line.
        """
        place = self.place()
        middle = (place.left + place.right) / 2, (place.top + place.bottom) / 2
        left, right = -1e9, 1e9
        for shape in shapes:
            if shape.holds(*middle):
                left, right = max(left, shape.left + GAP), min(right, shape.right - GAP)
            elif shape.beside(place):
                share = 0.5 if shape.kind == "text" else 1
                if shape.right <= place.left:
                    left = max(left, place.left - share * (place.left - shape.right) + GAP)
                elif shape.left >= place.right:
                    right = min(right, place.right + share * (shape.left - place.right) - GAP)
        x, card = self.x, shapes[0]
        free = {"start": right - x, "middle": 2 * min(x - left, right - x), "end": x - left}
        return max(free[self.at], min(place.right, card.right) - max(place.left, card.left))

    def svg(self, shapes: Sequence[Shape]) -> str:
        """Return a <text>: a translation is smaller where it needs it, and at last narrower."""
        scale, squeezed = 1.0, ""
        if self.words != self.english:
            room, wide = self.room(shapes), extent(self.words, self.size)
            scale = min(1, max(SMALLEST / self.size, room / wide))
            if wide * scale > room + 0.1:
                squeezed = f' textLength="{room:.4g}" lengthAdjust="spacingAndGlyphs"'
        size = self.size * scale
        return (
            f'<text x="{self.x:g}" y="{self.y + 0.36 * size:.4g}" font-size="{size:.4g}" '
            f'text-anchor="{self.at}" {self.style}{squeezed}>{spans(self.words, scale)}</text>'
        )


class Drawing:
    """An SVG in the making, in the language of `say`: a white card with shapes and texts on it."""

    def __init__(self, width: int, height: int, title: str, desc: str, say: Say = str):
        self.size, self.say, self.named = (width, height), say, (say(title), say(desc))
        self.parts: list[str | Text] = []
        self.shapes: list[Shape] = []
        self.stands(0, 0, width, height, "box")

    def svg(self) -> str:
        """Return the drawing as the text of a file."""
        (width, height), (title, desc) = self.size, self.named
        drawn = [part if isinstance(part, str) else part.svg(self.shapes) for part in self.parts]
        head = [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" '
            f'width="{width}" height="{height}" role="img" aria-labelledby="title desc" '
            f"font-family=\"'DejaVu Sans',Verdana,'Segoe UI',{fonts_for(''.join(drawn))}"
            'sans-serif">',
            f'<title id="title">{escape(title)}</title>',
            f'<desc id="desc">{escape(desc)}</desc>',
            HATCH,
            f'<rect width="{width}" height="{height}" rx="6" fill="{CARD}"/>',
        ]
        return "\n".join([*head, *drawn, "</svg>\n"])

    def stands(self, x: float, y: float, w: float, h: float, kind: str = "") -> None:
        """Remember what stands where, so that no translation runs into it."""
        self.shapes.append(Shape(x, y, x + w, y + h, kind))

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
        self.parts.append(Text(x, y, text, self.say(text), size, at, f'fill="{ink}"{halo}'))
        self.shapes.append(self.parts[-1].place())

    def line(
        self,
        *points: tuple[float, float],
        edge: str = SOFT,
        dash: str = "",
        width: float = STROKE,
    ) -> None:
        """Draw a line through points."""
        for ends in pairwise(points):
            (left, right), (top, bottom) = (sorted(c) for c in zip(*ends, strict=True))
            self.stands(left, top - 1, right - left, bottom - top + 2)
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
        self.stands(center[0] - r, center[1] - r, 2 * r, 2 * r)
        line = f' stroke="{edge}" stroke-width="{STROKE}"' if edge else ""
        self.parts.append(
            f'<circle cx="{center[0]:.5g}" cy="{center[1]:.5g}" r="{r:g}" fill="{fill}"{line}/>'
        )

    def rect(self, x: float, y: float, w: float, h: float, fill: str) -> None:
        """Draw a rectangle without an edge."""
        self.stands(x, y, w, h, "box")
        self.parts.append(f'<rect x="{x:g}" y="{y:g}" width="{w:g}" height="{h:g}" fill="{fill}"/>')

    def bar(self, x: float, y: float, w: float, h: float, role: Role) -> None:
        """Draw a bar or a cell of a heat map, without text."""
        self.stands(x, y, w, h, "box")
        self.parts.append(
            f'<rect x="{x:g}" y="{y:.5g}" width="{w:g}" height="{h:.4g}" fill="{role.fill}" '
            f'stroke="{role.edge}" stroke-width="{STROKE}"/>'
        )

    def box(self, x: float, y: float, w: float, h: float, role: Role, *lines: str) -> None:
        """Draw a box with one line of text, or two, the second smaller."""
        self.stands(x, y, w, h, "box")
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
            self.stands(x + 8, top, w - 16, 28, "box")
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


Drawn = Callable[..., str]  # draws in English, or in the language of its argument, a Say
DIAGRAMS: dict[str, Drawn] = {}  # name of the file: what returns its text


def diagram(width: int, height: int, name: str = "") -> Callable[[Callable], Drawn]:
    """Register a function that draws on a card; its docstring holds title and description."""

    def register(draw: Callable[[Drawing], None]) -> Drawn:
        title, _, desc = cleandoc(draw.__doc__ or "").partition(".\n\n")

        def drawn(say: Say = str) -> str:
            d = Drawing(width, height, title, " ".join(desc.split()), say)
            draw(d)
            return d.svg()

        DIAGRAMS[name or draw.__name__] = drawn
        return drawn

    return register
