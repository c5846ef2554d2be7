"""The diagrams of the chapters 1 to 4."""

from collections.abc import Sequence
from itertools import pairwise
from math import cos, exp, sin, sqrt

from kit import (
    CARD,
    EMPTY,
    HALO,
    INK,
    KEY,
    MASKED,
    PALE,
    PLAIN,
    QUERY,
    SMALL,
    SOFT,
    TINY,
    VALUE,
    WEIGHT,
    Drawing,
    Role,
    diagram,
    dot,
    number,
    panel_height,
    shade,
    shares,
    softmax,
)


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
            d.disc(at(hour, liter), 5, VALUE.fill, VALUE.edge)
        if kind == "weighted sum":
            d.disc(at(query, blend(query)), 5, INK)
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
            d.disc((across(x), y), 4, VALUE.edge if across(x) in used else "#D5D5D5")
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
        d.disc((x, y), 6, VALUE.fill, VALUE.edge)
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
        d.disc((across(query), y), 6, QUERY.fill, QUERY.edge)
        d.text(across(query), y + 20, f"{query:g} km: s = {s:.1f}", TINY, halo=HALO)


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
        right, below = (-8, -17) if name == "chapel" else (12, -14)
        d.text(x + right, y + below, f"{name} {DEGREES[name]}°", TINY, "start", halo=HALO)
    for name, place in (("Ada", ADA), ("Ben", BEN)):
        x, y = at(*place)
        d.disc((x, y), 7, QUERY.fill, QUERY.edge)
        d.text(x + 14, y, name, TINY, "start", halo=HALO)
    rows = (("queries", "where hikers stand", QUERY), ("keys", "where stations stand", KEY))
    rows += (("values", "temperatures there", VALUE),)
    for i, (name, note, role) in enumerate(rows):
        d.box(348, 46 + 72 * i, 192, 56, role, f"**{name}**", note)


def stretch(normal: Sequence[float], level: float, w: float) -> list[tuple[float, float]]:
    """Return the ends of the line normal · x = level in the square from (0, 0) to (w, w)."""
    a, b = normal
    ends = [(x, (level - a * x) / b) for x in (0, w)] + [((level - b * y) / a, y) for y in (0, w)]
    return sorted((x, y) for x, y in ends if -1e-9 <= x <= w + 1e-9 and -1e-9 <= y <= w + 1e-9)


@diagram(560, 356)  # chapter 3
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
                d.box(left + w * j, top + h * i, w, h, MASKED if apart else Role("#B8B8B8", SOFT))
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


@diagram(560, 252)  # chapter 4, where functions are compiled
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


@diagram(560, 262)  # chapter 4
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
