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
from itertools import pairwise
from math import cos, exp, log, pi, radians, sin, sqrt, tanh
from pathlib import Path
from typing import NamedTuple

CARD, INK, SOFT, PALE = "#FFFFFF", "#222222", "#555555", "#B4B4B4"
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
DARK = Role("#D4D4D4", "#555555")
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

    def disk(self, x: float, y: float, r: float, fill: str, edge: str = "none") -> None:
        """Draw a filled circle."""
        self.parts.append(
            f'<circle cx="{x:.5g}" cy="{y:.5g}" r="{r:.3g}" fill="{fill}" stroke="{edge}" '
            f'stroke-width="{STROKE}"/>'
        )

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
GRAY = Role("#C9C9C9", SOFT)


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


DIARY = {"mint": (3, 6, 0.5), "lettuce": (4, 9, 2.0), "beans": (6, 12, 3.5)}
DIARY |= {"tomato": (8, 20, 8.0), "melon": (9, 26, 5.0)}  # hours, liters, kilograms


@diagram(560, 268)  # chapter 1
def step_to_curve(d: Drawing) -> None:
    """From a step to a curve.

    Liters of water over hours of sun, three times. The exact look-up answers at five points and
    has no answer at 5 hours. The nearest match is a staircase that jumps there. The weighted sum is
    a smooth curve through all hours, and at 5 hours it answers 10.4 liters.
    """
    hours, liters, _ = zip(*DIARY.values(), strict=True)
    top, base, query = 48, 206, 5

    def blend(x: float) -> float:
        return dot(softmax([-((x - hour) ** 2) for hour in hours]), liters)

    steps = [2.0, *((a + b) / 2 for a, b in pairwise(hours)), 10.0]
    curves = {
        "exact": [],
        "nearest": [[(a, y), (b, y)] for a, b, y in zip(steps, steps[1:], liters, strict=False)],
        "weighted sum": [[(x / 10, blend(x / 10)) for x in range(20, 101)]],
    }
    notes = "no answer", "a jump, 9 to 12", f"{number(blend(query), 1)} liters"
    for i, ((kind, parts), note) in enumerate(zip(curves.items(), notes, strict=True)):
        left = 24 + 180 * i

        def at(x: float, y: float, left: float = left) -> tuple[float, float]:
            return left + 19 * (x - 2), base - 5.6 * y

        d.text(left + 76, 24, f"**{kind}**")
        d.line((left, top), (left, base), (left + 152, base))
        d.line(at(query, 0), at(query, 28), edge=QUERY.edge, dash="6 5")
        for part in parts:
            d.line(*(at(x, y) for x, y in part), edge=INK)
        for hour, liter in zip(hours, liters, strict=True):
            d.disk(*at(hour, liter), 5, VALUE.fill, VALUE.edge)
        if kind == "weighted sum":
            d.disk(*at(query, blend(query)), 5, INK)
        d.text(left + 76, base + 20, "hours of sun", TINY, ink=SOFT)
        d.text(left + 76, base + 44, f"at 5 h: {note}", TINY)
    d.text(28, 60, "liters", TINY, "start", SOFT)


@diagram(560, 262)  # chapter 1
def scores_to_weights(d: Drawing) -> None:
    """Two ways from scores to weights.

    Bars for five beds. The scores are negative, the longest bar is the melon's. Divided by their
    sum they are positive, and the melon has the longest bar. After the softmax lettuce and beans
    have long bars, and the melon has none.
    """
    scores = [-float((5 - hour) ** 2) for hour, _, _ in DIARY.values()]
    columns = {"scores": scores, "scores ÷ sum": shares(scores), "softmax": softmax(scores)}
    for i, bed in enumerate(DIARY):
        d.box(24, 48 + 38 * i, 96, 30, KEY)
        d.text(72, 63 + 38 * i, bed, SMALL)
    for j, (name, numbers) in enumerate(columns.items()):
        left = 146 + 138 * j
        d.text(left + 58, 24, f"**{name}**")
        zero = left + 84 if j == 0 else left
        d.line((zero, 42), (zero, 238), edge=SOFT)
        for i, x in enumerate(numbers):
            width = 5 * x if j == 0 else 116 * x
            role = PLAIN if j == 0 else shade(x)
            if abs(width) > 1:
                d.box(min(zero, zero + width), 48 + 38 * i, abs(width), 30, role)
            end = (zero + 6, "start") if j == 0 else (zero + width + 6, "start")
            d.text(end[0], 63 + 38 * i, number(x, 0 if j == 0 else 2), TINY, end[1])


@diagram(560, 276)  # chapter 1
def kinds_of_weights(d: Drawing) -> None:
    """Where five kinds of weights lead.

    Five lines of liters from minus 16 to 28, one for each kind of weights, with a bar from the
    smallest to the largest value that has a weight. The answers of one-hot, uniform and convex
    weights lie on their bar, that of conic weights to the right of it, and that of weights of any
    sign to the left.
    """
    liters = [liter for _, liter, _ in DIARY.values()]
    kinds = {
        "one-hot": [0, 0, 1, 0, 0],
        "uniform": [0.2] * 5,
        "convex": [0.1, 0.4, 0.4, 0.1, 0],
        "conic": [0, 1, 1, 0, 0],
        "any sign": [2, 0, 0, 0, -1],
    }

    def across(x: float) -> float:
        return 260 + 9.6 * x

    for i, (kind, weights) in enumerate(kinds.items()):
        y = 34 + 42 * i
        used = [across(x) for x, weight in zip(liters, weights, strict=True) if weight]
        answer = dot(weights, liters)
        d.text(20, y, kind, SMALL, "start")
        d.line((across(-16), y), (across(28), y), edge="#D5D5D5")
        d.box(min(used) - 9, y - 9, max(used) - min(used) + 18, 18, Role(VALUE.fill, "none"))
        for x in liters:
            d.disk(across(x), y, 4, VALUE.edge if across(x) in used else "#D5D5D5")
        d.line((across(answer), y - 14), (across(answer), y + 14), edge=INK)
        d.text(across(answer), y - 20, number(answer, 1), TINY)
    for x in (-10, 0, 10, 20):
        d.line((across(x), 228), (across(x), 234))
        d.text(across(x), 244, number(x, 0), TINY, ink=SOFT)
    d.line((across(-16), 228), (across(28), 228))
    d.text(536, 262, "liters", TINY, "end", SOFT)


@diagram(560, 290)  # chapter 1, exercise 2
def wanted_pair(d: Drawing) -> None:
    """Five values and a wanted pair.

    Kilograms over liters. The values of the beds, mint, lettuce, beans, tomato and melon, are
    dots. The wanted pair of 20 liters and 2 kilograms is a cross to the right and below.
    """

    def at(x: float, y: float) -> tuple[float, float]:
        return 72 + 16.5 * x, 246 - 25 * y

    d.line(at(0, 9), at(0, 0), at(28.5, 0))
    for x in (0, 10, 20):
        d.text(at(x, 0)[0], 262, str(x), TINY, ink=SOFT)
    for y in (2, 4, 6, 8):
        d.text(60, at(0, y)[1], str(y), TINY, "end", SOFT)
    d.text(542, 276, "liters of water", TINY, "end", SOFT)
    d.text(80, 30, "kilograms harvested", TINY, "start", SOFT)
    for bed, (_, liters, kilograms) in DIARY.items():
        x, y = at(liters, kilograms)
        d.disk(x, y, 6, VALUE.fill, VALUE.edge)
        d.text(x, y - 18, bed, SMALL)
    x, y = at(20, 2)
    d.line((x - 7, y - 7), (x + 7, y + 7), edge=INK)
    d.line((x - 7, y + 7), (x + 7, y - 7), edge=INK)
    d.text(x + 14, y, "wanted", SMALL, "start")


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


POSTS = {"gate": 0.0, "spring": 0.5, "hut": 1.4, "saddle": 3.8, "peak": 4.6}  # kilometers


@diagram(560, 250)  # chapter 2
def no_key_in_reach(d: Drawing) -> None:
    """A query with no key in reach.

    Five signposts stand on a line, and the query at 2.7 kilometers. Epanechnikov's arch over the
    query ends one kilometer to the left and to the right, before the next posts. The Gaussian hill
    is higher than zero over all of them.
    """
    query, base, height = 2.7, 186, 120

    def across(km: float) -> float:
        return 40 + 98 * km

    left, right = across(query - 1), across(query + 1)
    d.box(left, 40, right - left, base - 40, Role("#F4F4F4", "none"))
    steps = [i / 20 for i in range(0, 104)]
    hill = [(across(x), base - height * exp(-0.5 * (x - query) ** 2)) for x in steps]
    arch = [
        (across(query + u / 20), base - 0.75 * height * (1 - (u / 20) ** 2)) for u in range(-20, 21)
    ]
    d.line((across(query), 48), (across(query), base), edge=QUERY.edge, dash="6 5")
    d.line(*hill, edge=INK)
    d.line((across(0), base), *arch, (across(5.15), base), edge=SOFT, dash="3 3")
    d.arrow((24, base), (548, base))
    for post, km in POSTS.items():
        d.box(across(km) - 5, base - 5, 10, 10, KEY)
        d.text(across(km), base + (20 if post != "spring" else 38), post, SMALL)
    d.text(across(query), 26, "query: 2.7 km", SMALL)
    d.text(132, 96, "Gaussian", SMALL, ink=INK)
    d.text(across(query), base + 20, "no post", SMALL, ink=SOFT)
    d.text(536, 234, "dotted: Epanechnikov’s kernel", SMALL, "end", SOFT)


@diagram(560, 226)  # chapter 2, exercise 3
def own_bandwidth(d: Drawing) -> None:
    """A bandwidth for each query.

    Five signposts on a line, and under it one line for each of the queries at 1, 2.7 and 4
    kilometers. On each, a bar reaches from the query to both sides, as far as the second-nearest
    post: 0.5, 1.3 and 0.6 kilometers.
    """

    def across(km: float) -> float:
        return 48 + 98 * km

    for post, km in POSTS.items():
        d.line((across(km), 34), (across(km), 206), edge="#D5D5D5")
        d.box(across(km) - 5, 40, 10, 10, KEY)
        d.text(across(km), 20, post, SMALL)
    d.line((24, 45), (544, 45))
    for i, query in enumerate((1.0, 2.7, 4.0)):
        y = 86 + 50 * i
        s = sorted(abs(query - km) for km in POSTS.values())[1]
        d.line((across(query - s), y), (across(query + s), y), edge=INK)
        for end in (query - s, query + s):
            d.line((across(end), y - 8), (across(end), y + 8), edge=INK)
        d.disk(across(query), y, 6, QUERY.fill, QUERY.edge)
        d.text(across(query), y + 20, f"{query:g} km: s = {s:.1f}", TINY)


