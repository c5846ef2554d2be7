"""Draw the book's diagrams: `python book/figures/draw.py` writes the SVG files beside this one.

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
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from html import escape
from inspect import cleandoc
from math import cos, exp, radians, sin, sqrt, tanh
from pathlib import Path
from typing import NamedTuple

CARD, INK, SOFT = "#FFFFFF", "#222222", "#555555"
TEXT, SMALL, TINY = 17, 15, 13  # font sizes; subscripts are TINY
STROKE = 2


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
MASKED = Role("url(#hatch)", "#555555")
EMPTY = Role(CARD, "#555555")
OUTLINE = Role("none", INK)
HATCH = (
    '<defs><pattern id="hatch" width="8" height="8" patternUnits="userSpaceOnUse">'
    '<rect width="8" height="8" fill="#F4F4F4"/>'
    '<path d="M-2 2l4 -4M0 8l8 -8M6 10l4 -4" stroke="#D0D0D0" stroke-width="2"/></pattern></defs>'
)

# ---- drawing kit


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
        self, x: float, y: float, text: str, size: int = TEXT, at: str = "middle", ink: str = INK
    ) -> None:
        """Write a line whose middle is at height y; `at`: start, middle or end is at x."""
        self.parts.append(
            f'<text x="{x:g}" y="{y + 0.36 * size:.4g}" font-size="{size}" text-anchor="{at}" '
            f'fill="{ink}">{spans(text)}</text>'
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

    def label(self, x: float, y: float, text: str) -> None:
        """Write a text over a line, on a patch of the card."""
        w = 13 * len(text) + 6
        self.parts.append(
            f'<rect x="{x - w / 2:.5g}" y="{y - 12:.5g}" width="{w}" height="24" fill="{CARD}"/>'
        )
        self.text(round(x, 1), y, text)

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


# ---- what the examples compute


def dot(x: Sequence[float], y: Sequence[float]) -> float:
    """Return the dot product."""
    return sum(a * b for a, b in zip(x, y, strict=True))


def softmax(scores: Sequence[float]) -> list[float]:
    """Return attention weights."""
    return shares([exp(score - max(scores)) for score in scores])


def shares(similarities: Sequence[float]) -> list[float]:
    """Return similarities divided by their sum."""
    return [s / sum(similarities) for s in similarities]


# ---- the diagrams

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


# ---- the strip: one query's way to its output, the picture at the head of every chapter

STEPS = ("query", "scores", "mask", "weights", "weighted sum")
EDGES = ((0, 98), (116, 214), (232, 330), (348, 490), (508, 640))  # left and right of each step
Q = (2, 1)
KEYS = ((1, 0), (0, 1), (-1, 2), (1, 1))
VALUES = ((0, 2), (3, 1), (2, 0), (0, 0))
MASKED_KEY = 3
UNIT = 30  # of the planes in which vectors are drawn
PALE, GRAY = "#B4B4B4", Role("#C9C9C9", "#555555")


class Strip(NamedTuple):
    """What one strip shows: the canonical one, or what a chapter changes in it."""

    change: str  # in words, for those who do not see it
    lit: Mapping[str, str] = {}  # steps with the names that stand over them; without any, all
    dim: bool = True  # whether the other steps are gray
    score: Callable[[Vector], float] = lambda key: dot(Q, key)
    bars: Callable[[Vector], float] | None = None  # what the bars show, where not the scores
    weigh: Callable[[Sequence[float]], list[float]] = softmax
    many: Sequence[str] = ()  # steps that are there many times, as stacked sheets
    matrix: bool = False  # the scores of four queries instead of one
    shown: int = 5  # how many steps are there already


def scaled(key: Vector) -> float:
    """Return the scaled dot product of the query and a key."""
    return dot(Q, key) / sqrt(len(Q))


def away(key: Vector) -> float:
    """Return the distance of a key from the query."""
    return sqrt(sum((a - b) ** 2 for a, b in zip(Q, key, strict=True)))


def additive(key: Vector) -> float:
    """Return an additive score: 1 and -1 times the identity for query and key, ones outside."""
    return sum(tanh(a - b) for a, b in zip(Q, key, strict=True))


def biased(key: Vector) -> float:
    """Return the dot product less half the distance of the key's position from the third."""
    return dot(Q, key) - abs(KEYS.index(key) - 2) / 2


def sparsemax(scores: Sequence[float]) -> list[float]:
    """Return weights of which some are exactly 0."""
    ranked = sorted(scores, reverse=True)
    sums = [sum(ranked[: k + 1]) - 1 for k in range(len(ranked))]
    level = max(total / (k + 1) for k, total in enumerate(sums))
    return [max(score - level, 0) for score in scores]


STRIPS = {
    "00": Strip("the picture of this book."),
    "01": Strip("this chapter builds the whole of it."),
    "02": Strip(
        "this chapter changes the scores, to distances, and the weights, to kernels.",
        {"scores": "distance", "weights": "kernel"},
        score=lambda key: -0.5 * away(key) ** 2,
        bars=away,
    ),
    "03": Strip(
        "this chapter changes the scores: dot products, divided by the root of d.",
        {"scores": "q·k / √d"},
        score=scaled,
    ),
    "04": Strip(
        "this chapter is about the mask and the weights that it leaves.",
        {"mask": "mask", "weights": "weights"},
    ),
    "05": Strip(
        "this chapter computes the scores of a whole batch at once.",
        {"scores": "b × scores"},
        many=["scores"],
    ),
    "06": Strip(
        "this chapter makes a layer of all steps, with scores divided by the root of d.",
        {"scores": "q·k / √d"},
        dim=False,
        score=scaled,
    ),
    "07": Strip(
        "this chapter changes the scores: a small network with a tanh computes them.",
        {"scores": "tanh"},
        score=additive,
    ),
    "08": Strip(
        "this chapter changes the scores: distances, bilinear forms and, here, cosines.",
        {"scores": "cosine"},
        score=lambda key: dot(Q, key) / sqrt(dot(Q, Q) * dot(key, key)),
    ),
    "09": Strip(
        "this chapter counts what the scores cost: n queries with m keys have n times m.",
        {"scores": "n × m"},
        matrix=True,
    ),
    "10": Strip(
        "this chapter takes the query from a decoder, which writes.",
        {"query": "decoder"},
    ),
    "11": Strip(
        "this chapter adds the position to the scores.",
        {"scores": "+ position"},
        score=biased,
    ),
    "12": Strip(
        "this chapter stacks many strips, one for each head, so there are several weights.",
        {"weights": "h × weights"},
        dim=False,
        score=scaled,
        many=STEPS,
    ),
    "13": Strip(
        "this chapter changes how scores become weights: here one weight is exactly 0.",
        {"weights": "sparsemax"},
        score=scaled,
        weigh=sparsemax,
    ),
    "14": Strip("this chapter tests all steps."),
    "15": Strip("this chapter finds all steps in another package."),
    # Chapter 0 lets the strip grow, one step after the other.
    **{
        step.split()[-1]: Strip(f"so far: {', '.join(STEPS[:i])}.", {step: step}, False, shown=i)
        for i, step in enumerate(STEPS, start=1)
    },
}


