"""Plots of an explorer: marks that name the parts of a frame which they show.

    explore(f, ..., draw=[Plot(Bars(hours, "weights"), drag="query", ylabel="weight")])

What a mark looks like is said once, here: a template of SVG for each of its points, such as
"MX Yh9". Python fills it for the still picture, and the script for every other frame. Weighed
before: D3 (its parts for axes and drag are 50 KB in every output), Observable Plot (200 KB with
D3), Vega-Lite (800 KB), which measure, scale and lay out anew; finished paths of all frames (763 KB
for nineteen explorers in place of 171).
"""

import math
import re
from collections.abc import Mapping, Sequence
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
SHADES = [f"#808080{alpha}" for alpha in ("08", "28", "4A", "70", "98")]  # keys' regions
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
    """What is drawn: `x` and `y` are names of parts or sliders, or numbers that stay."""

    x: Numbers | None = None
    y: Numbers | None = None
    _: KW_ONLY
    color: str = ""  # a role, query, key, value or weight, or without one, plain or gray
    label: str = ""  # for the legend
    unit = 0.0
    size = None
    sample = ""  # for the legend, in 26 x 10 pixels

    @property
    def paint(self) -> str:
        return COLORS.get(self.color, self.color)  # a role, or the shade of an area

    def each(self, canvas: "Canvas") -> str:
        """Return what a point adds to the path, with letters in place of numbers.

        X and Y are pixels, R is a radius that makes an area of the point's size, D is 2 R, and E,
        F and G, I are steps from there along the two sides of an arrow's head. What begins with L
        begins with M where no point is before it.
        """
        return "LX Y"

    def look(self) -> str:
        """Return attributes of the path."""
        return f'fill="none" stroke="{self.paint}" stroke-width="2.4"'


@dataclass(frozen=True, kw_only=True)
class Bars(Mark):
    """Bars from 0 to `y` at `x`; `names` stand under them in place of numbers."""

    color: str = "weight"
    names: Sequence[str] = ()
    unit: float = 10.0  # half of the width
    sample = "M9 10V0H17V10Z"

    def each(self, canvas: "Canvas") -> str:
        zero = f"{canvas.zero[1]:.1f}"
        return f"MX {zero}m{-self.unit:g} 0VYh{2 * self.unit:g}V{zero}Z"

    def look(self) -> str:
        pale = self.paint == "currentColor"  # what is not looked at
        return f'fill="{self.paint}"' + ' fill-opacity=".2"' * pale


@dataclass(frozen=True, kw_only=True)
class Points(Mark):
    """Dots; with `size` (from 0 to 1) their area follows it; `names` of dots that stay."""

    color: str = "value"
    size: Numbers | None = None
    names: Sequence[str] = ()
    unit: float = 4.0  # radius, or that of size 1
    sample = "M8 5a5 5 0 1 0 10 0a5 5 0 1 0 -10 0Z"

    def each(self, canvas: "Canvas") -> str:
        return "MX Ym-R 0aR R 0 1 0 D 0aR R 0 1 0 -D 0Z"

    def look(self) -> str:
        return f'fill="{self.paint}"' + ' fill-opacity=".75"' * (self.size is not None)


@dataclass(frozen=True, kw_only=True)
class Curve(Mark):
    """A line through the points, with gaps where a number is not finite."""

    color: str = "plain"
    sample = "M0 5H26"


@dataclass(frozen=True, kw_only=True)
class Line(Mark):
    """A dashed line across the plot, at `x` or at `y`."""

    color: str = "query"
    sample = "M0 5H26"

    def each(self, canvas: "Canvas") -> str:
        left, right, bottom, top = canvas.edges
        return f"MX {bottom}V{top}" if self.y is None else f"M{left} YH{right}"

    def look(self) -> str:
        return f'fill="none" stroke="{self.paint}" stroke-width="1.6" stroke-dasharray="5 4"'


@dataclass(frozen=True, kw_only=True)
class Arrow(Mark):
    """An arrow from the origin to (x, y)."""

    color: str = "query"
    sample = "M0 5H26M20 1L26 5L20 9"

    def each(self, canvas: "Canvas") -> str:
        start = "{:.1f} {:.1f}".format(*canvas.zero)
        return f"M{start}LX YmE FLX YlG I"