STATIONS = {"bridge": (1, 0), "chapel": (0, 1), "mill": (1, 1), "summit": (3, 3)}
DEGREES = {"bridge": 14, "chapel": 13, "mill": 12, "summit": 2}
ADA, BEN = (1, 0.5), (0, 2)


@diagram(560, 300)  # chapter 3
def stations_map(d: Drawing) -> None:
    """A map of the stations and the hikers.

    The village is in the lower left corner. Bridge, chapel and mill lie about one kilometer from
    it, the summit lies three kilometers east and three north. Ada stands between bridge and mill,
    Ben two kilometers north of the village.
    """

    def at(east: float, north: float) -> tuple[float, float]:
        return 56 + 68 * east, 246 - 68 * north

    for km in range(4):
        d.line(at(km, 0), at(km, 3.2), edge="#E2E2E2")
        d.line(at(0, km), at(3.4, km), edge="#E2E2E2")
        d.text(at(km, 0)[0], 264, str(km), TINY, ink=SOFT)
        d.text(40, at(0, km)[1], str(km), TINY, "end", SOFT)
    d.text(172, 284, "kilometers east", TINY, ink=SOFT)
    d.text(20, 16, "north", TINY, "start", SOFT)
    for name, place in STATIONS.items():
        x, y = at(*place)
        d.box(x - 7, y - 7, 14, 14, KEY)
        below = 20 if name == "chapel" else -14
        d.text(x + 12, y + below, f"{name} {DEGREES[name]}°", TINY, "start")
    for name, place in (("Ada", ADA), ("Ben", BEN)):
        x, y = at(*place)
        d.disk(x, y, 7, QUERY.fill, QUERY.edge)
        d.text(x + 14, y, name, TINY, "start")
    rows = (("queries", "where hikers stand", QUERY), ("keys", "where stations stand", KEY))
    rows += (("values", "temperatures there", VALUE),)
    for i, (name, note, role) in enumerate(rows):
        d.box(348, 46 + 72 * i, 192, 56, role, f"**{name}**", note)


def stretch(normal: Sequence[float], level: float, w: float) -> list[tuple[float, float]]:
    """Return the ends of the line normal · x = level in the square from (0, 0) to (w, w)."""
    a, b = normal
    ends = [(x, (level - a * x) / b) for x in (0, w)] + [((level - b * y) / a, y) for y in (0, w)]
    return sorted((x, y) for x, y in ends if -1e-9 <= x <= w + 1e-9 and -1e-9 <= y <= w + 1e-9)


@diagram(560, 340)  # chapter 3
def near_or_far(d: Drawing) -> None:
    """Distance and dot product on the map.

    Two maps with Ada and the four stations, in darker blue the more weight a station gets. On the
    left, circles around Ada go through the stations: bridge and mill lie on the smallest. On the
    right, parallel lines across Ada's direction go through the stations: the summit lies on the
    farthest and has almost all the weight.
    """
    w, size, base = 3.6, 69, 284
    gaps = {
        name: sum((q - k) ** 2 for q, k in zip(ADA, key, strict=True))
        for name, key in STATIONS.items()
    }
    dots = {name: dot(ADA, key) for name, key in STATIONS.items()}
    sides = (("near to Ada?", [-0.5 * gap for gap in gaps.values()]),)
    sides += (("far in her direction?", list(dots.values())),)
    for side, (head, scores) in enumerate(sides):
        left = 24 + 276 * side

        def at(east: float, north: float, left: float = left) -> tuple[float, float]:
            return left + size * east, base - size * north

        d.box(left, base - w * size, w * size, w * size, Role(CARD, PALE))
        d.text(left + w * size / 2, 18, f"**{head}**")
        if side == 0:
            for radius in sorted({sqrt(gap) for gap in gaps.values()}):
                turn = [
                    (ADA[0] + radius * cos(t / 90), ADA[1] + radius * sin(t / 90))
                    for t in range(567)
                ]
                for part in inside(turn, w):
                    d.line(*(at(*point) for point in part), edge=PALE)
        else:
            for level in dots.values():
                d.line(*(at(*point) for point in stretch(ADA, level, w)), edge=PALE)
            d.arrow(at(0, 0), at(*ADA))
        for (name, key), weight in zip(STATIONS.items(), softmax(scores), strict=True):
            x, y = at(*key)
            d.box(x - 8, y - 8, 16, 16, shade(weight))
            side_of, shift = {
                "bridge": ("start", (12, -12)),
                "chapel": ("start", (-4, -18)),
                "mill": ("start", (12, -10)),
                "summit": ("end", (12, -20)),
            }[name]
            d.text(x + shift[0], y + shift[1], f"{name} {number(weight)}", TINY, side_of)
        d.disk(*at(*ADA), 7, QUERY.fill, QUERY.edge)
        d.text(
            left + w * size / 2,
            308,
            "by distance" if side == 0 else "by dot product",
            SMALL,
            ink=SOFT,
        )
    d.text(24, 328, "Numbers: Ada’s weights.", TINY, "start", SOFT)


def inside(points: Sequence[tuple[float, float]], w: float) -> list[list[tuple[float, float]]]:
    """Return the parts of a curve that lie in the square from (0, 0) to (w, w)."""
    parts: list[list[tuple[float, float]]] = [[]]
    for x, y in points:
        if 0 <= x <= w and 0 <= y <= w:
            parts[-1].append((x, y))
        elif parts[-1]:
            parts.append([])
    return [part for part in parts if len(part) > 1]


@diagram(560, 270)  # chapter 3
def keys_on_a_circle(d: Drawing) -> None:
    """Keys of equal length.

    The stations lie on a circle around the village, mill and summit at the same point. A circle
    around Ada and a straight line across her direction both go through the bridge, and they meet
    the circle of keys in the same two points. Mill and summit lie on the near side of both.
    """
    size, middle = 132, (110, 178)

    def at(east: float, north: float) -> tuple[float, float]:
        return middle[0] + size * east, middle[1] - size * north

    turns = [t / 40 for t in range(252)]
    d.line(*(at(cos(t - 0.6), sin(t - 0.6)) for t in turns if t < 2.8), edge=KEY.edge)
    radius = 0.5  # from Ada to the bridge
    around = [(ADA[0] + radius * cos(t), ADA[1] + radius * sin(t)) for t in [*turns, 0]]
    d.line(*(at(*point) for point in around), edge=INK)
    d.line(at(0.4, 1.2), at(1.3, -0.6), edge=SOFT, dash="6 5")
    d.arrow(at(0, 0), at(*ADA))
    places = {"bridge": (1, 0), "chapel": (0, 1), "mill, summit": (sqrt(0.5), sqrt(0.5))}
    for name, key in places.items():
        x, y = at(*key)
        d.box(x - 7, y - 7, 14, 14, KEY)
        shift = {"bridge": (14, 12), "chapel": (-10, -18), "mill, summit": (-14, 4)}[name]
        d.text(x + shift[0], y + shift[1], name, TINY, "end" if name[0] == "m" else "start")
    d.disk(*at(*ADA), 7, QUERY.fill, QUERY.edge)
    d.text(at(*ADA)[0] + 14, at(*ADA)[1] - 6, "Ada", TINY, "start")
    d.disk(*at(0, 0), 4, SOFT)
    d.text(at(0, 0)[0] - 12, at(0, 0)[1] + 14, "village", TINY, ink=SOFT)
    for i, line in enumerate(
        (
            "solid: as near to Ada",
            "as the bridge",
            "",
            "dashed: the bridge’s",
            "dot product with Ada",
        )
    ):
        d.text(348, 96 + 22 * i, line, SMALL, "start", SOFT)


FITS = {
    "animal dog horse cat cow": "tired hungry sleepy afraid",
    "street bridge river path field": "icy wide steep muddy",
    "bread soup apple cheese melon": "stale salty sweet ripe",
    "knife saw axe key bell": "rusty blunt broken loose",
}


@diagram(560, 344)  # chapter 3
def seen_pairs(d: Drawing) -> None:
    """Which pairs of noun and adjective are in the training.

    A table of sixteen adjectives and twenty nouns. Adjectives fit the nouns of one of four blocks
    along the diagonal. In each block one cell of every column is hatched: this pair is kept away
    from the training.
    """
    w, h, left, top = 22, 17, 92, 44
    nouns = " ".join(FITS).split()
    adjectives = " ".join(FITS.values()).split()
    for j, some in enumerate(FITS):
        first, *_, last = some.split()
        d.text(left + w * (5 * j + 2.5), 24, f"{first} … {last}", TINY)
    for i, z in enumerate(adjectives):
        d.text(left - 8, top + h * (i + 0.5), z, TINY, "end")
        for j in range(len(nouns)):
            if i // 4 == j // 5:
                apart = (j - i) % 4 == 0
                d.box(left + w * j, top + h * i, w, h, MASKED if apart else Role("#D5D5D5", SOFT))
    d.text(
        left + w * 20,
        330,
        "gray: in the training; hatched: in new sentences only",
        TINY,
        "end",
        SOFT,
    )


@diagram(560, 236)  # chapter 3, exercise 5
def jacobians(d: Drawing) -> None:
    """Three Jacobians of a softmax.

    Squares of eight by eight entries. If one key has all the weight, all entries are 0. If two
    keys share it, four entries are not 0, dark, with plus on the diagonal and minus beside it. If
    eight keys share it, all 64 are not 0, and pale.
    """
    cell = 20
    for k, r in enumerate((1, 2, 8)):
        left, top = 24 + 180 * k, 40
        d.text(left + 4 * cell, 20, f"*r* = {r}")
        for i in range(8):
            for j in range(8):
                x = (i == j) / r - 1 / r**2 if max(i, j) < r else 0.0
                part = round(255 - 440 * abs(x))
                role = Role(f"#{part:02X}{part:02X}{part:02X}", "#C8C8C8")
                d.box(left + cell * j, top + cell * i, cell, cell, role)
                if x:
                    d.text(
                        left + cell * (j + 0.5), top + cell * (i + 0.5), "+" if x > 0 else "−", TINY
                    )
    d.text(24, 220, "The darker, the larger the entry; white: 0.", TINY, "start", SOFT)


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