DESC = (
    "From left to right: a query among four keys; the score of each key; a mask that hides the "
    "last key; the weights of the others, which sum to 1; the weighted sum of the values;"
)


def strip(s: Strip) -> str:
    """Draw the picture at the head of a chapter."""
    top = 10 if s.many else 0
    d = Drawing(640, 128 + top, "Attention, step by step", f"{DESC} {s.change}")
    draw_steps(d, s, top)
    return d.svg()


def draw_steps(d: Drawing, s: Strip, top: float = 0) -> None:
    """Draw the steps from left to right, each under a rule and its name."""
    scores = [s.score(key) for key in KEYS]
    weights = [*s.weigh(scores[:MASKED_KEY]), 0.0]
    for i, (step, (left, right)) in enumerate(zip(STEPS, EDGES, strict=True)):
        there, lit = i < s.shown, step in s.lit
        gray = not there or (bool(s.lit) and s.dim and not lit)
        edge, thick = (INK, 4) if lit else (PALE if gray else SOFT, 2)
        for sheet in (2, 1) if step in s.many else ():
            d.rect(left + 4 * sheet, 11 - 5 * sheet, right - left - 8 * sheet, 2, edge)
        d.rect(left, top + 1, right - left, thick, edge)
        name = s.lit.get(step, step)
        d.text(left, top + 20, f"**{name}**" if lit else name, 16, "start", SOFT if gray else INK)
        if i:
            middle = top + 71
            d.line((left - 12, middle - 7), (left - 5, middle), (left - 12, middle + 7), edge=PALE)
        place = Place(d, left, right - left, top + 102, gray, there)
        if step == "query":
            draw_vectors(place)
        elif step == "scores" and s.matrix:
            draw_matrix(place)
        elif step in ("scores", "mask"):
            draw_scores(place, s, step == "mask")
        elif step == "weights":
            draw_weights(place, weights)
        else:
            draw_sum(place, weights)


class Place(NamedTuple):
    """Where a step is drawn, on its baseline, and whether in gray, or not yet at all."""

    d: Drawing
    left: float
    width: float
    base: float
    gray: bool
    there: bool

    def of(self, role: Role) -> Role:
        """Return the role as it is drawn here."""
        return Role("#EEEEEE", PALE) if self.gray and role.fill[0] == "#" else role

    def at(self, point: Vector) -> tuple[float, float]:
        """Return where a point of the plane lies, the lowest left one at (0, 0)."""
        return self.left + 7 + UNIT * point[0], self.base - UNIT * point[1]

    def note(self, x: float, text: str) -> None:
        """Write below the baseline."""
        self.d.text(self.left + x, self.base + 15, text, 14, ink=SOFT)

    def plane(self) -> None:
        """Draw the points with whole coordinates."""
        for x in range(4):
            for y in range(3):
                self.d.disc(self.at((x, y)), 1.5, PALE)

    def bars(
        self, heights: Sequence[float], unit: float, roles: Sequence[Role], texts: Sequence[str]
    ) -> None:
        """Draw a bar for each key, and its number below."""
        pitch = self.width / len(heights)
        for j, (height, role, text) in enumerate(zip(heights, roles, texts, strict=True)):
            if self.there:
                x, h = self.left + (j + 0.5) * pitch - 9, unit * height
                if h:
                    self.d.bar(x, self.base - h, 18, h, self.of(role))
                self.note(x + 9 - self.left, text)
        right = self.left + self.width
        edge = PALE if self.gray else SOFT
        self.d.line((self.left, self.base), (right, self.base), edge=edge)


def draw_vectors(place: Place) -> None:
    """Draw the query among the keys."""
    place.plane()
    if not place.there:
        return
    origin = place.at((1, 0))
    for vector, role in [(key, KEY) for key in KEYS] + [(Q, QUERY)]:
        tip = place.at((vector[0] + 1, vector[1]))
        place.d.arrow(origin, tip, edge=place.of(role).edge)
    place.note(52, f"({Q[0]}, {Q[1]})")


def draw_scores(place: Place, s: Strip, masked: bool) -> None:
    """Draw a bar for each score, or for what it comes from; the masked one is hatched."""
    heights = [(s.bars or s.score)(key) for key in KEYS]
    texts = [number(x, 0 if x == int(x) else 1) for x in heights]
    roles = [GRAY] * len(heights)
    if masked:
        texts[MASKED_KEY] = "∞" if s.bars else "−∞"
        roles[MASKED_KEY] = Role(MASKED.fill, place.of(GRAY).edge)
    place.bars(heights, 16, roles, texts)


def draw_matrix(place: Place) -> None:
    """Draw the scores of four queries as a matrix, the darker the larger."""
    for i, query in enumerate([Q, (1, 2), (-1, 1), (0, 2)]):
        for j, key in enumerate(KEYS):
            part = 0.1 + 0.15 * max(dot(query, key), 0)
            x, y = place.left + 18 + 16 * j, place.base - 65 + 16 * i
            place.d.bar(x, y, 16, 16, Role(mix(SOFT, part), SOFT))
    place.note(50, "16 scores")


def draw_weights(place: Place, weights: Sequence[float]) -> None:
    """Draw a bar for each weight, the darker the larger."""
    roles = [Role(mix(WEIGHT.edge, min(0.3 + 0.9 * w, 1)), WEIGHT.edge) for w in weights]
    place.bars(weights, 64, roles, [number(w) if w else "0" for w in weights])


def draw_sum(place: Place, weights: Sequence[float]) -> None:
    """Draw the output among the values, tied to each by a line as thick as its weight."""
    place.plane()
    if not place.there:
        return
    output = [sum(w * v[axis] for w, v in zip(weights, VALUES, strict=True)) for axis in (0, 1)]
    here = place.at(output)
    for w, value in zip(weights, VALUES, strict=True):
        if w:
            thick, edge = 1 + 6 * w, place.of(WEIGHT).edge
            place.d.line(here, place.at(value), edge=edge, width=thick)
    for j, value in enumerate(VALUES):
        role = (
            Role(MASKED.fill, PALE if place.gray else SOFT)
            if j == MASKED_KEY
            else place.of(Role(VALUE.edge, VALUE.edge))
        )
        place.d.disc(place.at(value), 6, role.fill, role.edge)
    place.d.disc(here, 6, CARD, PALE if place.gray else INK)
    place.note(52, f"({number(output[0])}, {number(output[1])})")


def mix(color: str, part: float) -> str:
    """Return a color of which so large a part is `color` and the rest is white."""
    rgb = (int(color[i : i + 2], 16) for i in (1, 3, 5))
    return "#" + "".join(f"{round(255 + part * (c - 255)):02X}" for c in rgb)


MAP = {  # which chapters change which step, and to what
    "query": {10: "decoder"},
    "scores": {
        2: "distance",
        3: "dot product",
        5: "of a batch",
        7: "additive",
        8: "cosine",
        9: "their cost",
        11: "position",
    },
    "mask": {4: "padding"},
    "weights": {2: "kernels", 4: "masked softmax", 13: "sparsemax"},
    "weighted sum": {9: "blocks", 13: "two orders"},
}
WHOLE = {1: "by hand", 6: "as a layer", 12: "many heads", 14: "tested", 15: "in D2L"}


