"""The diagrams of part 2, Scoring functions."""

from collections.abc import Sequence
from math import cos, exp, sin, sqrt, tanh

from kit import (
    CARD,
    DARK,
    EMPTY,
    HALO,
    INK,
    KEY,
    MASKED,
    OUTLINE,
    PALE,
    PLAIN,
    QUERY,
    SMALL,
    SOFT,
    STROKE,
    TEXT,
    TINY,
    VALUE,
    WEIGHT,
    Drawing,
    Role,
    diagram,
    dot,
    number,
    path,
    shade,
    shares,
    softmax,
)


@diagram(600, 590)  # chapter 8
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


@diagram(560, 250)  # chapter 8
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


STATIONS = {"bridge": (1, 0), "chapel": (0, 1), "mill": (1, 1), "summit": (3, 3)}


ADA, BEN = (1, 0.5), (0, 2)


def stretch(normal: Sequence[float], level: float, w: float) -> list[tuple[float, float]]:
    """Return the ends of the line normal · x = level in the square from (0, 0) to (w, w)."""
    a, b = normal
    ends = [(x, (level - a * x) / b) for x in (0, w)] + [((level - b * y) / a, y) for y in (0, w)]
    return sorted((x, y) for x, y in ends if -1e-9 <= x <= w + 1e-9 and -1e-9 <= y <= w + 1e-9)


def inside(points: Sequence[tuple[float, float]], w: float) -> list[list[tuple[float, float]]]:
    """Return the parts of a curve that lie in the square from (0, 0) to (w, w)."""
    parts: list[list[tuple[float, float]]] = [[]]
    for x, y in points:
        if 0 <= x <= w and 0 <= y <= w:
            parts[-1].append((x, y))
        elif parts[-1]:
            parts.append([])
    return [part for part in parts if len(part) > 1]


@diagram(560, 356)  # chapter 9
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
                "bridge": ("middle", (0, 19)),
                "chapel": ("start", (4, -26)),
                "mill": ("start", (13, -8)),
                "summit": ("end", (-14, 4)),
            }[name]
            d.text(x + shift[0], y + shift[1], f"{name} {number(weight)}", TINY, side_of, halo=HALO)
        d.disc(at(*ADA), 7, QUERY.fill, QUERY.edge)
        d.text(
            left + w * size / 2,
            324,
            "by distance" if side == 0 else "by dot product",
            SMALL,
            ink=SOFT,
        )
    d.text(24, 344, "Numbers: Ada’s weights.", TINY, "start", SOFT)


@diagram(560, 270)  # chapter 9
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
        shift = {"bridge": (14, 12), "chapel": (-10, -18), "mill, summit": (10, -4)}[name]
        d.text(x + shift[0], y + shift[1], name, TINY, "start", halo=HALO)
    d.disc(at(*ADA), 7, QUERY.fill, QUERY.edge)
    d.text(at(*ADA)[0] + 14, at(*ADA)[1] - 6, "Ada", TINY, "start")
    d.disc(at(0, 0), 4, SOFT)
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


@diagram(560, 236)  # chapter 9, exercise 3
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


@diagram(560, 350)  # chapter 10
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


@diagram(560, 252)  # chapter 10
def static_lengths(d: Drawing) -> None:
    """Static lengths make a program each, and a mask is data of one program.

    Above, three calls with the lengths 4, 2, 3, then 4, 2, 2, then 4, 2, 3 again: the first two
    are compiled to a program each, and the third call uses the first one. Below, the same three
    calls with masks all run one program.
    """
    calls, w, h = ("4, 2, 3", "4, 2, 2", "4, 2, 3"), 92, 34
    for top, head, goals in (
        (44, "lengths are static: compiled twice", (0, 1, 0)),
        (164, "a mask is data: compiled once", (0, 0, 0)),
    ):
        d.text(24, top - 24, f"**{head}**", SMALL, "start")
        for k, (lens, goal) in enumerate(zip(calls, goals, strict=True)):
            y = top - 8 + 27 * k
            d.text(24, y + 12, f"call {k + 1}", TINY, "start", SOFT)
            d.box(70, y, w, 24, PLAIN if top < 100 else MASKED, lens if top < 100 else "")
            goal_y = top + 8 + 42 * goal if len(set(goals)) > 1 else top + 31
            d.arrow((70 + w + 4, y + 12), (330, goal_y))
        for goal in sorted(set(goals)):
            y = top - 9 + 42 * goal if len(set(goals)) > 1 else top + 14
            name = f"program for {calls[goal]}" if len(set(goals)) > 1 else "program for all masks"
            d.box(336, y, 200, h, EMPTY, name)