@dataclass(frozen=True, kw_only=True)
class Area(Mark):
    """What outlines enclose; a number that is not finite parts two of them."""

    sample = "M4 0H22V10H4Z"

    def look(self) -> str:
        edge = ' stroke="#888" stroke-width=".7"' * (self.color in SHADES)
        return f'fill="{self.paint}"{edge} fill-rule="evenodd"'


@dataclass(frozen=True, kw_only=True)
class Name(Mark):
    """A large, pale text in the middle of (x, y); none where these are not finite."""

    color: str = "plain"
    text: str

    def each(self, canvas: "Canvas") -> str:
        return "translate(X Y)"


class Plot:
    """Marks on shared axes.

    Args:
        marks: What is drawn, from back to front.
        xlabel, ylabel: Axis labels.
        xticks, yticks: Place -> text, in place of round numbers.
        xlim, ylim: Ranges of the axes; by default all that any frame shows.
        drag: The slider that a horizontal drag sets, or two: horizontal (or None) and vertical.
        width, height: In pixels; where there is room, a plot grows by a fifth.
        title: Stands above.
    """

    def __init__(
        self,
        *marks: Mark,
        xlabel: str = "",
        ylabel: str = "",
        xticks: Mapping[float, str] | None = None,
        yticks: Mapping[float, str] | None = None,
        xlim: tuple[float, float] | None = None,
        ylim: tuple[float, float] | None = None,
        drag: str | Sequence[str | None] = (),
        width: int = WIDTH,
        height: int = 200,
        title: str = "",
    ):
        self.marks, self.labels, self.limits = marks, (xlabel, ylabel), {"x": xlim, "y": ylim}
        self.drag = (drag,) if isinstance(drag, str) else tuple(drag)
        self.width, self.height, self.title = width, height, title
        self.ticks = {"x": xticks, "y": yticks}

    @property
    def name(self) -> str:
        """What a screen reader says of the plot."""
        axes = " over ".join(filter(None, reversed(self.labels)))
        shown = ", ".join(mark.label for mark in self.marks if mark.label)
        return ": ".join(filter(None, (self.title, axes))) or shown


def named(plots: Sequence[Plot]) -> set[str]:
    """Return the names that the marks of some plots mention."""
    columns = [n for p in plots for m in p.marks for n in (m.x, m.y, m.size)]
    names = (n.part if isinstance(n, Piece) else n for n in columns)
    return {n for n in names if isinstance(n, str)}


def check(plots: Sequence[Plot], parts: Parts) -> None:
    """Raise ValueError where plots do not fit a frame."""
    for name in sorted(named(plots)):
        if isinstance(parts.get(name, ""), str):
            known = ", ".join(repr(n) for n, part in parts.items() if not isinstance(part, str))
            raise ValueError(f"a mark shows {name!r}, which is no part of numbers, only {known}")
    curves = {n for n, part in parts.items() if np.ndim(part) == 1 and not isinstance(part, str)}
    if lost := curves - named(plots):
        raise ValueError(f"no plot shows {', '.join(sorted(lost))}")


def value_of(numbers: Numbers, parts: Parts) -> np.ndarray:
    if isinstance(numbers, Piece):
        return value_of(numbers.part, parts)[numbers.begin : numbers.begin + numbers.count]
    found = parts[numbers] if isinstance(numbers, str) else as_array(numbers)
    return np.asarray(found, float).ravel()


def limits_of(plot: Plot, axis: str, frames: list[Parts]) -> tuple[float, float]:
    """Return what is given, or the range of all frames with 4 % to spare; bars begin at 0."""
    if plot.limits[axis]:
        return plot.limits[axis]
    shown: list[float] = []
    for mark in plot.marks:
        if isinstance(mark, Arrow) or (isinstance(mark, Bars) and axis == "y"):
            shown.append(0.0)
        numbers = getattr(mark, axis)
        for parts in frames if isinstance(numbers, (str, Piece)) else frames[:1]:
            shown += [] if numbers is None else list(value_of(numbers, parts))
    shown = [v for v in shown if math.isfinite(v)] or [0.0, 1.0]
    low, high = min(shown), max(shown)
    spare = (high - low or 1.0) * 0.04
    bars = axis == "y" and low == 0.0
    return low if bars else low - spare, high + spare