@diagram(640, 352)  # chapter 0
def chapters(d: Drawing) -> None:
    """The chapters, each under the step of attention that it changes.

    The query: 10. The scores: 2, 3, 5, 7, 8, 9, 11. The mask: 4. The weights: 2, 4, 13. The
    weighted sum: 9, 13. All steps: 1, 6, 12, 14, 15.
    """
    draw_steps(d, STRIPS["00"])
    for (left, _), step in zip(EDGES, STEPS, strict=True):
        for row, (chapter, text) in enumerate(MAP[step].items()):
            y = 156 + 22 * row
            d.text(left + 18, y, f"**{chapter}**", 14, "end")
            d.text(left + 24, y, text, 14, "start")
    d.rect(0, 318, 640, 2, SOFT)
    for (left, _), (chapter, text) in zip(EDGES, WHOLE.items(), strict=True):
        d.text(left + 18, 338, f"**{chapter}**", 14, "end")
        d.text(left + 24, 338, text, 14, "start")


DIAGRAMS |= {f"strip_{name}": partial(strip, s) for name, s in STRIPS.items()}


# ---- the cards of the home page: one detail of each chapter, in the strokes of the strip

CARD_SIZE = 320, 176
LARGE = 18  # letters on a card


def card(chapter: str) -> Callable[[Callable[[Drawing], None]], Callable[[Drawing], None]]:
    """Register the card of a chapter; the docstring says what it shows."""

    def register(draw: Callable[[Drawing], None]) -> Callable[[Drawing], None]:
        title, _, desc = cleandoc(draw.__doc__ or "").partition(".\n\n")

        def drawn() -> str:
            d = Drawing(*CARD_SIZE, title, " ".join(desc.split()))
            draw(d)
            return d.svg()

        DIAGRAMS[f"card_{chapter}"] = drawn
        return draw

    return register


def blue(weight: float) -> Role:
    """Return how a weight is drawn that no text lies on."""
    return Role(mix(WEIGHT.edge, min(0.1 + 0.9 * weight, 1)), WEIGHT.edge)


def heat_map(
    d: Drawing, x: float, y: float, size: float, rows: Sequence[Sequence[float | None]]
) -> None:
    """Draw weights as cells, the masked ones, None, hatched."""
    for i, row in enumerate(rows):
        for j, weight in enumerate(row):
            role = MASKED if weight is None else blue(weight)
            d.bar(x + j * size, y + i * size, size, size, role)


def causal(rows: Sequence[Sequence[float]]) -> list[list[float | None]]:
    """Return the weights of scores of which each query sees its own key and those before."""
    m = len(rows)
    return [[*softmax(row[: i + 1]), *[None] * (m - 1 - i)] for i, row in enumerate(rows)]


@card("00")
def card_query(d: Drawing) -> None:
    """A query among keys.

    The query is an arrow from the origin, and four keys are arrows from the same point, of which
    some point the way of the query and others do not.
    """
    for x in range(-2, 4):
        for y in range(3):
            d.disc((134 + 52 * x, 140 - 52 * y), 1.5, PALE)
    for vector, role in [(key, KEY) for key in KEYS] + [(Q, QUERY)]:
        d.arrow((134, 140), (134 + 52 * vector[0], 140 - 52 * vector[1]), edge=role.edge)


@card("01")
def card_blend(d: Drawing) -> None:
    """Weights of the keys around a query.

    Five keys stand on a line. The query stands between two of them, which share nearly all of the
    weight: 0.39 and 0.59.
    """
    keys, query = (3, 4, 6, 8, 9), 5.1
    weights = softmax([-((query - key) ** 2) for key in keys])

    def across(key: float) -> float:
        return 40 + 40 * (key - 3)

    d.line((across(query), 24), (across(query), 140), edge=QUERY.edge, dash="6 5")
    for key, weight in zip(keys, weights, strict=True):
        d.bar(across(key) - 12, 140 - 130 * weight, 24, 130 * weight, blue(weight))
        if weight > 0.1:
            d.text(across(key), 126 - 130 * weight, number(weight), LARGE)
    d.line((16, 140), (304, 140))
    for key in keys:
        d.bar(across(key) - 6, 134, 12, 12, KEY)
    d.bar(across(query) - 6, 134, 12, 12, QUERY)


@card("02")
def card_kernel(d: Drawing) -> None:
    """A kernel's hill over the keys.

    A Gaussian hill is centered at the query; its height over a key is the similarity, large near
    the query and almost nothing far away.
    """
    query, base, height = 1.0, 144, 112

    def across(x: float) -> float:
        return 52 + 52 * x

    d.line((across(query), 20), (across(query), base), edge=QUERY.edge, dash="6 5")
    for key in (0.0, 0.5, 1.4, 2.6, 4.6):
        s = exp(-0.5 * (query - key) ** 2)
        d.line((across(key), base), (across(key), base - height * s), edge=WEIGHT.edge, width=6)
    hill = [(i / 10, base - height * exp(-0.5 * (query - i / 10) ** 2)) for i in range(-7, 49)]
    d.line(*[(across(x), y) for x, y in hill], edge=INK)
    d.line((16, base), (304, base))
    for key in (0.0, 0.5, 1.4, 2.6, 4.6):
        d.bar(across(key) - 6, base - 6, 12, 12, KEY)


@card("03")
def card_dot_product(d: Drawing) -> None:
    """A dot product, divided by the root of d.

    A key is projected on the line of the query at a right angle: the dot product is the length of
    the projection times the length of the query.
    """
    origin, unit = (60, 146), 52
    query, key = (3, 1), (1, 2)
    along = dot(query, key) / dot(query, query)

    def at(vector: Vector) -> tuple[float, float]:
        return origin[0] + unit * vector[0], origin[1] - unit * vector[1]

    foot = at([along * x for x in query])
    d.line(origin, foot, edge=PALE, width=8)
    d.line(at(key), foot, edge=SOFT, dash="6 5")
    d.arrow(origin, at(query), edge=QUERY.edge)
    d.arrow(origin, at(key), edge=KEY.edge)
    d.text(230, 92, "**q**", LARGE)
    d.text(98, 34, "**k**", LARGE)
    d.text(236, 36, "**q·k / √d**", LARGE)


@card("04")
def card_mask(d: Drawing) -> None:
    """Weights with padding masked.

    A heat map of three sentences: the cells of the padding are hatched, and the weights of each
    row are shared by the words alone.
    """
    scores = [0, 2, 1, 1, 2], [2, 1, 3], [1, 3, 2, 2]
    rows = [[*softmax(row), *[None] * (5 - len(row))] for row in scores]
    heat_map(d, 50, 22, 44, rows)


@card("05")
def card_batch(d: Drawing) -> None:
    """A batch of products.

    Three sheets lie behind one another; on each, a matrix of queries times a matrix of keys.
    """
    for sheet in (2, 1, 0):
        x, y = 40 + 24 * sheet, 58 - 20 * sheet
        d.bar(x, y, 56, 96, QUERY)
        d.bar(x + 96, y, 96, 56, KEY)
    d.text(68, 106, "**Q**", LARGE)
    d.text(184, 86, "**K**", LARGE)
    d.text(200, 78, "T", 15)
    d.text(244, 134, "× b", LARGE)