@diagram(560, 262)  # chapter 10
def joined_masks(d: Drawing) -> None:
    """Two masks joined with AND.

    Three sentences of four keys. Their lengths 4, 2 and 1 leave four, two and one key; the second
    mask hides every first key. Joined, three keys are left in the first row, one in the second
    and none in the third, which is fully masked.
    """
    lens, w, h, top = (4, 2, 1), 34, 38, 60
    first = [[j < length for j in range(4)] for length in lens]
    second = [[j > 0 for j in range(4)]] * 3
    joined = [
        [a and b for a, b in zip(x, y, strict=True)] for x, y in zip(first, second, strict=True)
    ]
    heads = "lengths 4, 2, 1", "not the first", "both"
    for k, (head, mask) in enumerate(zip(heads, (first, second, joined), strict=True)):
        left = 24 + 188 * k
        d.text(left + 2 * w, 28, f"**{head}**", SMALL)
        for i, row in enumerate(mask):
            for j, may in enumerate(row):
                d.box(
                    left + w * j, top + h * i, w, h, EMPTY if may else MASKED, "T" if may else "F"
                )
        if k < 2:
            d.text(left + 4 * w + 26, top + 1.5 * h, ("AND", "=")[k], SMALL)
    d.text(468, 194, "no key left", SMALL)
    d.text(
        24,
        240,
        "T: may attend; F, hatched: may not. Rows: sentences; columns: keys.",
        TINY,
        "start",
        SOFT,
    )


@diagram(560, 250)  # chapter 10
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


@diagram(560, 486)  # chapter 11
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


@diagram(560, 224)  # chapter 11
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


@diagram(560, 250)  # chapter 11
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


@diagram(600, 336)  # chapter 12
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


@diagram(600, 320)  # chapter 12
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
    d.text(181, 286, "(chapter 14)", SMALL, ink=SOFT)
    d.text(478, 240, "Gaussian, below", SMALL)
    d.text(478, 264, "additive", SMALL, ink=SOFT)
    d.text(478, 286, "(chapter 13)", SMALL, ink=SOFT)
    d.arrow((176, 192), (176, 116))
    d.arrow((478, 192), (478, 160), (200, 160), (200, 116))


@diagram(600, 236)  # chapter 12
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


@diagram(620, 632)  # chapter 12
def attention_layer(d: Drawing) -> None:
    """Scaled dot-product attention as a flow.

    Queries and keys make scaled scores. A mask hides the padding, a softmax turns scores into
    weights, dropout acts in training only, and the weights with the values make the weighted
    sum. On the left, one query and four foods, the last of them padding.
    """
    foods = ["honey", "lemon", "apple", "bread"]
    K = [[2, 0, 0, 1], [0, 2, 0, 0], [1, 1, 2, 0], [0, 0, 1, 1]]
    V = [[3, 4], [0, 2], [1, 1], [2, 1]]
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
    d.text(24, 72, "bread is padding", SMALL, "start", SOFT)
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


@diagram(560, 520)  # chapter 13
def additive_network(d: Drawing) -> None:
    """The additive score as a network.

    Three features of a query and two of a key enter a hidden layer of two units. Each unit adds
    its weighted inputs and takes the tanh. A weighted sum of the units is the score.
    """
    q = {"tired": 2, "thirsty": 0, "cold": 1}
    k = {"sweet": 2, "juicy": 0}
    W = [[0, -2, 0, 1, 0], [-2, 0, 0, 0, 1]]  # [W_q | W_k]
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
        d.text(x0 + 0.18 * (x1 - x0), 104 + 0.18 * 146, number(weight, 0), halo=HALO)
    for left, (name, x) in zip(lefts, [*q.items(), *k.items()], strict=True):
        d.box(left, 48, 92, 56, KEY if name in k else QUERY, name, str(x))
    for x, value, weight in zip(hidden, inside, w_v, strict=True):
        d.box(x - 92, 250, 184, 44, PLAIN, f"tanh({number(value, 0)}) = {number(tanh(value))}")
        end = 280 + (x - 280) * 0.5
        d.arrow((x, 294), (end, 408))
        d.text((x + end) / 2, 351, number(weight, 0), halo=HALO)
    d.box(188, 408, 184, 44, EMPTY, f"**score {number(score)}**")
    d.text(24, 186, "**W**_{q}", at="start")
    d.text(536, 186, "**W**_{k}", at="end")
    d.text(24, 351, "**w**_{v}", at="start")
    d.text(280, 488, "*a* = **w**_{v}^{⊤} tanh(**W**_{q} **q** + **W**_{k} **k**)", TEXT)
    d.text(536, 351, "pale: weight 0", SMALL, "end", SOFT)


@diagram(620, 250)  # chapter 13
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


@diagram(608, 600)  # chapter 15
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
    d.box(right - 224, 328, 216, 60, PLAIN, "context **c**_{t}", "weighted sum of states")
    d.arrow((right - 116, 288), (right - 116, 328))
    d.box(middle - 112, 444, 216, 44, PLAIN, "next state **s**_{t}")
    d.arrow((x + 108, 388), (x + 108, 416), (middle - 40, 416), (middle - 40, 444))
    d.arrow((right - 116, 388), (right - 116, 416), (middle + 32, 416), (middle + 32, 444))
    d.arrow((middle - 4, 488), (middle - 4, 528))
    d.box(middle - 112, 528, 216, 44, EMPTY, f"**next token: {target[step]}**")
    d.text(24, 358, "decoder", at="start")


@diagram(600, 196)  # chapter 15
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


@diagram(600, 248)  # chapter 15
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


@diagram(600, 262)  # chapter 15
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


@diagram(600, 196)  # chapter 15
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


@diagram(580, 176)  # chapter 15
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


@diagram(600, 348)  # chapter 15
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