@diagram(560, 350)  # chapter 4
def nan_backward(d: Drawing) -> None:
    """How a NaN reaches every parameter.

    Three rows of scores go through the softmax, and only the first enters the loss. The third row
    is fully masked and NaN. On the way back it gets the gradient 0 from the loss, and 0 times NaN
    is NaN. The sum over the rows carries that to the scale.
    """
    nan, names = "NaN", ("row 1", "row 2", "row 3, fully masked")
    for x, head in ((202, "weights"), (346, "gradient of them"), (484, "gradient of scores")):
        d.text(x, 58, head, TINY, ink=SOFT)
    d.text(202, 30, "**forward**")
    d.text(418, 30, "**backward**")
    back = ("a number", "0", "0"), ("a number", "0", f"0 · {nan} = {nan}")
    for i, name in enumerate(names):
        y = 78 + 58 * i
        d.text(132, y + 20, name.split(",")[0], SMALL, "end")
        d.box(
            148, y, 108, 40, WEIGHT if i < 2 else Role("#C4C4C4", SOFT), "numbers" if i < 2 else nan
        )
        d.box(292, y, 108, 40, EMPTY, back[0][i])
        bad = i == 2
        d.box(424, y, 124, 40, Role("#C4C4C4", SOFT) if bad else EMPTY)
        d.text(486, y + 20, back[1][i], SMALL)
        d.arrow((400, y + 20), (424, y + 20))
    d.text(132, 234, "fully masked", TINY, "end", SOFT)
    d.arrow((486, 234), (486, 284))
    d.text(474, 259, "sum over the rows", SMALL, "end", SOFT)
    d.box(388, 284, 160, 44, Role("#C4C4C4", SOFT), f"scale: {nan}")
    d.text(24, 306, "gray: NaN", SMALL, "start", SOFT)


@diagram(560, 262)  # chapter 4
def joined_masks(d: Drawing) -> None:
    """Two masks joined with AND.

    Three sentences of four keys. Their lengths 4, 2 and 1 leave four, two and one key; the second
    mask hides every first key. Joined, three keys are left in the first row, one in the second
    and none in the third, which is fully masked.
    """
    lens, w, h, top = (4, 2, 1), 36, 40, 60
    first = [[j < length for j in range(4)] for length in lens]
    second = [[j > 0 for j in range(4)]] * 3
    joined = [
        [a and b for a, b in zip(x, y, strict=True)] for x, y in zip(first, second, strict=True)
    ]
    heads = "lengths 4, 2, 1", "not the first", "both"
    for k, (head, mask) in enumerate(zip(heads, (first, second, joined), strict=True)):
        left = 24 + 184 * k
        d.text(left + 2 * w, 28, f"**{head}**", SMALL)
        for i, row in enumerate(mask):
            for j, may in enumerate(row):
                d.box(
                    left + w * j, top + h * i, w, h, EMPTY if may else MASKED, "T" if may else "F"
                )
        if k < 2:
            d.text(left + 4 * w + 20, top + 1.5 * h, ("AND", "=")[k], SMALL)
    d.line((392, 180), (536, 180), edge=INK)
    d.text(464, 200, "no key left", SMALL)
    d.text(
        24,
        240,
        "T: may attend; F, hatched: may not. Rows: sentences; columns: keys.",
        TINY,
        "start",
        SOFT,
    )


@diagram(560, 250)  # chapter 4
def nan_in_values(d: Drawing) -> None:
    """Zero times NaN.

    The weights of the second sentence are 0.73, 0.27, 0 and 0. Their values are 1, 1, NaN and NaN:
    the products are 0.73, 0.27, NaN and NaN, and so is the sum. With zeros in place of the NaN, the
    products are 0.73, 0.27, 0 and 0, and the sum is 1.
    """
    weights, gray = [*softmax([2, 1]), 0.0, 0.0], Role("#C4C4C4", SOFT)
    words = "tea", "anyone", "<pad>", "<pad>"
    for j, word in enumerate(words):
        d.text(176 + 76 * j, 20, word, SMALL, ink=SOFT)
    d.text(508, 20, "sum", SMALL, ink=SOFT)
    d.text(24, 56, "weights", SMALL, "start")
    for j, weight in enumerate(weights):
        role = shade(weight) if weight else MASKED
        d.box(140 + 76 * j, 36, 72, 40, role, number(weight, 2 if weight else 0))
    for i, (filler, name) in enumerate((("NaN", "values"), ("0", "zeroed values"))):
        y = 96 + 76 * i
        d.text(24, y + 20, name, SMALL, "start")
        for j, weight in enumerate(weights):
            real = weight > 0
            text = number(weight) + " · 1" if real else f"0 · {filler}"
            role = VALUE if real else (gray if filler == "NaN" else MASKED)
            d.box(140 + 76 * j, y, 72, 40, role)
            d.text(176 + 76 * j, y + 20, text, TINY)
        d.arrow((444, y + 20), (472, y + 20))
        bad = filler == "NaN"
        d.box(472, y, 72, 40, gray if bad else EMPTY, "NaN" if bad else "1")
    d.text(24, 232, "gray: NaN; hatched: padding with weight or value 0", TINY, "start", SOFT)


@diagram(560, 200)  # chapter 4, exercise 4
def padding_left(d: Drawing) -> None:
    """Padding on the left.

    Three sentences of four, two and three words in four columns, numbered from 0 to 3. Padding
    stands before the words, so that the last word of each sentence is in column 3.
    """
    for j in range(4):
        d.text(76 + 104 * j, 20, f"*j* = {j}", SMALL, ink=SOFT)
    d.text(500, 20, "length *ℓ*", SMALL, ink=SOFT)
    for i, sentence in enumerate(("the kettle is singing", "tea anyone", "two sugars please")):
        words = sentence.split()
        row = ["<pad>"] * (4 - len(words)) + words
        for j, word in enumerate(row):
            role = MASKED if word == "<pad>" else KEY
            d.box(24 + 104 * j, 40 + 40 * i, 104, 40, role, word)
        d.box(464, 40 + 40 * i, 72, 40, PLAIN, str(len(words)))
    d.text(24, 182, "Hatched: padding.", SMALL, "start", SOFT)


@diagram(560, 246)  # chapter 4, exercise 1
def window(d: Drawing) -> None:
    """A causal mask and a sliding window.

    Two masks of six queries and six keys. The causal one is a triangle: each query may attend to
    itself and all keys before it. In the sliding window of width 3 it is a band: each query may
    attend to itself and to the two keys before it.
    """
    for k, (head, width) in enumerate((("causal", 6), ("window, width 3", 3))):
        left, top = 72 + 252 * k, 40
        d.text(left + 84, 20, f"**{head}**", SMALL)
        for i in range(6):
            for j in range(6):
                may = 0 <= i - j < width
                d.box(
                    left + 28 * j,
                    top + 28 * i,
                    28,
                    28,
                    EMPTY if may else MASKED,
                    "T" if may else "",
                )
        d.text(left + 84, 224, "keys", SMALL, ink=SOFT)
        d.text(left - 12, top + 84, "queries" if k == 0 else "", TINY, "end", SOFT)


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


@diagram(560, 224)  # chapter 5
def reshaped_keys(d: Drawing) -> None:
    """Transposed and reshaped keys.

    Friday's keys are four rows, one film each, with laughter and tears. Transposed, they are four
    columns, still one film each. Reshaped to two rows, they keep the order of the eight numbers,
    so that every column mixes two films.
    """
    K = [[3, 0], [2, 1], [0, 2], [1, 1]]
    pale = "#FFFFFF", "#EBC6DB", KEY.fill, "#DC9DC0"  # one tint for each film
    tints = [Role(tint, KEY.edge) for tint in pale]
    w = 36
    for x, name in ((80, "**K**"), (260, "transposed"), (452, "reshaped")):
        d.text(x, 24, name)
    for film, (key, tint) in enumerate(zip(K, tints, strict=True)):
        d.text(36, 66 + w * film, "ABCD"[film], SMALL, ink=SOFT)
        d.text(206 + w * film, 58, "ABCD"[film], SMALL, ink=SOFT)
        for feature, x in enumerate(key):
            d.box(52 + w * feature, 48 + w * film, w, w, tint, str(x))
            d.box(188 + w * film, 76 + w * feature, w, w, tint, str(x))
            row, column = divmod(2 * film + feature, 4)
            d.box(380 + w * column, 76 + w * row, w, w, tint, str(x))
    d.text(260, 176, "a film is a column", SMALL, ink=SOFT)
    d.text(452, 176, "a column is half a film", SMALL, ink=SOFT)
    d.text(452, 198, "on top of half another", SMALL, ink=SOFT)


@diagram(560, 250)  # chapter 5
def missing_axis(d: Drawing) -> None:
    """Queries without their axis.

    Ida's two moods, stored as two rows, meet Friday's films and Saturday's films: two matrices of
    two rows each. Only Friday's mood with Friday's films and Saturday's mood with Saturday's films
    were wanted.
    """
    alone = {"Fri": (2, 0), "Sat": (0, 2)}
    films = {
        "Fri": ((3, 0), (2, 1), (0, 2), (1, 1)),
        "Sat": ((0, 3), (1, 0), (2, 2), (0, 1)),
    }
    d.text(24, 24, "Ida's mood", SMALL, "start", SOFT)
    for e, (day, keys) in enumerate(films.items()):
        x = 150 + 206 * e
        d.text(x + 88, 24, f"films of {day}", SMALL)
        for i, (mood, query) in enumerate(alone.items()):
            y = 48 + 76 * i
            scores = [[str(dot(query, key)) for key in keys]]
            d.cells(x, y, scores, 44, 44, PLAIN if mood == day else MASKED)
            if mood == day:
                d.box(x, y, 176, 44, OUTLINE)
            if e == 0:
                d.text(24, y + 22, mood, at="start")
                d.cells(64, y, [[str(v) for v in query]], 32, 44, QUERY)
    d.text(24, 206, "Outlined: wanted, one row for each evening.", SMALL, "start", SOFT)
    d.text(24, 230, "Hatched: a mood meets films of the other evening.", SMALL, "start", SOFT)


@diagram(560, 240)  # chapter 5
def brackets(d: Drawing) -> None:
    """Two ways to bracket three matrices, drawn to scale.

    For queries, keys and values of 512 by 64, the left bracket makes a square of 512 by 512
    numbers, which then meets the values. The right bracket makes a square of 64 by 64, which the
    queries then meet.
    """
    long, short, y = 128, 16, 130  # 512 and 64
    for x, head in ((24, "(**Q K**^{⊤}) **V**"), (316, "**Q** (**K**^{⊤}**V**)")):
        d.text(x, 24, head, at="start")
    d.box(24, y - long / 2, long, long, PLAIN, "**Q K**^{⊤}", "512 × 512")
    d.text(172, y, "×")
    d.box(192, y - long / 2, short, long, VALUE)
    d.text(224, y, "**V**", at="start")
    d.text(316, y, "**Q**", at="start")
    d.box(344, y - long / 2, short, long, QUERY)
    d.text(380, y, "×")
    d.box(400, y - short / 2, short, short, PLAIN)
    d.text(428, y - 11, "**K**^{⊤}**V**", at="start")
    d.text(428, y + 13, "64 × 64", SMALL, "start")
    d.text(24, 218, "Gray: what is computed first.", SMALL, "start", SOFT)


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


