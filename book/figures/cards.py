"""The cards of the home page: one detail of each chapter, in the strokes of the strip."""

from collections.abc import Callable, Sequence
from inspect import cleandoc
from math import cos, exp, radians, sin, tanh

from kit import (
    CARD,
    DIAGRAMS,
    INK,
    KEY,
    MASKED,
    PALE,
    QUERY,
    SOFT,
    VALUE,
    WEIGHT,
    Drawing,
    Role,
    Say,
    Vector,
    dot,
    number,
    softmax,
)
from strip import GRAY, KEYS, Q, mix, sparsemax

CARD_SIZE = 320, 176
LARGE = 18  # letters on a card


def card(chapter: str) -> Callable[[Callable[[Drawing], None]], Callable[[Drawing], None]]:
    """Register the card of a chapter; the docstring says what it shows."""

    def register(draw: Callable[[Drawing], None]) -> Callable[[Drawing], None]:
        title, _, desc = cleandoc(draw.__doc__ or "").partition(".\n\n")

        def drawn(say: Say = str) -> str:
            d = Drawing(*CARD_SIZE, title, " ".join(desc.split()), say)
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
