"""Plots of an explorer: marks that name the parts of a frame which they show.

    explore(f, ..., draw=[Plot(Bars(hours, "weights"), drag="query", ylabel="weight")])

The still picture is made here, and `explorer_plots.js` draws every other frame by the same
formulas: a mark is one SVG path. Weighed before: D3 (its parts for axes and drag are 50 KB in
every output), Observable Plot (200 KB with D3), Vega-Lite (800 KB). They measure, scale and lay
out anew in the browser, which frames that Python has computed do not need.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from html import escape
from urllib.parse import quote

import numpy as np

from d2l_attention.arrays import as_array
from d2l_attention.practice.drawing import place, ticks

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
TICK, LABEL = 11, 12.5  # sizes of letters
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

    def columns(self) -> dict[str, Numbers]:
        named = {"x": self.x, "y": self.y, "size": self.size}
        return {name: numbers for name, numbers in named.items() if numbers is not None}


@dataclass(frozen=True, kw_only=True)
class Bars(Mark):
    """Bars from 0 to `y` at `x`; `names` stand under them in place of numbers."""

    color: str = "weight"
    names: Sequence[str] = ()
    unit: float = 10.0  # half of the width


@dataclass(frozen=True, kw_only=True)
class Points(Mark):
    """Dots; with `size` (from 0 to 1) their area follows it; `names` of dots that stay."""

    color: str = "value"
    size: Numbers | None = None
    names: Sequence[str] = ()
    unit: float = 4.0  # radius, or that of size 1


@dataclass(frozen=True, kw_only=True)
class Curve(Mark):
    """A line through the points, with gaps where a number is not finite."""

    color: str = "plain"


@dataclass(frozen=True, kw_only=True)
class Line(Mark):
    """A dashed line across the plot, at `x` or at `y`."""

    color: str = "query"


@dataclass(frozen=True, kw_only=True)
class Arrow(Mark):
    """An arrow from the origin to (x, y)."""

    color: str = "query"


@dataclass(frozen=True, kw_only=True)
class Area(Mark):
    """What outlines enclose; a number that is not finite parts two of them."""


@dataclass(frozen=True, kw_only=True)
class Name(Mark):
    """A text in the middle of (x, y); none where these are not finite."""

    color: str = "plain"
    text: str


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
    columns = [n for p in plots for mark in p.marks for n in mark.columns().values()]
    names = (n.part if isinstance(n, Piece) else n for n in columns)
    return {n for n in names if isinstance(n, str)}


def check(plots: Sequence[Plot], parts: Parts, sliders: dict[str, list]) -> None:
    """Raise ValueError where a plot cannot show a frame."""
    for plot in plots:
        for mark in plot.marks:
            kind, sizes = type(mark).__name__, {}
            if not mark.columns().keys() & {"x", "y"}:
                raise ValueError(f"{kind}: give x or y")
            if not isinstance(mark, Line) and (mark.x is None or mark.y is None):
                raise ValueError(f"{kind}: give x and y")
            if mark.color not in COLORS and not isinstance(mark, Area):
                raise ValueError(f"{kind}: color must be one of {', '.join(COLORS)}")
            for axis, numbers in mark.columns().items():
                if isinstance(numbers, str) and numbers not in parts:
                    raise ValueError(
                        f"{kind}: the function returns no part {numbers!r}, only "
                        f"{', '.join(map(repr, parts))}"
                    )
                if isinstance(numbers, str) and isinstance(parts[numbers], str):
                    raise ValueError(f"{kind}: {axis} shows numbers, and {numbers!r} is words")
                sizes[axis] = value_of(numbers, parts).size
            if len({n for n in sizes.values() if n != 1}) > 1:
                raise ValueError(f"{kind}: x, y and size must be of one length, got {sizes}")
            names = getattr(mark, "names", ())
            if names and len(names) != max(sizes.values()):
                raise ValueError(f"{kind}: {max(sizes.values())} places and {len(names)} names")
        if [p.name for p in plots].count(plot.name) > 1:
            raise ValueError(f"two plots have the name {plot.name!r}: give them titles")
        if len(plot.drag) > 2:
            raise ValueError(f"drag names one slider or two, got {len(plot.drag)}")
        for name in filter(None, plot.drag):
            if not all(isinstance(v, (int, float)) for v in sliders.get(name, [None])):
                raise ValueError(f"drag: {name!r} is no slider of numbers")
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
    shown = (
        [0.0]
        if any(isinstance(m, Arrow) or (isinstance(m, Bars) and axis == "y") for m in plot.marks)
        else []
    )
    for mark in plot.marks:
        numbers = mark.columns().get(axis)
        if isinstance(numbers, (str, Piece)):
            shown += [v for parts in frames for v in value_of(numbers, parts)]
        elif numbers is not None:
            shown += list(value_of(numbers, {}))
    shown = [v for v in shown if math.isfinite(v)] or [0.0, 1.0]
    low, high = min(shown), max(shown)
    spare = (high - low or 1.0) * 0.04
    bars = axis == "y" and low == 0.0
    return low if bars else low - spare, high + spare


def outline(kind: str, columns: dict[str, list[float]], unit: float, box: list[float]) -> str:
    """Return the SVG path of a mark from pixels x, y and sizes; the script does the same.

    Args:
        kind: The mark's name in small letters.
        columns: "x", "y" in pixels, "size" as it is; of one length.
        unit: Half of a bar's width, or a radius.
        box: Left, right, bottom, top, and the pixels x and y of the origin.
    """
    left, right, bottom, top, zero_x, zero_y = box
    xs, ys = columns.get("x", [math.nan]), columns.get("y", [math.nan])
    sizes = columns.get("size", [1.0] * len(ys))
    if kind == "line" and not math.isfinite((columns.get("x") or ys)[0]):
        return ""
    if kind == "line":
        return f"M{xs[0]:.1f} {bottom}V{top}" if "x" in columns else f"M{left} {ys[0]:.1f}H{right}"
    if kind == "name":
        here = math.isfinite(xs[0] + ys[0])
        return f"translate({xs[0]:.1f} {ys[0]:.1f})" if here else "scale(0)"
    steps, pen = [], "M"
    for x, y, size in zip(xs, ys, sizes, strict=True):
        fine = math.isfinite(x + y + size) and size > 0
        if fine and kind == "bars":
            steps.append(f"M{x - unit:.1f} {zero_y:.1f}V{y:.1f}H{x + unit:.1f}V{zero_y:.1f}Z")
        elif fine and kind == "points":
            r = unit * math.sqrt(size)
            around = f"a{r:.1f} {r:.1f} 0 1 0"
            steps.append(f"M{x - r:.1f} {y:.1f}{around} {2 * r:.1f} 0{around} {-2 * r:.1f} 0Z")
        elif fine and kind in ("curve", "area"):
            steps.append(f"{pen}{x:.1f} {y:.1f}")
        elif fine and kind == "arrow":
            steps.append(f"M{zero_x:.1f} {zero_y:.1f}L{x:.1f} {y:.1f}")
            turn = math.atan2(y - zero_y, x - zero_x)
            for side in (2.7, -2.7):
                head = x + 9 * math.cos(turn + side), y + 9 * math.sin(turn + side)
                steps.append(f"M{x:.1f} {y:.1f}L{head[0]:.1f} {head[1]:.1f}")
        pen = "L" if fine else "M"
    return "".join(steps)


class Canvas:
    """A plot with its ranges: what turns numbers of a frame into a path."""

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

    def path(self, mark: Mark, parts: Parts) -> str:
        columns = {name: value_of(n, parts) for name, n in mark.columns().items()}
        length = max(map(len, columns.values()))
        pixels = {
            name: [float(v) if name == "size" else self.pixel(name, v) for v in values]
            * (1 if len(values) == length else length)
            for name, values in columns.items()
        }
        origin = [self.pixel("x", 0.0), min(self.pixel("y", 0.0), self.edges[2])]
        kind = type(mark).__name__.lower()
        return outline(kind, pixels, mark.unit, [*self.edges, *origin])


def picture(
    plot: Plot, frames: list[Parts], first: int, at: dict[str, str], sliders: dict, still: str
) -> str:
    """Return a plot as an `<img>` that holds an SVG, which the script of the explorer moves.

    Args:
        plot: Marks that `check` let through.
        frames: All frames, for the ranges of the axes.
        first: The frame of the still picture.
        at: Part -> "@from:count", its place among the numbers of a frame.
        sliders: Name -> values, in the order of the page.
        still: What the still picture shows, and at which values; the script names those of now.
    """
    canvas = Canvas(plot, frames)
    scale = " ".join(f"{v:g}" for v in (*canvas.x, *canvas.y, *canvas.edges))
    drag = ";".join(str(list(sliders).index(name)) if name else "" for name in plot.drag)
    size = f'width="{plot.width}" height="{plot.height}"'
    size += f' style="flex-basis:{0.9 * plot.width:g}px;max-width:{1.2 * plot.width:g}px"'
    svg = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {plot.width} {plot.height}" '
        f'class="plot" {size} color="#767676" fill="currentColor" text-anchor="middle" '
        f'font-size="{LABEL}" font-family="system-ui,sans-serif" role="img" '
        f'aria-label="{escape(plot.name)}" '
        f'data-scale="{scale}"' + (f' data-drag="{drag}">' if drag else ">"),
        *axes(canvas),
    ]
    for mark in plot.marks:
        name, color = type(mark).__name__.lower(), color_of(mark)
        moves = ""
        if named([Plot(mark)]):
            columns = mark.columns() | ({"unit": mark.unit} if mark.unit else {})
            moves = f' class="{name}"' + "".join(
                f' data-{axis}="{place_in(at, n)}"' for axis, n in columns.items()
            )
        d = canvas.path(mark, frames[first])
        if isinstance(mark, Name):
            svg.append(
                words(
                    mark.text,
                    f'transform="{d}"{moves} font-size="11" dy=".35em" text-anchor="middle"',
                )
            )
        else:
            svg.append(f'<path d="{d}"{moves} {paint(name, color)}/>')
    text = "".join([*svg, "</svg>"]).replace('"', "'")
    source = quote(text, safe=" =:/(),.'+-;@")
    return (
        f'<img class="plot" {size} alt="{escape(": ".join(filter(None, (plot.name, still))))}" '
        f'src="data:image/svg+xml,{source}">'
    )


def place_in(at: dict[str, str], numbers: Numbers) -> str:
    """Return numbers that stay, or the "@from:count" of others among the numbers of a frame."""
    if isinstance(numbers, Piece):
        return f"@{int(at[numbers.part][1:].split(':')[0]) + numbers.begin}:{numbers.count}"
    if isinstance(numbers, str):
        return at[numbers]
    return " ".join(f"{v:.5g}" for v in value_of(numbers, {}))


def color_of(mark: Mark) -> str:
    return COLORS.get(mark.color, mark.color)  # a role, or the shade of an area


def paint(kind: str, color: str) -> str:
    if kind in ("bars", "points"):
        pale = kind == "bars" and color == "currentColor"  # what is not looked at
        return f'fill="{color}"' + ' fill-opacity=".2"' * pale
    if kind == "area":
        edge = ' stroke="#888" stroke-width=".7"' * (color in SHADES)
        return f'fill="{color}"{edge} fill-rule="evenodd"'
    dashes = ' stroke-dasharray="5 4"' if kind == "line" else ""
    return f'fill="none" stroke="{color}" stroke-width="{1.6 if dashes else 2.4}"{dashes}'


def axes(canvas: Canvas) -> list[str]:
    """Return grid lines, ticks, which are smaller than all other text, and labels."""
    plot, svg, (left, right, bottom, top) = canvas.plot, [], canvas.edges
    marks = canvas.names or rounds(*canvas.x, 5.8)
    rows, grid = canvas.rows or [0], ""
    for i, (value, text) in enumerate(marks):
        x, row = place(value, canvas.x, (left, right)), rows[i % len(rows)]
        grid += f"M{x} {top}V{bottom + row}"
        svg.append(words(text, f'x="{x}" y="{bottom + 14 + row}"'))
    for value, text in plot.ticks["y"].items() if plot.ticks["y"] else rounds(*canvas.y):
        y = place(value, canvas.y, (bottom, top))
        grid += f"M{left} {y}H{right}"
        svg.append(words(text, f'x="{left - 6}" y="{y}" dy=".35em" text-anchor="end"'))
    grid = f'<path d="{grid}" stroke="currentColor" opacity=".15"/>'
    svg = [grid, f'<g font-size="{TICK}">', *svg, "</g>"]
    for points in plot.marks:
        if isinstance(points, Points) and points.names:
            places = (value_of(points.x, {}), value_of(points.y, {}), points.names)
            for x, y, name in zip(*places, strict=True):
                at = f'x="{canvas.pixel("x", x):.1f}" y="{canvas.pixel("y", y) - 12:.1f}"'
                svg.append(words(str(name), at))
    middle = f'x="{(left + right) / 2:g}" y="{plot.height - 5}"'
    turned = f'transform="translate(13 {(top + bottom) / 2:g})rotate(-90)"'
    above = f'x="{(left + right) / 2:g}" y="15" data-title=""'
    for label, where in zip((*plot.labels, plot.title), (middle, turned, above), strict=True):
        if label:
            svg.append(words(label, where))
    return svg


def rounds(low: float, high: float, steps: float = 4) -> list[tuple[float, str]]:
    return [(value, f"{value:g}") for value in ticks(low, high, steps)]


def words(text: str, where: str) -> str:
    return f"<text {where}>{escape(text)}</text>"


def legend(plots: Sequence[Plot]) -> str:
    """Return a list of what the marks with a label are."""
    samples = {
        "curve": "M0 5H26",
        "line": "M0 5H26",
        "arrow": "M0 5H26M20 1L26 5L20 9",
        "bars": "M9 10V0H17V10Z",
        "area": "M4 0H22V10H4Z",
        "points": "M8 5a5 5 0 1 0 10 0a5 5 0 1 0 -10 0Z",
    }
    items = {}
    for mark in (mark for plot in plots for mark in plot.marks if mark.label):
        kind = type(mark).__name__.lower()
        items[mark.label] = (
            f'<li><svg viewBox="0 0 26 10" width="26" height="10" aria-hidden="true">'
            f'<path d="{samples[kind]}" {paint(kind, color_of(mark))}/></svg>'
            f"{escape(mark.label)}</li>"
        )
    return f"<ul>{''.join(items.values())}</ul>" if items else ""