@diagram(600, 336)  # chapter 6
def fused_steps(d: Drawing) -> None:
    """Separate steps, and one pass over blocks of keys.

    In separate steps, the scores and the weights of all queries and all keys are stored, two large
    squares. The fused function takes a few keys and values at a time, adds to a running sum, and
    stores only the scores of one block.
    """
    size, thin, step = 96, 28, 24
    for top, head in ((24, "**separate steps**"), (190, "**fused**")):
        d.text(24, top, head, at="start")
    y = 48
    d.box(24, y, thin, size, QUERY, "**Q**")
    d.box(64, y + 34, size, thin, KEY, "**K**^{⊤}")
    d.arrow((164, y + 48), (196, y + 48))
    d.box(200, y, size, size, PLAIN, "scores")
    d.arrow((300, y + 48), (332, y + 48))
    d.box(336, y, size, size, WEIGHT, "weights")
    d.text(446, y + 48, "×")
    d.box(460, y, thin, size, VALUE, "**V**")
    d.arrow((492, y + 48), (524, y + 48))
    d.box(528, y, thin, size, EMPTY)
    d.text(542, y + size + 14, "output", SMALL)
    d.text(316, y + size + 14, "both stored: 2 *n m* numbers", SMALL, ink=SOFT)
    y = 214
    d.box(24, y, thin, size, QUERY, "**Q**")
    for i in range(4):
        now = i == 1
        d.box(64 + step * i, y + 34, step, thin, KEY if now else EMPTY)
        d.box(460, y + step * i, thin, step, VALUE if now else EMPTY)
    d.arrow((164, y + 48), (196, y + 48))
    d.box(200 + step, y, step, size, PLAIN)
    d.arrow((300, y + 48), (332, y + 48))
    d.box(336 + step, y, step, size, WEIGHT)
    d.text(446, y + 48, "×")
    d.arrow((492, y + 48), (524, y + 48))
    d.box(528, y, thin, size, EMPTY)
    d.text(542, y + size + 14, "output", SMALL)
    note = "a block of keys at a time, added to the output"
    d.text(24, y + size + 14, note, SMALL, "start", SOFT)


@diagram(600, 320)  # chapter 6
def one_base_class(d: Drawing) -> None:
    """One base class, and what a subclass adds.

    The base class checks sizes, asks its subclass for scores, applies mask and softmax, drops
    weights in training, and sums the values. Some subclasses give features of queries and keys,
    whose dot products are the scores; others give the scores themselves.
    """
    d.box(16, 40, 568, 92, EMPTY)
    d.text(24, 22, "**Attention**, the base class", at="start")
    stages = {"check": ("sizes", PLAIN), "**score**": ("empty slot", OUTLINE)}
    stages |= {"softmax": ("with mask", WEIGHT), "dropout": ("in training", PLAIN)}
    stages["sum"] = "of values", VALUE
    for i, (name, (note, role)) in enumerate(stages.items()):
        x = 28 + 112 * i
        d.box(x, 56, 96, 60, role, name, note)
        if i:
            d.arrow((x - 16, 86), (x, 86))
    d.box(16, 192, 330, 112, EMPTY)
    d.text(181, 212, "**features**, then their product", SMALL)
    d.box(372, 192, 212, 112, EMPTY)
    d.text(478, 212, "**score** itself", SMALL)
    d.text(181, 240, "scaled dot product", SMALL)
    d.text(181, 264, "distance, cosine, bilinear", SMALL, ink=SOFT)
    d.text(181, 286, "(chapter 8)", SMALL, ink=SOFT)
    d.text(478, 240, "Gaussian, below", SMALL)
    d.text(478, 264, "additive", SMALL, ink=SOFT)
    d.text(478, 286, "(chapter 7)", SMALL, ink=SOFT)
    d.arrow((176, 192), (176, 116))
    d.arrow((478, 192), (478, 160), (200, 160), (200, 116))


@diagram(600, 236)  # chapter 6
def two_masks(d: Drawing) -> None:
    """Two masks become one.

    Of four keys, the last is padding. A hidden pair is one in which the key comes after the query.
    The wanted mask is true where the key is no padding and the pair is not hidden.
    """
    n, w = 4, 36
    for x, name in ((24, "padding"), (212, "hidden"), (424, "wanted")):
        d.text(x, 24, f"**{name}**", at="start")
    for j in range(n):
        d.box(24 + w * j, 102, w, w, MASKED if j == 3 else EMPTY, "T" if j == 3 else "F")
        for i in range(n):
            late = j > i
            d.box(212 + w * j, 48 + w * i, w, w, MASKED if late else EMPTY, "T" if late else "F")
            keep = not late and j < 3
            d.box(424 + w * j, 48 + w * i, w, w, EMPTY if keep else MASKED, "T" if keep else "F")
    d.text(388, 120, "→")
    d.text(24, 212, "(b, m), T: padding", SMALL, "start", SOFT)
    d.text(212, 212, "(n, m), T: hidden", SMALL, "start", SOFT)
    d.text(424, 212, "T: may attend", SMALL, "start", SOFT)


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


@diagram(620, 250)  # chapter 7
def hidden_units(d: Drawing) -> None:
    """The hidden units of all pairs, and a block of them.

    A cube of n queries, m keys and h units. Its right side is as large as the projected queries,
    its top as the projected keys, its front as the scores. A block takes a few queries at a time,
    a slice of the cube from its top.
    """
    w, high, part, deep = 132, 120, 32, (84, -44)

    def face(role: Role, *points: tuple[float, float]) -> None:
        d.parts.append(
            f'<path d="{path(points)}Z" fill="{role.fill}" stroke="{role.edge}" '
            f'stroke-width="{STROKE}" stroke-linejoin="round"/>'
        )

    def solid(x: float, y: float, tall: float) -> None:
        (u, v), right, low = deep, x + w, y + tall
        d.box(x, y, w, tall, PLAIN)
        face(KEY, (x, y), (x + u, y + v), (right + u, y + v), (right, y))
        face(QUERY, (right, y), (right + u, y + v), (right + u, low + v), (right, low))

    heads = (60, high, "**all pairs at once**"), (392, part, "**a block of queries**")
    for x, tall, head in heads:
        solid(x, 88, tall)
        d.text(x - 36, 20, head, at="start")
        d.text(x + w / 2 + 42, 66, "keys (m, h)", SMALL)
    d.text(60 + w / 2, 148, "scores (n, m)", SMALL)
    d.text(232, 202, "queries (n, h)", SMALL, "start")
    d.line((392, 120), (392, 208), (524, 208), (524, 120), dash="5 5")
    d.line((524, 208), (608, 164), (608, 76), dash="5 5")
    d.text(392 + w / 2, 104, "scores", SMALL)
    d.text(60, 232, "held: *n m h* numbers", SMALL, "start", SOFT)
    d.text(392, 232, "held: this slice", SMALL, "start", SOFT)


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


@diagram(612, 266)  # chapter 9
def bytes_to_scale(d: Drawing) -> None:
    """Inputs and matrices, drawn to scale.

    For texts of 1,024, 2,048 and 4,096 tokens: queries, keys and values of dimension 64 are three
    thin strips, scores and weights two squares. With every doubling of the length the strips
    take twice the memory, and the squares four times.
    """
    size, unit, base = 64, 120 / 4096, 148
    for x, n in zip((24, 158, 332), (1024, 2048, 4096), strict=True):
        side, strip = n * unit, size * unit
        for k, role in enumerate((QUERY, KEY, VALUE)):
            d.parts.append(
                f'<rect x="{x + (strip + 1) * k:g}" y="{base - side:g}" width="{strip:g}" '
                f'height="{side:g}" fill="{role.edge}"/>'
            )
        for k, (role, name) in enumerate(((PLAIN, "scores"), (WEIGHT, "weights"))):
            named = (name,) if side > 100 else ()
            d.box(x + 16 + (side + 8) * k, base - side, side, side, role, *named)
        d.text(x, base + 22, f"**{n:,} tokens**", SMALL, "start")
        inputs, matrices = (4 * entries / 2**20 for entries in (3 * n * size, 2 * n * n))
        d.text(x, base + 44, f"strips {inputs:g} MiB", SMALL, "start", SOFT)
        d.text(x, base + 66, f"squares {matrices:g} MiB", SMALL, "start", SOFT)
    n = 65536
    inputs, matrices = (round(4 * entries / 2**20) for entries in (3 * n * size, 2 * n * n))
    d.text(
        24, 248, f"**{n:,} tokens**: strips {inputs} MiB, squares {matrices:,} MiB", SMALL, "start"
    )


@diagram(600, 356)  # chapter 9
def traffic(d: Drawing) -> None:
    """What travels between memory and chip.

    Above, step by step: the product reads queries and keys and writes the scores, the softmax
    reads the scores and writes the weights, the weighted sum reads weights and values and writes
    the outputs. Below, all in one: queries, keys and values are read, outputs are written.
    """
    n, size, h = 1024, 64, 40
    ends = 4 * n * size
    moved = {"Step by step": ends + 4 * n * n, "All in one": ends}
    for (name, entries), top in zip(moved.items(), (16, 192), strict=True):
        d.text(24, top + 12, f"**{name}**", at="start")
        d.text(
            584, top + 12, f"{n:,} tokens: {4 * entries // 2**20} MiB travel", SMALL, "end", SOFT
        )
        d.text(24, top + 56, "memory", SMALL, "start", SOFT)
        d.text(24, top + 132, "chip", SMALL, "start", SOFT)
        y, low = top + 36, top + 112
        for x, role, letter in ((96, QUERY, "Q"), (156, KEY, "K"), (460, VALUE, "V")):
            d.box(x, y, 48, h, role, f"**{letter}**")
        d.box(524, y, 60, h, EMPTY, "out")
        reads, writes = [(120, 150), (180, 190), (484, 466)], [(500, 554)]
        if name == "Step by step":
            d.box(232, y, 80, h, PLAIN, "scores")
            d.box(336, y, 92, h, WEIGHT, "weights")
            d.box(132, low, 100, h, EMPTY, "product")
            d.box(276, low, 100, h, EMPTY, "softmax")
            d.box(412, low, 100, h, EMPTY, "sum")
            reads += [(288, 312), (396, 440)]
            writes += [(212, 256), (344, 372)]
        else:
            d.box(132, low, 380, h, EMPTY, "one block of scores after another")
        for start, end in reads:
            d.arrow((start, y + h), (end, low))
        for start, end in writes:
            d.arrow((start, low), (end, y + h))


