"""Plots of an explorer: marks that name the parts of a frame which they show.

A mark is a template of SVG for each of its points: Python fills it for the still picture, and the
script for every other frame. D3 and Vega-Lite would add 50 and 800 KB to every output.
"""

import itertools
import math
import re
from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from html import escape
from urllib.parse import quote

import numpy as np

from d2l_attention.arrays import as_array
from d2l_attention.practice.drawing import ticks

COLORS = {  # as in the diagrams of the book
    "query": "#D55E00",
    "key": "#CC79A7",
    "value": "#009E73",
    "weight": "#0072B2",
    "plain": "currentColor",  # outputs, and all that has no role
    "gray": "#8A8A8A",
}
WIDTH, SPARE = 320, 10  # two plots stand side by side on a page, and one on a phone
TICK, LABEL = 12, 12.5  # sizes of letters
LETTER = 7  # the width of most letters of a tick

Parts = dict[str, np.ndarray | str]


@dataclass(frozen=True)
class Piece:
    """Some numbers of a part, which many marks share."""

    part: str
    begin: int
    count: int


Numbers = str | Piece | float | Sequence  # the name of a part or of a slider, or what stays


@dataclass(frozen=True)
class Mark:
    """What is drawn: `x` and `y` are names of parts or sliders, or numbers that stay.

    The template is what a point adds to the path, with letters for its numbers and fields for those
    of the plot. X and Y are pixels, R is a radius that makes an area of the point's size, D is 2 R,
    and E, F and G, I are steps from there along the two sides of an arrow's head. What begins with
    L begins with M where no point is before it.
    """

    x: Numbers | None = None
    y: Numbers | None = None
    _: KW_ONLY
    color: str = "plain"  # a role, query, key, value or weight, or without one, plain or gray
    label: str = ""  # for the legend
    unit = 0.0
    size = None
    sample = "M0 5H26"  # for the legend, in 26 x 10 pixels
    template = "LX Y"
    style = 'fill="none" stroke="{}" stroke-width="2.4"'

    @property
    def look(self) -> str:
        """Attributes of the path."""
        return self.style.format(COLORS.get(self.color, self.color))


@dataclass(frozen=True, kw_only=True)
class Bars(Mark):
    """Bars from 0 to `y` at `x`; `names` stand under them in place of numbers."""

    color: str = "weight"
    names: Sequence[str] = ()
    unit: float = 10.0  # half of the width
    sample = "M9 10V0H17V10Z"
    template = "MX {zero[1]:.1f}m-{unit:g} 0VYh{width:g}V{zero[1]:.1f}Z"

    @property
    def style(self) -> str:
        return 'fill="{}"' + ' fill-opacity=".2"' * (self.color == "plain")


@dataclass(frozen=True, kw_only=True)
class Points(Mark):
    """Dots; with `size` (from 0 to 1) their area follows it; `names` of dots that stay."""

    color: str = "value"
    size: Numbers | None = None
    names: Sequence[str] = ()
    unit: float = 4.0  # radius, or that of size 1
    sample = "M8 5a5 5 0 1 0 10 0a5 5 0 1 0 -10 0Z"
    template = "MX Ym-R 0aR R 0 1 0 D 0aR R 0 1 0 -D 0Z"

    @property
    def style(self) -> str:
        return 'fill="{}"' + ' fill-opacity=".75"' * (self.size is not None)


class Curve(Mark):
    """A line through the points, with gaps where a number is not finite."""


@dataclass(frozen=True, kw_only=True)
class Line(Mark):
    """A dashed line across the plot, at `x` or at `y`."""

    color: str = "query"
    style = 'fill="none" stroke="{}" stroke-width="1.6" stroke-dasharray="5 4"'

    @property
    def template(self) -> str:
        return "MX {edges[2]}V{edges[3]}" if self.y is None else "M{edges[0]} YH{edges[1]}"


@dataclass(frozen=True, kw_only=True)
class Arrow(Mark):
    """An arrow from the origin to (x, y)."""

    color: str = "query"
    sample = "M0 5H26M20 1L26 5L20 9"
    template = "M{zero[0]:.1f} {zero[1]:.1f}LX YmE FLX YlG I"


class Area(Mark):
    """What outlines enclose; a number that is not finite parts two of them."""

    style = 'fill="{}" stroke="#888" stroke-width=".7" fill-rule="evenodd"'


@dataclass(frozen=True, kw_only=True)
class Name(Mark):
    """A large, pale text in the middle of (x, y); none where these are not finite."""

    text: str
    template = "translate(X Y)"


def named(marks: Sequence[Mark]) -> set[str]:
    """Return the names of parts and sliders that marks mention."""
    columns = [numbers for mark in marks for numbers in (mark.x, mark.y, mark.size)]
    names = (n.part if isinstance(n, Piece) else n for n in columns)
    return {name for name in names if isinstance(name, str)}