class Canvas:
    """A plot with its ranges: what turns numbers of a frame into paths."""

    def __init__(self, plot: Plot, frames: list[Parts]):
        self.plot = plot
        self.x, self.y = (limits_of(plot, axis, frames) for axis in "xy")
        self.rows, self.names = [], [(x, str(t)) for x, t in (plot.ticks["x"] or {}).items()]
        bottom = plot.height - (37 if plot.labels[0] else 20)
        left = 52 if plot.labels[1] else 30
        self.edges = [left, plot.width - SPARE, bottom, 24 if plot.title else SPARE]
        for bars in plot.marks:
            if isinstance(bars, Bars) and bars.names:
                self.names = list(zip(value_of(bars.x, {}), map(str, bars.names), strict=True))
        if self.crowded():  # every other name stands in a second row
            self.rows = [0, 13]
            self.edges[2] -= 13
        self.zero = self.pixel("x", 0.0), min(self.pixel("y", 0.0), self.edges[2])

    def crowded(self) -> bool:
        middles = [self.pixel("x", value) for value, _ in self.names]
        halves = [len(name) * LETTER / 2 for _, name in self.names]
        return any(
            b - a < left + right
            for a, b, left, right in zip(middles, middles[1:], halves, halves[1:], strict=False)
        )

    def pixel(self, axis: str, value: float) -> float:
        (low, high), edges = getattr(self, axis), self.edges[:2] if axis == "x" else self.edges[2:]
        return edges[0] + (value - low) / (high - low) * (edges[1] - edges[0])

    def numbers_of(self, mark: Mark) -> dict[str, Numbers]:
        """Return x, y and size of a mark, with a number in the place of an x or y that it lacks."""
        x, y = ((low if n is None else n) for n, (low, _) in ((mark.x, self.x), (mark.y, self.y)))
        return {"x": x, "y": y} | ({} if mark.size is None else {"size": mark.size})

    def path(self, mark: Mark, parts: Parts) -> str:
        """Return what the points of a mark make of its template; the script does the same."""
        columns = [value_of(numbers, parts) for numbers in self.numbers_of(mark).values()]
        columns = np.broadcast_arrays(*columns, *[1.0] * (mark.size is None))
        each, path, gap = mark.each(self), "", True
        for x, y, size in zip(*columns, strict=True):
            if fine := bool(np.isfinite(x + y) and size > 0):
                step = re.sub("^L", "M", each) if gap else each
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


def picture(
    plot: Plot, frames: list[Parts], first: int, places: dict[str, int], sliders: dict, still: str
) -> str:
    """Return a plot as an `<img>` that holds an SVG, which the script of the explorer moves.

    Args:
        plot: Marks of parts that are there.
        frames: All frames, for the ranges of the axes.
        first: The frame of the still picture.
        places: Part -> where its numbers begin in a frame.
        sliders: Name -> values, in the order of the page.
        still: What the still picture shows, and at which values; the script names those of now.
    """
    canvas = Canvas(plot, frames)
    scale = " ".join(f"{v:g}" for v in (*canvas.x, *canvas.y, *canvas.edges))
    drag = ";".join(str(list(sliders).index(name)) if name else "" for name in plot.drag)
    size = f'width="{plot.width}" height="{plot.height}"'
    size += f' style="flex-basis:{0.92 * plot.width:g}px;max-width:{1.2 * plot.width:g}px"'
    svg = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {plot.width} {plot.height}" '
        f'color="#767676" fill="currentColor" text-anchor="middle" '
        f'font-size="{LABEL}" font-family="system-ui,sans-serif" role="img" '
        f'aria-label="{escape(plot.name)}" '
        f'data-scale="{scale}"' + (f' data-drag="{drag}">' if drag else ">"),
        *axes(canvas),
        *(shape(mark, canvas, frames[first], places) for mark in plot.marks),
        f"<g>{''.join(names_of_dots(canvas))}</g>",
        "</svg>",
    ]
    source = quote("".join(svg).replace('"', "'"), safe=" =:/(),.'+-;@")
    return (
        f'<img class="plot" {size} alt="{escape(": ".join(filter(None, (plot.name, still))))}" '
        f'src="data:image/svg+xml,{source}">'
    )