@diagram(560, 276)  # chapter 9
def tiles(d: Drawing) -> None:
    """A tile of queries walks past all keys.

    The matrix of scores, cut into four rows of tiles. The first tile of queries has walked past
    all keys and values and has its outputs; the second is on its way, with one block of scores
    on the chip. So keys and values are read four times.
    """
    x, y, w, rows, blocks = 152, 76, 40, 4, 6
    for top, role, name in ((24, KEY, "keys"), (48, VALUE, "values")):
        d.box(x, top, w * blocks, 18, role)
        d.text(x - 12, top + 9, name, SMALL, "end")
    for i in range(rows):
        top = y + w * i
        d.box(x - 44, top, 32, w, QUERY)
        d.box(x + w * blocks + 12, top, 32, w, PLAIN if i == 0 else EMPTY)
        for j in range(blocks):
            now = (i, j) == (1, 2)
            d.box(x + w * j, top, w, w, shade(0.6) if now else EMPTY)
    middle = y + 1.5 * w
    d.arrow((x + 8, middle), (x + 2 * w - 2, middle))
    d.arrow((x + 3 * w + 4, middle), (x + blocks * w - 6, middle))
    d.arrow((x + 8, middle - w), (x + blocks * w - 6, middle - w))
    d.text(x - 56, middle, "*T* queries", SMALL, "end")
    d.text(x + w * blocks + 56, y + w / 2, "outputs", SMALL, "start")
    d.text(x + w * blocks + 56, middle, "on its way", SMALL, "start", SOFT)
    d.text(24, 256, "Four tiles: keys and values are read *n*/*T* = 4 times.", SMALL, "start", SOFT)


@diagram(600, 284)  # chapter 9
def running_sum(d: Drawing) -> None:
    """The running sum under a running maximum.

    Six stacks of bars, one after each busker. Each stack holds the terms of the scores so far,
    relative to the largest of them. Where a new score is the largest, at drum and cello, all
    older terms shrink by one factor, and the new term is 1.
    """
    scores = {"harp": 1, "drum": 3, "flute": 0, "cello": 5, "bagpipe": 2, "kazoo": 4}
    base, unit, w, pitch = 204, 104, 44, 94
    seen: list[int] = []
    top = base
    for t, (name, score) in enumerate(scores.items()):
        x, before = 40 + pitch * t, top
        shrink = exp(max(seen, default=score) - max([*seen, score]))
        if t:  # where the old stack goes
            kept = base - shrink * (base - before)
            d.line((x - pitch + w, before), (x, kept), dash="3 4")
            if shrink < 1:
                d.text(x - (pitch - w) / 2, before - 16, f"× {number(shrink)}", TINY, ink=SOFT)
        seen.append(score)
        top, c = base, max(seen)
        for j, a in enumerate(seen):
            height = unit * exp(a - c)
            top -= height
            fill = WEIGHT.edge if j == t else WEIGHT.fill
            d.parts.append(
                f'<rect x="{x}" y="{top:.4g}" width="{w}" height="{height:.4g}" fill="{fill}" '
                f'stroke="{WEIGHT.edge}"/>'
            )
        d.text(x + w / 2, top - 16, number(sum(exp(a - c) for a in seen)), SMALL)
        d.text(x + w / 2, base + 18, name, SMALL)
        d.text(x + w / 2, base + 40, f"score {score}", SMALL)
        d.text(x + w / 2, base + 62, f"*c* = {c}", SMALL, ink=SOFT)
    d.line((24, base), (584, base))


@diagram(560, 272)  # chapter 9
def block_walk(d: Drawing) -> None:
    """Blocks of keys under a causal mask.

    Six queries and ten keys, in blocks of three keys. Only one block of scores is alive, the
    second. Behind the matrix, each query carries its maximum, its sum and its weighted sum.
    Hatched cells are masked; the last two blocks are hatched in all rows.
    """
    x, y, w, n, m, block = 112, 64, 26, 6, 10, 3
    now = 1
    d.text(x, 24, "keys and values, three at a time", SMALL, "start")
    d.arrow((x, 46), (x + w * m, 46))
    d.text(x - 16, y + 1.5 * w, "six", SMALL, "end")
    d.text(x - 16, y + 1.5 * w + 20, "queries", SMALL, "end")
    for i in range(n):
        for j in range(m):
            alive = PLAIN if j // block == now else EMPTY
            d.box(x + w * j, y + w * i, w, w, MASKED if j > i else alive)
    for b in range(0, m, block):
        d.line((x + w * b, y - 6), (x + w * b, y + w * n + 6), edge=INK)
    d.box(x + w * block * now, y - 6, w * block, w * n + 12, OUTLINE)
    columns = {"maximum": (396, 28), "sum": (436, 28), "weighted": (476, 60)}
    for left, width in columns.values():
        for i in range(n):
            d.box(left, y + w * i, width, w, EMPTY)
    for (left, width), letter in zip(columns.values(), ("*c*", "*s*", "**o**"), strict=True):
        d.text(left + width / 2, 46, letter)
    d.text(466, 24, "carried along", SMALL)
    d.text(x, 246, "Outlined: alive now. Hatched: masked.", SMALL, "start", SOFT)


@diagram(560, 240)  # chapter 9
def recompute(d: Drawing) -> None:
    """The backward pass computes the weights again.

    The forward pass keeps queries, keys, values, outputs and one log-sum-exp for each query. For
    one block of keys after another, the backward pass makes scores from queries and keys,
    weights from scores and log-sum-exp, and gradients from weights, values and outputs.
    """
    top, low = 44, 148
    d.text(24, 24, "**kept** from the forward pass", SMALL, "start")
    kept = {"**Q**": (24, QUERY), "**K**": (84, KEY), "*ℓ*": (248, PLAIN)}
    kept |= {"**V**": (416, VALUE), "**O**": (476, EMPTY)}
    for name, (x, role) in kept.items():
        d.box(x, top, 48 if name != "*ℓ*" else 40, 44, role, name)
    steps = {"scores *a*": (24, 108, PLAIN), "weights e^{a−ℓ}": (188, 160, WEIGHT)}
    steps["gradient"] = (404, 132, EMPTY)
    for name, (x, w, role) in steps.items():
        d.box(x, low, w, 48, role, name)
    for start, end in ((132, 188), (348, 404)):
        d.arrow((start, low + 24), (end, low + 24))
    for x in (32, 124, 268, 440, 500):
        d.arrow((x, top + 44), (x, low))
    d.text(470, low + 66, "(9.11)", SMALL, ink=SOFT)
    d.text(24, low + 66, "**again**, one block of keys after another", SMALL, "start")


@diagram(632, 316)  # chapter 9
def ring(d: Drawing) -> None:
    """Keys and values travel around a ring.

    Four machines, each with its own queries, and four steps. At the first step a machine has its
    own keys; then each passes them on to the next machine, the last one to the first. Hatched:
    the keys come after the queries of this machine, so a causal mask hides all of them.
    """
    P, w, h = 4, 84, 36
    for t in range(P):
        d.text(188 + 112 * t + w / 2, 20, f"step {t + 1}", SMALL, ink=SOFT)
    for rank in range(P):
        y = 48 + 60 * rank
        d.text(24, y + h / 2, f"machine {rank}", SMALL, "start")
        d.box(112, y, 56, h, QUERY, f"**Q**_{{{rank}}}")
        for t in range(P):
            x, part = 188 + 112 * t, (rank - t) % P
            d.box(x, y, w, h, KEY if part <= rank else MASKED, f"**K**_{{{part}}} **V**_{{{part}}}")
            if t < P - 1 and rank < P - 1:
                d.arrow((x + w, y + h), (x + 112, y + 60))
            elif t < P - 1:
                d.arrow((x + w, y + h), (x + 98, y + h + 18))
                d.arrow((x + 98, 32), (x + 112, 48))
    d.text(24, 302, "From machine 3 to machine 0: out below, in above.", SMALL, "start", SOFT)


@diagram(480, 268)  # chapter 9
def fair_shares(d: Drawing) -> None:
    """Eight blocks under a causal mask.

    A square of eight blocks of queries by eight blocks of keys. Below the diagonal all scores are
    used, above it all are masked, and on it half of them. The blocks 0 to 3 belong to the
    machines 0 to 3; whose the blocks 4 to 7 are is the question.
    """
    x, y, w, P = 128, 44, 24, 4
    d.text(x + w * P, 22, "blocks of keys", SMALL, ink=SOFT)
    for i in range(2 * P):
        top = y + w * i
        d.text(x - 12, top + w / 2, f"queries {i}", SMALL, "end")
        for j in range(2 * P):
            d.box(x + w * j, top, w, w, PLAIN if j < i else MASKED)
            if j == i:
                corners = path([(x + w * j, top), (x + w * j, top + w), (x + w * (j + 1), top + w)])
                d.parts.append(
                    f'<path d="{corners}Z" fill="{PLAIN.fill}" stroke="{PLAIN.edge}" '
                    f'stroke-width="{STROKE}"/>'
                )
        owner = f"machine {i}" if i < P else "whose?"
        d.text(x + 2 * P * w + 12, top + w / 2, owner, SMALL, "start", INK if i < P else SOFT)
    d.text(x - 12, 254, "hatched:", SMALL, "end", SOFT)
    d.text(x, 254, "masked", SMALL, "start", SOFT)


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


@diagram(600, 196)  # chapter 10
def dates(d: Drawing) -> None:
    """Two dates and their ISO form.

    Lines join the day, the month and the year of 27 mar 2024 and of 4/7/1986 with the same parts
    of the ISO forms 2024-03-27 and 1986-04-07. The lines cross, in each date in another way.
    """
    size, top, low = 24, 44, 132
    examples = [
        (24, "27 mar 2024", "2024-03-27", [(0, 2, 8, 10), (3, 6, 5, 7), (7, 11, 0, 4)]),
        (336, "4/7/1986", "1986-04-07", [(0, 1, 5, 7), (2, 3, 8, 10), (4, 8, 0, 4)]),
    ]
    for x, text, iso, parts in examples:
        d.text(x, 22, "read", SMALL, "start", SOFT)
        d.text(x, 178, "written", SMALL, "start", SOFT)
        for y, characters in ((top, text), (low, iso)):
            for j, character in enumerate(characters):
                d.box(x + size * j, y, size, 28, PLAIN, character.replace(" ", "␣"))
        for start, end, first, last in parts:
            above, below = x + size * (start + end) / 2, x + size * (first + last) / 2
            for a, b, y in ((start, end, top + 34), (first, last, low - 6)):
                ends = (x + size * a + 3, y), (x + size * b - 3, y)
                d.line(*ends, edge=WEIGHT.edge)
            d.line((above, top + 34), (below, low - 6), edge=WEIGHT.edge)