@card("06")
def card_layer(d: Drawing) -> None:
    """The layer of the Transformer.

    The softmax of Q times K transposed, divided by the root of d, times V, with each matrix in
    the color of its part.
    """
    y = 88
    d.text(16, y, "softmax", LARGE, "start")
    d.text(101, y, "(", 28)
    d.box(114, y - 22, 38, 44, QUERY, "**Q**")
    d.box(158, y - 22, 38, 44, KEY, "**K**")
    d.text(201, y - 16, "T", 15)
    d.text(208, y, "/ √d", LARGE, "start")
    d.text(261, y, ")", 28)
    d.box(274, y - 22, 38, 44, VALUE, "**V**")


@card("07")
def card_tanh(d: Drawing) -> None:
    """The hyperbolic tangent.

    The curve rises from minus one to one; it is what stands between the query and key and the
    additive score.
    """
    d.line((24, 88), (296, 88), edge=PALE)
    d.line((160, 20), (160, 156), edge=PALE)
    steps = [i / 10 for i in range(-32, 33)]
    d.line(*[(160 + 42 * x, 88 - 56 * tanh(x)) for x in steps], edge=INK, width=3)
    for x, role in ((-0.7, KEY), (1.3, QUERY)):
        d.line((160 + 42 * x, 88), (160 + 42 * x, 88 - 56 * tanh(x)), edge=role.edge, dash="5 4")
        d.disc((160 + 42 * x, 88 - 56 * tanh(x)), 7, role.edge, role.edge)
    d.text(84, 40, "tanh", LARGE)


@card("08")
def card_scores(d: Drawing) -> None:
    """Distance or direction.

    Circles of equal distance lie around a query; a straight line of equal dot product runs past
    it. One key is near the query, another is far away and has the larger dot product.
    """
    query, origin = (132, 92), (44, 144)
    for r in (24, 48, 72):
        d.disc(query, r, "none", PALE)
    d.line((85, 13), (179, 171), edge=SOFT, dash="6 5")
    d.arrow(origin, query, edge=QUERY.edge)
    d.disc(query, 7, QUERY.edge, QUERY.edge)
    for key in ((118, 112), (262, 40), (190, 132)):
        d.disc(key, 7, KEY.edge, KEY.edge)


@card("09")
def card_cost(d: Drawing) -> None:
    """A matrix in blocks.

    A matrix of n times m scores, of which one block of keys at a time is held and the others are
    not.
    """
    for i in range(6):
        for j in range(10):
            here = j in (4, 5)
            d.bar(60 + 20 * j, 24 + 20 * i, 20, 20, GRAY if here else Role(CARD, PALE))
    d.text(36, 84, "n", LARGE)
    d.text(160, 160, "m", LARGE)


@card("10")
def card_alignment(d: Drawing) -> None:
    """An alignment map.

    Five digits and signs of a date, 03-27, look at the letters of 27 mar: the month at mar, the
    day at 27.
    """
    read, written = "27mar", "03-27"
    belongs = {"0": "mar", "3": "mar", "-": "r", "2": "2", "7": "7"}
    for i, sign in enumerate(written):
        weights = softmax([4.0 * (letter in belongs[sign]) for letter in read])
        heat_map(d, 104, 34 + 26 * i, 26, [weights])
        d.text(88, 47 + 26 * i, sign, LARGE)
    for j, letter in enumerate(read):
        d.text(117 + 26 * j, 18, letter, LARGE)


@card("11")
def card_rotation(d: Drawing) -> None:
    """Rotary turning.

    A query and a key are turned by the same angle, twice; the angle between them stays.
    """
    for turn in range(3):
        x = 24 + 106 * turn
        for angle, role in ((8, QUERY), (48, KEY)):
            a = radians(angle + 26 * turn)
            d.arrow((x, 136), (x + 88 * cos(a), 136 - 88 * sin(a)), edge=role.edge)
        arc = [radians(8 + 26 * turn + i * 4) for i in range(11)]
        d.line(*[(x + 34 * cos(a), 136 - 34 * sin(a)) for a in arc])
        d.text(x, 157, str(turn), LARGE)


