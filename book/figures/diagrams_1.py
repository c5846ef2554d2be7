"""The diagrams of part 1, Attention."""

from itertools import pairwise
from math import cos, pi, sin, sqrt

from kit import (
    DARK,
    EMPTY,
    INK,
    KEY,
    MASKED,
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


@diagram(560, 290)  # chapter 1
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


FITS = {
    "animal dog horse cat cow": "tired hungry sleepy afraid",
    "street bridge river path field": "icy wide steep muddy",
    "bread soup apple cheese melon": "stale salty sweet ripe",
    "knife saw axe key bell": "rusty blunt broken loose",
}


@diagram(560, 344)  # chapter 2
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


@diagram(560, 574)  # chapter 3
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


@diagram(560, 232)  # chapter 3
def causal(d: Drawing) -> None:
    """A causal mask, and what each word should name.

    Four rows, one for each word that asks. A row shows the words up to that word as keys; later
    words are hatched. An arrow leads to the next word, which the output should name. The last word
    should name the end of the sentence.
    """
    words = ["the", "kettle", "is", "singing"]
    d.text(212, 16, "keys", SMALL, ink=SOFT)
    d.text(500, 16, "should name", SMALL, ink=SOFT)
    for i, following in enumerate([*words[1:], "(the end)"]):
        y = 32 + 44 * i
        for j, key in enumerate(words):
            d.box(24 + 94 * j, y, 94, 40, MASKED if j > i else QUERY if j == i else KEY, key)
        d.arrow((404, y + 20), (444, y + 20))
        d.box(448, y, 104, 40, EMPTY, following)
    d.text(
        24, 220, "Orange: the word that asks. Hatched: what it may not see.", SMALL, "start", SOFT
    )


@diagram(560, 200)  # chapter 3
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


@diagram(560, 246)  # chapter 3
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


@diagram(608, 480)  # chapter 4
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


@diagram(600, 268)  # chapter 4
def clock_hands(d: Drawing) -> None:
    """Position vectors as clock hands.

    Three rows of dials, for the pairs l = 0, 1 and 2 of a position vector with eight features,
    and six columns, for the positions 0, 1, 2, 3, 10 and 30. The hand of the first pair turns by
    one radian a step, that of the second by a tenth, that of the third by a hundredth.
    """
    size, r = 8, 26
    places = 0, 1, 2, 3, 10, 30
    for k, i in enumerate(places):
        d.text(212 + 68 * k, 22, f"*i* = {i}", SMALL)
    for pair in range(3):
        y, theta = 70 + 70 * pair, 10000 ** (-2 * pair / size)
        d.text(24, y - 11, f"pair *l* = {pair}", SMALL, "start")
        d.text(24, y + 11, f"{theta:g} rad a step", TINY, "start", SOFT)
        for k, i in enumerate(places):
            x, a = 212 + 68 * k, i * theta
            d.parts.append(
                f'<circle cx="{x}" cy="{y}" r="{r}" fill="{PLAIN.fill}" stroke="{PLAIN.edge}"/>'
            )
            d.arrow((x, y), (x + r * sin(a), y - r * cos(a)))


@diagram(600, 272)  # chapter 4
def distances(d: Drawing) -> None:
    """Which learned number each score gets.

    Six queries by six keys, clipped at distance 3. On a diagonal, all scores get the same number:
    one for each distance from -3 to 3. Beyond 3 they all share the number of 3, and beyond -3 that
    of -3.
    """
    x, y, w, h, n, c = 100, 52, 48, 32, 6, 3
    d.text(x + w * n / 2, 24, "keys *j* = 0 … 5", SMALL)
    d.text(24, y + 2.5 * h, "queries", SMALL, "start")
    d.text(24, y + 2.5 * h + 20, "*i* = 0 … 5", SMALL, "start")
    for i in range(n):
        for j in range(n):
            r = min(max(i - j, -c), c)
            role = DARK if r == 1 else PLAIN if r == c else KEY if r == -c else EMPTY
            d.box(x + w * j, y + h * i, w, h, role, f"*β*_{{{number(r, 0)}}}")
    side, rows = x + w * n + 20, ((DARK, "the key before"), (PLAIN, "3 or more back"))
    for row, (role, text) in enumerate((*rows, (KEY, "3 or more ahead")), 1):
        d.box(side, y + h * row + 6, 20, 20, role)
        d.text(side + 30, y + h * row + 16, text, SMALL, "start")


@diagram(600, 262)  # chapter 4
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


@diagram(560, 224)  # chapter 4
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


@diagram(700, 312)  # chapter 5
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


@diagram(560, 580)  # chapter 5
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


@diagram(560, 636)  # chapter 5
def heads(d: Drawing) -> None:
    """Splitting into heads, and back.

    Three queries with four features each. A reshape cuts every query into two pieces of two
    features. A transpose collects the first pieces in head 1 and the second pieces in head 2.
    The way back takes the two steps in reverse order.
    """
    n, size, H = 3, 4, 2
    part = size // H
    x = [[str(10 * (i + 1) + j + 1) for j in range(size)] for i in range(n)]
    other = Role("#F3B78D", QUERY.edge)  # head 2, in a darker tint than head 1
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
                d.text(208 + 144 * k, tops[2] + 136, f"head {k + 1}", SMALL)
            d.cells(160 + 144 * k, tops[2] + h * i, piece, w, h, role)
        d.text(152, tops[0] + 18 + h * i, f"query {i + 1}", SMALL, "end")
        d.text(152, tops[1] + 16 + 56 * i, f"query {i + 1}", SMALL, "end")
    for y0, y1, step in ((164, 230, "reshape"), (390, 462, "transpose")):
        d.arrow((232, y0), (232, y1))
        d.text(220, (y0 + y1) / 2, step, SMALL, "end")
        d.arrow((328, y1), (328, y0))
        d.text(340, (y0 + y1) / 2, step + " back", SMALL, "start")
    shapes = {"(b, n, D)": (1, n, size), "(b, n, H, D/H)": (1, n, H, part)}
    shapes["(b, H, n, D/H)"] = (1, H, n, part)
    for y, (letters, sizes) in zip((110, 310, 524), shapes.items(), strict=True):
        d.text(484, y - 12, letters, SMALL)
        d.text(484, y + 12, str(sizes), SMALL, ink=SOFT)


@diagram(640, 292)  # chapter 6
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


@diagram(440, 296)  # chapter 6
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


@diagram(600, 172)  # chapter 6
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


@diagram(560, 248)  # chapter 7
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