@diagram(600, 248)  # chapter 10
def two_readers(d: Drawing) -> None:
    """Reading from both sides.

    Above the eight characters of may 1999, a row of states from left to right; below them a row
    from right to left. The state of the fifth character, outlined, has both: one has read may 1,
    the other 1999 from the end.
    """
    text, x, pitch, w, h = "may 1999", 160, 54, 40, 36
    rows = {"from the left": 28, "characters": 92, "from the right": 156}
    for name, y in rows.items():
        d.text(24, y + h / 2, name, SMALL, "start")
    d.box(x + pitch * 4 - 7, 20, w + 14, 180, Role(KEY.fill, KEY.edge))
    for j, character in enumerate(text):
        left, middle = x + pitch * j, x + pitch * j + w / 2
        d.box(left, 28, w, h, EMPTY, f"→_{{{j + 1}}}")
        d.box(left, 92, w, h, PLAIN, character.replace(" ", "␣"))
        d.box(left, 156, w, h, EMPTY, f"←_{{{j + 1}}}")
        d.arrow((middle, 92), (middle, 28 + h))
        d.arrow((middle, 92 + h), (middle, 156))
        if j < len(text) - 1:
            d.arrow((left + w, 46), (left + pitch, 46))
            d.arrow((left + pitch, 174), (left + w, 174))
    d.text(x + pitch * 4 + w / 2, 224, "**h**_{5}: key and value", SMALL)


@diagram(600, 262)  # chapter 10
def forced(d: Drawing) -> None:
    """Teacher forcing.

    The decoder's eight steps for 1999-05. Each step reads a token and writes one. The fourth
    writes 0, which is wrong; the fifth reads 9 all the same, because the inputs are the right
    tokens, each moved one step to the right.
    """
    x, pitch, w, h = 112, 60, 44, 36
    right = [*"1999-05", "end"]
    written = [*"1990-05", "end"]
    rows = {"written": 20, "state": 80, "input": 140, "target": 208}
    for name, y in rows.items():
        d.text(24, y + h / 2, name, SMALL, "start")
    for t, target in enumerate(right):
        left, middle = x + pitch * t, x + pitch * t + w / 2
        wrong = written[t] != target
        d.box(left, 20, w, h, DARK if wrong else EMPTY)
        d.text(middle, 38, f"**{written[t]}**" if wrong else written[t], SMALL)
        d.box(left, 80, w, h, QUERY, f"**s**_{{{t + 1}}}")
        d.box(left, 140, w, h, PLAIN)
        d.text(middle, 158, right[t - 1] if t else "start", SMALL)
        d.box(left, 208, w, h, PLAIN)
        d.text(middle, 226, target, SMALL)
        d.arrow((middle, 140), (middle, 116))
        d.arrow((middle, 80), (middle, 56))
        if t < len(right) - 1:
            d.arrow((left + w - 6, 208), (left + pitch + 6, 176))


@diagram(600, 196)  # chapter 10
def greedy(d: Drawing) -> None:
    """Greedy decoding.

    The same eight steps without right answers: each step reads the token that the step before
    has written. The fourth step writes 0 in place of 9, and the fifth reads this 0.
    """
    x, pitch, w, h = 112, 60, 44, 36
    written = [*"1990-05", "end"]
    for name, y in {"written": 20, "state": 80, "input": 140}.items():
        d.text(24, y + h / 2, name, SMALL, "start")
    for t, token in enumerate(written):
        left, middle = x + pitch * t, x + pitch * t + w / 2
        before = written[t - 1] if t else "start"
        d.box(left, 20, w, h, DARK if t == 3 else EMPTY)
        d.text(middle, 38, f"**{token}**" if t == 3 else token, SMALL)
        d.box(left, 80, w, h, QUERY, f"**s**_{{{t + 1}}}")
        d.box(left, 140, w, h, DARK if t == 4 else EMPTY)
        d.text(middle, 158, f"**{before}**" if t == 4 else before, SMALL)
        d.arrow((middle, 140), (middle, 116))
        d.arrow((middle, 80), (middle, 56))
        if t < len(written) - 1:
            d.arrow((left + w - 2, 56), (left + pitch + 2, 140))


@diagram(580, 176)  # chapter 10
def interventions(d: Drawing) -> None:
    """Three ways to change a row of weights.

    A row of six weights, the third the largest, as four bar charts: as it is; only the top, where
    the third is 1; all but the top, where the others share its weight; moved by one to the right.
    """
    weights = [0.05, 0.1, 0.6, 0.2, 0.05, 0.0]
    top = max(weights)
    rest = shares([w if w < top else 0.0 for w in weights])
    changed = {"as it is": weights, "only the top": [float(w == top) for w in weights]}
    changed |= {"all but the top": rest, "moved by one": weights[-1:] + weights[:-1]}
    base, unit = 136, 100
    for k, (name, row) in enumerate(changed.items()):
        x = 24 + 136 * k
        d.text(x + 60, base + 22, name, TINY)
        d.line((x, base), (x + 120, base))
        for j, weight in enumerate(row):
            if weight:
                height = unit * weight
                d.parts.append(
                    f'<rect x="{x + 3 + 20 * j}" y="{base - height:.4g}" width="14" '
                    f'height="{height:.4g}" fill="{WEIGHT.edge}"/>'
                )
    d.line((152, 24), (152, 166), edge="#D0D0D0")


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


@diagram(600, 268)  # chapter 11
def clock_hands(d: Drawing) -> None:
    """Position vectors as clock hands.

    Three rows of dials, for the pairs t = 0, 1 and 2 of a position vector with eight features,
    and six columns, for the positions 0, 1, 2, 3, 10 and 30. The hand of the first pair turns by
    one radian a step, that of the second by a tenth, that of the third by a hundredth.
    """
    size, r = 8, 26
    places = 0, 1, 2, 3, 10, 30
    for k, i in enumerate(places):
        d.text(212 + 68 * k, 22, f"*i* = {i}", SMALL)
    for t in range(3):
        y, theta = 70 + 70 * t, 10000 ** (-2 * t / size)
        d.text(24, y - 11, f"pair *t* = {t}", SMALL, "start")
        d.text(24, y + 11, f"{theta:g} rad a step", TINY, "start", SOFT)
        for k, i in enumerate(places):
            x, a = 212 + 68 * k, i * theta
            d.parts.append(
                f'<circle cx="{x}" cy="{y}" r="{r}" fill="{PLAIN.fill}" stroke="{PLAIN.edge}"/>'
            )
            d.arrow((x, y), (x + r * sin(a), y - r * cos(a)))


@diagram(600, 272)  # chapter 11
def distances(d: Drawing) -> None:
    """Which learned number each score gets.

    Six queries by six keys, clipped at distance 3. On a diagonal, all scores get the same number:
    one for each distance from -3 to 3. Beyond 3 they all share the number of 3. The last
    row, outlined, is what a model that generates text computes.
    """
    x, y, w, h, n, c = 100, 52, 48, 32, 6, 3
    d.text(x + w * n / 2, 24, "keys *j* = 0 … 5", SMALL)
    d.text(24, y + 2.5 * h, "queries", SMALL, "start")
    d.text(24, y + 2.5 * h + 20, "*i* = 0 … 5", SMALL, "start")
    for i in range(n):
        for j in range(n):
            r = min(max(i - j, -c), c)
            role = DARK if r == 1 else PLAIN if r == c else EMPTY
            d.box(x + w * j, y + h * i, w, h, role, f"*β*_{{{number(r, 0)}}}")
    d.box(x, y + h * (n - 1), w * n, h, Role("none", QUERY.edge))
    side = x + w * n + 20
    for row, role, text in ((1, DARK, "the key before"), (2, PLAIN, "3 or more back")):
        d.box(side, y + h * row + 6, 20, 20, role)
        d.text(side + 30, y + h * row + 16, text, SMALL, "start")
    d.text(side, y + h * (n - 0.5), "the last query alone", SMALL, "start")


@diagram(600, 256)  # chapter 11
def slopes(d: Drawing) -> None:
    """What distance costs under three slopes.

    The factor of a weight over the distance from 0 to 20 steps. With the slope 1/2 it falls to
    half within two steps, with 1/16 in eleven, and with 1/256 it stays near 1.
    """
    x, base, unit, height = 64, 204, 19, 168
    for value in (0, 0.5, 1):
        y = base - height * value
        dash = "" if value == 0 else "4 4"
        d.line((x, y), (x + 20 * unit, y), edge="#BBBBBB" if value else SOFT, dash=dash)
        d.text(x - 10, y, number(value, 1), SMALL, "end")
    for r in range(0, 21, 5):
        d.text(x + unit * r, base + 18, str(r), SMALL)
    d.text(x + 20 * unit, base + 36, "steps back", SMALL, "end", SOFT)
    d.text(x, 16, "factor of the weight", SMALL, "start", SOFT)
    for slope, y in ((2, 174), (16, 122), (256, 38)):
        curve = [(x + unit * r / 4, base - height * exp(-r / 4 / slope)) for r in range(81)]
        d.line(*curve, edge=WEIGHT.edge)
        d.text(x + 20 * unit + 12, y, f"slope 1/{slope}:", SMALL, "start")
        half = number(slope * log(2), 1)
        d.text(x + 20 * unit + 12, y + 18, f"half after {half}", TINY, "start", SOFT)
        if (steps := slope * log(2)) < 20:
            d.parts.append(
                f'<circle cx="{x + unit * steps:.4g}" cy="{base - height / 2}" r="5" '
                f'fill="{WEIGHT.edge}"/>'
            )