@card("12")
def card_heads(d: Drawing) -> None:
    """Four heads.

    Four small heat maps side by side: one head looks at the token before, one at the token itself,
    one at the first token, one at all.
    """
    m = 5
    kinds = (
        lambda i, j: 4 * (j == i - 1),
        lambda i, j: 4 * (j == i),
        lambda i, j: 4 * (j == 0),
        lambda i, j: 0,
    )
    for k, kind in enumerate(kinds):
        x, y = 76 + 88 * (k % 2), 6 + 84 * (k // 2)
        rows = causal([[kind(i, j) for j in range(m)] for i in range(m)])
        heat_map(d, x, y + 2, 15, rows)


@card("13")
def card_simplex(d: Drawing) -> None:
    """The triangle of all weights of three keys.

    The corners put all weight on one key. The softmax of the scores lies inside, sparsemax lies on
    an edge, where one weight is exactly 0.
    """
    corners = (160, 18), (52, 138), (268, 138)

    def at(weights: Sequence[float]) -> tuple[float, float]:
        return (
            sum(w * c[0] for w, c in zip(weights, corners, strict=True)),
            sum(w * c[1] for w, c in zip(weights, corners, strict=True)),
        )

    scores = [0.0, 1.0, 1.4]
    soft, sparse = softmax(scores), sparsemax(scores)
    d.line(*corners, corners[0])
    d.line(at(soft), at(sparse), edge=PALE, dash="5 4")
    for corner in corners:
        d.disc(corner, 7, KEY.edge, KEY.edge)
    for weights in (soft, sparse):
        d.disc(at(weights), 7, WEIGHT.edge, WEIGHT.edge)
    d.text(at(soft)[0], at(soft)[1] - 20, "softmax", LARGE)
    d.text(at(sparse)[0], at(sparse)[1] + 18, "sparsemax", LARGE)


@card("14")
def card_test(d: Drawing) -> None:
    """A test that finds a fault.

    Two heat maps, what is expected and what came out; one cell is different, and outlined.
    """
    rows = [softmax([abs(i - j) * -1.5 for j in range(3)]) for i in range(3)]
    wrong = [list(row) for row in rows]
    wrong[1][2] = 0.95
    heat_map(d, 32, 34, 36, rows)
    heat_map(d, 180, 34, 36, wrong)
    d.text(160, 88, "≠", 28)
    d.parts.append(
        f'<rect x="252" y="70" width="36" height="36" fill="none" stroke="{INK}" stroke-width="4"/>'
    )


@card("15")
def card_same(d: Drawing) -> None:
    """The same weights in both packages.

    Two equal heat maps with an equals sign between them, one of the package d2l and one of
    d2l_attention.
    """
    rows = [softmax([abs(i - j) * -1.5 for j in range(3)]) for i in range(3)]
    heat_map(d, 32, 20, 36, rows)
    heat_map(d, 180, 20, 36, rows)
    d.text(160, 74, "=", 28)
    d.text(86, 150, "d2l", LARGE)
    d.text(234, 150, "d2l_attention", 15)


@diagram(568, 440)  # chapter 1
def soft_lookup(d: Drawing) -> None:
    """Exact look-up, nearest match and soft look-up.

    A query of 5.1 hours of sun meets a diary of five beds. The exact look-up gives every bed
    the weight 0 and has no answer. The nearest match gives the beans the weight 1. The soft
    look-up shares the weight between lettuce and beans.
    """
    water = {"mint": (3, 6), "lettuce": (4, 9), "beans": (6, 12), "tomato": (8, 20)}
    water["melon"] = (9, 26)
    query = 5.1
    keys, values = zip(*water.values(), strict=True)
    gaps = [(query - key) ** 2 for key in keys]
    kinds = {
        "exact": [float(gap == 0) for gap in gaps],
        "nearest": [float(gap == min(gaps)) for gap in gaps],
        "soft": softmax([-gap for gap in gaps]),
    }
    top = 136
    bottom = top + panel_height(len(keys))
    d.panel(256, 16, 112, "query", [f"{query} h"], QUERY)
    d.panel(24, top, 128, "keys", [f"{b} {k} h" for b, k in zip(water, keys, strict=True)], KEY)
    d.text(420, 112, "weights", SMALL, "start", SOFT)
    for i, (kind, weights) in enumerate(kinds.items()):
        x = 172 + i * 96
        d.arrow((312, 92), (312, 112), (x + 44, 112), (x + 44, top))
        texts = [number(w, 2 if 0 < w < 1 else 0) for w in weights]
        d.panel(x, top, 88, kind, texts, *map(shade, weights))
        d.arrow((x + 44, bottom), (x + 44, bottom + 32))
        answer = f"{number(dot(weights, values), 1)} L" if sum(weights) else "none"
        d.box(x, bottom + 32, 88, 44, EMPTY, f"**{answer}**")
    d.panel(464, top, 80, "values", [f"{v} L" for v in values], VALUE)
    d.text(24, bottom + 44, "**answer**", at="start")
    d.text(24, bottom + 66, "weights × values", SMALL, "start", SOFT)


@diagram(600, 590)  # chapter 2
def kernel_weights(d: Drawing) -> None:
    """A kernel's hill over the keys.

    Five signposts stand on a line. A Gaussian hill is centered at the query, one kilometer from
    the start. Its height over a signpost is the similarity; divided by their sum, the
    similarities are weights. Near signposts count much, far ones almost nothing.
    """
    posts = {"gate": (0.0, 8), "spring": (0.5, 9), "hut": (1.4, 12), "saddle": (3.8, 17)}
    posts["peak"] = (4.6, 21)
    query, base, height = 1.0, 214, 136
    keys, values = zip(*posts.values(), strict=True)
    similarity = [exp(-0.5 * (query - key) ** 2) for key in keys]
    weights = shares(similarity)

    def across(km: float) -> float:
        return 72 + 98 * km

    steps = [i / 20 for i in range(-8, 104)]
    hill = [(across(x), base - height * exp(-0.5 * (query - x) ** 2)) for x in steps]
    d.line((across(query), 60), (across(query), base), edge=QUERY.edge, dash="6 5")
    d.box(across(query) - 68, 20, 136, 40, QUERY, "query: 1 km")
    for i, (key, s) in enumerate(zip(keys, similarity, strict=True)):
        d.box(across(key) - 7, base - height * s, 14, height * s, WEIGHT)
        d.line((across(key), base), (across(key), base + 12), (156 + 90 * i, base + 50))
    d.line(*hill, edge=INK)
    d.arrow((24, base), (584, base))
    for key in keys:
        d.box(across(key) - 5, base - 5, 10, 10, KEY)
    d.text(584, base + 20, "km", SMALL, "end", SOFT)
    d.text(300, 118, "height of the hill = similarity", SMALL, "start", SOFT)
    rows = 264, 338, 392, 446
    for y, name in ((274, "keys"), (338, "similarity"), (392, "weights"), (446, "values")):
        d.text(24, y + 19, name, SMALL, "start")
    for i, (post, (key, value)) in enumerate(posts.items()):
        x = 116 + 90 * i
        d.box(x, rows[0], 80, 56, KEY, post, f"{key} km")
        d.box(x, rows[1], 80, 38, PLAIN, number(similarity[i]))
        d.box(x, rows[2], 80, 38, shade(weights[i]), number(weights[i]))
        d.box(x, rows[3], 80, 38, VALUE, str(value))
    d.text(336, 506, "weight = similarity ÷ sum of all similarities", SMALL, ink=SOFT)
    d.box(166, 526, 340, 44, EMPTY, f"**weighted sum: {number(dot(weights, values))} × 100 m**")


@diagram(560, 574)  # chapter 4
def padding(d: Drawing) -> None:
    """A minibatch with padding.

    Three sentences of four, two and three words are filled up with padding to four tokens.
    Their valid lengths 4, 2 and 3 give a mask that is true for words and false for padding.
    After the masked softmax the padding has weight 0, and each row sums to 1.
    """
    sentences = ["the kettle is singing", "tea anyone", "two sugars please"]
    scores = [0, 2, 1, 1], [2, 1, 3, 3], [1, 3, 2, 2]
    tokens = [sentence.split() for sentence in sentences]
    lens = [len(words) for words in tokens]
    m = max(lens)
    tops = 48, 232, 416
    heads = "tokens, the keys", "mask: position < length", "weights: masked softmax"
    for top, head in zip(tops, heads, strict=True):
        d.text(24, top - 20, f"**{head}**", at="start")
    d.text(500, tops[0] - 20, "**length**")
    for i, (words, length) in enumerate(zip(tokens, lens, strict=True)):
        weights = softmax(scores[i][:length])
        for j in range(m):
            x, y, real = 24 + 104 * j, 40 * i, j < length
            d.box(x, tops[0] + y, 104, 40, KEY if real else MASKED, words[j] if real else "<pad>")
            d.box(x, tops[1] + y, 104, 40, EMPTY if real else MASKED, str(real))
            role, text = (shade(weights[j]), number(weights[j])) if real else (MASKED, "0")
            d.box(x, tops[2] + y, 104, 40, role, text)
        d.box(464, tops[0] + 40 * i, 72, 40, PLAIN, str(length))
        d.text(500, tops[2] + 40 * i + 20, "sum 1", SMALL, ink=SOFT)
    d.arrow((500, tops[0] + 120), (500, tops[1] + 60), (440, tops[1] + 60))
    d.arrow((388, tops[1] + 120), (388, tops[2]))
    d.text(24, 554, "Hatched: padding.", SMALL, "start", SOFT)


@diagram(560, 486)  # chapter 5
def batched_product(d: Drawing) -> None:
    """A batched matrix product.

    Two evenings, each with a product of its own: three queries of dimension 2 times four
    transposed keys of dimension 2 give 3 times 4 scores. Nothing of Friday meets Saturday.
    """
    Q = [[[2, 0], [1, 1], [0, 1]], [[0, 2], [1, 0], [2, 1]]]
    K = [[[3, 0], [2, 1], [0, 2], [1, 1]], [[0, 3], [1, 0], [2, 2], [0, 1]]]
    for x, name in ((140, "queries **Q**"), (280, "keys **K**^{⊤}"), (464, "scores **S**")):
        d.text(x, 28, name)
    for e, day in enumerate(("Friday", "Saturday")):
        top = 86 + 158 * e
        d.text(24, top - 26, f"**{day}**", at="start")
        for i, friend in enumerate(("Ida", "Jon", "Kim")):
            d.text(92, top + 18 + 36 * i, friend, SMALL, "end")
        queries = [[str(x) for x in q] for q in Q[e]]
        keys = [[str(k[i]) for k in K[e]] for i in range(2)]
        scores = [[str(dot(q, k)) for k in K[e]] for q in Q[e]]
        d.cells(104, top, queries, 36, 36, QUERY)
        d.text(192, top + 54, "×")
        d.cells(208, top + 18, keys, 36, 36, KEY)
        d.text(372, top + 54, "=")
        d.cells(392, top, scores, 36, 36, PLAIN)
        if e == 0:
            for x, y, w, h in ((104, 0, 72, 36), (208, 18, 36, 72), (392, 0, 36, 36)):
                d.box(x, top + y, w, h, OUTLINE)
    b, n, size, m = len(Q), len(Q[0]), len(Q[0][0]), len(K[0])
    shapes = ("(b, n, d)", (b, n, size)), ("(b, d, m)", (b, size, m)), ("(b, n, m)", (b, n, m))
    for x, (letters, sizes) in zip((140, 280, 464), shapes, strict=True):
        d.text(x, 384, letters)
        d.text(x, 410, str(sizes), SMALL, ink=SOFT)
    for x, sign in ((192, "×"), (372, "→")):
        d.text(x, 384, sign)
    terms = " + ".join(f"{x}·{y}" for x, y in zip(Q[0][0], K[0][0], strict=True))
    first = f"Outlined: Ida on Friday, {terms} = {dot(Q[0][0], K[0][0])}"
    d.text(280, 454, first, SMALL, ink=SOFT)


@diagram(560, 636)  # chapter 5
def heads(d: Drawing) -> None:
    """Splitting into heads, and back.

    Three queries with four features each. A reshape cuts every query into two pieces of two
    features. A transpose collects the first pieces in head 0 and the second pieces in head 1.
    The way back takes the two steps in reverse order.
    """
    n, size, H = 3, 4, 2
    part = size // H
    x = [[str(10 * (i + 1) + j) for j in range(size)] for i in range(n)]
    other = Role("#F3B78D", QUERY.edge)  # head 1, in a darker tint than head 0
    d.text(24, 28, "Entry 23: query 2, feature 3.", SMALL, "start", SOFT)
    w, h, tops = 48, 36, (56, 238, 470)
    for i in range(n):
        for k, role in enumerate((QUERY, other)):
            piece = [x[i][k * part : (k + 1) * part]]
            d.cells(184 + 2 * w * k, tops[0] + h * i, piece, w, h, role)
            if k == 0:
                d.box(168, tops[1] + 56 * i - 8, 224, 48, EMPTY)
            d.cells(176 + 112 * k, tops[1] + 56 * i - 2, piece, w, h, role)
            if i == 0:
                d.box(148 + 144 * k, tops[2] - 8, 120, 124, EMPTY)
                d.text(208 + 144 * k, tops[2] + 136, f"head {k}", SMALL)
            d.cells(160 + 144 * k, tops[2] + h * i, piece, w, h, role)
        d.text(152, tops[0] + 18 + h * i, f"query {i + 1}", SMALL, "end")
        d.text(152, tops[1] + 16 + 56 * i, f"query {i + 1}", SMALL, "end")
    for y0, y1, step in ((164, 230, "reshape"), (390, 462, "transpose")):
        d.arrow((232, y0), (232, y1))
        d.text(220, (y0 + y1) / 2, step, SMALL, "end")
        d.arrow((328, y1), (328, y0))
        d.text(340, (y0 + y1) / 2, step + " back", SMALL, "start")
    shapes = {"(b, n, d)": (1, n, size), "(b, n, H, d/H)": (1, n, H, part)}
    shapes["(b, H, n, d/H)"] = (1, H, n, part)
    for y, (letters, sizes) in zip((110, 310, 524), shapes.items(), strict=True):
        d.text(484, y - 12, letters, SMALL)
        d.text(484, y + 12, str(sizes), SMALL, ink=SOFT)


@diagram(620, 632)  # chapter 6
def attention_layer(d: Drawing) -> None:
    """Scaled dot-product attention as a flow.

    Queries and keys make scaled scores. A mask hides the padding, a softmax turns scores into
    weights, dropout acts in training only, and the weights with the values make the weighted
    sum. On the left, one query and four foods, the last of them padding.
    """
    foods = ["bread", "apple", "lemon", "honey"]
    K = [[0, 0, 1, 1], [1, 1, 2, 0], [0, 2, 0, 0], [2, 0, 0, 1]]
    V = [[2, 1], [1, 1], [0, 2], [3, 4]]
    q, length = [2, 0, 4, 0], 3
    scores = [dot(q, k) / sqrt(len(q)) for k in K]
    weights = [*softmax(scores[:length]), 0.0]
    energy, price = (dot(weights, column) for column in zip(*V, strict=True))
    x, w, step = 308, 184, 88
    tops = [128 + step * i for i in range(5)]
    for left, name, shape, role in zip(
        (308, 404, 516), "QKV", ("n, d", "m, d", "m, v"), (QUERY, KEY, VALUE), strict=True
    ):
        d.box(left, 32, 88, 56, role, f"**{name}**", f"(b, {shape})")
    d.arrow((352, 88), (352, tops[0]))
    d.arrow((448, 88), (448, tops[0]))
    d.arrow((560, 88), (560, tops[4] + 28), (x + w, tops[4] + 28))
    boxes = {
        "**Q** **K**^{⊤} / √*d*": "scores (b, n, m)",
        "mask": "by valid lengths",
        "softmax": "weights (b, n, m)",
        "dropout": "in training only",
        "weighted sum": "(b, n, v)",
    }
    for top, (name, note) in zip(tops, boxes.items(), strict=True):
        d.box(x, top, w, 56, WEIGHT if name == "softmax" else PLAIN, name, note)
        d.arrow((400, top + 56), (400, top + step))
    d.box(x, tops[4] + step, w, 40, EMPTY, "**output**")
    d.text(24, 48, "one query, four foods;", SMALL, "start", SOFT)
    d.text(24, 72, "honey is padding", SMALL, "start", SOFT)
    for j, food in enumerate(foods):
        left, real = 24 + 64 * j, j < length
        d.text(left + 32, 108, food, SMALL)
        d.box(left, tops[0] + 8, 64, 40, PLAIN, number(scores[j], 1))
        text = number(scores[j], 1) if real else "–"
        d.box(left, tops[1] + 8, 64, 40, PLAIN if real else MASKED, text)
        role = shade(weights[j]) if real else MASKED
        d.box(left, tops[2] + 8, 64, 40, role, number(weights[j], 2 if real else 0))
        for i, value in enumerate(V[j]):
            y = tops[3] + 32 + 36 * i
            d.box(left, y, 64, 36, VALUE if real else MASKED, str(value))
    d.arrow((152, tops[0] + 48), (152, tops[1] + 8))
    d.arrow((152, tops[1] + 48), (152, tops[2] + 8))
    d.text(24, tops[3] + 14, "× values: energy, price", SMALL, "start", SOFT)
    d.arrow((152, tops[3] + 104), (152, tops[4] + step))
    answer = f"energy {number(energy)}, price {number(price)}"
    d.box(24, tops[4] + step, 256, 40, EMPTY, answer)


@diagram(560, 520)  # chapter 7
def additive_network(d: Drawing) -> None:
    """The additive score as a network.

    Three features of a query and two of a key enter a hidden layer of two units. Each unit adds
    its weighted inputs and takes the tanh. A weighted sum of the units is the score.
    """
    q = {"tired": 2, "thirsty": 0, "cold": 1}
    k = {"sweet": 2, "juicy": 0}
    W = [[0, -2, 0, 1, 0], [-2, 0, 0, 0, 1]]  # [W_q | W_k], as in (7.2)
    w_v = [3, 3]
    inside = [dot(row, [*q.values(), *k.values()]) for row in W]
    score = dot(w_v, [tanh(x) for x in inside])
    d.text(170, 28, "query **q**: runner")
    d.text(440, 28, "key **k**: honey")
    lefts, hidden = (24, 124, 224, 344, 444), (164, 396)
    thin, bold = [], []
    for i, row in enumerate(W):
        for j, weight in enumerate(row):
            (bold if weight else thin).append((lefts[j] + 46, hidden[i] + 28 * (j - 2), weight))
    for x0, x1, _ in thin:
        d.line((x0, 104), (x1, 250), edge="#D5D5D5")
    for x0, x1, _ in bold:
        d.arrow((x0, 104), (x1, 250))
    for x0, x1, weight in bold:  # over all arrows
        d.label(x0 + 0.18 * (x1 - x0), 104 + 0.18 * 146, number(weight, 0))
    for left, (name, x) in zip(lefts, [*q.items(), *k.items()], strict=True):
        d.box(left, 48, 92, 56, KEY if name in k else QUERY, name, str(x))
    for x, value, weight in zip(hidden, inside, w_v, strict=True):
        d.box(x - 92, 250, 184, 44, PLAIN, f"tanh({number(value, 0)}) = {number(tanh(value))}")
        end = 280 + (x - 280) * 0.5
        d.arrow((x, 294), (end, 408))
        d.label((x + end) / 2, 351, number(weight, 0))
    d.box(188, 408, 184, 44, EMPTY, f"**score {number(score)}**")
    d.text(24, 186, "**W**_{q}", at="start")
    d.text(536, 186, "**W**_{k}", at="end")
    d.text(24, 351, "**w**_{v}", at="start")
    d.text(280, 488, "*a* = **w**_{v}^{⊤} tanh(**W**_{q} **q** + **W**_{k} **k**)", TEXT)
    d.text(536, 351, "pale: weight 0", SMALL, "end", SOFT)


SIX_SCORES = """
dot product        | **q** · **k**           | **q**        | · | **k**                | nothing
scaled dot product | **q** · **k** / √*d*    | **q** / √*d* | · | **k**                | nothing
distance | −‖**q** − **k**‖² / (2√*d*) | [**q**; 1] / √*d*  | · | [**k**; −½‖**k**‖²] | nothing
cosine   | cos(**q**, **k**) / *τ*     | **q** / (*τ* ‖**q**‖) | · | **k** / ‖**k**‖  | *τ*
bilinear | **q**^{⊤}**M** **k** / √*d*_{k} | **M**^{⊤}**q** / √*d*_{k} | · | **k**    | **M**
additive | **w**_{v}^{⊤} tanh(**W**_{q} **q** + **W**_{k} **k**) \
    | **W**_{q} **q** | + | **W**_{k} **k** | **W**_{q}, **W**_{k}, **w**_{v}
"""


@diagram(560, 604)  # chapter 8
def five_scores(d: Drawing) -> None:
    """Where each score sits.

    Six scores in six rows. All but the last map query and key by themselves and take a dot
    product; the additive score adds them and takes a tanh. Dot products and distance learn
    nothing, cosine a temperature, bilinear a matrix, additive two matrices and a vector.
    """
    rows = [[cell.strip() for cell in row.split("|")] for row in SIX_SCORES.strip().splitlines()]
    for x, head in ((106, "query side"), (294, "key side"), (466, "learned")):
        d.text(x, 26, head, SMALL, ink=SOFT)
    for i, (name, formula, left, sign, right, learned) in enumerate(rows):
        y = 48 + 88 * i
        d.text(24, y + 14, f"**{name}**", at="start")
        d.text(224, y + 14, formula, at="start")
        d.box(24, y + 30, 164, 40, QUERY, left)
        d.text(206, y + 50, f"**{sign}**")
        d.box(224, y + 30, 140, 40, KEY, right)
        d.box(396, y + 30, 140, 40, EMPTY if learned == "nothing" else PLAIN, learned)
    d.text(24, 584, "distance: up to a term that the softmax cancels", SMALL, "start", SOFT)


@diagram(608, 600)  # chapter 10
def encoder_decoder(d: Drawing) -> None:
    """Encoder and decoder with attention.

    An encoder turns the eight characters of may 1999 into eight states, which are keys and
    values. The decoder's state, which has written 1999 and a hyphen, is the query. Weights and
    states make the context; state and context make the next state and the next token, 0.
    """
    source, target, step = "may 1999", "1999-05", 5
    m, x, w = len(source), 120, 58
    right, middle = x + w * m, x + w * m / 2
    tops = 24, 96, 168, 240
    for top, name in zip(tops, ("input", "encoder", "states", "weights"), strict=True):
        d.text(24, top + 20, name, at="start")
    d.box(x, tops[1], right - x - 8, 40, PLAIN, "GRU, from left and from right")
    d.box(x - 8, tops[3] - 8, right - x + 8, 56, EMPTY)
    for i, character in enumerate(source):
        left, center = x + w * i, x + w * i + 25
        d.box(left, tops[0], 50, 40, PLAIN, character.replace(" ", "␣"))
        d.box(left, tops[2], 50, 40, KEY)
        d.parts.append(
            f'<rect x="{left + 25}" y="{tops[2] + 1}" width="24" height="38" fill="{VALUE.fill}"/>'
        )
        d.text(left + 13, tops[2] + 20, "**k**", SMALL)
        d.text(left + 37, tops[2] + 20, "**v**", SMALL)
        d.box(left, tops[3], 50, 40, WEIGHT, f"*α*_{{{i + 1}}}")
        for top, down in zip(tops[:3], (72, 72, 64), strict=True):
            d.arrow((center, top + 40), (center, top + down))
    d.box(x, 328, 216, 60, QUERY, "query: decoder state", f"**s**_{{t−1}}, wrote {target[:step]}")
    d.arrow((x + 108, 328), (x + 108, 288))
    d.text(x + 96, 308, "scores", SMALL, "end", SOFT)
    d.box(right - 224, 328, 216, 60, VALUE, "context **c**_{t}", "weighted sum of states")
    d.arrow((right - 116, 288), (right - 116, 328))
    d.box(middle - 112, 444, 216, 44, PLAIN, "next state **s**_{t}")
    d.arrow((x + 108, 388), (x + 108, 416), (middle - 40, 416), (middle - 40, 444))
    d.arrow((right - 116, 388), (right - 116, 416), (middle + 32, 416), (middle + 32, 444))
    d.arrow((middle - 4, 488), (middle - 4, 528))
    d.box(middle - 112, 528, 216, 44, EMPTY, f"**next token: {target[step]}**")
    d.text(24, 358, "decoder", at="start")


@diagram(608, 480)  # chapter 11
def positions(d: Drawing) -> None:
    """Where positions enter self-attention.

    Inputs become queries and keys, these become scores, a mask and a softmax make weights. Sines
    or a learned table are added to the inputs, rotary turns queries and keys, a relative bias or
    ALiBi is added to the scores, and a causal mask leaves query i with i + 1 keys.
    """
    x, w, side, step, height = 24, 216, 304, 96, 56
    tops = [24 + step * i for i in range(5)]
    d.box(x, tops[0], w, height, PLAIN, "inputs", "(n, d)")
    d.box(x, tops[1], w / 2 - 8, height, QUERY, "queries", "(n, d)")
    d.box(x + w / 2 + 8, tops[1], w / 2 - 8, height, KEY, "keys", "(m, d)")
    d.box(x, tops[2], w, height, PLAIN, "scores", "(n, m)")
    d.box(x, tops[3], w, height, PLAIN, "mask")
    d.box(x, tops[4], w, height, WEIGHT, "weights", "softmax, (n, m)")
    for top in tops[:2]:
        for middle in (x + w / 4 - 4, x + 3 * w / 4 + 4):
            d.arrow((middle, top + height), (middle, top + step))
    for top in tops[2:4]:
        d.arrow((x + w / 2, top + height), (x + w / 2, top + step))
    kinds = {
        "sinusoidal, learned": "add a vector of position *i*",
        "rotary": "turns both, by *i* and by *j*",
        "relative bias, ALiBi": "add a number for *i* − *j*",
        "causal mask": "leaves query *i* with *i* + 1 keys",
    }
    for top, (name, change) in zip(tops, kinds.items(), strict=False):
        d.box(side, top, 280, height, EMPTY, f"**{name}**", change)
        d.arrow((side, top + height / 2), (x + w, top + height / 2))


@diagram(640, 468)  # chapter 13
def two_orders(d: Drawing) -> None:
    """One product in two orders.

    Features of the queries (n, r), of the keys (r, m) after a transpose, and values (m, v). Queries
    times keys first gives a matrix of n by m in the middle, which grows with the square of the
    length. Keys times values first gives a matrix of r by v, whatever the length is.
    """
    long, wide, narrow = 132, 44, 60  # n and m, r, v

    def matrix(x: float, y: float, w: float, h: float, role: Role, name: str, size: str) -> None:
        d.box(x, y, w, h, role)
        d.text(x + w / 2, y + h / 2, name)
        d.text(x + w / 2, y + h + 16, size, SMALL, ink=SOFT)

    for row, (top, head) in enumerate(((16, "queries × keys first"), (248, "keys × values first"))):
        d.text(24, top + 12, f"**{head}**", at="start")
        y = top + 40
        middle = y + long / 2
        matrix(36, y, wide, long, QUERY, "**Q′**", "(n, r)")
        matrix(104, middle - wide / 2, long, wide, KEY, "**K′**^{T}", "(r, m)")
        matrix(260, y, narrow, long, VALUE, "**V**", "(m, v)")
        left, right = (28, 244) if row == 0 else (96, 328)
        for x, away in ((left, -6), (right, 6)):  # brackets
            low = y + long + 28
            d.line((x, y - 8), (x + away, y - 8), (x + away, low), (x, low))
        d.text(360, middle, "=")
        if row == 0:
            matrix(388, y, long, long, WEIGHT, "**Q′K′**^{T}", "(n, m)")
            matrix(548, y, narrow, long, VALUE, "**V**", "(m, v)")
        else:
            matrix(416, y, wide, long, QUERY, "**Q′**", "(n, r)")
            matrix(496, middle - wide / 2, narrow + 32, wide, PLAIN, "**K′**^{T}**V**", "(r, v)")


@diagram(560, 580)  # chapter 12
def transformer_block(d: Drawing) -> None:
    """A Transformer block.

    The tokens go straight down from the input to the output, through two sums. Before the first
    sum, a normalized copy goes to queries, keys and values, through two heads and a last
    projection, and is added to the tokens. Before the second sum, another normalized copy goes
    through the feed-forward network, which treats each token by itself, and is added, too.
    """
    stream, left, w = 80, 176, 360
    d.box(24, 16, 112, 44, EMPTY, "tokens **X**")
    d.box(24, 516, 112, 44, EMPTY, "next block")
    sums = 336, 464
    d.arrow((stream, 60), (stream, sums[0] - 16))
    d.arrow((stream, sums[0] + 16), (stream, sums[1] - 16))
    d.arrow((stream, sums[1] + 16), (stream, 516))
    for y in sums:
        d.box(stream - 16, y - 16, 32, 32, EMPTY, "+")
        d.arrow((left, y), (stream + 16, y))
    for y in (84, 392):
        d.arrow((stream, y), (left, y))
        d.box(left, y - 20, w, 40, PLAIN, "norm")
    roles = {"queries": (QUERY, "q"), "keys": (KEY, "k"), "values": (VALUE, "v")}
    for i, (name, (role, letter)) in enumerate(roles.items()):
        x = left + 124 * i
        d.arrow((x + 56, 104), (x + 56, 136))
        d.box(x, 136, 112, 56, role, f"**W**_{{{letter}}}", name)
        d.arrow((x + 56, 192), (x + 56, 216))
    d.box(left, 216, w, 72, EMPTY)
    for i in range(2):
        d.box(left + 8 + 176 * i, 224, 168, 56, WEIGHT, f"head {i + 1}", "softmax, sum")
    d.arrow((left + w / 2, 288), (left + w / 2, 316))
    d.box(left, 316, w, 40, PLAIN, "join the heads, **W**_{o}")
    d.arrow((left + w / 2, 412), (left + w / 2, 436))
    d.box(left, 436, w, 56, PLAIN, "feed-forward network", "each token by itself")
    d.text(left + w / 2, 512, "Only the heads look at other tokens.", SMALL, ink=SOFT)


def main() -> None:
    """Write all diagrams beside this file."""
    for name, drawn in DIAGRAMS.items():
        Path(__file__).with_name(f"{name}.svg").write_text(drawn(), encoding="utf-8")


if __name__ == "__main__":
    main()