def value_of(numbers: Numbers, parts: Parts) -> np.ndarray:
    if isinstance(numbers, Piece):
        return value_of(numbers.part, parts)[numbers.begin : numbers.begin + numbers.count]
    value = parts[numbers] if isinstance(numbers, str) else as_array(numbers)
    return np.asarray(value, float).ravel()


def places_of(parts: Parts) -> dict[str, int]:
    """Return where the numbers of each part begin in a frame."""
    begins = itertools.accumulate(map(np.size, parts.values()), initial=0)
    return dict(zip(parts, begins, strict=False))


def words(text: str, where: str) -> str:
    return f"<text {where}>{escape(text)}</text>"


class Plot:
    """Marks on shared axes, from back to front.

    Args:
        xlim, ylim: Ranges of the axes.
        xlabel, ylabel: Their labels.
        drag: The slider that a horizontal drag sets, or two, the second by a vertical one.
        width, height: In pixels; where there is room, a plot grows by a fifth.
        title: Stands above.
    """

    def __init__(
        self,
        *marks: Mark,
        xlim: tuple[float, float],
        ylim: tuple[float, float],
        xlabel: str = "",
        ylabel: str = "",
        drag: str | Sequence[str] = (),
        width: int = WIDTH,
        height: int = 200,
        title: str = "",
    ):
        self.marks, self.x, self.y, self.labels = marks, xlim, ylim, (xlabel, ylabel)
        self.drag = (drag,) if isinstance(drag, str) else drag
        self.width, self.height, self.title = width, height, title
        bottom = height - (37 if xlabel else 20)
        self.edges = [52 if ylabel else 30, width - SPARE, bottom, 24 if title else SPARE]
        bars = [mark for mark in marks if isinstance(mark, Bars) and mark.names][:1]
        self.names = [pair for b in bars for pair in zip(value_of(b.x, {}), b.names, strict=True)]
        self.rows = [0, 13] if self.crowded() else [0]  # every other name in a second row
        self.edges[2] -= self.rows[-1]
        self.zero = self.pixel("x", 0.0), min(self.pixel("y", 0.0), self.edges[2])

    @property
    def name(self) -> str:
        """What a screen reader says of the plot."""
        axes = " over ".join(filter(None, reversed(self.labels)))
        shown = ", ".join(mark.label for mark in self.marks if mark.label)
        return ": ".join(filter(None, (self.title, axes))) or shown

    def crowded(self) -> bool:
        spans = [(self.pixel("x", x), len(name) * LETTER / 2) for x, name in self.names]
        return any(a + half > b - other for (a, half), (b, other) in itertools.pairwise(spans))

    def pixel(self, axis: str, value: float) -> float:
        (low, high), edges = getattr(self, axis), self.edges[:2] if axis == "x" else self.edges[2:]
        return edges[0] + (value - low) / (high - low) * (edges[1] - edges[0])

    def numbers_of(self, mark: Mark) -> dict[str, Numbers]:
        """Return x, y and size of a mark, with a number in the place of an x or y that it lacks."""
        x, y = ((low if n is None else n) for n, (low, _) in ((mark.x, self.x), (mark.y, self.y)))
        return {"x": x, "y": y} | ({} if mark.size is None else {"size": mark.size})

    def template(self, mark: Mark) -> str:
        fields = {"zero": self.zero, "edges": self.edges, "unit": mark.unit, "width": 2 * mark.unit}
        return mark.template.format(**fields)

    def path(self, mark: Mark, parts: Parts) -> str:
        """Return what the points of a mark make of its template; the script does the same."""
        columns = [value_of(numbers, parts) for numbers in self.numbers_of(mark).values()]
        columns = np.broadcast_arrays(*columns, *[1.0] * (mark.size is None))
        template, path, gap = self.template(mark), "", True
        for x, y, size in zip(*columns, strict=True):
            if fine := bool(np.isfinite(x + y) and size > 0):
                step = re.sub("^L", "M", template) if gap else template
                path += step.translate(self.letters(x, y, mark.unit * math.sqrt(size)))
            gap = not fine
        return path or "scale(0)" * isinstance(mark, Name)

    def letters(self, x: float, y: float, r: float) -> dict[int, str]:
        """Return the number for each letter of a template."""
        x, y = self.pixel("x", x), self.pixel("y", y)
        turn = math.atan2(y - self.zero[1], x - self.zero[0])
        ends = [(9 * math.cos(turn + s), 9 * math.sin(turn + s)) for s in (2.7, -2.7)]
        numbers = zip("XYRDEFGI", (x, y, r, 2 * r, *ends[0], *ends[1]), strict=True)
        return {ord(letter): f"{round(number, 1) + 0:g}" for letter, number in numbers}

    def place(self, numbers: Numbers, parts: Parts) -> str:
        """Return numbers that stay, or "@from:count" of those of a frame."""
        if isinstance(numbers, str):
            numbers = Piece(numbers, 0, parts[numbers].size)
        if isinstance(numbers, Piece):
            return f"@{places_of(parts)[numbers.part] + numbers.begin}:{numbers.count}"
        return " ".join(f"{v:.5g}" for v in value_of(numbers, {}))

    def shape(self, mark: Mark, parts: Parts) -> str:
        """Return a mark in SVG; one that moves says how, and where its numbers are in a frame."""
        d, moves = self.path(mark, parts), ""
        if named([mark]):
            moves = f' data-each="{self.template(mark)}"'
            moves += f' data-unit="{mark.unit:g}"' * bool(mark.unit)
            for name, numbers in self.numbers_of(mark).items():
                moves += f' data-{name}="{self.place(numbers, parts)}"'
        if isinstance(mark, Name):
            look = 'font-size="26" opacity=".5" dy=".35em"'
            return words(mark.text, f'transform="{d}"{moves} {look}')
        return f'<path d="{d}"{moves} {mark.look}/>'

    def axes(self) -> list[str]:
        """Return grid lines, ticks, which are smaller than all other text, and labels."""
        svg, grid, (left, right, bottom, top) = [], "", self.edges
        names = self.names or [(v, f"{v:g}") for v in ticks(*self.x, 5.8)]
        for i, (value, text) in enumerate(names):
            x, row = f"{self.pixel('x', value):.1f}", self.rows[i % len(self.rows)]
            grid += f"M{x} {top}V{bottom + row}"
            svg.append(words(text, f'x="{x}" y="{bottom + 14 + row}"'))
        for value in ticks(*self.y):
            y = f"{self.pixel('y', value):.1f}"
            grid += f"M{left} {y}H{right}"
            svg.append(words(f"{value:g}", f'x="{left - 6}" y="{y}" dy=".35em" text-anchor="end"'))
        grid = f'<path d="{grid}" stroke="currentColor" opacity=".15"/>'
        middle = f'x="{(left + right) / 2:g}"'
        turned = f'transform="translate(13 {(top + bottom) / 2:g})rotate(-90)"'
        places = (f'{middle} y="{self.height - 5}"', turned, f'{middle} y="15" data-title=""')
        labels = zip((*self.labels, self.title), places, strict=True)
        labels = [words(label, place) for label, place in labels if label]
        return [grid, f'<g font-size="{TICK}">', *svg, "</g>", *labels]

    def names_of_dots(self) -> str:
        """Return the names of dots that stay, above the largest that may lie there."""
        dots = [mark for mark in self.marks if isinstance(mark, Points)]
        up, svg = max([9, *(mark.unit for mark in dots)]) + 3, ""
        for mark in (mark for mark in dots if mark.names):
            columns = value_of(mark.x, {}), value_of(mark.y, {}), map(str, mark.names)
            for x, y, name in zip(*columns, strict=True):
                x, y = self.pixel("x", x), self.pixel("y", y)
                svg += words(name, f'x="{x:.0f}" y="{y - up:.0f}"')
        return f"<g>{svg}</g>"

    def picture(self, parts: Parts, sliders: Sequence[str], still: str) -> str:
        """Return the plot as an `<img>` that holds an SVG, which the script of the explorer moves.

        `still` is what the still picture shows, and at which values; the script names those of now.
        """
        scale = " ".join(f"{v:g}" for v in (*self.x, *self.y, *self.edges))
        drag = ";".join(str(sliders.index(name)) for name in self.drag)
        size = f'width="{self.width}" height="{self.height}"'
        size += f' style="flex-basis:{0.92 * self.width:g}px;max-width:{1.2 * self.width:g}px"'
        svg = [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {self.width} {self.height}" '
            f'color="#767676" fill="currentColor" text-anchor="middle" '
            f'font-size="{LABEL}" font-family="system-ui,sans-serif" role="img" '
            f'aria-label="{escape(self.name)}" '
            f'data-scale="{scale}"' + (f' data-drag="{drag}">' if drag else ">"),
            *self.axes(),
            *(self.shape(mark, parts) for mark in self.marks),
            self.names_of_dots(),
            "</svg>",
        ]
        source = quote("".join(svg).replace('"', "'"), safe=" =:/(),.'+-;@")
        alt = escape(": ".join(filter(None, (self.name, still))))
        return f'<img class="plot" {size} alt="{alt}" src="data:image/svg+xml,{source}">'


def legend(plots: Sequence[Plot]) -> str:
    """Return a list of what the marks with a label are."""
    marks = [mark for plot in plots for mark in plot.marks if mark.label]
    items = {
        mark.label: f'<li><svg viewBox="0 0 26 10" width="26" height="10" aria-hidden="true">'
        f'<path d="{mark.sample}" {mark.look}/></svg>{escape(mark.label)}</li>'
        for mark in marks
    }
    return f"<ul>{''.join(items.values())}</ul>" if items else ""