def shape(mark: Mark, canvas: Canvas, parts: Parts, places: dict[str, int]) -> str:
    """Return a mark in SVG; one that moves says how, and where its numbers stand in a frame."""
    d, moves = canvas.path(mark, parts), ""
    if named([Plot(mark)]):
        moves = f' data-each="{mark.each(canvas)}"' + f' data-unit="{mark.unit:g}"' * bool(
            mark.unit
        )
        for name, numbers in canvas.numbers_of(mark).items():
            moves += f' data-{name}="{place_in(parts, places, numbers)}"'
    if isinstance(mark, Name):
        return words(mark.text, f'transform="{d}"{moves} font-size="26" opacity=".5" dy=".35em"')
    return f'<path d="{d}"{moves} {mark.look()}/>'


def place_in(parts: Parts, places: dict[str, int], numbers: Numbers) -> str:
    """Return numbers that stay, or the "@from:count" of others among the numbers of a frame."""
    if isinstance(numbers, Piece):
        return f"@{places[numbers.part] + numbers.begin}:{numbers.count}"
    if isinstance(numbers, str):
        return f"@{places[numbers]}:{parts[numbers].size}"
    return " ".join(f"{v:.5g}" for v in value_of(numbers, {}))


def axes(canvas: Canvas) -> list[str]:
    """Return grid lines, ticks, which are smaller than all other text, and labels."""
    plot, svg, (left, right, bottom, top) = canvas.plot, [], canvas.edges
    marks = canvas.names or rounds(*canvas.x, 5.8)
    rows, grid = canvas.rows or [0], ""
    for i, (value, text) in enumerate(marks):
        x, row = f"{canvas.pixel('x', value):.1f}", rows[i % len(rows)]
        grid += f"M{x} {top}V{bottom + row}"
        svg.append(words(text, f'x="{x}" y="{bottom + 14 + row}"'))
    for value, text in plot.ticks["y"].items() if plot.ticks["y"] else rounds(*canvas.y):
        y = f"{canvas.pixel('y', value):.1f}"
        grid += f"M{left} {y}H{right}"
        svg.append(words(text, f'x="{left - 6}" y="{y}" dy=".35em" text-anchor="end"'))
    grid = f'<path d="{grid}" stroke="currentColor" opacity=".15"/>'
    svg = [grid, f'<g font-size="{TICK}">', *svg, "</g>"]
    middle = f'x="{(left + right) / 2:g}" y="{plot.height - 5}"'
    turned = f'transform="translate(13 {(top + bottom) / 2:g})rotate(-90)"'
    above = f'x="{(left + right) / 2:g}" y="15" data-title=""'
    for label, where in zip((*plot.labels, plot.title), (middle, turned, above), strict=True):
        if label:
            svg.append(words(label, where))
    return svg


def names_of_dots(canvas: Canvas) -> list[str]:
    """Return the names of dots that stay, above the largest that may lie there."""
    dots = [mark for mark in canvas.plot.marks if isinstance(mark, Points)]
    up, svg = max([9, *(mark.unit for mark in dots)]) + 3, []
    for mark in (mark for mark in dots if mark.names):
        for *at, name in zip(value_of(mark.x, {}), value_of(mark.y, {}), mark.names, strict=True):
            x, y = map(canvas.pixel, "xy", at)
            svg.append(words(str(name), f'x="{x:.0f}" y="{y - up:.0f}"'))
    return svg


def rounds(low: float, high: float, steps: float = 4) -> list[tuple[float, str]]:
    return [(value, f"{value:g}") for value in ticks(low, high, steps)]


def words(text: str, where: str) -> str:
    return f"<text {where}>{escape(text)}</text>"


def legend(plots: Sequence[Plot]) -> str:
    """Return a list of what the marks with a label are."""
    items = {
        mark.label: f'<li><svg viewBox="0 0 26 10" width="26" height="10" aria-hidden="true">'
        f'<path d="{mark.sample}" {mark.look()}/></svg>{escape(mark.label)}</li>'
        for plot in plots
        for mark in plot.marks
        if mark.label
    }
    return f"<ul>{''.join(items.values())}</ul>" if items else ""
