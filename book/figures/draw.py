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
from collections import Counter
from collections.abc import Callable, Sequence
from html import escape
from inspect import cleandoc
from itertools import pairwise
from math import cos, exp, sin, sqrt, tanh
from pathlib import Path
from typing import NamedTuple

CARD, INK, SOFT, PALE = "#FFFFFF", "#222222", "#555555", "#BDBDBD"
TEXT, SMALL, TINY = 17, 15, 13  # font sizes; subscripts are TINY
STROKE = 2


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

    def line(self, *points: tuple[float, float], edge: str = SOFT, dash: str = "") -> None:
        """Draw a line through points."""
        dashes = f' stroke-dasharray="{dash}"' if dash else ""
        self.parts.append(
            f'<path d="{path(points)}" fill="none" stroke="{edge}" stroke-width="{STROKE}" '
            f'stroke-linejoin="round"{dashes}/>'
        )

    def arrow(self, *points: tuple[float, float]) -> None:
        """Draw a line through points with a head at the last one."""
        (x0, y0), (x1, y1) = points[-2:]
        length = sqrt((x1 - x0) ** 2 + (y1 - y0) ** 2)
        u, w = (x1 - x0) / length, (y1 - y0) / length
        x, y = x1 - 10 * u, y1 - 10 * w
        self.line(*points[:-1], (x, y))
        corners = path([(x1, y1), (x - 5 * w, y + 5 * u), (x + 5 * w, y - 5 * u)])
        self.parts.append(f'<path d="{corners}Z" fill="{SOFT}"/>')

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


@diagram(560, 510)  # chapter 0
def idea(d: Drawing) -> None:
    """Attention in one picture.

    The query, the word early, is compared with seven keys, the words of a sentence. Each
    comparison gives a score; a softmax turns the scores into weights that sum to 1; the output
    is the sum of the values, each multiplied by its weight.
    """
    words = ["the", "early", "bird", "catches", "the", "early", "worm"]
    counts = [Counter(word) for word in words]
    lengths = [sqrt(sum(c * c for c in count.values())) for count in counts]
    scores = [
        sum(counts[1][letter] * count[letter] for letter in count) / (lengths[1] * length)
        for count, length in zip(counts, lengths, strict=True)
    ]
    weights = softmax([4 * score for score in scores])
    top, m = 130, len(words)
    bottom = top + panel_height(m)
    d.panel(152, 16, 112, "query", ["early"], QUERY)
    d.arrow((208, 92), (208, top))
    d.text(222, 111, "compare", SMALL, "start", SOFT)
    d.panel(24, top, 112, "keys", words, KEY)
    d.panel(164, top, 88, "scores", [number(s) for s in scores], PLAIN)
    d.panel(336, top, 96, "weights", [number(w) for w in weights], *map(shade, weights))
    values = [f"**v**_{{{i + 1}}}" for i in range(m)]
    d.panel(456, top, 80, "values", values, VALUE)
    middle = top + panel_height(m) / 2
    d.arrow((136, middle), (164, middle))
    d.arrow((252, middle), (336, middle))
    d.text(294, middle - 16, "softmax", SMALL, ink=SOFT)
    d.text(444, middle, "×")
    for x in (384, 496):
        d.arrow((x, bottom), (x, bottom + 32))
    d.box(336, bottom + 32, 200, 56, EMPTY, "**output**", "weighted sum of values")
    terms = " + ".join(f"{number(w)} {v}" for w, v in zip(weights[:2], values[:2], strict=True))
    d.text(318, bottom + 60, f"{terms} + …  =", SMALL, "end")


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