@diagram(600, 262)  # chapter 11
def rotary(d: Drawing) -> None:
    """Rotary positions in one plane.

    A query and a key, turned by 30 degrees for each position. At the positions 3 and 1, and at 4
    and 2, the angle between them is the same, and so is their score. At 4 and 1 the angle is
    larger, and the score another.
    """
    step, unit = pi / 6, 47
    vectors = {QUERY: (1.6, 0.8), KEY: (1.2, -1.0)}

    def hand(x: float, y: float, vector: tuple[float, float], role: Role, dash: str = "") -> None:
        end = x + unit * vector[0], y - unit * vector[1]
        d.line((x, y), end, edge=role.edge, dash=dash)
        if not dash:
            length = sqrt(dot(vector, vector))
            u, w = vector[0] / length * 10, -vector[1] / length * 10
            sides = [(end[0] - u - k * w / 2, end[1] - w + k * u / 2) for k in (1, -1)]
            d.line(sides[0], end, sides[1], edge=role.edge)

    for k, (i, j) in enumerate(((3, 1), (4, 2), (4, 1))):
        x, y, turned = 108 + 192 * k, 122, []
        d.text(x, 22, f"query at {i}, key at {j}", SMALL)
        d.parts.append(f'<circle cx="{x}" cy="{y}" r="84" fill="none" stroke="#BBBBBB"/>')
        for (role, (a, b)), place in zip(vectors.items(), (i, j), strict=True):
            c, s = cos(place * step), sin(place * step)
            turned.append((c * a - s * b, s * a + c * b))
            hand(x, y, (a, b), role, dash="2 5")
            hand(x, y, turned[-1], role)
        d.text(x, 226, f"distance {i - j}", SMALL, ink=SOFT)
        d.text(x, 248, f"**score {number(dot(*turned))}**", SMALL)


@diagram(560, 300)  # chapter 11
def two_tasks(d: Drawing) -> None:
    """The two tasks.

    Two rows of nine inputs with the targets below, and an arrow from the place that holds the
    answer to each target. The last color: the arrows have different lengths, from 0 to 2 steps.
    Three back: all arrows have the same length, three steps.
    """
    x, w, h = 92, 48, 34
    tasks = {
        "The last color": ([2, None, None, 0, None, 1, None, None, 3], None),
        "Three back": ([1, 3, 0, 2, 2, 1, 0, 3, 1], 3),
    }
    for (name, (inputs, back)), top in zip(tasks.items(), (20, 166), strict=True):
        d.text(24, top, f"**{name}**", SMALL, "start")
        d.text(24, top + 34, "input", SMALL, "start")
        d.text(24, top + 100, "target", SMALL, "start")
        last = 0
        for i, color in enumerate(inputs):
            left, middle = x + w * i, x + w * (i + 0.5)
            d.box(left, top + 17, w, h, EMPTY)
            d.text(middle, top + 34, "wait" if color is None else str(color), SMALL)
            last = i if color is not None else last
            source = last if back is None else i - back
            if source >= 0:
                d.box(left, top + 83, w, h, PLAIN, str(inputs[source]))
                d.arrow((x + w * (source + 0.5), top + 51), (middle, top + 83))
            else:
                d.box(left, top + 83, w, h, EMPTY, "–")


