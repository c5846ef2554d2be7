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
from math import exp, sqrt, tanh
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
