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
from math import cos, exp, log, pi, sin, sqrt, tanh
from pathlib import Path
from typing import NamedTuple

CARD, INK, SOFT = "#FFFFFF", "#222222", "#555555"
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