@diagram(560, 224)  # chapter 11
def layouts(d: Drawing) -> None:
    """Two layouts of rotary positions.

    Two rows of eight features. Above, arcs join neighbors: 0 and 1, 2 and 3, 4 and 5, 6 and 7.
    Below, arcs join each feature of the first half with the one that lies half the row later.
    """
    x, w, h, n = 152, 48, 34, 8
    kinds = {"neighbors": [(2 * t, 2 * t + 1) for t in range(n // 2)]}
    kinds["halves"] = [(t, t + n // 2) for t in range(n // 2)]
    for (name, pairs), y in zip(kinds.items(), (48, 168), strict=True):
        d.text(24, y + h / 2, name, at="start")
        for j in range(n):
            d.box(x + w * j, y, w, h, PLAIN, str(j))
        for t, (i, j) in enumerate(pairs):
            a, b = x + w * (i + 0.5), x + w * (j + 0.5)
            rise = 16 if j == i + 1 else 20 + 12 * t
            d.line((a, y), (a, y - rise), (b, y - rise), (b, y))


@diagram(560, 132)  # chapter 11
def clipped(d: Drawing) -> None:
    """Which distances share a number.

    With the clipping distance 8, the distances 0 to 7 have a number each, and all from 8 on share
    one. With the clipping distance 2, only 0 and 1 have a number each.
    """
    x, w, h = 92, 36, 34
    for c, y in ((8, 24), (2, 76)):
        d.text(24, y + h / 2, f"*c* = {c}", at="start")
        for r in range(c):
            d.box(x + w * r, y, w, h, EMPTY, str(r))
        d.box(x + w * c, y, 536 - x - w * c, h, PLAIN, f"{c} and more")


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


@diagram(640, 276)  # chapter 13
def fixed_state(d: Drawing) -> None:
    """What a query reads after one, two and three keys.

    With a softmax, it reads all keys and values so far, and they grow in number. With linear
    attention, it reads a state of r by v numbers, to which each key adds one product of its
    features and its value; the state does not grow.
    """
    d.text(160, 20, "softmax: a cache that grows", SMALL)
    d.text(474, 20, "linear: a state that stays small", SMALL)
    for row in range(3):
        y = 44 + 76 * row
        for j in range(row + 1):
            x = 24 + 88 * j
            d.box(x, y, 72, 28, KEY, f"**k**_{{{j + 1}}}")
            d.box(x, y + 28, 72, 28, VALUE, f"**v**_{{{j + 1}}}")
        d.box(352, y, 84, 56, PLAIN, "state")
        if row == 0:
            d.text(452, y + 28, "=")
        else:
            d.arrow((394, y - 20), (394, y))
            d.text(452, y + 28, "+")
        d.text(472, y + 28, f"*φ*(**k**_{{{row + 1}}}) **v**_{{{row + 1}}}^{{T}}", at="start")
    d.text(474, 266, "(r, v) at every length", TINY, ink=SOFT)


@diagram(700, 312)  # chapter 12
def many_heads(d: Drawing) -> None:
    """Project, split, attend, join.

    Tokens X of shape (n, D) are projected for two heads side by side. Each head has queries, keys
    and values with D/H features, n by n weights, and an output with D/H features. The outputs are
    joined to D features again, and a last matrix mixes them.
    """
    part, whole, n = 40, 80, 64  # D/H, D, n
    middle = 144
    d.box(16, middle - n / 2, whole, n, PLAIN, "**X**")
    d.text(16 + whole / 2, middle + n / 2 + 16, "(n, D)", SMALL, ink=SOFT)
    joined, mixed = 476, 604
    for c, y in ((1, 44), (2, 180)):
        d.box(136, y - 8, 300, n + 36, EMPTY)
        d.text(428, y - 22, f"head {c}", SMALL, "end")
        d.arrow((16 + whole, middle), (112, middle), (112, y + n / 2), (136, y + n / 2))
        d.box(148, y, part, n, QUERY, f"**Q**_{{{c}}}")
        d.box(196, y, part, n, KEY, f"**K**_{{{c}}}")
        d.arrow((238, y + n / 2), (256, y + n / 2))
        d.box(258, y, n, n, WEIGHT, f"**A**_{{{c}}}")
        d.box(330, y, part, n, VALUE, f"**V**_{{{c}}}")
        d.text(378, y + n / 2, "=")
        d.box(388, y, part, n, PLAIN, f"**O**_{{{c}}}")
        for x, size in ((192, "(n, D/H)"), (290, "(n, n)"), (374, "(n, D/H)")):
            d.text(x, y + n + 14, size, TINY, ink=SOFT)
        d.box(joined + part * (c - 1), middle - n / 2, part, n, PLAIN, f"**O**_{{{c}}}")
        end = joined + part * c - part / 2
        side = middle - n / 2 if c == 1 else middle + n / 2
        d.arrow((436, y + n / 2), (end, y + n / 2), (end, side))
    d.arrow((joined + whole, middle), (mixed, middle))
    d.text(580, middle - 20, "**W**_{o}")
    d.box(mixed, middle - n / 2, whole, n, PLAIN, "**O**")
    d.text(mixed + whole / 2, middle + n / 2 + 16, "(n, D)", SMALL, ink=SOFT)
    d.text(350, 298, "The heads meet only where they are joined and mixed.", SMALL, ink=SOFT)


@diagram(560, 252)  # chapter 12
def cached_keys(d: Drawing) -> None:
    """A layer with a cache reads two new tokens.

    Three keys and three values come from the cache, two of each are new. There are two queries, at
    positions 3 and 4, and the causal mask hides key 4 from query 3.
    """
    x, w, h = 176, 64, 36
    for y, role, letter, name in ((44, KEY, "k", "keys"), (188, VALUE, "v", "values")):
        d.text(x - 14, y + h / 2, name, at="end")
        for j in range(5):
            d.box(x + w * j, y, w, h, role, f"**{letter}**_{{{j}}}")
    d.text(x + 1.5 * w, 20, "from the cache", SMALL, ink=SOFT)
    d.text(x + 4 * w, 20, "new", SMALL, ink=SOFT)
    for i in (3, 4):
        y = 96 + 40 * (i - 3)
        d.box(96, y, 64, h, QUERY, f"**q**_{{{i}}}")
        for j in range(5):
            d.box(x + w * j, y, w, h, WEIGHT if j <= i else MASKED)
    d.text(80, 114, "new", SMALL, "end", SOFT)
    d.text(80, 154, "new", SMALL, "end", SOFT)
    d.line((x + 3 * w, 12), (x + 3 * w, 240), dash="6 5")


@diagram(712, 250)  # chapter 12
def shared_keys(d: Drawing) -> None:
    """What is kept of one token, four ways.

    Four query heads each. Multi-head: four keys and four values are kept. Grouped queries: two and
    two. Multi-query: one and one. Latent: one short vector, from which keys and values could be
    made, but are not.
    """
    heads, step, size = 4, 40, 32
    names = {"multi-head": 4, "grouped": 2, "multi-query": 1, "latent": 0}
    for at, (name, groups) in enumerate(names.items()):
        left = 16 + 176 * at
        middle = left + (heads * step - 8) / 2
        d.text(middle, 20, f"**{name}**", SMALL)
        many = groups or heads
        places = [left + step * ((g + 0.5) * heads / many - 0.5) for g in range(many)]
        for c in range(heads):
            x = left + step * c
            d.box(x, 44, size, 30, QUERY, "q")
            target = places[c * many // heads] + size / 2
            d.line((x + size / 2, 74), (target, 114), dash="" if groups else "4 4")
        for place in places:
            if groups:
                d.box(place, 114, size, 30, KEY, "k")
                d.box(place, 144, size, 30, VALUE, "v")
            else:
                d.line((place + size / 2, 114), (middle, 144), dash="4 4")
        if not groups:
            d.box(middle - 52, 144, 104, 30, PLAIN, "**z**")
        kept = f"{2 * groups} vectors" if groups else "1 short vector"
        d.text(middle, 200, "kept:", SMALL, ink=SOFT)
        d.text(middle, 224, kept, SMALL)


@diagram(640, 292)  # chapter 12
def induction(d: Drawing) -> None:
    """Two look-ups in a chain.

    Under the letters t, u, l, i, t, u stand keys that layer 1 made from the letter before each. The
    query of the last u finds the key u under the letter l, and layer 2 fetches this l as what comes
    next.
    """
    song, x, step, w, h = "tulitu", 184, 74, 50, 38
    tops = {"letters": 44, "keys": 140, "query": 220}
    found = 2  # the position whose key is the last letter
    places = [x + step * j for j in range(len(song))]
    d.text(168, tops["letters"] + 12, "letters,", SMALL, "end")
    d.text(168, tops["letters"] + 32, "read as values", SMALL, "end", SOFT)
    d.text(168, tops["keys"] + 6, "keys in layer 2:", SMALL, "end")
    d.text(168, tops["keys"] + 28, "the letter before", SMALL, "end", SOFT)
    for j, letter in enumerate(song):
        d.box(places[j], tops["letters"], w, h, VALUE if j == found else PLAIN, letter)
        if j:
            start = places[j - 1] + w / 2 + 6, tops["letters"] + h
            d.arrow(start, (places[j] + w / 2 - 6, tops["keys"]))
            d.box(places[j], tops["keys"], w, h, KEY, song[j - 1])
        else:
            d.box(places[j], tops["keys"], w, h, EMPTY, "·")
    d.text(places[0] + 22, 112, "layer 1", TINY, "end", SOFT)
    last = places[-1]
    d.box(last, tops["query"], w, h, QUERY, song[-1])
    d.text(last + w / 2, tops["query"] + h + 16, "query", SMALL)
    y = tops["query"] + h / 2
    d.arrow((last, y), (places[found] + w / 2, y), (places[found] + w / 2, tops["keys"] + h))
    d.text((places[found] + last + w) / 2, y + 20, "layer 2: equal", SMALL, ink=SOFT)
    middle = places[found] + w / 2
    d.arrow((middle, tops["letters"]), (middle, 20), (last - 28, 20))
    d.text(last + 12, 20, f"next: **{song[found]}**")


@diagram(560, 248)  # chapter 12
def cached_passes(d: Drawing) -> None:
    """What goes through the model, without a cache and with one.

    Rows are passes, columns letters of the song. Without a cache each pass takes all letters up to
    the newest, four and then one more each time, 22 together. With a cache, the first pass takes
    four letters and each later one a single letter, 7 together; the rest is kept.
    """
    song, w, h = "tulitul", 34, 34
    passes = range(4, len(song) + 1)
    for left, cached in ((16, False), (306, True)):
        d.text(left + w * len(song) / 2, 22, "with a cache" if cached else "without a cache")
        total = []
        for row, end in enumerate(passes):
            y = 44 + (h + 4) * row
            first = end - 1 if cached and row else 0
            total.append(end - first)
            for j in range(end):
                role = PLAIN if j >= first else EMPTY
                d.box(left + w * j, y, w, h, role, song[j] if j >= first else "")
        words = " + ".join(map(str, total)) + f" = {sum(total)}"
        d.text(left + w * len(song) / 2, 216, words, SMALL, ink=SOFT)


@diagram(600, 348)  # chapter 12
def cross_attention(d: Drawing) -> None:
    """Encoder and decoder of a Transformer.

    On the left, the text that was read runs through self-attention and a feed-forward network. Its
    states give keys and values to the cross-attention on the right, which stands between the
    causal self-attention and the feed-forward network of the text that is written and takes its
    queries from there.
    """
    left, right, w, h = 16, 376, 208, 44
    written = "causal self-attention", "", "cross-attention", "feed-forward"
    for x, head, names in (
        (left, "text that was read", ("self-attention", "feed-forward")),
        (right, "text that is written", written),
    ):
        d.text(x + w / 2, 20, head, SMALL)
        d.arrow((x + w / 2, 34), (x + w / 2, 48))
        for row, name in enumerate(names):
            y = 48 + 68 * row
            if name:
                d.box(x, y, w, h, PLAIN, name)
                d.arrow((x + w / 2, y + h), (x + w / 2, y + 68))
    d.box(left, 184, w, h, EMPTY, "states")
    middle = right + w / 2
    d.box(middle - 68, 116, 136, 32, QUERY, "queries")
    d.arrow((middle, 148), (middle, 184))
    for y, role, name in ((172, KEY, "keys"), (212, VALUE, "values")):
        d.box(248, y, 92, 32, role, name)
        d.arrow((left + w, 206), (236, 206), (236, y + 16), (248, y + 16))
        d.arrow((340, y + 16), (354, y + 16), (354, 206), (right, 206))
    d.text(middle, 334, "next token", SMALL)


@diagram(600, 226)  # chapter 12
def rotated_pairs(d: Drawing) -> None:
    """Two ways to pair the features of a head.

    Above, in Llama, the eight features 0 to 7 stand in order, and 0 is turned with 4, 1 with 5, 2
    with 6, 3 with 7. Below, reordered to 0, 4, 1, 5, 2, 6, 3, 7, the same pairs are neighbors.
    """
    size, x, w, h = 8, 176, 48, 32
    order = [t // 2 + size // 2 * (t % 2) for t in range(size)]
    high, low = 62, 154
    center = [x + w * t + w / 2 for t in range(size)]
    d.text(160, high + 8, "Llama:", at="end")
    d.text(160, high + 30, "halves in pairs", SMALL, "end", SOFT)
    d.text(160, low + 8, "reordered:", at="end")
    d.text(160, low + 30, "neighbors in pairs", TINY, "end", SOFT)
    for t in range(size):
        d.box(x + w * t, high, w, h, PLAIN, str(t))
        d.box(x + w * t, low, w, h, PLAIN, str(order[t]))
        d.line((center[order[t]], high + h), (center[t], low))
    for t in range(size // 2):
        y = 48 - 10 * t
        d.line((center[t], high), (center[t], y), (center[t + 4], y), (center[t + 4], high))
        one, two = center[2 * t], center[2 * t + 1]
        d.line((one, low + h), (one, low + h + 14), (two, low + h + 14), (two, low + h))


@diagram(440, 296)  # chapter 12
def followed(d: Drawing) -> None:
    """Which positions followed an earlier copy, for the text ananas.

    Rows are queries, columns keys, later keys are hatched. The second a looks at the n after the
    first a, the second n at the a after the first n, the third a at both letters n, and the s at
    nothing.
    """
    text, x, y, size = "ananas", 168, 56, 36
    d.text(x + size * len(text) / 2, 16, "keys", SMALL, ink=SOFT)
    d.text(118, y + size * len(text) / 2, "queries", SMALL, "end", SOFT)
    for i, letter in enumerate(text):
        d.text(x + size * (i + 0.5), y - 16, f"**{letter}**")
        d.text(x - 18, y + size * (i + 0.5), f"**{letter}**")
        for j in range(len(text)):
            hit = 0 < j <= i and text[j - 1] == letter
            role = MASKED if j > i else shade(1) if hit else EMPTY
            d.box(x + size * j, y + size * i, size, size, role)


@diagram(628, 218)  # chapter 12
def two_part_keys(d: Drawing) -> None:
    """The two parts of query and key.

    The content of the query, d numbers, meets the content of the key, which U would make of the
    cached latent z of r numbers; this key is never made. The rotated part of the query, e numbers,
    meets the rotated key, which is cached and which all heads share.
    """
    d.text(144, 52, "query of a head", SMALL, "end")
    d.box(160, 32, 216, 40, QUERY, "content, d")
    d.box(408, 32, 120, 40, QUERY, "rotated, e")
    d.line((268, 72), (268, 104), dash="4 4")
    d.text(144, 124, "key of a head", SMALL, "end")
    d.box(160, 104, 216, 40, Role(CARD, KEY.edge), "**Uz**_{j}, never made")
    d.line((468, 72), (468, 164))
    d.line((268, 144), (268, 164), dash="4 4")
    d.text(144, 184, "in the cache", SMALL, "end")
    d.box(192, 164, 152, 40, PLAIN, "**z**_{j}, r")
    d.box(408, 164, 208, 40, KEY, "rotated, e, for all")


@diagram(600, 172)  # chapter 12
def next_letters(d: Drawing) -> None:
    """Each position of a song has a target, the next letter.

    Under the letters t, u, l, i, t, u, l, i, t that were heard stand their targets, each one letter
    further. While the first phrase of four letters runs, nobody can know the target; from the
    second t on, it stands in the song already.
    """
    song, phrase, x, w, h = "tulitulitu", 4, 112, 50, 38
    d.text(x - 16, 40, "heard", SMALL, "end")
    d.text(x - 16, 92, "target", SMALL, "end")
    for j in range(len(song) - 1):
        known = j >= phrase
        d.box(x + w * j, 20, w, h, EMPTY, song[j])
        d.box(x + w * j, 72, w, h, PLAIN if known else EMPTY, song[j + 1])
        d.line((x + w * (j + 0.5), 58), (x + w * (j + 0.5), 72))
    for start, end, words in (
        (0, phrase, "nobody can know"),
        (phrase, len(song) - 1, "stands in the song already"),
    ):
        left, right = x + w * start + 4, x + w * end - 4
        d.line((left, 118), (left, 128), (right, 128), (right, 118))
        d.text((left + right) / 2, 148, words, SMALL, ink=SOFT)


@diagram(700, 270)  # chapter 12
def kinds_of_heads(d: Drawing) -> None:
    """Three kinds of heads on a text of four tokens that is said twice.

    With an attention sink, all queries put their weight on the first key, the leftmost column. A
    head that looks at the token before has its weight just below the diagonal. An induction head,
    from the fifth query on, has it three positions below the diagonal.
    """
    n, size, phrase = 8, 24, 4
    kinds = {
        "attention sink": lambda i: 0,
        "the token before": lambda i: max(i - 1, 0),
        "induction head": lambda i: i - phrase + 1 if i >= phrase else 0,
    }
    for at, (name, key) in enumerate(kinds.items()):
        x, y = 40 + 226 * at, 40
        d.text(x + n * size / 2, 20, name, SMALL)
        d.box(x, y, n * size, n * size, EMPTY)
        for i in range(n):
            d.box(x + size * key(i), y + size * i, size, size, shade(1))
        d.line((x, y), (x + n * size, y + n * size), dash="3 5")
        d.text(x + n * size / 2, y + n * size + 20, "keys", TINY, ink=SOFT)


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
